#include "loco_sim/launch/launch.hpp"

#include <charconv>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/process/process_transport.hpp"
#ifdef LOCO_HAS_LIBIBVERBS
#include "loco_sim/libibverbs/verbs_transport.hpp"
#endif
#ifdef LOCO_HAS_LIBFABRIC
#include "loco_sim/libfabric/fabric_transport.hpp"
#endif

namespace loco {

namespace {

NodeId rank_of(const NetworkOptions& options) {
  if (options.rank) return *options.rank;
  const char* const given = std::getenv("LOCO_RANK");
  if (given == nullptr) throw setup_error("which node is this one? expected a rank, or LOCO_RANK in the environment");
  const std::string_view text = given;
  NodeId rank = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
  if (error != std::errc{} || end != text.data() + text.size())
    throw setup_error("LOCO_RANK is '" + std::string(text) + "': expected a number");
  return rank;
}

process::Options process_options(const NetworkOptions& options) {
  if (options.hosts.empty())
    throw setup_error("no host list: expected the nodes' names or addresses, as 'node0,node1'");
  process::Options made{.hosts = process::parse_host_list(options.hosts),
                        .node = rank_of(options),
                        .patience_ms = options.patience_ms,
                        .keep_alive_ms = options.keep_alive_ms};
  return made;
}

std::unique_ptr<process::ProcessTransport> make(const NetworkOptions& options) {
#ifdef LOCO_HAS_LIBIBVERBS
  if (options.transport == "verbs")
    return std::make_unique<libibverbs::VerbsTransport>(
        process_options(options), libibverbs::DeviceOptions{.name = options.device, .gid_index = options.gid_index});
#endif
#ifdef LOCO_HAS_LIBFABRIC
  if (options.transport == "libfabric")
    return std::make_unique<libfabric::FabricTransport>(process_options(options), options.provider);
#endif
  std::string known;
  for (const std::string& network : networks()) known += (known.empty() ? "" : ", ") + network;
  throw setup_error("transport '" + options.transport + "': this build has " + (known.empty() ? "none" : known) +
                    (options.transport == "verbs"       ? " (verbs needs libibverbs-dev)"
                     : options.transport == "libfabric" ? " (libfabric needs libfabric-dev)"
                                                        : ""));
}

}  // namespace

std::vector<std::string> networks() {
  std::vector<std::string> all;
#ifdef LOCO_HAS_LIBIBVERBS
  all.emplace_back("verbs");
#endif
#ifdef LOCO_HAS_LIBFABRIC
  all.emplace_back("libfabric");
#endif
  return all;
}

void run_on_network(const NetworkOptions& options, const std::function<void(Transport&)>& program) {
  make(options)->run(program);
}

}  // namespace loco
