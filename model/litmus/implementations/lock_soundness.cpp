// Bounded soundness of locks, by class (docs/atomics.md): what a thread did before it let go is before what the next
// one does after it has taken the lock.
//
// Clients are litmus tests. In a hand-over, thread 0 on node 1 has the lock, whose word is on node 2, works on words of
// nodes 1, 2 and 4 and lets go; thread 1 on node 3 takes it, if it can, and works. The implementation may show, with
// the lock taken, what the specification allows: the same work with a barrier in place of the lock, behind a global
// fence of the nodes of the class. (The barrier fences nodes 1 and 3 as well, which nobody puts to or gets from before
// it.) In a contest, threads of nodes 1, 2 and 3 take a lock that is free: one of them gets it.
#include <algorithm>
#include <iterator>
#include <set>
#include <stdexcept>

#include "model/litmus/answers/litmus.hpp"
#include "model/litmus/implementations/soundness.hpp"

namespace loco::model::litmus {
namespace {

const char* const kWords =
    "locations: {lock: {node: 2, init: INIT}, x1: {node: 1}, x2: {node: 2}, x4: {node: 4}, y2: {node: 2}, y4: {node: "
    "4}, "
    "l1: {node: 1}, z1: {node: 1}, z2: {node: 2}, z3: {node: 3}, k3: {node: 3}}\n";

struct Work {
  const char* code;
  int node = 0;  ///< that an operation of the NIC names; 0: a CPU's
};
// Each looks at, or is seen by, one of the other list.
constexpr Work kBefore[] = {
    {"x1 = 1", 0}, {"put(x2, 1)", 2}, {"put(x4, 1)", 4}, {"get(l1, y2)", 2}, {"get(l1, y4)", 4}};
constexpr const char* kAfter[] = {"get(k3, x1) as GID; wait(GID); REG = k3", "get(k3, x2) as GID; wait(GID); REG = k3",
                                  "get(k3, x4) as GID; wait(GID); REG = k3", "put(y2, 1)", "put(y4, 1)"};

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

std::vector<Outcome> outcomes_of(const Program& p) {
  Options options;
  options.outcomes_only = true;
  return enumerate(p, options).outcomes;
}

class LockSoundness {
 public:
  LockSoundness(const SoundnessOptions& options, const std::function<bool(std::uint64_t)>& go_on)
      : options_(options), go_on_(go_on) {}

  SoundnessResult run() {
    result_.sound = result_.complete = true;
    for (int t = 2; t <= std::min(options_.threads, 3) && going(); ++t) contest(t);
    for (int work = 1; work <= 2 * options_.calls && going(); ++work)
      for (int before = 1; before <= std::min(work, options_.calls) && going(); ++before)
        if (work - before <= options_.calls && work - before >= 1) hand_overs(before, work - before);
    return std::move(result_);
  }

 private:
  [[nodiscard]] bool going() const { return result_.sound && result_.complete; }

  // --- the implementation ---
  [[nodiscard]] std::string take(int node, const std::string& reg) const {
    const std::string z = "z" + std::to_string(node);
    if (options_.lock_bug == LockBug::get_and_put)
      return "get(" + z + ", lock) as e" + reg + "; wait(e" + reg + "); " + reg + " = " + z + "; put(lock, 1)";
    if (options_.lock_bug == LockBug::home_cas && node == 2) return reg + " = cas(lock, 0, 1)";
    return "rcas(" + z + ", lock, 0, 1) as e" + reg + "; wait(e" + reg + "); " + reg + " = " + z;
  }
  /// The nodes whose operations a class waits for.
  [[nodiscard]] std::vector<int> nodes() const {
    switch (options_.lock_class) {
      case LockClass::weak:
        return {};
      case LockClass::node:
        return {options_.lock_node};
      default:
        return {2, 4};
    }
  }
  [[nodiscard]] std::string let_go(const std::vector<int>& work) const {
    std::string code;
    for (const int n : nodes()) {
      if (options_.lock_bug == LockBug::no_fence) continue;
      const bool used = std::any_of(work.begin(), work.end(), [&](int w) { return kBefore[w].node == n; });
      // Operations to the lock's own node precede the release on its queue pair; gets wait for the fence.
      if (used && n == 2) code += "rfence(2); ";
      if (used && n != 2)
        code += "get(_, x" + std::to_string(n) + ") as f" + std::to_string(n) + "; wait(f" + std::to_string(n) + "); ";
    }
    return code + "rfaa(_, lock, -1)";
  }

  // --- clients ---
  void contest(int threads) {
    std::string document = "name: contest\nmodel: loco\n" + replaced(kWords, "INIT", "0") + "threads:\n";
    const int homes[] = {1, 2, 3};
    for (int t = 0; t < threads; ++t)
      document += "  - {node: " + std::to_string(homes[t]) + ", code: '" +
                  take(homes[t], std::string(1, static_cast<char>('a' + t))) + "'}\n";
    const Program p = parse_text(document, "client").front();
    ++result_.clients;
    std::set<std::string> shown;
    for (const Outcome& o : outcomes_of(p))
      if (std::count(o.begin(), o.end(), Value{0}) > 1) shown.insert(p.text(o));
    if (!shown.empty()) refute(document, shown);
    count();
  }

  void hand_overs(int before, int after) {
    std::vector<int> work(static_cast<std::size_t>(before + after), 0);
    static_assert(std::size(kBefore) == std::size(kAfter));
    constexpr int kKinds = static_cast<int>(std::size(kBefore));
    while (going()) {
      hand_over({work.begin(), work.begin() + before}, {work.begin() + before, work.end()});
      std::size_t digit = 0;
      while (digit < work.size() && ++work[digit] == kKinds) work[digit++] = 0;
      if (digit == work.size()) return;
    }
  }

  void hand_over(const std::vector<int>& before, const std::vector<int>& after) {
    std::string mine, theirs;
    std::vector<std::string> all;
    for (const int w : before) all.emplace_back(kBefore[w].code);
    const std::string release = let_go(before);
    if (options_.lock_bug == LockBug::release_before_data && !all.empty())
      all.insert(all.end() - 1, release);
    else
      all.push_back(release);
    for (const std::string& s : all) mine += (mine.empty() ? "" : "; ") + s;
    std::string specified;
    for (const int w : before) specified += std::string(kBefore[w].code) + "; ";
    std::string fenced;
    for (const int n : nodes()) fenced += (fenced.empty() ? "" : ", ") + std::to_string(n);
    if (!fenced.empty()) specified += "gf({" + fenced + "}); ";
    char reg = 'b';
    for (const int w : after) {
      const std::string name(1, reg++);
      theirs += "; " + replaced(replaced(kAfter[w], "REG", name), "GID", "g" + name);
    }
    const std::string words = replaced(kWords, "INIT", "1");
    const std::string document = "name: hand-over\nmodel: loco\n" + words + "threads:\n  - {node: 1, code: '" + mine +
                                 "'}\n  - {node: 3, code: '" + take(3, "a") + theirs + "'}\nfinal: [l1]\n";
    const std::string wanted = "name: hand-over\nmodel: loco\n" + words +
                               "barriers: {t: [0, 1]}\nthreads:\n  - {node: 1, code: '" + specified +
                               "barrier(t)'}\n  - {node: 3, code: 'barrier(t)" + theirs + "'}\nfinal: [l1]\n";
    compare(document, wanted);
    count();
  }

  void compare(const std::string& document, const std::string& wanted) {
    const Program p = parse_text(document, "client").front(), q = parse_text(wanted, "client").front();
    ++result_.clients;
    const std::vector<Outcome> allowed = outcomes_of(q);
    std::set<std::string> shown;
    for (Outcome o : outcomes_of(p)) {
      if (o.front() != 0) continue;  // register a: the lock was not free
      const std::string text = p.text(o);
      o.erase(o.begin());
      if (!std::binary_search(allowed.begin(), allowed.end(), o)) shown.insert(text);
    }
    if (!shown.empty()) refute(document, shown);
  }

  void refute(const std::string& document, const std::set<std::string>& shown) {
    result_.sound = false;
    result_.counterexample = document;
    result_.outcomes.assign(shown.begin(), shown.end());
  }
  void count() {
    if (options_.clients_max != 0 && result_.clients >= options_.clients_max) result_.complete = false;
    if (go_on_ && !go_on_(result_.clients)) result_.complete = false;
  }

  const SoundnessOptions& options_;
  const std::function<bool(std::uint64_t)>& go_on_;
  SoundnessResult result_;
};

}  // namespace

SoundnessResult check_lock_soundness(const SoundnessOptions& options,
                                     const std::function<bool(std::uint64_t)>& progress) {
  return LockSoundness(options, progress).run();
}

}  // namespace loco::model::litmus
