// A scenario: one run as data. Reads YAML into a validated value with defaults filled and units parsed. Every mistake
// is refused with its place before anything runs.
//
// The file format is described in docs/scenario.md; the table of its keys is scenario_table(). Throws InputError. The
// result depends only on the text, the overrides and the hardware profiles named.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fabric/config.hpp"
#include "loco_sim/scenario/settings.hpp"
#include "loco_sim/scenario/sweep.hpp"
#include "loco_sim/transport/cluster.hpp"
#include "loco_sim/workloads/workload.hpp"
#include "model/check.hpp"
#include "nic_model/config.hpp"
#include "nic_model/profile.hpp"
#include "trace/trace.hpp"

namespace loco::scenario {

/// `--set key=value`.
struct Override {
  std::string key;            ///< dotted
  std::string value;          ///< YAML
  std::string argument = {};  ///< how error messages name it; empty: `--set key=value`
};

/// A file that a key of a scenario names, or a base of such a file.
struct InputFile {
  std::string key;
  std::string file;
};

/// Writes a run's packets to a file for Wireshark (loco_sim/run/capture.hpp).
struct CaptureOptions {
  std::string path;                ///< empty: no file
  std::vector<std::string> links;  ///< such as `s0-h1`, one direction each; empty: all
  std::uint32_t payload = 64;      ///< bytes of payload that are kept
  bool nanoseconds = false;        ///< times in nanoseconds instead of picoseconds
};

/// An entry of `workloads`.
struct PartWorkload {
  std::string kind;
  workloads::Params parameters{{}};
  workloads::Part part{};
};

struct Scenario {
  std::string file;
  std::vector<InputFile> inputs;  ///< all other files that it was read from: profiles, a platform
  std::string name;
  std::string description;
  std::uint64_t seed = 1;
  std::string hardware_name;
  nic::HardwareProfile hardware;  ///< with `fabric.link` and hardware faults applied
  nic::HostsConfig hosts;         ///< hosts with other hardware or several NICs
  fabric::Topology topology = fabric::Topology::star;
  fabric::Config network;  ///< shape, options, failures and seed
  std::uint32_t nodes = 2;
  std::vector<NodeStop> stops;          ///< hosts that stop
  std::vector<std::uint32_t> path_mtu;  ///< of each host's queue pairs; 0: that of the links; empty: all 0
  Service service;                      ///< of the queue pairs of the workload
  std::vector<fabric::CongestionSettings> congestion;  ///< of workloads that have their own, numbered from 1
  std::vector<nic::TransportOptions> transports;       ///< the same
  std::string workload;                                ///< the workload's kind; "workloads": several
  workloads::Params parameters{{}};                    ///< of a single workload
  std::vector<PartWorkload> parts;                     ///< the entries of several workloads; otherwise empty
  std::vector<NodeId> ranks;                           ///< of a collective: its nodes by rank; empty: all
  std::vector<std::int64_t> sizes;  ///< of a collective: one run for each; empty: its parameter `size`
  Settings settings;  ///< all keys of scenario_table() and workload_keys() that have a value: the configuration
  Schedule schedule = Schedule::timed;
  FastForward fast_forward = FastForward::off;
  bool trace_subevents = true;
  bool trace_activities = false;    ///< packets, TLPs, ...
  sim::Duration series_interval{};  ///< zero: no series
  std::string trace_path;           ///< empty: no file
  CaptureOptions capture;
  std::vector<trace::Library> check;  ///< sorted, without duplicates
  bool check_tower = false;           ///< also check what each library promises against the level below
  std::vector<std::string> faults;    ///< all faults that are switched on
  workloads::LibraryFaults library_faults;
  std::uint64_t events_max = 0;   ///< limit on the events of a run, beyond which it is taken to be stuck
  std::uint32_t threads = 0;      ///< sim.threads; 0: not given
  std::uint64_t memory_max = 0;   ///< bytes; 0: a share of free memory
  sim::Duration wall_time_max{};  ///< in real time; 0: no limit
  Sweep sweep;
};

/// `path_or_name` is a file or the name of a scenario that comes with the simulator (data.hpp).
[[nodiscard]] Scenario load_scenario(const std::string& path_or_name, const std::vector<Override>& overrides = {});
[[nodiscard]] Scenario parse_scenario(const std::string& text, const std::string& file,
                                      const std::vector<Override>& overrides = {});

/// The hardware with each transport that queue pairs of the scenario have: one where workloads have none of their own.
[[nodiscard]] std::vector<nic::HardwareProfile> hardware_in_use(const Scenario& scenario);

/// Splits `key=value`. Throws text::InputError if there is no `=`.
[[nodiscard]] Override parse_set(const std::string& argument);

/// All options except the parameters of workloads and those of hardware profiles.
[[nodiscard]] const Table& scenario_table();
/// The same with the parameters of a kind of workload. Throws std::out_of_range for an unknown kind.
[[nodiscard]] Table scenario_table(const std::string& kind);
/// The option `workload.kind`.
[[nodiscard]] const Option& workload_kind_option();
/// Options of collectives besides their parameters, which are read from the document.
[[nodiscard]] std::span<const Option> collective_options();
/// Options that the queue pairs of any workload may have of their own.
[[nodiscard]] std::span<const Option> service_options();
/// The parameters of a workload, below `workload.`. Throws std::out_of_range for an unknown kind.
[[nodiscard]] std::span<const Option> workload_options(const std::string& kind);
[[nodiscard]] std::vector<std::string> workload_kinds();
[[nodiscard]] std::string workload_description(const std::string& kind);
[[nodiscard]] std::vector<std::string> topology_kinds();
/// The hardware's faults, then the libraries'.
[[nodiscard]] std::vector<std::string> fault_names();
/// What the fault does. Throws std::out_of_range for an unknown name.
[[nodiscard]] std::string fault_description(const std::string& name);

}  // namespace loco::scenario
