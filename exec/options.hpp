// The options of a run of foreign programs, and its result.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "nic_model/config.hpp"
#include "nic_model/counters.hpp"
#include "sim/time.hpp"
#include "trace/trace.hpp"

namespace loco::exec {

/// A program, as started on one host.
struct ProgramSpec {
  std::vector<std::string> command;                                ///< name or path, then its arguments
  std::vector<std::pair<std::string, std::string>> environment{};  ///< added to the user's
  std::optional<sim::Duration> after{};  ///< when it starts; by default 1 ms after the previous host's
};

/// Where the programs' standard output goes.
enum class Output : std::uint8_t {
  inherited,  ///< this process's output
  prefixed,   ///< this process's output, each line after `host 0: `
  files,      ///< out.0, err.0, out.1, ... in Options::output_folder
  captured,   ///< the result
};

/// The cable of a host's port fails or comes back.
struct PortChange {
  std::uint32_t host = 0;
  std::uint32_t nic = 0;  ///< index among the host's NICs
  sim::SimTime at{};
  bool up = false;
};

struct Options {
  nic::SystemConfig system;
  std::vector<ProgramSpec> programs;                            ///< by host; an empty command: no program
  std::vector<std::pair<std::uint32_t, sim::SimTime>> stops{};  ///< hosts that lose power
  std::vector<PortChange> ports{};                              ///< system.network.changes as programs are told of it
  std::uint64_t seed = 1;
  Output output = Output::inherited;
  std::string output_folder;
  std::string record;   ///< file for all changes of control, or empty
  std::string compare;  ///< a recorded file to compare with, or empty
  bool infiniband = false;
  bool lockstep = false;      ///< posts change control at once
  bool terminal = false;      ///< standard input is one to programs
  bool every_packet = false;  ///< is simulated: nothing of long messages is left out (leaps.hpp)
  bool checks = false;        ///< of buffers that requests still work on
  bool trace = false;         ///< Result::trace
  std::uint64_t trace_bytes_max = ~std::uint64_t{0};  ///< in memory: a run whose trace takes more ends
  bool keep_going = false;                            ///< also when a program has been ended by a signal
  std::optional<std::uint32_t> debug{};               ///< host whose program waits for a debugger
  std::uint64_t events_max = ~std::uint64_t{0};       ///< a run that takes more ends
  double wall_seconds_max = 0;                        ///< the same; 0: no limit
  std::uint64_t memory_max = 0;                       ///< bytes that this process takes, the same; 0: no limit
  std::string shim_folder;                            ///< where libibverbs.so.1 and its companions are
};

struct ProgramResult {
  std::uint32_t host = 0;
  std::vector<std::string> command;
  int status = 0;        ///< the argument of exit()
  int signal = 0;        ///< the signal that ended it; 0: none
  bool stopped = false;  ///< its host has stopped
  sim::SimTime ended{};
  std::string out, err;  ///< with Output::captured only
};

/// An address in a program's code.
struct CodePlace {
  std::string file;          ///< program or library
  std::uint64_t offset = 0;  ///< in the file; for a program at fixed addresses the address
};

/// A use of a buffer while a request still used it.
struct Race {
  std::uint32_t host = 0;
  std::string text;  ///< with the place of the request between two @
  CodePlace where{}, request{};
};

struct Result {
  std::vector<ProgramResult> programs;
  sim::SimTime simulated{};
  double wall_seconds = 0;
  std::vector<std::pair<std::string, std::uint64_t>> changes;  ///< changes of control by request, without zeros
  std::uint64_t changes_of_control = 0;
  nic::Counters counters;
  std::uint64_t packets_left_out = 0;          ///< of counters.packets_sent: not simulated (leaps.hpp)
  std::vector<std::string> spins;              ///< on memory: host, address, instruction
  std::vector<std::string> unsupported;        ///< what programs asked for and did not get
  std::vector<std::string> approximations;     ///< what is done in another way than hardware does it
  std::vector<std::string> not_deterministic;  ///< why another run may differ
  std::vector<Race> races;                     ///< with Options::checks; by their places
  std::vector<std::string> mistakes;           ///< the same, as lines with source files
  std::optional<trace::Trace> trace;           ///< with Options::trace
  std::vector<CodePlace> trace_places{};       ///< of its verbs->places, from 1 on
  bool accesses_told = false;                  ///< some program was compiled to tell of its loads and stores
  std::string fingerprint;                     ///< of all changes of control
  std::string failure;                         ///< why the run ended before its programs; empty: they all ended
  bool interrupted = false;                    ///< by SIGINT
  std::string difference;                      ///< the first difference to the recorded run; empty: none
  int status = 0;                              ///< exit status of the whole run
};

}  // namespace loco::exec
