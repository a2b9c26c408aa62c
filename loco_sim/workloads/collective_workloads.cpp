// Collectives by several algorithms: docs/collectives.md. collectives/schedule.hpp has their schedules.
#include <array>

#include "loco_sim/workloads/collectives/collective_player.hpp"
#include "loco_sim/workloads/kinds.hpp"

namespace loco::workloads {

namespace {

using collectives::Algorithm;
using collectives::Collective;

constexpr std::array<std::string_view, 6> kNames = {"all_reduce", "all_gather", "reduce_scatter",
                                                    "all_to_all", "broadcast",  "reduce"};
/// In the order of the names of a kind's key `algorithm`.
constexpr std::array kAllReduceAlgorithms = {Algorithm::ring, Algorithm::halving_doubling,
                                             Algorithm::recursive_doubling, Algorithm::double_tree,
                                             Algorithm::hierarchical};
constexpr std::array kAllGatherAlgorithms = {Algorithm::ring, Algorithm::recursive_doubling};
constexpr std::array kReduceScatterAlgorithms = {Algorithm::ring, Algorithm::recursive_halving};
constexpr std::array kAllToAllAlgorithms = {Algorithm::pairwise, Algorithm::staged, Algorithm::bruck,
                                            Algorithm::direct};
constexpr std::array kBroadcastAlgorithms = {Algorithm::binomial, Algorithm::chain, Algorithm::scatter_all_gather};
constexpr std::array kReduceAlgorithms = {Algorithm::binomial, Algorithm::chain};
static_assert(kAllReduceAlgorithms.size() == kAllReduceAlgorithmNames.size());
static_assert(kAllGatherAlgorithms.size() == kAllGatherAlgorithmNames.size());
static_assert(kReduceScatterAlgorithms.size() == kReduceScatterAlgorithmNames.size());
static_assert(kAllToAllAlgorithms.size() == kAllToAllAlgorithmNames.size());
static_assert(kBroadcastAlgorithms.size() + 1 == kBroadcastAlgorithmNames.size());
static_assert(kReduceAlgorithms.size() == kReduceAlgorithmNames.size());

Algorithm algorithm_of(Collective what, const Params& params) {
  const auto number = params.amount("algorithm");
  switch (what) {
    case Collective::all_reduce:
      return kAllReduceAlgorithms.at(number);
    case Collective::all_gather:
      return kAllGatherAlgorithms.at(number);
    case Collective::reduce_scatter:
      return kReduceScatterAlgorithms.at(number);
    case Collective::all_to_all:
      return kAllToAllAlgorithms.at(number);
    case Collective::broadcast:
      return kBroadcastAlgorithms.at(number - 1);  // LOCO's broadcast is the first name
    case Collective::reduce:
      return kReduceAlgorithms.at(number);
  }
  return Algorithm::ring;
}

std::uint32_t group_of(Collective what, const Params& params) {
  return what == Collective::all_reduce ? params.count("group") : 0;
}

collectives::Schedule schedule_of(Collective what, const Params& params, std::uint32_t nodes) {
  constexpr std::uint64_t kChunks = 64;  // if no size is given
  const auto size = params.amount("size") / params.count("channels");
  const auto chunk = params.amount("chunk");
  const std::uint64_t chunks = chunk == 0 ? std::min(kChunks, size / kWord) : (size + chunk - 1) / chunk;
  return collectives::make_schedule(what, algorithm_of(what, params), nodes, static_cast<std::uint32_t>(chunks),
                                    group_of(what, params));
}

BusBandwidth bus_of(Collective what, std::uint64_t bytes, std::uint64_t n) {
  switch (what) {
    case Collective::all_reduce:
      return {bytes, 2 * (n - 1), n};
    case Collective::all_gather:
    case Collective::reduce_scatter:
    case Collective::all_to_all:
      return {bytes, n - 1, n};
    case Collective::broadcast:
    case Collective::reduce:
      break;
  }
  return {bytes, 1, 1};
}

std::optional<Misfit> misfit(Collective what, const Params& params, std::uint32_t nodes) {
  constexpr std::int64_t kChunksMost = 65'536;
  const std::int64_t rate = params.get("reduce_rate");
  if (rate != 0 && rate < kReduceRateLeast) return Misfit{"reduce_rate", "0bps, or 1Mbps and more"};
  const bool grouped = algorithm_of(what, params) == Algorithm::hierarchical;
  if (grouped && !collectives::fits(what, Algorithm::hierarchical, nodes, group_of(what, params)))
    return Misfit{"group", "nodes of which " + std::to_string(nodes) + " are several groups, from 2 on"};
  if (!grouped && !collectives::fits(what, algorithm_of(what, params), nodes))
    return Misfit{"algorithm", "another one for " + std::to_string(nodes) + " nodes, which are no power of two"};
  if (params.get("chunk") != 0 && params.get("size") / params.get("chunk") > kChunksMost)
    return Misfit{"chunk", "at most " + std::to_string(kChunksMost) + " chunks"};
  const collectives::Schedule schedule = schedule_of(what, params, nodes);
  const std::uint64_t unit = std::uint64_t{schedule.parts} * params.count("channels") * kWord;
  const auto size = params.amount("size");
  if (size < unit)
    return Misfit{"size", "at least " + std::to_string(unit) + "B, a word for each of " +
                              std::to_string(schedule.parts) + " parts of each channel"};
  // Parts that change places must have the same size.
  const bool moves = what == Collective::all_to_all;
  const std::uint64_t whole = moves ? unit : std::uint64_t{params.count("channels")} * kWord;
  if (size % whole != 0) return Misfit{"size", "a multiple of " + std::to_string(whole) + "B"};
  return std::nullopt;
}

}  // namespace

bool plays_schedule(const Params& params) {
  return params.get("algorithm") != 0 || params.get("channels") != 1 || params.get("warmup") != 0;
}

template <Collective What>
void start_schedule(const Setup& setup) {
  const Params& params = setup.params;
  setup.results.bus = bus_of(What, params.amount("size"), setup.hosts.count());
  collectives::start_collective(setup, {.what = What,
                                        .schedule = schedule_of(What, params, setup.hosts.count()),
                                        .name = std::string(kNames.at(static_cast<std::size_t>(What))),
                                        .size = params.amount("size"),
                                        .channels = params.count("channels"),
                                        .iterations = params.count("iterations"),
                                        .warmup = params.count("warmup"),
                                        .reduce_rate = {params.amount("reduce_rate")}});
}
template void start_schedule<Collective::all_reduce>(const Setup&);
template void start_schedule<Collective::all_gather>(const Setup&);
template void start_schedule<Collective::reduce_scatter>(const Setup&);
template void start_schedule<Collective::all_to_all>(const Setup&);
template void start_schedule<Collective::broadcast>(const Setup&);
template void start_schedule<Collective::reduce>(const Setup&);

template <Collective What>
std::optional<Misfit> schedule_misfit(const Params& params, std::uint32_t nodes) {
  return misfit(What, params, nodes);
}
template std::optional<Misfit> schedule_misfit<Collective::all_reduce>(const Params&, std::uint32_t);
template std::optional<Misfit> schedule_misfit<Collective::all_gather>(const Params&, std::uint32_t);
template std::optional<Misfit> schedule_misfit<Collective::reduce_scatter>(const Params&, std::uint32_t);
template std::optional<Misfit> schedule_misfit<Collective::all_to_all>(const Params&, std::uint32_t);
template std::optional<Misfit> schedule_misfit<Collective::broadcast>(const Params&, std::uint32_t);
template std::optional<Misfit> schedule_misfit<Collective::reduce>(const Params&, std::uint32_t);

std::uint32_t collective_send_queue(const Params& /*params*/) {
  return collectives::kCollectiveUnderWay * collectives::kCollectiveStreams;
}

}  // namespace loco::workloads
