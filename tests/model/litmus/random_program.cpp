#include "tests/model/litmus/random_program.hpp"

#include <vector>

namespace loco::model::litmus::test {
namespace {

class Generator {
 public:
  Generator(std::uint64_t seed, const RandomShape& shape) : state_(seed * 0x9E3779B97F4A7C15ULL + 1), shape_(shape) {}

  std::string run() {
    core_ = shape_.model.rfind("corerma", 0) == 0;
    loco_ = shape_.model == "loco";
    nodes_ = 1 + below(shape_.nodes_max);
    threads_ = core_ ? nodes_ : 1 + below(shape_.threads_max);
    for (int t = 0; t < threads_; ++t) home_.push_back(core_ ? t + 1 : 1 + below(nodes_));
    std::string text = "name: random\nmodel: " + shape_.model + "\nlocations:\n";
    const int locations = nodes_ + below(2);
    for (int l = 0; l < locations; ++l) {
      // Every node has a location; a second one lands anywhere.
      const int node = l < nodes_ ? l + 1 : 1 + below(nodes_);
      location_node_.push_back(node);
      text += "  x" + std::to_string(l) + ": {node: " + std::to_string(node) + (chance(4) ? ", init: 1" : "") + "}\n";
    }
    const int shared = loco_ ? 1 + below(2) : 0;
    for (int s = 0; s < shared; ++s) text += "  s" + std::to_string(s) + ": {shared: true}\n";
    shared_ = shared;
    barrier_ = loco_ && chance(2);
    ring_ = loco_ && threads_ > 1 && chance(4);
    if (barrier_) {
      text += "barriers: {b: {threads: [";
      for (int t = 0; t < threads_; ++t) text += (t > 0 ? ", " : "") + std::to_string(t);
      text += chance(3) ? "], transitive: true}}\n" : "]}}\n";
    }
    if (ring_) text += "ringbuffers: {q: {writer: 0, readers: [1" + std::string(chance(2) ? ", 0" : "") + "]}}\n";
    text += "threads:\n";
    int left = shape_.total_max;
    for (int t = 0; t < threads_; ++t) {
      text += "  - node: " + std::to_string(home_[std::size_t(t)]) + "\n    code: |\n";
      int operations = 1 + below(shape_.operations_max);
      if (operations > left) operations = left;
      left -= operations;
      const int barrier_at = barrier_ && operations > 0 ? below(operations) : -1;
      for (int o = 0; o < operations; ++o)
        text += "      " + (o == barrier_at ? "barrier(b)" : core_ ? core_statement(t) : statement(t)) + "\n";
      if (operations == 0) text += barrier_ ? "      barrier(b)\n" : "      \n";
    }
    text += "final: [x" + std::to_string(below(locations));
    if (shared > 0 && chance(2)) text += ", s0@" + std::to_string(1 + below(nodes_));
    return text + "]\n";
  }

 private:
  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }
  int below(int n) { return static_cast<int>(next() % static_cast<std::uint64_t>(n)); }
  bool chance(int one_in) { return below(one_in) == 0; }
  std::string reg() { return "r" + std::to_string(registers_++); }
  std::string value() { return std::to_string(1 + below(2)); }
  std::string location_on(int node) {
    std::vector<int> here;
    for (int l = 0; l < int(location_node_.size()); ++l)
      if (location_node_[std::size_t(l)] == node) here.push_back(l);
    return "x" + std::to_string(here[std::size_t(below(int(here.size())))]);
  }
  std::string any_location() { return "x" + std::to_string(below(int(location_node_.size()))); }
  std::string id() { return chance(3) ? "" : std::string(" as ") + (chance(2) ? "d" : "e"); }

  std::string statement(int t) {
    const int home = home_[std::size_t(t)];
    const std::string local = location_on(home);
    if (shape_.atomics && chance(3)) return remote_atomic(local);
    if (loco_ && chance(2)) {
      const std::string s = "s" + std::to_string(below(shared_));
      const std::string node = std::to_string(1 + below(nodes_));
      switch (below(ring_ && t < 2 ? 8 : 7)) {
        case 0:
          return s + " = " + value();
        case 1:
          return reg() + " = " + s;
        case 2:
          return "bcast(" + s + ", {" + node + "})" + id();
        case 3:
          return "bcast(" + s + ", {1, " + node + "})" + id();
        case 4:
          return "gf({" + node + "})";
        case 5:
          return chance(2) ? "wait(d)" : "wait(e)";
        case 6:
          return s + " = " + local;
        default:
          return t == 0 ? reg() + " = submit(q, " + value() + ")" : reg() + " = receive(q)";
      }
    }
    switch (below(10)) {
      case 0:
        return local + " = " + value();
      case 1:
        return reg() + " = " + local;
      case 2:
        return "put(" + any_location() + ", " + local + ")" + id_if_wait();
      case 3:
        return "put(" + any_location() + ", " + value() + ")" + id_if_wait();
      case 4:
        return "get(" + local + ", " + any_location() + ")" + id_if_wait();
      case 5:
        return chance(2) ? "mfence" : "rfence(" + std::to_string(1 + below(nodes_)) + ")";
      case 6:
        return reg() + " = cas(" + local + ", " + std::to_string(below(2)) + ", " + value() + ")";
      case 7:
        return shape_.model == "rdmatso" ? "poll(" + std::to_string(1 + below(nodes_)) + ")"
               : chance(2)               ? "wait(d)"
                                         : "wait(e)";
      case 8:
        return local + " = " + value();
      default:
        return reg() + " = " + local;
    }
  }
  std::string remote_atomic(const std::string& local) {
    const std::string result = chance(2) ? local : "_";
    if (chance(2))
      return "rfaa(" + result + ", " + any_location() + ", " + std::to_string(below(3)) + ")" + id_if_wait();
    return "rcas(" + result + ", " + any_location() + ", " + std::to_string(below(3)) + ", " + value() + ")" +
           id_if_wait();
  }
  std::string id_if_wait() { return shape_.model == "rdmatso" ? "" : id(); }

  std::string core_statement(int t) {
    const int home = home_[std::size_t(t)];
    const std::string local = location_on(home);
    switch (below(9)) {
      case 0:
        return local + " = " + value();
      case 1:
      case 2:
        return reg() + " = " + local;
      case 3:
        return local + " = get(" + any_location() + ")";
      case 4:
        return "put(" + any_location() + ", " + local + ")";
      case 5:
        return "put(" + any_location() + ", " + value() + ")";
      case 6:
        return "flush(" + std::to_string(1 + below(nodes_)) + ")";
      case 7:
        return local + " = rga(" + any_location() + ", " + (chance(2) ? value() : local) + ")";
      default:
        return local + " = cas(" + any_location() + ", " + std::to_string(below(2)) + ", " + value() + ")";
    }
  }

  std::uint64_t state_;
  const RandomShape& shape_;
  bool core_ = false, loco_ = false, barrier_ = false, ring_ = false;
  int nodes_ = 1, threads_ = 1, shared_ = 0, registers_ = 0;
  std::vector<int> home_, location_node_;
};

}  // namespace

std::string random_document(std::uint64_t seed, const RandomShape& shape) { return Generator(seed, shape).run(); }

}  // namespace loco::model::litmus::test
