#include "loco_sim/cli/file_kind.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <string_view>
#include <system_error>
#include <vector>

#include "text/shown.hpp"
#include "trace/codec.hpp"

namespace loco::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBeginBytes = std::size_t{1} << 16U;

enum class Kind { unknown, folder, trace, litmus, herd, scenario, profile, result, rows, program, platform, page };

std::string begin_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string text(kBeginBytes, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

/// Has a line, not indented, that begins with the key? Flow style and JSON: the key in quotes, or after `{` or `, `.
bool has_key(std::string_view text, std::string_view key) {
  const std::vector<std::string> forms = {fmt::format("\n{}:", key), fmt::format("\"{}\":", key),
                                          fmt::format("{{{}:", key), fmt::format("\n\"{}\" :", key)};
  return text.starts_with(fmt::format("{}:", key)) || std::ranges::any_of(forms, [text](const std::string& form) {
           return text.find(form) != std::string_view::npos;
         });
}

Kind kind_of(const std::string& file) {
  std::error_code ignored;
  if (fs::is_directory(file, ignored)) return Kind::folder;
  if (!fs::is_regular_file(file, ignored)) return Kind::unknown;
  const fs::path path = file;
  const std::string text = begin_of(path);
  const std::string_view blank = " \t\r\n";
  const std::string_view first = std::string_view(text).substr(std::min(text.find_first_not_of(blank), text.size()));
  if (text.starts_with(trace::codec::kMagic)) return Kind::trace;
  if (path.extension() == ".rma") return Kind::program;
  if (path.extension() == ".litmus") return Kind::herd;
  if (first.starts_with("<!doctype html") || first.starts_with("<html")) return Kind::page;
  if (first.starts_with('<') && text.find("<platform") != std::string::npos) return Kind::platform;
  if (has_key(text, "operations_done") && has_key(text, "counters")) return Kind::result;
  if (first.starts_with("{\"point\"") || first.starts_with("point,")) return Kind::rows;
  if (has_key(text, "threads") && has_key(text, "locations")) return Kind::litmus;
  if (has_key(text, "workload") || has_key(text, "workloads")) return Kind::scenario;
  constexpr std::array kParts = {"nic", "pcie", "cpu", "link"};
  const auto parts = std::ranges::count_if(kParts, [&](const char* part) { return has_key(text, part); });
  return parts >= 2 || (parts == 1 && has_key(text, "base")) ? Kind::profile : Kind::unknown;
}

struct Answer {
  Kind kind;
  std::string_view what;
  std::string_view use;                        ///< {} is the file
  std::array<std::string_view, 4> taken_by{};  ///< commands that take it
};

constexpr std::array kAnswers = {
    Answer{Kind::folder, "a folder", "", {"litmus", "robust"}},
    Answer{Kind::trace, "a trace", "loco-sim check {}", {"check", "trace export"}},
    Answer{Kind::litmus, "a litmus test", "loco-sim litmus {}", {"litmus", "robust", "conformance"}},
    Answer{Kind::herd, "a litmus test of herd", "loco-sim litmus {}", {"litmus", "robust", "conformance"}},
    Answer{Kind::scenario, "a scenario", "loco-sim run {}", {"run", "validate", "sweep", "report"}},
    Answer{Kind::profile, "a hardware profile", "`hardware: {}` in a scenario, or loco-sim list hardware {}", {"list"}},
    Answer{Kind::result, "a result", "loco-sim report {} -o FILE.html", {"report"}},
    Answer{Kind::rows, "the rows of a sweep", "loco-sim sweep SCENARIO --out {} goes on with them", {}},
    Answer{Kind::program, "a program of verbs", "loco-sim verify {}", {"verify", "robust"}},
    Answer{
        Kind::platform, "a SimGrid platform", "`platform: {}` in a scenario with `fabric: {{model: flow}}`", {"list"}},
    Answer{Kind::page, "a page, for a browser", "", {}},
};

}  // namespace

std::string what_it_is(const std::string& command, const std::string& file) {
  if (file.find('\0') != std::string::npos) return "";
  const Kind kind = kind_of(file);
  const auto* const answer = std::ranges::find(kAnswers, kind, &Answer::kind);
  if (answer == kAnswers.end() || std::ranges::find(answer->taken_by, command) != answer->taken_by.end()) return "";
  const std::string name = text::shown(file);
  const std::string use = fmt::format(fmt::runtime(answer->use), name, name);
  return fmt::format("this is {}{}{}", answer->what, use.empty() ? "" : ": ", use);
}

}  // namespace loco::cli
