#include "model/litmus/answers/command.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <new>
#include <optional>
#include <ostream>
#include <set>
#include <span>
#include <stdexcept>
#include <utility>

#include "model/litmus/answers/describe.hpp"
#include "model/litmus/language/herd.hpp"
#include "text/input_error.hpp"
#include "text/shown.hpp"
#include "text/words.hpp"

namespace loco::model::litmus {
namespace {

/// A folder's documents, by name; a file is itself.
std::vector<std::string> documents_at(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(path, error)) return {path};
  std::vector<std::string> found;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error)) {
    const std::string extension = entry->path().extension();
    std::error_code ignored;
    if ((extension == ".yaml" || extension == ".yml" || extension == ".litmus") && entry->is_regular_file(ignored))
      found.push_back(entry->path().string());
  }
  if (error) throw std::invalid_argument(path + ": expected a folder that can be read, found: " + error.message());
  if (found.empty())
    throw std::invalid_argument(path + ": expected a folder with litmus documents (*.yaml, *.litmus), found none");
  std::ranges::sort(found);
  return found;
}

std::string percent(std::size_t part, std::size_t whole) {
  return whole == 0 ? "100 %" : std::to_string(100 * part / whole) + " %";
}

const std::string& model_of(const CommandOptions& options, const Program& p) {
  return options.model.empty() ? p.model : options.model;
}

Options declarative_options(const CommandOptions& options, TimeLimit& limit) {
  Options o = options.declarative;
  o.model = options.model;
  o.executions_max = options.engine_options.max_executions;
  o.memory_max = options.engine_options.max_memory;
  o.poll = options.engine_options.poll;
  o.out_of_time = limit.question();
  o.time_limit = limit.text();
  return o;
}

class Command {
 public:
  Command(const CommandOptions& options, const std::map<std::string, Engine>& engines, std::ostream& out,
          std::ostream& err)
      : options_(options), engines_(engines), out_(out), err_(err) {}

  int run() {
    check_engine();
    const std::vector<std::vector<Program>> files = read_files();
    const std::vector<const Program*> chosen = chosen_tests(files);
    if (options_.herd_files != nullptr)
      write_for_herd(chosen);
    else if (options_.describe)
      for (const Program* p : chosen) describe_test(*p);
    else if (!options_.witness.empty() || !options_.explain.empty())
      for (const Program* p : chosen) explain(*p);
    else
      run_tests(chosen);
    return ok_ && known_ ? 0 : 1;
  }

 private:
  void run_tests(const std::vector<const Program*>& chosen) {
    std::optional<JsonArray> array;
    if (options_.json) array.emplace(out_, options_.times);
    for (const Program* p : chosen) {  // what one has found is gone before the next one runs
      std::vector<Result> results;
      TimeLimit limit(options_.engine_options.max_seconds);  // of the declarative engine, and of what follows it
      if (options_.engine == "all")
        compare(*p, limit, results);
      else
        results.push_back(run_engine(options_.engine, *p, limit));
      for (Result& r : results) {
        if (array)
          array->add(*p, r, limit.question());
        else if (options_.engine != "all" && !options_.each)
          write_herd_text(out_, *p, r, limit.question());
        const Verdict v = verdict_of(r);
        ok_ = ok_ && v != Verdict::fail;
        known_ = known_ && v == Verdict::ok;
        if (options_.each) options_.each(*p, r);
      }
      if (!array && options_.engine != "all" && !options_.each) out_ << "\n";
    }
    if (array) {
      array->end();
      out_ << "\n";
    } else if (options_.engine == "all" && !options_.each) {
      print_coverage();
    }
  }

  void describe_test(const Program& p) {
    TimeLimit limit(options_.engine_options.max_seconds);
    out_ << describe(p, declarative_options(options_, limit)) << "\n";
  }

  void write_for_herd(const std::vector<const Program*>& chosen) {
    std::size_t left_out = 0;
    for (const Program* p : chosen) {
      if (auto text = to_herd_file(*p))
        options_.herd_files->emplace_back(p->name, std::move(*text));
      else
        ++left_out;
    }
    if (left_out > 0)
      err_ << "left out " << left_out << " of " << chosen.size()
           << " tests, which are more than reads, writes and fences of one node\n";
  }

  /// Those that are asked for, and that have the names of the outcome to explain: before anything is printed.
  std::vector<const Program*> chosen_tests(const std::vector<std::vector<Program>>& files) {
    std::vector<const Program*> chosen;
    std::set<std::string> wanted(options_.tests.begin(), options_.tests.end()), found;
    std::string lacks;
    std::size_t lacking = 0;
    for (const auto& file : files)
      for (const Program& p : file) {
        if (!wanted.empty() && !wanted.contains(p.name)) continue;
        found.insert(p.name);
        try {
          (void)named_outcome(p, "--witness", options_.witness);
          (void)named_outcome(p, "--explain", options_.explain);
          chosen.push_back(&p);
        } catch (const std::invalid_argument& e) {
          if (lacking++ == 0) lacks = e.what();
        }
      }
    for (const std::string& name : options_.tests)
      if (!found.contains(name))
        throw std::invalid_argument("loco-sim litmus: --test: expected the name of a test, found " +
                                    text::in_quotes(name) + hint(name, files));
    if (chosen.empty() && lacking > 0) throw std::invalid_argument(lacks);
    if (lacking > 0)
      err_ << "left out " << lacking << (lacking == 1 ? " test" : " tests")
           << " without such an outcome, the first: " << lacks << "\n";
    return chosen;
  }

  static std::string hint(const std::string& name, const std::vector<std::vector<Program>>& files) {
    std::vector<std::string> known;
    for (const auto& file : files)
      for (const Program& p : file) known.push_back(p.name);
    return text::as_clause(text::suggestion(name, known));
  }

  void check_engine() const {
    if (options_.engine == "declarative" || options_.engine == "all" || engines_.count(options_.engine) > 0) return;
    std::string known = "declarative";
    for (const auto& [name, engine] : engines_) known += ", " + name;
    throw std::invalid_argument("expected an engine (" + known + ", all), found " + text::in_quotes(options_.engine));
  }

  /// The tests of each file, without those that are none of the model: all of a corpus seldom are.
  std::vector<std::vector<Program>> read_files() {
    std::vector<std::string> left_out;
    std::vector<std::vector<Program>> files;
    bool any = false;
    for (const std::string& path : options_.files)
      for (const std::string& f : documents_at(path)) {
        files.push_back(parse_file(f, {.model = options_.model, .left_out = &left_out}));
        any = any || !files.back().empty();
      }
    if (left_out.empty()) return files;
    if (!any) throw std::invalid_argument(left_out.front());
    err_ << "left out " << left_out.size() << " tests that are none of model " << options_.model
         << ", the first: " << text::shown(left_out.front()) << "\n";
    return files;
  }

  static PartialOutcome named_outcome(const Program& p, const std::string& option, const std::string& text) {
    try {
      return parse_outcome(p, text);
    } catch (const std::invalid_argument& e) {
      throw std::invalid_argument("loco-sim litmus: " + option + ": test " + text::shown(p.name) + ": " + e.what());
    }
  }

  Result run_engine(const std::string& engine, const Program& p, TimeLimit& limit) {
    const auto start = std::chrono::steady_clock::now();
    Result r;
    try {
      r = litmus::run_engine(options_, engines_, engine, p, limit);
    } catch (const std::bad_alloc&) {  // of this test; the others may do with less
      r.cut_short = true;
      r.complete = r.complete_in_bound = false;
      r.notes.emplace_back("stopped early: there was no more memory");
      r.name = p.name;
      r.model = model_of(options_, p);
      r.engine = engine;
      if (engine != "declarative") judge(p, false, r);
    }
    r.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return r;
  }

  /// All engines on one program: every outcome seen must be allowed.
  void compare(const Program& p, TimeLimit& limit, std::vector<Result>& results) {
    results.push_back(run_engine("declarative", p, limit));
    for (const auto& [name, engine] : engines_) {
      Result r = run_engine(name, p, limit);
      compare_outcomes(p, results.front(), r);
      results.push_back(std::move(r));
    }
    if (!options_.json && !options_.each) print_comparison(p, results, limit.question());
  }

  /// Is the outcome one of the set, or does it agree with one in the sense of `agree`?
  template <class Agree>
  static bool has(const Outcomes& set, OutcomeView outcome, bool loose, Agree agree) {
    if (set.contains(outcome)) return true;
    for (std::size_t i = 0; loose && i < set.size(); ++i)
      if (agree(set.row(i))) return true;
    return false;
  }

  void compare_outcomes(const Program& p, const Result& declarative, Result& r) {
    const Outcomes& allowed = declarative.outcomes;
    const bool loose = is_corerma(r.model);  // undefined values stand for any
    Coverage& c = coverage_[r.engine];
    c.allowed += allowed.size();
    for (std::size_t i = 0; i < allowed.size(); ++i)
      if (has(r.outcomes, allowed.row(i), loose, [&](OutcomeView seen) { return agrees(allowed.row(i), seen); }))
        ++c.seen;
    if (!declarative.complete) return;  // there may be more that is allowed
    for (std::size_t i = 0; i < r.outcomes.size(); ++i) {
      const OutcomeView o = r.outcomes.row(i);
      if (has(allowed, o, loose, [&](OutcomeView a) { return agrees(a, o); })) continue;
      r.ok = false;
      r.unexpected.push_back(p.text(o) + " (not allowed by " + r.model + ")");
    }
  }

  void print_comparison(const Program& p, std::vector<Result>& results, const std::function<bool()>& stop) {
    Outcomes more;  // that the declarative engine does not have: few, since hardware shows them one by one
    for (const Result& r : std::span(results).subspan(1))
      for (std::size_t i = 0; i < r.outcomes.size(); ++i)
        if (!results.front().outcomes.contains(r.outcomes.row(i))) more.insert(r.outcomes.row(i));
    (void)more.sort();
    out_ << "Test " << text::shown(p.name) << "\n";
    const auto line = [&](OutcomeView o) {
      out_ << "  " << p.text(o) << ":";
      const char* separator = " ";
      for (const Result& r : results) out_ << std::exchange(separator, ", ") << judgement(r, o);
      out_ << "\n";
    };
    std::size_t next = 0;
    const auto precedes = [&](OutcomeView o) {
      const OutcomeView m = more.row(next);
      return std::ranges::lexicographical_compare(m, o);
    };
    list_outcomes(results.front(), stop, [&](std::size_t i) {
      const OutcomeView o = results.front().outcomes.row(i);
      while (next < more.size() && precedes(o)) line(more.row(next++));
      line(o);
    });
    while (next < more.size()) line(more.row(next++));
    for (const Result& r : results) {
      if (const Verdict v = verdict_of(r); v == Verdict::incomplete || v == Verdict::not_run)
        out_ << "  " << name(v) << " (" << r.engine << ")\n";
      for (const std::string& m : r.missing) out_ << "  missing (" << r.engine << "): " << m << "\n";
      for (const std::string& u : r.unexpected) out_ << "  unexpected (" << r.engine << "): " << u << "\n";
      for (const std::string& n : r.notes) out_ << "  note (" << r.engine << "): " << n << "\n";
    }
  }

  /// `allowed`, `not explored`, `sampled 12`, ...
  static std::string judgement(const Result& r, OutcomeView o) {
    const std::size_t index = r.outcomes.find(o);
    const bool declarative = r.engine == "declarative";
    const std::string no = declarative && !r.complete ? "not known to be " : "not ";
    const std::string said = (index == r.outcomes.size() ? no : "") + (declarative ? "allowed" : r.engine + "d");
    return index < r.counts.size() ? said + " " + std::to_string(r.counts[index]) : said;
  }

  void print_coverage() {
    for (const auto& [name, c] : coverage_)
      out_ << "Coverage " << name << ": " << c.seen << " of " << c.allowed << " allowed outcomes ("
           << percent(c.seen, c.allowed) << ")\n";
  }

  void explain(const Program& p) {
    TimeLimit limit(options_.engine_options.max_seconds);
    const Options o = declarative_options(options_, limit);
    const auto tell = [&](const Explanation& e) {
      out_ << to_text(e);
      if (options_.drawings != nullptr) options_.drawings->push_back(to_dot(e));
    };
    if (!options_.witness.empty()) {
      const auto w = witness(p, named_outcome(p, "--witness", options_.witness), o);
      if (w) {
        tell(*w);
      } else {
        const NoCandidate none = without_candidate(p, o, limit);
        out_ << text::shown(p.name) << ": " << text::shown(options_.witness) << ' '
             << (none.decided ? "is not possible" : none.text) << '\n';
        known_ = known_ && none.decided;
        ok_ = ok_ && !none.decided;
      }
    }
    if (!options_.explain.empty()) {
      const PartialOutcome wanted = named_outcome(p, "--explain", options_.explain);
      const auto cycles = explain_forbidden(p, wanted, o);
      if (!cycles.empty()) out_ << describe_threads(p) << ' ' << describe_forbidden(p, wanted, cycles, o) << '\n';
      for (const Explanation& e : cycles) tell(e);
      if (cycles.empty()) {
        const bool possible = witness(p, wanted, o).has_value();
        const NoCandidate none = possible ? NoCandidate{"is possible"} : without_candidate(p, o, limit);
        out_ << text::shown(p.name) << ": " << text::shown(options_.explain) << ' ' << none.text << '\n';
        ok_ = ok_ && !possible;
        known_ = known_ && none.decided;
      } else if (limit.was_reached()) {
        out_ << text::shown(p.name) << ": stopped early by the limit of " << limit.text()
             << ": there may be other cycles\n";
        known_ = false;
      }
    }
  }

  static NoCandidate without_candidate(const Program& p, const Options& o, const TimeLimit& limit) {
    if (limit.was_reached())
      return {"is not known to be possible: stopped early by the limit of " + limit.text(), false};
    return why_no_candidate(p, o);
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
  bool known_ = true;  ///< every engine has run, to its end
};

}  // namespace

TimeLimit::TimeLimit(double seconds) : seconds_(seconds) {
  constexpr double kMost = 1e9;
  end_ = std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                                std::chrono::duration<double>(std::clamp(seconds, 0.0, kMost)));
}

std::function<bool()> TimeLimit::question() {
  if (!(seconds_ > 0)) return {};
  return [this] {
    reached_ = reached_ || std::chrono::steady_clock::now() >= end_;
    return reached_;
  };
}

std::string TimeLimit::text() const {
  std::array<char, 32> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), seconds_);
  return std::string(digits.data(), error == std::errc{} ? end : digits.data()) + " s";
}

Result run_engine(const CommandOptions& options, const std::map<std::string, Engine>& engines,
                  const std::string& engine, const Program& p, TimeLimit& limit) {
  if (engine == "declarative") return enumerate(p, declarative_options(options, limit));
  EngineOptions o = options.engine_options;
  o.model = model_of(options, p);
  Result r = engines.at(engine)(p, o);
  r.name = p.name;
  r.model = o.model;
  r.engine = engine;
  judge(p, false, r);
  return r;
}

int run_litmus_command(const CommandOptions& options, const std::map<std::string, Engine>& engines, std::ostream& out,
                       std::ostream& err) {
  try {
    return Command(options, engines, out, err).run();
  } catch (const text::InputError& e) {
    err << text::shown(e.what()) << "\n";
  } catch (const std::invalid_argument& e) {
    err << text::shown(e.what()) << "\n";
  }
  return 2;
}

}  // namespace loco::model::litmus
