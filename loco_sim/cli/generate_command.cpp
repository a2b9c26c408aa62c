// loco-sim generate: coreRMA tests for a pivot, as litmus documents (docs/corerma.md). model/corerma generates them;
// this file writes them to a file or a terminal so that every end, Ctrl-C included, leaves whole tests only.
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "loco_sim/cli/commands.hpp"
#include "loco_sim/cli/output.hpp"
#include "loco_sim/cli/progress.hpp"
#include "loco_sim/commands/generate.hpp"
#include "model/corerma/document.hpp"
#include "model/corerma/generate.hpp"
#include "sim/budget.hpp"
#include "text/json.hpp"
#include "text/words.hpp"

namespace loco::cli {

namespace {

namespace corerma = model::corerma;

/// Set by Ctrl-C: the test being written is finished, then the command ends.
volatile std::sig_atomic_t interrupted = 0;
void on_interrupt(int signal) { interrupted = signal; }

/// Ends the program as users expect after a signal: Ctrl-C with exit code 130, SIGTERM by that signal.
int ended() {
  if (interrupted == SIGTERM) {
    std::signal(SIGTERM, SIG_DFL);
    std::raise(SIGTERM);
  }
  return kInterrupted;
}

[[noreturn]] void refuse(const std::string& text) { throw UsageError("loco-sim generate: " + text); }

/// How long it would take, in the unit that suits.
std::string duration_text(double seconds) {
  if (seconds < 7200) return fmt::format("{:.0f} minutes", seconds / 60);
  if (seconds < 2 * 86400) return fmt::format("{:.0f} hours", seconds / 3600);
  if (seconds < 2 * 365.25 * 86400) return fmt::format("{:.0f} days", seconds / 86400);
  return fmt::format("{:.2g} years", seconds / (365.25 * 86400));
}

void require_reach(const corerma::GenerateOptions& options) {
  const double programs = corerma::estimated_programs(options);
  if (programs <= corerma::kProgramsWithinReach) return;
  refuse(
      fmt::format("--size: expected a bound within reach, or --limit or --anyway beside it, found {}: about {:.0e} "
                  "programs to look at, {}",
                  options.size, programs, duration_text(programs / corerma::kProgramsASecond)));
}

/// The name of the last test of a file; empty if there is none.
std::string last_name(std::istream& in) {
  std::string name;
  for (std::string line; std::getline(in, line);)
    if (line.rfind("name: ", 0) == 0) name = line.substr(6);
  return name;
}

/// Takes tests one by one: documents, or the elements of a JSON array.
class Sink {
 public:
  Sink(const commands::Generate& arguments, corerma::GenerateOptions options)
      : options_(std::move(options)), json_(arguments.json), path_(arguments.out) {
    if (!path_.empty()) open();
    if (json_) out() << "[";
  }

  void put(const corerma::Test& test) {
    const corerma::Expectation e = corerma::expect(test, options_);
    const std::string document = corerma::document(test, options_, e);
    if (json_) {
      out() << (any_ ? ",\n " : "\n ") << text::json_text(element(test, e, document));
    } else {
      out() << (any_ ? "---\n" : "") << document;
    }
    if (!path_.empty()) out().flush();
    require_written();
    any_ = true;
    last_ = test.name;
    if (!path_.empty()) whole_ = file_.tellp();
  }
  void close() {
    if (json_) out() << (any_ ? "\n]\n" : "]\n");
    out().flush();
    require_written();
    if (any_ || json_) return;
    if (path_.empty()) {
      say("loco-sim generate: there is no such test\n");
      return;
    }
    keep_whole_tests();  // none: an empty file is no litmus document
    say(fmt::format("loco-sim generate: there is no such test, and no file {}\n", text::printable(path_)));
  }
  [[nodiscard]] const std::string& last() const { return last_; }

 private:
  std::ostream& out() { return path_.empty() ? std::cout : file_; }
  void open() {
    require_place_of(path_);
    const bool append = !options_.after.empty() && !json_ && std::ifstream(path_).good();
    if (append) {
      std::ifstream in(path_);
      const std::string last = last_name(in);
      if (last != options_.after)
        refuse(fmt::format("--after: expected {}, the last test of {}, found {}",
                           last.empty() ? "no such option" : last, path_, options_.after));
    }
    file_.open(path_, append ? std::ios::app : std::ios::trunc);
    any_ = append;
    require_written();
    if (append) whole_ = file_.seekp(0, std::ios::end).tellp();
  }
  void require_written() {
    if (out()) return;
    if (path_.empty()) throw std::runtime_error("cannot write to stdout");
    const std::string reason = std::generic_category().message(errno);
    keep_whole_tests();
    throw std::runtime_error(fmt::format("{}: {}{}", text::printable(path_), reason,
                                         last_.empty() || json_ ? "" : "; go on with --after " + last_));
  }
  /// Truncates the file after the last whole test when writing failed, as after Ctrl-C.
  void keep_whole_tests() {
    std::error_code ignored;
    file_.close();
    const std::filesystem::path file = std::filesystem::canonical(path_, ignored);
    if (!std::filesystem::is_regular_file(file, ignored)) return;  // of a device nothing can be cut off
    if (whole_ == 0) {
      std::filesystem::remove(file, ignored);
      return;
    }
    std::filesystem::resize_file(file, static_cast<std::uintmax_t>(whole_), ignored);
    if (json_) std::ofstream(file, std::ios::app) << "\n]\n";
  }
  [[nodiscard]] nlohmann::ordered_json element(const corerma::Test& test, const corerma::Expectation& e,
                                               const std::string& document) const {
    const auto values = [&](const model::litmus::Outcome& outcome) {
      nlohmann::ordered_json object;
      for (std::size_t i = 0; i < outcome.size(); ++i) object[e.program.observables[i].name] = outcome[i];
      return object;
    };
    nlohmann::ordered_json outcomes = nlohmann::ordered_json::array();
    for (const auto& outcome : e.outcomes) outcomes.push_back(values(outcome));
    return {{"name", test.name},    {"pivot", corerma::text(options_.pivot)},
            {"size", test.size},    {"document", document},
            {"outcomes", outcomes}, {"forbidden", e.forbidden ? values(*e.forbidden) : nlohmann::ordered_json()}};
  }

  corerma::GenerateOptions options_;
  bool json_;
  std::string path_;
  std::ofstream file_;
  bool any_ = false;          ///< is there a test before the next one?
  std::streamoff whole_ = 0;  ///< how long the file is, up to its last whole test
  std::string last_;
};

int count(const commands::Generate& arguments, const corerma::GenerateOptions& options) {
  const corerma::Counts counts = corerma::count_tests(options);
  nlohmann::ordered_json by_size = nlohmann::ordered_json::object();
  std::vector<std::vector<std::string>> rows = {{"size", "tests"}};
  for (std::size_t i = 0; i < counts.by_size.size(); ++i) {
    const std::string size = std::to_string(corerma::kSizeMin + static_cast<int>(i));
    by_size[size] = counts.by_size[i];
    rows.push_back({size, std::to_string(counts.by_size[i])});
  }
  rows.push_back({"all", std::to_string(counts.tests)});
  if (!arguments.json) {
    print(table(rows, true));
    return kDone;
  }
  print(nlohmann::ordered_json{{"pivot", corerma::text(options.pivot)},
                               {"processes", options.processes},
                               {"hosts", options.hosts == 0 ? options.processes : options.hosts},
                               {"count", counts.tests},
                               {"by_size", by_size}});
  return kDone;
}

int write(const commands::Generate& arguments, const corerma::GenerateOptions& options) {
  Sink sink(arguments, options);
  corerma::Generator generator(options);
  try {
    (void)generator.run([&](const corerma::Test& test) {
      if (interrupted != 0) throw sim::Interrupted();
      sink.put(test);
      return true;
    });
  } catch (const sim::Interrupted&) {
    sink.close();
    fmt::print(stderr, "loco-sim: {}\n",
               sink.last().empty() ? std::string("interrupted before the first test")
                                   : "interrupted; go on with --after " + sink.last());
    return ended();
  }
  sink.close();
  return kDone;
}

}  // namespace

int generate_command(const commands::Generate& arguments) {
  try {
    corerma::GenerateOptions options = commands::options_of(arguments);
    (void)corerma::Generator(options);  // throws for options that contradict each other
    if (arguments.sample != 0 && !arguments.options.after.empty())
      refuse("--sample: expected no --after beside it, found one");
    if (!arguments.anyway && arguments.options.limit == 0) require_reach(options);
    Progress progress;
    options.poll = [&](const corerma::Progress& at) {
      if (interrupted != 0) throw sim::Interrupted();
      if (progress.is_due())
        progress.show(fmt::format("size {}: {} programs, {} tests", at.size, at.programs, at.tests));
    };
    std::signal(SIGINT, on_interrupt);
    std::signal(SIGTERM, on_interrupt);
    if (arguments.sample != 0) {
      const std::uint64_t tests = corerma::count_tests(options).tests;
      options.every = std::max<std::uint64_t>(1, (tests + arguments.sample - 1) / arguments.sample);
    }
    return arguments.count ? count(arguments, options) : write(arguments, options);
  } catch (const sim::Interrupted&) {
    fmt::print(stderr, "loco-sim: interrupted while counting\n");
    return ended();
  } catch (const std::invalid_argument& error) {
    refuse(error.what());
  }
}

}  // namespace loco::cli
