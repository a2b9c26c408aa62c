// The commands of loco-sim. Each returns its exit code: 0 done and consistent, 1 failed. Bad input is an
// exception (text::InputError, trace::TraceError, ...), which main() turns into one line on stderr and 2.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace loco::commands {
struct Corerma;
struct Fit;
struct Generate;
struct Litmus;
struct Perf;
struct Robust;
struct Verify;
}  // namespace loco::commands

namespace loco::cli {

inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;  ///< a check failed, or the run could not go on (deadlock, failed operation)
inline constexpr int kBadInput = 2;
inline constexpr int kInterrupted = 130;  ///< 128 + SIGINT, as a shell says it
inline constexpr int kUnknown = 3;        ///< verify: neither proved nor refuted
inline constexpr int kNotWritten = 4;  ///< verify: the verdict is on stdout, but a file that was asked for is not there

/// Wrong input that only the command can notice, not the readers that it calls.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct RunArguments {
  std::string scenario;
  std::optional<std::uint64_t> seed;
  std::vector<std::string> set;  ///< key=value
  std::string trace;             ///< file, or empty
  std::string pcap;              ///< run: file, or empty
  std::string flows;             ///< run: file, or empty
  std::optional<std::string> check;
  bool json = false;
  bool quiet = false;    ///< nothing on stdout unless something is wrong
  bool why = false;      ///< run: the stages of the median operation of each kind
  bool verbose = false;  ///< run: counters, and on stderr the time that it took
  bool strong = false;   ///< run: if something is wrong, again with accesses one by one: is it one of ordering?
};
int run_command(const RunArguments& arguments);
int validate_command(const RunArguments& arguments);

struct CheckArguments {
  std::string trace;
  std::vector<std::string> models;
  std::string dot;     ///< file, or empty
  bool tower = false;  ///< also what each library call promises
  bool json = false;
  bool quiet = false;
};
int check_command(const CheckArguments& arguments);

struct ListArguments {
  std::string what;
  std::string name;  ///< the one to show in full, or empty
  bool json = false;
};
int list_command(const ListArguments& arguments);

int schema_command(bool reference);

/// Writes a project into a folder that is not there yet, or empty.
int new_command(const std::string& folder);

struct ExportArguments {
  std::string trace;
  std::string to;
  std::string out;                   ///< file, or empty for stdout
  std::optional<std::size_t> limit;  ///< of drawings: subevents; 200 when left out
};
int trace_export_command(const ExportArguments& arguments);

int litmus_command(const commands::Litmus& arguments);

struct ExecArguments {
  std::string scenario;               ///< file, or empty
  std::vector<std::string> programs;  ///< what came behind `--`: words, a lone comma between programs
  std::string hardware = "cx5-roce-100g";
  std::string topology = "star";
  std::uint32_t hosts = 2;
  std::optional<std::uint64_t> seed;  ///< 1, or the scenario's
  std::vector<std::string> set;       ///< key=value, of the hardware, or of the scenario
  std::string output;                 ///< folder, or empty
  bool prefix = false;
  std::string record;   ///< file, or empty
  std::string compare;  ///< file, or empty
  std::string trace;    ///< file, or empty
  bool keep_going = false;
  bool check = false;
  bool libraries = false;
  bool lockstep = false;
  bool every_packet = false;
  bool terminal = false;
  std::optional<std::uint32_t> debug;  ///< host
  bool json = false;
  bool quiet = false;
};
int exec_command(const ExecArguments& arguments);

int generate_command(const commands::Generate& arguments);

int corerma_command(const commands::Corerma& arguments);

int fit_command(const commands::Fit& arguments);

int robust_command(const commands::Robust& arguments);

struct SoundnessArguments {
  std::string library;
  std::string bug;  ///< barrier_without_fence, guards_forward, ..., or empty
  std::string lock_class = "strong";
  int threads = 2;
  int calls = 3;
  std::optional<int> ring_cells;  ///< rbl
  bool guards = false;            ///< msw: guards in place of a hash
  bool transitive = false;        ///< bal: the barrier that LOCO ships
  bool promises = false;          ///< Def. 3.13 in every execution
  std::uint64_t max_clients = 0;
  std::optional<std::uint64_t> max_executions;  ///< of a client, with `promises`
  double max_seconds = 0;
  bool json = false;
  bool times = false;  ///< in JSON: how long it took
};
int soundness_command(const SoundnessArguments& arguments);

int perf_command(const commands::Perf& arguments);

struct PerfValidateArguments {
  std::string rows;  ///< file; empty: the one that comes with the simulator
  std::string page;  ///< file to write; empty: stdout
  bool json = false;
};
int perf_validate_command(const PerfValidateArguments& arguments);

int verify_command(const commands::Verify& arguments);

struct SweepArguments {
  std::string scenario;
  std::optional<std::uint64_t> jobs;
  std::optional<std::uint64_t> seeds;
  std::string out;               ///< file, or empty for stdout
  std::vector<std::string> set;  ///< key=value
  bool restart = false;
  bool for_spreadsheets = false;
  bool quiet = false;
};
/// Becomes the Python package's program; returns only by throwing.
int sweep_command(const SweepArguments& arguments);

struct ConformanceArguments {
  std::string device;
  std::vector<std::string> files;
  std::vector<std::string> tests;
  std::uint64_t runs = 2000;
  std::uint64_t seed = 1;
  bool json = false;
};
int conformance_command(const ConformanceArguments& arguments);

struct ReportArguments {
  std::string result;
  std::string out;
  std::optional<std::uint64_t> seed;
  std::vector<std::string> set;  ///< key=value
};
/// As sweep_command().
int report_command(const ReportArguments& arguments);

/// Splits `rdmawait,sv`; throws on a word that names no library.
[[nodiscard]] std::vector<std::string> library_names(const std::vector<std::string>& lists);

}  // namespace loco::cli
