#include "model/litmus/command.hpp"

#include <algorithm>
#include <chrono>
#include <ostream>
#include <stdexcept>

namespace loco::model::litmus {
namespace {

std::string percent(std::size_t part, std::size_t whole) {
  return whole == 0 ? "100 %" : std::to_string(100 * part / whole) + " %";
}

class Command {
 public:
  Command(const CommandOptions& options, const std::map<std::string, Engine>& engines, std::ostream& out,
          std::ostream& err)
      : options_(options), engines_(engines), out_(out), err_(err) {}

  int run() {
    check_engine();
    const std::vector<std::vector<Program>> files = read_files();
    for (const auto& file : files)
      for (const Program& p : file) {  // before anything is printed
        (void)named_outcome(p, "--witness", options_.witness);
        (void)named_outcome(p, "--explain", options_.explain);
      }
    std::vector<const Program*> programs;
    std::vector<Result> results;
    for (const auto& file : files)
      for (const Program& p : file) {
        if (!options_.witness.empty() || !options_.explain.empty()) {
          explain(p);
          continue;
        }
        const std::size_t first = results.size();
        if (options_.engine == "all")
          compare(p, results);
        else
          results.push_back(run_engine(options_.engine, p));
        for (std::size_t i = first; i < results.size(); ++i) {
          programs.push_back(&p);
          ok_ = ok_ && results[i].ok;
        }
        if (!options_.json && options_.engine != "all") out_ << to_herd_text(p, results.back()) << "\n";
      }
    if (options_.json)
      out_ << to_json(programs, results) << "\n";
    else if (options_.engine == "all")
      print_coverage();
    return ok_ ? 0 : 1;
  }

 private:
  void check_engine() const {
    if (options_.engine == "declarative" || options_.engine == "all" || engines_.count(options_.engine) > 0) return;
    std::string known = "declarative";
    for (const auto& [name, engine] : engines_) known += ", " + name;
    throw std::invalid_argument("expected an engine (" + known + ", all), found '" + options_.engine + "'");
  }

  /// The tests of each file, without those that are none of the model: all of a corpus seldom are.
  std::vector<std::vector<Program>> read_files() {
    std::vector<std::string> left_out;
    std::vector<std::vector<Program>> files;
    bool any = false;
    for (const std::string& f : options_.files) {
      files.push_back(parse_file(f, {.model = options_.model, .left_out = &left_out}));
      any = any || !files.back().empty();
    }
    if (left_out.empty()) return files;
    if (!any) throw std::invalid_argument(left_out.front());
    err_ << "left out " << left_out.size() << " tests that are none of model " << options_.model
         << ", the first: " << left_out.front() << "\n";
    return files;
  }

  static PartialOutcome named_outcome(const Program& p, const std::string& option, const std::string& text) {
    try {
      return parse_outcome(p, text);
    } catch (const std::invalid_argument& e) {
      throw std::invalid_argument("loco-sim litmus: " + option + ": test " + p.name + ": " + e.what());
    }
  }

  Result run_engine(const std::string& engine, const Program& p) {
    const auto start = std::chrono::steady_clock::now();
    Result r;
    if (engine == "declarative") {
      Options o = options_.declarative;
      o.model = options_.model;
      r = enumerate(p, o);
    } else {
      EngineOptions o = options_.engine_options;
      o.model = options_.model.empty() ? p.model : options_.model;
      r = engines_.at(engine)(p, o);
      r.name = p.name;
      r.model = o.model;
      r.engine = engine;
      judge(p, false, r);
    }
    r.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return r;
  }

  /// All engines on one program: every outcome seen must be allowed.
  void compare(const Program& p, std::vector<Result>& results) {
    const std::size_t first = results.size();
    results.push_back(run_engine("declarative", p));
    const std::vector<Outcome> allowed = results.back().outcomes;
    const bool all_allowed_known = results.back().complete;
    std::vector<Outcome> seen = allowed;
    for (const auto& [name, engine] : engines_) {
      Result r = run_engine(name, p);
      Coverage& c = coverage_[name];
      c.allowed += allowed.size();
      for (const Outcome& o : r.outcomes) {
        if (std::binary_search(allowed.begin(), allowed.end(), o)) {
          ++c.seen;
        } else if (all_allowed_known) {
          r.ok = false;
          r.unexpected.push_back(p.text(o) + " (not allowed by " + r.model + ")");
        }
        seen.push_back(o);
      }
      results.push_back(std::move(r));
    }
    if (options_.json) return;
    std::sort(seen.begin(), seen.end());
    seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
    out_ << "Test " << p.name << "\n";
    for (const Outcome& o : seen) {
      out_ << "  " << p.text(o) << ":";
      for (std::size_t i = first; i < results.size(); ++i) {
        const Result& r = results[i];
        const auto it = std::find(r.outcomes.begin(), r.outcomes.end(), o);
        const auto index = static_cast<std::size_t>(it - r.outcomes.begin());
        const bool declarative = r.engine == "declarative";
        const std::string no = declarative && !all_allowed_known ? "not known to be " : "not ";
        out_ << (i > first ? ", " : " ") << (it == r.outcomes.end() ? no : "")
             << (declarative ? "allowed" : r.engine + "d");
        if (index < r.counts.size()) out_ << " " << r.counts[index];
      }
      out_ << "\n";
    }
    for (std::size_t i = first; i < results.size(); ++i) {
      for (const std::string& m : results[i].missing) out_ << "  missing (" << results[i].engine << "): " << m << "\n";
      for (const std::string& u : results[i].unexpected)
        out_ << "  unexpected (" << results[i].engine << "): " << u << "\n";
      for (const std::string& n : results[i].notes) out_ << "  note (" << results[i].engine << "): " << n << "\n";
    }
  }

  void print_coverage() {
    for (const auto& [name, c] : coverage_)
      out_ << "Coverage " << name << ": " << c.seen << " of " << c.allowed << " allowed outcomes ("
           << percent(c.seen, c.allowed) << ")\n";
  }

  void explain(const Program& p) {
    Options o = options_.declarative;
    o.model = options_.model;
    const auto tell = [&](const Explanation& e) {
      out_ << to_text(e);
      if (options_.drawing != nullptr) *options_.drawing << to_dot(e);
    };
    if (!options_.witness.empty()) {
      const auto w = witness(p, named_outcome(p, "--witness", options_.witness), o);
      if (w) {
        tell(*w);
      } else {
        const NoCandidate none = why_no_candidate(p, o);
        out_ << p.name << ": " << options_.witness << ' ' << (none.decided ? "is not possible" : none.text) << '\n';
      }
      ok_ = ok_ && w.has_value();
    }
    if (!options_.explain.empty()) {
      const PartialOutcome wanted = named_outcome(p, "--explain", options_.explain);
      const auto cycles = explain_forbidden(p, wanted, o);
      for (const Explanation& e : cycles) tell(e);
      if (cycles.empty()) {
        const bool possible = witness(p, wanted, o).has_value();
        const NoCandidate none = possible ? NoCandidate{"is possible"} : why_no_candidate(p, o);
        out_ << p.name << ": " << options_.explain << ' ' << none.text << '\n';
        ok_ = ok_ && !possible && none.decided;
      }
    }
  }

  struct Coverage {
    std::size_t seen = 0, allowed = 0;
  };
  const CommandOptions& options_;
  const std::map<std::string, Engine>& engines_;
  std::ostream& out_;
  std::ostream& err_;
  std::map<std::string, Coverage> coverage_;
  bool ok_ = true;
};

}  // namespace

int run_litmus_command(const CommandOptions& options, const std::map<std::string, Engine>& engines, std::ostream& out,
                       std::ostream& err) {
  try {
    return Command(options, engines, out, err).run();
  } catch (const ParseError& e) {
    err << e.what() << "\n";
  } catch (const std::invalid_argument& e) {
    err << e.what() << "\n";
  }
  return 2;
}

}  // namespace loco::model::litmus
