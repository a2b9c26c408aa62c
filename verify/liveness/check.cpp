#include "verify/liveness/check.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>

#include "verify/liveness/components.hpp"
#include "verify/liveness/lasso.hpp"

namespace loco::verify::liveness {

namespace {

constexpr std::size_t kFirstStates = 20'000;
constexpr std::size_t kMoreStates = 8;

/// Two graphs with one bound: a violation found in the first is real, and without one in the second there is none.
struct Graphs {
  Graphs(const Task& task, std::uint32_t bound)
      : real_system(task.program, task.flushes, task.network, bound, Beyond::kHeldBack),
        all_system(task.program, task.flushes, task.network, bound, Beyond::kMany),
        real(real_system, task.limits),
        all(all_system, task.limits) {}

  System real_system;
  System all_system;
  Graph real;
  Graph all;
  bool looked_at = false;  ///< whole
  Integer largest_before;  ///< of the numbers in states that were reached last, the round before
};

Integer magnitude(const Integer& integer) { return integer < Integer(0) ? -integer : integer; }

/// One network's answers, in rounds.
class Checker {
 public:
  Checker(const Task& task, Fairness otherwise)
      : task_(task),
        semantics_(task.program, task.flushes, task.network),
        most_(task.network == Network::kSc ? 1 : std::max<std::uint32_t>(task.limits.pending, 1)),
        graphs_(most_) {
    for (std::uint32_t i = 0; i < task.program.liveness.size(); ++i) {
      LiveAnswer& answer = answers_.emplace_back();
      answer.property = i;
      answer.fairness = task.program.liveness[i].under.value_or(otherwise);
    }
  }

  [[nodiscard]] std::vector<LiveAnswer>& answers() { return answers_; }
  [[nodiscard]] bool open() const {
    return std::any_of(answers_.begin(), answers_.end(),
                       [](const LiveAnswer& a) { return a.verdict == LiveVerdict::kUnknown; });
  }

  /// With so many states of each graph. Whether more of them could tell more. Throws LimitReached, std::bad_alloc.
  bool round(std::size_t states) {
    bool more = false;
    for (std::uint32_t bound = 1; bound <= most_ && open(); ++bound) {
      std::unique_ptr<Graphs>& g = graphs_[bound - 1];
      if (!g) g = std::make_unique<Graphs>(task_, bound);
      more = (look(*g, bound, states) && !numbers_grow(*g)) || more;
      if (g->real.held_back()) continue;  // else a larger bound changes nothing
      if (g->real.complete()) return false;
      break;
    }
    return more && open();
  }

 private:
  /// Whether more states could tell more.
  bool look(Graphs& g, std::uint32_t bound, std::size_t states) {
    if (g.looked_at) return false;
    g.real.grow(states);
    const bool whole = g.real.complete() && !g.real.held_back();
    if (!whole && g.real.held_back()) g.all.grow(states);
    const bool covered = g.all.expanded() > 0 && g.all.complete();
    g.looked_at = whole || (g.real.complete() && covered);
    for (LiveAnswer& answer : answers_) {
      if (answer.verdict != LiveVerdict::kUnknown) continue;
      ask(g, bound, whole, covered, answer);
    }
    return !g.looked_at;
  }

  void ask(Graphs& g, std::uint32_t bound, bool whole, bool covered, LiveAnswer& answer) {
    const LivenessProperty& property = task_.program.liveness[answer.property];
    Search real(g.real, property, answer.fairness);
    std::vector<bool> doomed = real.doomed();
    if (covered) {
      Search all(g.all, property, answer.fairness);
      const std::vector<bool> doomed_all = all.doomed();
      if (!all.find(doomed_all)) {
        answer.verdict = LiveVerdict::kLive;
        answer.why = fmt::format(
            "no fair run breaks it in {} states, with more than {} pending operations that are "
            "alike as many",
            g.all.size(), bound);
        return;
      }
      State state;
      for (Index s = 0; s < g.real.size(); ++s) {
        g.real.get(s, state);
        const Index there = g.all.find(state);
        if (there != kNone && doomed_all[there]) doomed[s] = true;
      }
    }
    if (const auto finding = real.find(doomed)) return not_live(g.real, property, *finding, answer);
    if (whole) {
      answer.verdict = LiveVerdict::kLive;
      answer.why = fmt::format("no fair run breaks it in {} states, which are all that the program has", g.real.size());
      return;
    }
    answer.why = !g.real.complete() || !g.all.complete()
                     ? fmt::format("no lasso in the {} states that were reached, and no proof: {}",
                                   std::max(g.real.size(), g.all.size()), what_grows(g))
                     : fmt::format(
                           "no lasso with at most {} pending operations of a statement, and no proof that "
                           "more of them make none",
                           bound);
  }

  /// Whether there is no end in sight: the states that are reached last have larger numbers in each round.
  [[nodiscard]] bool numbers_grow(Graphs& g) const {
    Graph& graph = g.all.expanded() > 0 ? g.all : g.real;
    constexpr Index kLast = 256;
    Integer largest = 0;
    State state;
    for (Index s = graph.size() - std::min(graph.size(), kLast); s < graph.size(); ++s) {
      graph.get(s, state);
      for (const std::vector<Value>* values : {&state.shared, &state.locals}) {
        for (const Value value : *values) {
          if (value == kNoValue) continue;
          largest = std::max(largest, magnitude(graph.system().numbers().integer(value)));
        }
      }
    }
    const Integer before = std::exchange(g.largest_before, largest);
    constexpr std::int64_t kFew = 16;
    return before > Integer(kFew) && largest > before;
  }

  /// The reason why a program has infinitely many states.
  [[nodiscard]] std::string what_grows(Graphs& g) const {
    Graph& graph = g.all.expanded() > 0 ? g.all : g.real;
    State state;
    graph.get(graph.size() - 1, state);
    std::string largest;
    Integer most = 2;
    const auto look = [&](const std::string& name, Value value) {
      if (value == kNoValue) return;
      const Integer integer = graph.system().numbers().integer(value);
      const Integer size = magnitude(integer);
      if (size <= most) return;
      most = size;
      largest = fmt::format("{} = {}", name, integer.str());
    };
    for (std::size_t v = 0; v < state.shared.size(); ++v) look(task_.program.shared[v].name, state.shared[v]);
    for (std::uint32_t l = 0; l < state.locals.size(); ++l) look(local_name(task_.program, l), state.locals[l]);
    return largest.empty() ? "there are more states"
                           : fmt::format("numbers may grow without bound (in one of them {})", largest);
  }

  void not_live(Graph& graph, const LivenessProperty& property, const Finding& finding, LiveAnswer& answer) {
    auto lasso = lasso_of(graph, finding);
    if (!lasso) {
      answer.why = "a loop that breaks it comes back but for numbers that are looked at and do not move alike";
      return;
    }
    if (const auto fault = fault_of(semantics_, property, answer.fairness, *lasso)) {
      answer.why = fmt::format("a loop was found that is no counterexample: {}", *fault);
      return;
    }
    answer.verdict = LiveVerdict::kNotLive;
    answer.kind = finding.kind;
    const char* what = finding.kind == Kind::kStopped    ? "nothing can step any more"
                       : finding.kind == Kind::kDeadlock ? "no schedule gets there from the loop"
                                                         : "another schedule would";
    answer.why = fmt::format("assert {} fails; {}: {}", property.text, name(finding.kind), what);
    answer.lasso = std::move(lasso);
  }

  const Task& task_;
  Semantics semantics_;
  std::uint32_t most_;  // operations of a statement that are told apart
  std::vector<std::unique_ptr<Graphs>> graphs_;
  std::vector<LiveAnswer> answers_;
};

/// Asks a weaker network first, in each round: every fair run of a network that keeps more order is one of a network
/// that keeps less, state by state, so that what is live there is live here. What is not live there says nothing here.
class Networks {
 public:
  Networks(const Task& task, Fairness otherwise)
      : weaker_task_{task.program, task.flushes, Network::kUnordered, task.limits}, own_(task, otherwise), task_(task) {
    if (task.network == Network::kVerbs || task.network == Network::kInOrder) weaker_.emplace(weaker_task_, otherwise);
  }

  std::vector<LiveAnswer> run() {
    try {
      bool more = true;
      for (std::size_t states = kFirstStates; more; states *= kMoreStates) {
        const bool weaker = weaker_ && own_.open() && ask_weaker(states);
        more = own_.open() && (own_.round(states) || (weaker && own_.open()));
      }
    } catch (const LimitReached& reached) {
      give_up(reached.what());
    } catch (const std::bad_alloc&) {
      give_up("out of memory");
    } catch (const std::length_error&) {
      give_up("out of memory");
    }
    return std::move(own_.answers());
  }

 private:
  /// Whether it may tell more. It is forgotten when it can not, or has taken all the memory.
  bool ask_weaker(std::size_t states) {
    bool more = false;
    try {
      more = weaker_->round(states);
    } catch (const LimitReached&) {
      if (task_.limits.out_of_time()) throw;
    } catch (const std::bad_alloc&) {
    }
    for (std::size_t i = 0; i < own_.answers().size(); ++i) take_over(weaker_->answers()[i], own_.answers()[i]);
    if (!more) weaker_.reset();
    return more;
  }
  void take_over(const LiveAnswer& found, LiveAnswer& answer) const {
    if (found.verdict != LiveVerdict::kLive || answer.verdict != LiveVerdict::kUnknown) return;
    answer = found;
    answer.why = fmt::format("under {}, which shows all that {} does: {}", verify::name(Network::kUnordered),
                             verify::name(task_.network), found.why);
  }

  void give_up(const std::string& reached) {
    for (LiveAnswer& a : own_.answers()) {
      if (a.verdict != LiveVerdict::kUnknown) continue;
      a.why = a.why.empty() ? reached : fmt::format("{}; {}", reached, a.why);
    }
  }

  Task weaker_task_;
  Checker own_;
  std::optional<Checker> weaker_;
  const Task& task_;
};

}  // namespace

std::string_view name(LiveVerdict verdict) {
  return verdict == LiveVerdict::kLive ? "live" : verdict == LiveVerdict::kNotLive ? "not live" : "unknown";
}

std::string_view name(Kind kind) {
  return kind == Kind::kStopped ? "stopped" : kind == Kind::kDeadlock ? "deadlock" : "livelock";
}

std::vector<LiveAnswer> check(const Task& task, Fairness otherwise) { return Networks(task, otherwise).run(); }

}  // namespace loco::verify::liveness
