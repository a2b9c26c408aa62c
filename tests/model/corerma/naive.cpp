#include "tests/model/corerma/naive.hpp"

#include <algorithm>
#include <map>
#include <numeric>

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

std::map<std::string, Pairs> static_pairs(const std::vector<Action>& actions) {
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
      if (a.type == "f" && b.local()) pairs["F1"].insert({i, j});
      if (a.external() && b.type == "f" && a.dst == b.dst) pairs["F2"].insert({i, j});
      if (a.type == "f" && b.external() && a.dst == b.dst) pairs["F3"].insert({i, j});
      if (a.on_target && b.on_target && a.dst == b.dst && a.dst != a.process) {
        pairs["IR"].insert({i, j});
        if (a.kind == 'p' && b.kind == 'p') pairs["PP"].insert({i, j});
        if (a.kind == 'g' && b.kind == 'g') pairs["GG"].insert({i, j});
      }
    }
  return pairs;
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

// --- candidates ---------------------------------------------------------------------------------------------------

class Candidates {
 public:
  Candidates(const NaiveProgram& program, const NaiveQuestion& question)
      : question_(question), actions_(actions_of(program)), static_(static_pairs(actions_)) {
    for (int v = 0; v < static_cast<int>(program.homes.size()); ++v) {
      orders_.emplace_back();
      for (int i = 0; i < size(); ++i)
        if (action(i).writes() && action(i).variable == v) orders_.back().push_back(i);
    }
    for (int i = 0; i < size(); ++i)
      if (action(i).reads()) readers_.push_back(i);
    sources_.assign(actions_.size(), -1);
  }

  bool some_test() { return choose_order(0); }

 private:
  [[nodiscard]] int size() const { return static_cast<int>(actions_.size()); }
  [[nodiscard]] const Action& action(int i) const { return actions_[static_cast<std::size_t>(i)]; }
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
    if (k == readers_.size()) return is_witness();
    std::vector<int> choices = order_of(readers_[k]);
    std::erase(choices, readers_[k]);  // an erw does not read itself
    choices.push_back(-1);
    for (const int w : choices) {
      sources_[static_cast<std::size_t>(readers_[k])] = w;
      if (choose_source(k + 1)) return true;
    }
    return false;
  }

  bool all_read() const {
    for (int w = 0; w < size(); ++w) {
      if (!action(w).writes()) continue;
      int reads = 0;
      for (int r = 0; r < size(); ++r)
        if (action(r).type == "r" && sources_[static_cast<std::size_t>(r)] == w) ++reads;
      if (reads == 0 || (question_.one && reads != 1)) return false;
    }
    return true;
  }

  bool is_witness() {
    if (!all_read()) return false;
    std::map<std::string, Pairs> pairs = static_;
    for (const auto& order : orders_)
      for (std::size_t i = 0; i < order.size(); ++i)
        for (std::size_t j = i + 1; j < order.size(); ++j) pairs["WS"].insert({order[i], order[j]});
    for (const int r : readers_) {
      const int w = sources_[static_cast<std::size_t>(r)];
      if (w >= 0) pairs["R2"].insert({w, r});
      bool later = w < 0;
      for (const int other : order_of(r)) {
        if (later && other != r) pairs["R1"].insert({r, other});
        if (other == w) later = true;
      }
    }
    Pairs all;
    for (const auto& [rule, edges] : pairs)
      if (question_.rules.contains(rule)) all.insert(edges.begin(), edges.end());
    if (!cyclic(all, size())) return false;
    const std::string pivot = question_.pivot.starts_with("CAS") ? "CAS" : question_.pivot;
    for (const auto& edge : pairs[pivot]) {
      Pairs rest = all;
      rest.erase(edge);
      if (!cyclic(rest, size())) return true;
    }
    return false;
  }

  const NaiveQuestion& question_;
  std::vector<Action> actions_;
  std::map<std::string, Pairs> static_;
  std::vector<std::vector<int>> orders_;  // of each variable: its writers, first to last
  std::vector<int> readers_;
  std::vector<int> sources_;  // of each action that reads: a writer, or -1 for the initial value
};

// --- programs -------------------------------------------------------------------------------------------------------

class Programs {
 public:
  Programs(const NaiveQuestion& question, int size) : question_(question), size_(size) {}

  std::set<NaiveProgram> run() {
    for (int variables = 0; variables < size_; ++variables) {
      program_.homes.assign(static_cast<std::size_t>(variables), 0);
      choose_homes(0);
    }
    return std::move(found_);
  }

 private:
  void choose_homes(std::size_t v) {
    if (v == program_.homes.size()) {
      program_.processes.assign(1, {});
      extend(size_ - static_cast<int>(v));
      return;
    }
    for (int h = v == 0 ? 0 : program_.homes[v - 1]; h < question_.hosts; ++h) {  // in order: names do not matter
      program_.homes[v] = h;
      choose_homes(v + 1);
    }
  }

  /// One more statement of the last process, or one more process, with so many actions left.
  void extend(int left) {
    auto& processes = program_.processes;
    if (left == 0) {
      if (static_cast<int>(processes.size()) == question_.processes && !processes.back().empty()) look();
      return;
    }
    const int p = static_cast<int>(processes.size()) - 1;
    const auto with = [&](NaiveStatement s, int actions) {
      if (actions > left || question_.statements.find(s.kind) == std::string::npos) return;
      processes[static_cast<std::size_t>(p)].push_back(std::move(s));
      extend(left - actions);
      processes[static_cast<std::size_t>(p)].pop_back();
    };
    std::vector<int> everywhere(program_.homes.size()), here;
    std::iota(everywhere.begin(), everywhere.end(), 0);
    for (const int v : everywhere)
      if (program_.homes[static_cast<std::size_t>(v)] == p) here.push_back(v);
    for (const int x : here) {
      with({'r', {x}}, 1);
      with({'w', {x}}, 1);
      for (const int z : everywhere) {
        with({'g', {x, z}}, 2);
        with({'p', {z, x}}, 2);
        for (const int y : here) {
          with({'a', {x, z, y}}, 3);
          for (const int w : here) with({'c', {x, z, y, w}}, 4);
        }
      }
    }
    for (int h = 0; h < question_.hosts; ++h) with({'f', {}, h}, 1);
    if (p + 1 < question_.processes && !processes.back().empty()) {
      processes.emplace_back();
      extend(left);
      processes.pop_back();
    }
  }

  void look() {
    std::vector<bool> used(program_.homes.size());
    for (const auto& process : program_.processes)
      for (const NaiveStatement& s : process)
        for (const int v : s.operands) used[static_cast<std::size_t>(v)] = true;
    if (std::find(used.begin(), used.end(), false) != used.end()) return;
    NaiveProgram canonical = naive_canonical(program_, question_.hosts);
    if (looked_at_.insert(canonical).second && naive_is_test(canonical, question_)) found_.insert(std::move(canonical));
  }

  const NaiveQuestion& question_;
  int size_;
  NaiveProgram program_;
  std::set<NaiveProgram> looked_at_, found_;
};

NaiveProgram renamed(const NaiveProgram& p, const std::vector<int>& hosts, const std::vector<int>& variables) {
  NaiveProgram q = p;
  for (std::size_t v = 0; v < p.homes.size(); ++v)
    q.homes[static_cast<std::size_t>(variables[v])] = hosts[static_cast<std::size_t>(p.homes[v])];
  for (std::size_t i = 0; i < p.processes.size(); ++i) {
    auto& code = q.processes[static_cast<std::size_t>(hosts[i])];
    code = p.processes[i];
    for (NaiveStatement& s : code) {
      for (int& v : s.operands) v = variables[static_cast<std::size_t>(v)];
      if (s.host >= 0) s.host = hosts[static_cast<std::size_t>(s.host)];
    }
  }
  return q;
}

}  // namespace

NaiveProgram naive_canonical(const NaiveProgram& program, int hosts) {
  std::vector<int> host(static_cast<std::size_t>(hosts)), variable(program.homes.size());
  std::iota(host.begin(), host.end(), 0);
  NaiveProgram least = program;
  do {
    // hosts that run processes keep to themselves
    const auto processes = static_cast<std::ptrdiff_t>(program.processes.size());
    if (std::any_of(host.begin(), host.begin() + processes, [&](int h) { return h >= processes; })) continue;
    std::iota(variable.begin(), variable.end(), 0);
    do {
      least = std::min(least, renamed(program, host, variable));
    } while (std::next_permutation(variable.begin(), variable.end()));
  } while (std::next_permutation(host.begin(), host.end()));
  return least;
}

bool naive_is_test(const NaiveProgram& program, const NaiveQuestion& question) {
  return Candidates(program, question).some_test();
}

std::set<NaiveProgram> naive_tests(const NaiveQuestion& question, int size) { return Programs(question, size).run(); }

}  // namespace loco::model::corerma::test
