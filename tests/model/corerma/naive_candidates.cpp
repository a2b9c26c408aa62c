// Candidates of a program, and what the definitions say of each: is it a witness of the pivot, is it consistent.
#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "tests/model/corerma/naive.hpp"

namespace loco::model::corerma::test {
namespace {

// --- actions ----------------------------------------------------------------------------------------------------

struct Action {
  std::string type;  // r w er ew erw f
  int process = 0;
  int statement = 0;  // within the process
  char kind = 'r';    // of the statement
  int variable = -1;
  int dst = -1;  // of a remote statement or flush
  bool on_target = false;
  [[nodiscard]] bool local() const { return type == "r" || type == "w"; }
  [[nodiscard]] bool external() const { return type == "er" || type == "ew" || type == "erw"; }
  [[nodiscard]] bool reads() const { return type == "r" || type == "er" || type == "erw"; }
  [[nodiscard]] bool writes() const { return type == "w" || type == "ew" || type == "erw"; }
};

std::vector<Action> actions_of(const NaiveProgram& program) {
  std::vector<Action> all;
  for (int p = 0; p < static_cast<int>(program.processes.size()); ++p) {
    const auto& code = program.processes[static_cast<std::size_t>(p)];
    for (int s = 0; s < static_cast<int>(code.size()); ++s) {
      const NaiveStatement& st = code[static_cast<std::size_t>(s)];
      const auto home = [&](std::size_t operand) {
        return program.homes[static_cast<std::size_t>(st.operands[operand])];
      };
      const auto add = [&](const char* type, int variable, int dst, bool on_target) {
        all.push_back({type, p, s, st.kind, variable, dst, on_target});
      };
      const auto& o = st.operands;
      switch (st.kind) {
        case 'r':
        case 'w':
          add(st.kind == 'r' ? "r" : "w", o[0], p, false);
          break;
        case 'g':  // X = get(Z)
          add("er", o[1], home(1), true);
          add("ew", o[0], home(1), false);
          break;
        case 'p':  // put(Z, X)
          add("er", o[1], home(0), false);
          add("ew", o[0], home(0), true);
          break;
        case 'a':  // X = rga(Z, Y)
          add("er", o[2], home(1), false);
          add("erw", o[1], home(1), true);
          add("ew", o[0], home(1), false);
          break;
        case 'c':  // X = cas(Z, Y, W)
          add("er", o[2], home(1), false);
          add("er", o[3], home(1), false);
          add("erw", o[1], home(1), true);
          add("ew", o[0], home(1), false);
          break;
        default:
          add("f", -1, st.host, false);
      }
    }
  }
  return all;
}

// --- the rules: which pairs each induces -----------------------------------------------------------------------------

using Pairs = std::set<std::pair<int, int>>;

/// What networks keep in order: rules of Section 7, and further ones (rule_set.hpp).
void add_network_pairs(const Action& a, const Action& b, std::pair<int, int> pair, const std::set<std::string>& rules,
                       std::map<std::string, Pairs>& pairs) {
  const auto atomic = [](const Action& x) { return x.kind == 'a' || x.kind == 'c'; };
  const auto operand = [&](const Action& x) { return atomic(x) && x.type == "er"; };
  const auto source = [](const Action& x) { return x.kind == 'p' && x.type == "er"; };
  const bool same_target = a.external() && b.external() && a.dst == b.dst;
  if (operand(a) || (a.type == "f" && operand(b))) pairs["OA"].insert(pair);
  if (a.type == "f") pairs["FA"].insert(pair);
  if (same_target && (source(a) || operand(a))) pairs["SF"].insert(pair);
  if (same_target && b.type == "ew" && b.kind != 'p') pairs["RL"].insert(pair);
  if (!same_target || !a.on_target || !b.on_target) return;
  const bool oneself = a.dst == a.process;
  if (oneself && !rules.contains("SO")) return;
  std::vector<std::string> keep = {"IR"};
  if (atomic(a) || atomic(b)) {
    keep.emplace_back(!atomic(b) ? "AO" : a.kind == 'g' ? "GTA" : "PTA");
  } else {
    keep.emplace_back(a.kind == 'p' ? (b.kind == 'p' ? "PP" : "PTG") : (b.kind == 'p' ? "GTP" : "GG"));
  }
  for (const std::string& rule : keep) {
    pairs[rule].insert(pair);
    if (oneself && rules.contains(rule)) pairs["SO"].insert(pair);
  }
}

std::map<std::string, Pairs> static_pairs(const std::vector<Action>& actions, const std::set<std::string>& rules) {
  std::map<std::string, Pairs> pairs;
  const int n = static_cast<int>(actions.size());
  for (int i = 0; i < n; ++i)
    for (int j = i + 1; j < n; ++j) {
      const Action &a = actions[static_cast<std::size_t>(i)], &b = actions[static_cast<std::size_t>(j)];
      if (a.process != b.process) continue;
      if (a.statement == b.statement) {
        const std::string rule = a.kind == 'a' ? "GA" : a.kind == 'c' ? "CAS" : "PG";
        // er hb erw hb ew: two pairs, the third of which is no more than their consequence
        if (b.type != "er" && !(b.type == "ew" && a.type == "er" && rule != "PG")) pairs[rule].insert({i, j});
        continue;
      }
      if (a.local()) pairs["LO"].insert({i, j});
      if (a.kind == 'p' && a.type == "er") pairs["SR"].insert({i, j});
      if (a.type == "f" && b.kind == 'p' && b.type == "er") pairs["SR"].insert({i, j});
      if (a.type == "f" && b.local()) pairs["F1"].insert({i, j});
      if (a.external() && b.type == "f" && a.dst == b.dst) pairs["F2"].insert({i, j});
      if (a.type == "f" && b.external() && a.dst == b.dst) pairs["F3"].insert({i, j});
      add_network_pairs(a, b, {i, j}, rules, pairs);
    }
  return pairs;
}

Pairs closure(const Pairs& edges, int n) {
  Pairs closed = edges;
  for (int k = 0; k < n; ++k)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        if (closed.contains({i, k}) && closed.contains({k, j})) closed.insert({i, j});
  return closed;
}

bool cyclic(const Pairs& edges, int n) {
  std::vector<std::vector<bool>> reach(static_cast<std::size_t>(n), std::vector<bool>(static_cast<std::size_t>(n)));
  for (const auto& [a, b] : edges) reach[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)] = true;
  for (std::size_t k = 0; k < reach.size(); ++k)
    for (std::size_t i = 0; i < reach.size(); ++i)
      for (std::size_t j = 0; j < reach.size(); ++j)
        if (reach[i][k] && reach[k][j]) reach[i][j] = true;
  for (std::size_t i = 0; i < reach.size(); ++i)
    if (reach[i][i]) return true;
  return false;
}

// --- candidates -----------------------------------------------------------------------------------------------------

/// Walks all candidates: an order of the writers of each variable, a source for each read.
class Candidates {
 public:
  Candidates(const NaiveProgram& program, const std::set<std::string>& rules)
      : program_(program), rules_(rules), actions_(actions_of(program)), static_(static_pairs(actions_, rules)) {
    for (int v = 0; v < static_cast<int>(program.homes.size()); ++v) {
      orders_.emplace_back();
      for (int i = 0; i < size(); ++i)
        if (action(i).writes() && action(i).variable == v) orders_.back().push_back(i);
    }
    for (int i = 0; i < size(); ++i)
      if (action(i).reads()) readers_.push_back(i);
    sources_.assign(actions_.size(), -1);
  }

  /// Is `found` true of one of them?
  bool some(const std::function<bool()>& found) {
    found_ = &found;
    return choose_order(0);
  }

  [[nodiscard]] int size() const { return static_cast<int>(actions_.size()); }
  [[nodiscard]] const Action& action(int i) const { return actions_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] int source(int r) const { return sources_[static_cast<std::size_t>(r)]; }

  bool all_read(bool one) const {
    for (int w = 0; w < size(); ++w) {
      if (!action(w).writes()) continue;
      int reads = 0;
      for (int r = 0; r < size(); ++r)
        if (action(r).type == "r" && source(r) == w) ++reads;
      if (reads == 0 || (one && reads != 1)) return false;
    }
    return true;
  }

  /// The pairs of each rule, with WS by the orders that the candidate picks and R1 by those orders, too.
  std::map<std::string, Pairs> pairs() const {
    std::map<std::string, Pairs> pairs = static_;
    for (const auto& order : orders_)
      for (std::size_t i = 0; i < order.size(); ++i)
        for (std::size_t j = i + 1; j < order.size(); ++j) pairs["WS"].insert({order[i], order[j]});
    for (const int r : readers_) {
      const int w = source(r);
      if (w >= 0) pairs["R2"].insert({w, r});
      bool later = w < 0;
      for (const int other : orders_[static_cast<std::size_t>(action(r).variable)]) {
        if (later && other != r) pairs["R1"].insert({r, other});
        if (other == w) later = true;
      }
    }
    return pairs;
  }

  /// hb by the rules of the set, closed, without the pair `out` wherever a rule induces it. AT joins what is ordered
  /// with an rga; without WS, R1 asks hb itself which writers are later.
  Pairs hb(std::pair<int, int> out = {-1, -1}) const {
    Pairs edges;
    for (const auto& [rule, of_rule] : pairs())
      if (rules_.contains(rule) && (rule != "R1" || rules_.contains("WS")))
        edges.insert(of_rule.begin(), of_rule.end());
    edges.erase(out);
    for (;;) {
      const Pairs closed = closure(edges, size());
      Pairs more = edges;
      if (rules_.contains("R1") && !rules_.contains("WS"))
        for (const int r : readers_)
          for (int w = 0; w < size(); ++w)
            if (overwrites(closed, r, w)) more.insert({r, w});
      if (rules_.contains("AT")) join_steps(closed, more);
      more.erase(out);
      if (more == edges) return closed;
      edges = more;
    }
  }

  /// Without WS: does R1 put the read r before w?
  bool overwrites(const Pairs& closed, int r, int w) const {
    return w != r && action(r).reads() && action(w).writes() && action(w).variable == action(r).variable &&
           source(r) != w && (source(r) < 0 || closed.contains({source(r), w}));
  }

  /// The pairs that the pivot might induce, whatever hb is.
  Pairs pivot_pairs(const std::string& pivot) const {
    if (pivot != "R1" || rules_.contains("WS")) return pairs()[pivot];
    Pairs all;
    for (const int r : readers_)
      for (int w = 0; w < size(); ++w)
        if (w != r && action(w).writes() && action(w).variable == action(r).variable) all.insert({r, w});
    return all;
  }

  /// Does the compare-and-swap of this action succeed (or fail), or depend on itself?
  bool may_end(int i, bool succeeds) const {
    int first = i;
    while (first > 0 && same_statement(first - 1, i)) --first;
    const auto compared = read(first, 0), old = read(first + 2, 0);
    return !compared || !old || (*compared == *old) == succeeds;
  }

  /// What the local reads of each process return, in order; nothing if a value depends on itself.
  std::optional<std::vector<long>> outcome() const {
    std::vector<long> values;
    for (int i = 0; i < size(); ++i) {
      const std::optional<long> v = action(i).reads() ? read(i, 0) : 0;
      if (!v) return std::nullopt;
      if (action(i).type == "r") values.push_back(*v);
    }
    return values;
  }

 private:
  [[nodiscard]] std::vector<int>& order_of(int i) { return orders_[static_cast<std::size_t>(action(i).variable)]; }

  bool choose_order(std::size_t v) {
    if (v == orders_.size()) return choose_source(0);
    std::sort(orders_[v].begin(), orders_[v].end());
    do {
      if (choose_order(v + 1)) return true;
    } while (std::next_permutation(orders_[v].begin(), orders_[v].end()));
    return false;
  }

  bool choose_source(std::size_t k) {
    if (k == readers_.size()) return (*found_)();
    std::vector<int> choices = order_of(readers_[k]);
    std::erase(choices, readers_[k]);  // an erw does not read itself
    choices.push_back(-1);
    for (const int w : choices) {
      sources_[static_cast<std::size_t>(readers_[k])] = w;
      if (choose_source(k + 1)) return true;
    }
    return false;
  }

  [[nodiscard]] bool same_statement(int i, int j) const {
    return action(i).process == action(j).process && action(i).statement == action(j).statement;
  }
  void join_steps(const Pairs& closed, Pairs& edges) const {
    for (int i = 0; i < size(); ++i)
      for (int j = 0; j < size(); ++j) {
        if (action(i).kind != 'a' || !same_statement(i, j)) continue;
        if (j == i + 1) edges.insert({i, j});
        for (int other = 0; other < size(); ++other) {
          if (same_statement(i, other)) continue;
          if (closed.contains({i, other})) edges.insert({j, other});
          if (closed.contains({other, i})) edges.insert({other, j});
        }
      }
  }

  // --- values: the k-th variable starts as 10^k, the local writes go on from there ---
  std::optional<long> read(int r, int depth) const {
    if (depth > size()) return std::nullopt;
    return source(r) < 0 ? constant(action(r).variable) : written(source(r), depth + 1);
  }
  std::optional<long> written(int w, int depth) const {
    int first = w;
    while (first > 0 && same_statement(first - 1, w)) --first;
    const bool on_target = action(w).type == "erw";
    switch (action(w).kind) {
      case 'w': {
        int earlier = 0;
        for (int i = 0; i < w; ++i)
          if (action(i).type == "w") ++earlier;
        return constant(static_cast<int>(program_.homes.size()) + earlier);
      }
      case 'a': {
        const auto added = read(first, depth), old = read(first + 1, depth);
        if (!on_target) return old;
        return added && old ? std::optional<long>(*added + *old) : std::nullopt;
      }
      case 'c': {
        const auto compared = read(first, depth), old = read(first + 2, depth);
        if (!on_target) return old;
        if (!compared || !old) return std::nullopt;
        return *compared == *old ? read(first + 1, depth) : old;
      }
      default:
        return read(first, depth);
    }
  }
  static long constant(int k) {
    long v = 1;
    for (; k > 0; --k) v *= 10;
    return v;
  }

  const NaiveProgram& program_;
  const std::set<std::string>& rules_;
  std::vector<Action> actions_;
  std::map<std::string, Pairs> static_;
  std::vector<std::vector<int>> orders_;  // of each variable: its writers, first to last
  std::vector<int> readers_;
  std::vector<int> sources_;  // of each action that reads: a writer, or -1 for the initial value
  const std::function<bool()>* found_ = nullptr;
};

}  // namespace

bool naive_is_test(const NaiveProgram& program, const NaiveQuestion& question) {
  Candidates candidates(program, question.rules);
  const bool compares = question.pivot == "CAS-T" || question.pivot == "CAS-F";
  return candidates.some([&] {
    if (!candidates.all_read(question.one)) return false;
    for (const auto& edge : candidates.pivot_pairs(compares ? "CAS" : question.pivot)) {
      Pairs rest = candidates.hb(edge);
      if (cyclic(rest, candidates.size())) continue;
      if (question.pivot == "R1" && !question.rules.contains("WS") &&
          !candidates.overwrites(rest, edge.first, edge.second))
        continue;
      if (compares && !candidates.may_end(edge.first, question.pivot == "CAS-T")) continue;
      rest.insert(edge);
      if (cyclic(rest, candidates.size())) return true;
    }
    return false;
  });
}

std::set<std::vector<long>> naive_outcomes(const NaiveProgram& program, const std::set<std::string>& rules) {
  std::set<std::vector<long>> outcomes;
  Candidates candidates(program, rules);
  (void)candidates.some([&] {
    const auto outcome = candidates.outcome();
    if (outcome && !outcomes.contains(*outcome) && !cyclic(candidates.hb(), candidates.size()))
      outcomes.insert(*outcome);
    return false;
  });
  return outcomes;
}

}  // namespace loco::model::corerma::test
