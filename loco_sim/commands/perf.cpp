#include "loco_sim/commands/perf.hpp"

#include <array>

namespace loco::commands {

template <>
std::span<const options::Row> rows<Perf>() {
  using options::Kind;
  using options::row;
  using A = Perf;
  using O = perf::Options;

  static constexpr std::array kRows = {
      row<&A::options, &O::test>("test", "", "What to measure; dma_*: bare DMA, as pcie-bench",
                                 {.choices = perf::kTestNames}),
      row<&A::options, &O::connection>("connection", "-c,--connection",
                                       "RC, UC (writes and sends) or UD (sends up to the MTU)",
                                       {.choices = perf::kConnectionNames, .shows_default = true}),
      row<&A::size>("-s,--size", "Bytes of a message", {.kind = Kind::size, .least = 1}),
      row<&A::all>("-a,--all", "All sizes from 2 to 2^23"),
      row<&A::sizes>("size", "--sizes", "These sizes, one after the other: 8,8200,64KiB",
                     {.value = "LIST", .least = 1}),
      row<&A::options, &O::iterations>("iterations", "-n,--iters", "Messages", {.least = 1}),
      row<&A::options, &O::queue_pairs>("queue_pairs", "-q,--qp", "Queue pairs in all",
                                        {.least = 1, .shows_default = true}),
      row<&A::options, &O::threads>("threads", "--threads", "Threads that share them out",
                                    {.least = 1, .shows_default = true}),
      row<&A::options, &O::depth>("depth", "-t,--tx-depth", "Messages of a queue pair under way",
                                  {.least = 1, .shows_default = true}),
      row<&A::options, &O::rx_depth>("rx_depth", "-r,--rx-depth", "Receives of a queue pair",
                                     {.least = 1, .shows_default = true}),
      row<&A::options, &O::post_list>("post_list", "-l,--post_list", "Work requests a doorbell",
                                      {.least = 1, .shows_default = true}),
      row<&A::options, &O::bidirectional>("bidirectional", "-b,--bidirectional",
                                          "Both hosts send; the figures are sums"),
      row<&A::report_both>("--report-both,--report_both", "With -b: a line for each direction"),
      row<&A::options, &O::duration>("duration", "-D,--duration",
                                     "Post for so many seconds of simulated time (or 10ms, 500us), in place of -n",
                                     {.least = 1}),
      row<&A::options, &O::signal_every>("signal_every", "-Q,--cq-mod",
                                         "A completion after so many messages (default 100)", {.least = 1}),
      row<&A::no_peak>("-N,--noPeak", "No peak"),
      row<&A::gbits>("--report_gbits", "Bandwidth in Gb/s"),
      row<&A::options, &O::inline_max>("inline_max", "-I,--inline,--inline_size", "Largest inline message"),
      row<&A::mtu>("-m,--mtu", "MTU, in place of the profile's: 256, 512, 1024, 2048 or 4096"),
      row<&A::hardware>("hardware", "--hardware", "Hardware profile: a name or a file", {.shows_default = true}),
      row<&A::set>("--set", "Overrides one field of the hardware, e.g. --set pcie.generation=4; may be repeated",
                   {.value = "KEY=VALUE", .one_a_time = true}),
      row<&A::options, &O::topology>("topology", "--topology", "back_to_back, star or loopback (both on one host)",
                                     {.choices = perf::kWayNames, .shows_default = true}),
      row<&A::options, &O::region>("region", "--region", "Spread messages over this much memory",
                                   {.kind = Kind::size, .least = 1}),
      row<&A::options, &O::seed>("seed", "--seed", "Seed of the places in --region", {.shows_default = true}),
      row<&A::options, &O::relaxed_ordering>("relaxed_ordering", "--relaxed-ordering",
                                             "Memory that NICs write is registered so"),
      row<&A::options, &O::device_memory>("device_memory", "--device-memory", "The remote memory is on its NIC"),
      row<&A::options, &O::copy>("copy", "--copy", "Both sides copy each message, as MPI does"),
      row<&A::json>("--json", kJson),
  };
  return kRows;
}

std::vector<std::uint64_t> sizes_of(const Perf& a) {
  const std::uint64_t most = perf::longest(a.options.connection, a.options.profile);
  if (a.all) return perf::all_sizes(a.options.test, most);
  if (!a.sizes.empty()) return a.sizes;
  return {a.size.value_or(perf::default_size(a.options.test, most))};
}

}  // namespace loco::commands
