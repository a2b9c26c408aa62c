#include "loco_sim/cli/output.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <ostream>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <unistd.h>

#include "text/input_error.hpp"
#include "text/json.hpp"
#include "text/shown.hpp"
#include "trace/whole_file.hpp"

namespace loco::cli {

namespace {

using Json = nlohmann::ordered_json;

std::string scaled(double value, double step, const std::vector<std::string_view>& units) {
  std::size_t unit = 0;
  while (value >= step && unit + 1 < units.size()) {
    value /= step;
    ++unit;
  }
  const int decimals = value >= 100 ? 1 : value >= 10 ? 2 : 3;
  return fmt::format("{:.{}f} {}", value, decimals, units[unit]);
}

Json step_json(const model::Step& step) {
  return {{"thread", step.thread},
          {"thread_name", step.thread_name},
          {"library", std::string(trace::name(step.owner))},
          {"call_id", step.call},
          {"call", step.call_text},
          {"subevent_id", step.subevent},
          {"subevent", step.subevent_text},
          {"rule", std::string(model::name(step.rule))},
          {"edge", step.edge_text}};
}

Json counted(const sim::Counters& c) {
  Json out = Json::object();
  for (const std::string& name : c.names()) out[name] = c.value(name);
  return out;
}

Json counted(const nic::Counters& c) {
  Json out = Json::object();
  for (const nic::NamedCounter& counter : nic::kCounters) out[counter.name] = c.*counter.member;
  return out;
}

constexpr std::array<std::string_view, 3> kSchedules = {"timed", "random", "adversarial"};

/// https://no-color.org: any value but an empty one.
bool colours() {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return isatty(STDOUT_FILENO) == 1 && (no_colour == nullptr || *no_colour == '\0') &&
         (terminal == nullptr || std::string_view(terminal) != "dumb");
}

}  // namespace

std::string painted(const std::string& verdict) {
  if (!colours()) return verdict;
  std::string out;
  for (std::size_t at = 0; at < verdict.size();) {
    const std::size_t end = std::min(verdict.find('\n', at), verdict.size() - 1) + 1;
    const std::string_view line = std::string_view(verdict).substr(at, end - at);
    const std::string_view word = line.substr(0, line.find(':'));
    const char* colour = word == "consistent"     ? "\x1b[32m"
                         : word == "inconsistent" ? "\x1b[1;31m"
                         : word == "undecided"    ? "\x1b[33m"
                                                  : nullptr;
    out += colour == nullptr ? std::string(line) : fmt::format("{}{}\x1b[0m{}", colour, word, line.substr(word.size()));
    at = end;
  }
  return out;
}

std::string table(const std::vector<std::vector<std::string>>& raw_rows, bool right_aligned) {
  std::vector<std::vector<std::string>> rows = raw_rows;
  for (auto& row : rows)
    for (std::string& cell : row) cell = text::shown(cell);
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) line += "  ";
      line +=
          right_aligned && i > 0 ? fmt::format("{:>{}}", row[i], widths[i]) : fmt::format("{:<{}}", row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string time_text(std::int64_t ps) {
  if (ps < 1'000) return fmt::format("{} ps", ps);
  return scaled(static_cast<double>(ps) * 1e-3, 1e3, {"ns", "us", "ms", "s"});
}

std::string rate_text(double per_second) {
  std::string text = scaled(per_second, 1e3, {"", "k", "M", "G"});
  if (text.back() == ' ') text.pop_back();  // no prefix
  return text;
}

Json to_json(const model::Verdict& verdict) {
  Json libraries = Json::array();
  for (const model::LibraryResult& result : verdict.results) {
    Json violations = Json::array();
    for (const model::Violation& violation : result.violations) {
      Json cycle = Json::array();
      for (const model::Step& step : violation.cycle) cycle.push_back(step_json(step));
      violations.push_back(
          {{"rule", std::string(model::name(violation.rule))}, {"message", violation.message}, {"cycle", cycle}});
    }
    Json library = {{"library", std::string(trace::name(result.library))}, {"consistent", result.consistent}};
    if (result.undecided) library["undecided"] = true;
    library["calls"] = result.calls;
    library["subevents"] = result.subevents;
    library["violations"] = violations;
    libraries.push_back(std::move(library));
  }
  Json json = {{"consistent", verdict.consistent()}, {"subevents", verdict.subevents}, {"libraries", libraries}};
  if (const auto unused = verdict.without_calls(); !unused.empty()) json["without_calls"] = unused;
  return json;
}

Json busiest_json(const std::vector<nic::Usage>& busiest) {
  Json out = Json::array();
  for (const nic::Usage& usage : busiest) out.push_back({{"resource", usage.resource}, {"share", usage.share}});
  return out;
}

namespace {
/// One of several workloads.
Json part_json(const PartResult& part) {
  Json out = {{"name", part.name}, {"kind", part.kind}, {"median_ps", part.median_ps}};
  if (part.bus.bytes == 0) return out;
  if (part.alone_ps != 0) {
    out["alone_ps"] = part.alone_ps;
    out["times_alone"] = static_cast<double>(part.median_ps) / static_cast<double>(part.alone_ps);
  }
  out["algbw_gb_per_s"] = algorithm_bandwidth(part.bus, part.median_ps);
  out["busbw_gb_per_s"] = bus_bandwidth(part.bus, part.median_ps);
  return out;
}
}  // namespace

Json to_json(const scenario::Scenario& scenario, const RunResult& result) {
  Json operations = Json::array();
  for (const OperationTimes& operation : result.operations) {
    const LatencySummary s = summarise(operation.samples_ps);
    operations.push_back({{"name", operation.name},
                          {"count", s.count},
                          {"min_ps", s.min_ps},
                          {"median_ps", s.median_ps},
                          {"p99_ps", s.p99_ps},
                          {"max_ps", s.max_ps}});
  }
  Json out = {{"scenario", scenario.name},
              {"seed", scenario.seed},
              {"hardware", scenario.hardware_name},
              {"nodes", scenario.nodes},
              {"workload", scenario.workload},
              {"schedule", kSchedules.at(static_cast<std::size_t>(scenario.schedule))},
              {"faults", scenario.faults},
              {"operations", operations},
              {"operations_done", result.operations_done},
              {"operations_per_second", result.operations_per_second()},
              {"measured_ps", result.measured_ps},
              {"simulated_ps", result.simulated_ps},
              {"counters", counted(result.counters)},
              {"workload_counters", counted(result.workload_counters)}};
  if (result.bus.bytes != 0) {
    out["algbw_gb_per_s"] = result.algorithm_bandwidth();
    out["busbw_gb_per_s"] = result.bus_bandwidth();
  }
  for (const SizeRow& row : result.sizes)
    out["sizes"].push_back({{"size", row.size},
                            {"count", row.count},
                            {"time_ps", row.time_ps},
                            {"algbw_gb_per_s", row.algbw},
                            {"busbw_gb_per_s", row.busbw},
                            {"wrong", row.wrong}});
  for (const PartResult& part : result.parts) out["workloads"].push_back(part_json(part));
  if (!result.busiest.empty()) {
    out["limited_by"] = nic::limited_by(result.busiest);
    out["busiest"] = busiest_json(result.busiest);
  }
  if (!result.hints.empty()) out["hints"] = result.hints;
  if (!result.broken.empty()) out["broken"] = result.broken;
  if (result.verdict) out["check"] = to_json(*result.verdict);
  return out;
}

Json counters_json(const RunResult& result) {
  Json out = counted(result.counters);
  out.update(counted(result.workload_counters));
  return out;
}

void require_place_of(const std::string& file, const text::Place& said, const std::string& key) {
  const auto refuse = [&](const char* expected, const char* found) {
    const bool in_scenario = said.line > 0;
    throw text::InputError(in_scenario ? said : text::Place{file, 0, 0}, in_scenario ? key : "", expected, found);
  };
  const std::filesystem::path path = file;
  const std::filesystem::path folder = path.parent_path();
  std::error_code ignored;
  if (file.find('\0') != std::string::npos) refuse("a name without NUL", "one with it");
  if (path.filename().string().size() > NAME_MAX || file.size() >= PATH_MAX) {
    const std::string expected =
        fmt::format("a name of at most {} bytes in a path of at most {}", NAME_MAX, PATH_MAX - 1);
    refuse(expected.c_str(), "a longer one");
  }
  if (std::filesystem::is_directory(file, ignored)) refuse("a file", "a folder");
  if (!folder.empty() && !std::filesystem::is_directory(folder, ignored))
    refuse("a file in a folder that is there", "no such folder");
  const bool there = std::filesystem::exists(file, ignored);
  if (!file.empty() && access(there ? file.c_str() : (folder.empty() ? "." : folder.c_str()), W_OK) != 0)
    refuse(there ? "a file that may be written to" : "a folder that may be written to", "one that may not");
}

void write_file(const std::string& path, const std::string& text) {
  try {
    trace::write_whole_file(path, [&text](std::ostream& out) { out << text; });
  } catch (const std::system_error& error) {  // no bad input, which others of its kind are
    throw std::runtime_error(error.what());
  }
}

void have_standard_files() {
  std::signal(SIGXFSZ, SIG_IGN);
  for (const int file : std::array{STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(file, F_GETFD) >= 0) continue;
    // Results that nobody can have are an error, messages are not. Programs that are called find things as they were.
    const int mode = file == STDERR_FILENO ? O_WRONLY : O_RDONLY;
    if (open("/dev/null", mode | O_CLOEXEC) != file) std::abort();
  }
}

void say(const std::string& text) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);  // that nobody reads it ends nothing
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
  std::fflush(stderr);
  std::signal(SIGPIPE, before);
}

void print(const std::string& text) {
  const std::string_view newline = !text.empty() && text.back() == '\n' ? "" : "\n";
  const std::string whole = text + std::string(newline);  // a name in it may have any character, NUL too
  if (std::fwrite(whole.data(), 1, whole.size(), stdout) != whole.size() || std::fflush(stdout) == EOF) {
    throw std::runtime_error("cannot write to stdout");
  }
}

Printed::Printed() : std::ostream(nullptr) {
  rdbuf(&buffer_);
  exceptions(std::ios::badbit);  // an exception of the buffer leaves the stream
}

void Printed::finish() { buffer_.write(); }

Printed::Buffer::Buffer() : text_(std::size_t{1} << 16U) { setp(text_.data(), text_.data() + text_.size()); }

void Printed::Buffer::write() {
  const auto size = static_cast<std::size_t>(pptr() - pbase());
  setp(text_.data(), text_.data() + text_.size());
  if (std::fwrite(text_.data(), 1, size, stdout) != size || std::fflush(stdout) == EOF)
    throw std::runtime_error("cannot write to stdout");
}

Printed::Buffer::int_type Printed::Buffer::overflow(int_type c) {
  write();
  return traits_type::eq_int_type(c, traits_type::eof()) ? traits_type::not_eof(c)
                                                         : sputc(traits_type::to_char_type(c));
}

int Printed::Buffer::sync() {
  write();
  return 0;
}

namespace {
/// JSON may hold control characters beyond ASCII as they are; a terminal may not. Outside of texts there are none.
std::string without_controls(const std::string& json) {
  std::string out;
  for (std::size_t from = 0; from <= json.size();) {
    const std::size_t end = std::min(json.find('\n', from), json.size());
    std::string line = json.substr(from, end - from);
    // DEL is the one control of ASCII that is left, and JSON knows no \x
    for (std::size_t at = 0; (at = line.find('\x7f', at)) != std::string::npos;) line.replace(at, 1, "\\u007f");
    out += text::shown(line) + "\n";
    from = end + 1;
  }
  return out;
}
}  // namespace

void print(const Json& json) { print(without_controls(text::json_text_replacing(json, 2))); }

}  // namespace loco::cli
