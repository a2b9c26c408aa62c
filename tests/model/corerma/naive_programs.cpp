// Every program of a size, and the least of those that renaming makes of one.
#include <algorithm>
#include <numeric>

#include "tests/model/corerma/naive.hpp"

namespace loco::model::corerma::test {
namespace {

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
    found_.insert(naive_canonical(program_, question_.hosts));
  }

  const NaiveQuestion& question_;
  int size_;
  NaiveProgram program_;
  std::set<NaiveProgram> found_;
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

std::set<NaiveProgram> naive_programs(const NaiveQuestion& question, int size) {
  return Programs(question, size).run();
}

std::set<NaiveProgram> naive_tests(const NaiveQuestion& question, const std::set<NaiveProgram>& programs) {
  std::set<NaiveProgram> tests;
  for (const NaiveProgram& p : programs)
    if (naive_is_test(p, question)) tests.insert(p);
  return tests;
}

}  // namespace loco::model::corerma::test
