// A scenario: one run as data. YAML in, a validated value out: defaults filled, units parsed, every mistake refused
// with its place before anything happens.
//
// The file format is on docs/scenario.md; the table of its keys is scenario_table(). Throws InputError. Reading is a
// function of the text, the overrides and the hardware profiles named.
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
  std::string argument = {};  ///< what mistakes in it name; empty: `--set key=value`
};

/// A file that a key of a scenario names, or that one of those starts from.
struct InputFile {
  std::string key;
  std::string file;
};

/// A run's packets as a file for Wireshark (loco_sim/run/capture.hpp).
struct CaptureOptions {
  std::string path;                ///< empty: no file
  std::vector<std::string> links;  ///< `s0-h1`, a direction each; empty: all
  std::uint32_t payload = 64;      ///< bytes of it that are kept
  bool nanoseconds = false;        ///< times in nanoseconds; else picoseconds
};

/// One of `workloads`.
struct PartWorkload {
  std::string kind;
  workloads::Params parameters{{}};
  workloads::Part part{};
};

struct Scenario {
  std::string file;
  std::vector<InputFile> inputs;  ///< all others that it was read from: profiles, a platform
  std::string name;
  std::string description;
  std::uint64_t seed = 1;
  std::string hardware_name;
  nic::HardwareProfile hardware;  ///< `fabric.link` and hardware faults applied
  nic::HostsConfig hosts;         ///< who has other hardware, or several NICs
  fabric::Topology topology = fabric::Topology::star;
  fabric::Config network;  ///< shape, options, failures and seed
  std::uint32_t nodes = 2;
  std::vector<NodeStop> stops;          ///< hosts that stop
  std::vector<std::uint32_t> path_mtu;  ///< of each host's queue pairs; 0: as much as links carry; empty: all 0
  Service service;                      ///< of the workload's queue pairs
  std::vector<fabric::CongestionSettings> congestion;  ///< of workloads that have their own, numbered from 1
  std::vector<nic::TransportOptions> transports;       ///< the same
  std::string workload;                                ///< its kind; "workloads": several
  workloads::Params parameters{{}};                    ///< of the workload, where it is one
  std::vector<PartWorkload> parts;                     ///< where there are several; else empty
  std::vector<NodeId> ranks;                           ///< of a collective: its nodes in their order; empty: all
  std::vector<std::int64_t> sizes;  ///< of a collective: one run for each; empty: of its parameter `size`
  Settings settings;  ///< every key of scenario_table() and workload_keys() that has a value: the configuration
  Schedule schedule = Schedule::timed;
  FastForward fast_forward = FastForward::off;
  bool trace_subevents = true;
  bool trace_activities = false;    ///< packets, TLPs, ...
  sim::Duration series_interval{};  ///< zero: none
  std::string trace_path;           ///< empty: no file
  CaptureOptions capture;
  std::vector<trace::Library> check;  ///< ascending, no duplicates
  bool check_tower = false;           ///< also what each library promises against the level below
  std::vector<std::string> faults;    ///< all that are switched on
  workloads::LibraryFaults library_faults;
  std::uint64_t events_max = 0;   ///< a run that needs more has gone astray
  std::uint32_t threads = 0;      ///< sim.threads; 0: not said
  std::uint64_t memory_max = 0;   ///< bytes; 0: a part of what is free
  sim::Duration wall_time_max{};  ///< of the clock on the wall; 0: as long as it takes
  Sweep sweep;
};

/// A file, or the name of a scenario that comes with the simulator (data.hpp).
[[nodiscard]] Scenario load_scenario(const std::string& path_or_name, const std::vector<Override>& overrides = {});
[[nodiscard]] Scenario parse_scenario(const std::string& text, const std::string& file,
                                      const std::vector<Override>& overrides = {});

/// The hardware with each transport that queue pairs of the scenario have: one where workloads have none of their own.
[[nodiscard]] std::vector<nic::HardwareProfile> hardware_in_use(const Scenario& scenario);

/// Splits `key=value`; throws text::InputError when there is no `=`.
[[nodiscard]] Override parse_set(const std::string& argument);

/// Every option but the parameters of workloads and those of hardware profiles.
[[nodiscard]] const Table& scenario_table();
/// The same with the parameters of a kind of workload; throws std::out_of_range for an unknown one.
[[nodiscard]] Table scenario_table(const std::string& kind);
/// `workload.kind`.
[[nodiscard]] const Option& workload_kind_option();
/// What collectives have beside their parameters; read from the document.
[[nodiscard]] std::span<const Option> collective_options();
/// What the queue pairs of any workload may have of their own.
[[nodiscard]] std::span<const Option> service_options();
/// The parameters of a workload, which lie below `workload.`; throws std::out_of_range for an unknown kind.
[[nodiscard]] std::span<const Option> workload_options(const std::string& kind);
[[nodiscard]] std::vector<std::string> workload_kinds();
[[nodiscard]] std::string workload_description(const std::string& kind);
[[nodiscard]] std::vector<std::string> topology_kinds();
/// Hardware's faults, then the libraries'.
[[nodiscard]] std::vector<std::string> fault_names();
/// What goes wrong under it; throws std::out_of_range for an unknown name.
[[nodiscard]] std::string fault_description(const std::string& name);

}  // namespace loco::scenario
