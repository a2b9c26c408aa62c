// Random documents of model verbs.
#include <algorithm>
#include <map>
#include <vector>

#include "tests/model/litmus/random_program.hpp"

namespace loco::model::litmus::test {
namespace {

class VerbsWriter {
 public:
  VerbsWriter(std::uint64_t seed, const RandomVerbs& shape) : state_(seed), shape_(shape) {}

  std::string document() {
    draw_words();
    draw_queues();
    draw_threads();
    std::string out = "name: random\nmodel: verbs\nlocations:\n";
    for (const Word& w : words_) {
      out += "  " + w.name + ": {node: " + std::to_string(w.node) + (w.relaxed ? ", relaxed: true" : "") +
             (w.device ? ", memory: device" : "") + "}\n";
    }
    out += "qps:\n";
    for (const End& e : ends_) {
      out += "  " + e.name + ": {node: " + std::to_string(e.node) + ", peer: " + at(e.peer).name;
      if (e.type != "rc") out += ", type: " + e.type;
      if (!e.send_cq.empty()) out += ", send_cq: " + e.send_cq;
      if (!e.recv_cq.empty()) out += ", recv_cq: " + e.recv_cq;
      if (!e.srq.empty()) out += ", srq: " + e.srq;
      out += "}\n";
    }
    if (srq_node_ != 0) out += "srqs: {s: {node: " + std::to_string(srq_node_) + "}}\n";
    out += "threads:\n";
    for (const Thread& t : threads_) out += "- {node: " + std::to_string(t.node) + ", code: '" + t.code + "'}\n";
    out += "final: [";
    for (std::size_t i = 0; i < words_.size(); ++i) out += (i == 0 ? "" : ", ") + words_[i].name;
    return out + "]\n";
  }

 private:
  struct Word {
    std::string name;
    int node = 1;
    bool relaxed = false, device = false;
  };
  struct End {
    std::string name;
    int node = 1;
    std::size_t peer = 0;
    std::string type = "rc", send_cq{}, recv_cq{}, srq{};
    int thread = -1;  // that posts to it
  };
  struct Thread {
    int node = 1;
    std::string code;
  };

  std::uint64_t next() {  // SplitMix64
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  int below(int n) { return static_cast<int>(next() % static_cast<std::uint64_t>(n)); }
  bool chance(int one_in) { return below(one_in) == 0; }
  template <class T>
  const T& one_of(const std::vector<T>& all) {
    return all[static_cast<std::size_t>(below(static_cast<int>(all.size())))];
  }
  [[nodiscard]] const End& at(std::size_t end) const { return ends_[end]; }

  void draw_words() {
    for (const int node : {1, 2}) {
      const int count = 1 + below(2);
      for (int i = 0; i < count; ++i) {
        Word w{(node == 1 ? "u" : "x") + std::to_string(i), node};
        if (shape_.regions && chance(5)) w.relaxed = true;
        if (shape_.regions && chance(6)) w.device = true;
        words_.push_back(w);
      }
    }
  }
  void draw_queues() {
    const std::size_t pairs = 1 + static_cast<std::size_t>(below(2));
    const std::vector<std::string> types = {"rc", "uc", "ud"};
    const bool loopback = chance(8);
    for (std::size_t i = 0; i < pairs; ++i) {
      const std::string type = shape_.unreliable ? one_of(types) : "rc";
      ends_.push_back({"q" + std::to_string(i), 1, 2 * i + 1, type});
      ends_.push_back({"p" + std::to_string(i), loopback ? 1 : 2, 2 * i, type});
    }
    if (chance(4)) {
      srq_node_ = ends_[1].node;
      const bool datagrams = ends_[1].type == "ud";
      for (End& e : ends_)
        if (e.node == srq_node_ && e.name[0] == 'p' && (e.type == "ud") == datagrams) e.srq = "s";
    }
    if (chance(3))
      for (End& e : ends_)
        if (e.node == 2 || loopback) (chance(2) ? e.recv_cq : e.send_cq) = "c";
    if (chance(3))
      for (End& e : ends_)
        if (e.node == 1 && !loopback) e.send_cq = "k";
  }
  void draw_threads() {
    const int count = 2 + below(shape_.threads_max - 1);
    int left = shape_.total_max;
    for (int t = 0; t < count && left > 0; ++t) {
      Thread thread{t < 2 ? t + 1 : 1 + below(2), ""};
      const int operations = std::min(left, 1 + below(shape_.operations_max));
      left -= operations;
      for (int i = 0; i < operations; ++i) thread.code += (i == 0 ? "" : "; ") + statement(t, thread.node);
      threads_.push_back(thread);
    }
  }

  std::vector<std::string> words_of(int node) const {
    std::vector<std::string> all;
    for (const Word& w : words_)
      if (w.node == node) all.push_back(w.name);
    return all;
  }
  std::vector<std::string> queues_of(int node) const {  // completion queues
    std::vector<std::string> all;
    for (const End& e : ends_) {
      if (e.node != node) continue;
      for (const std::string& c : {e.send_cq.empty() ? e.name : e.send_cq, e.recv_cq.empty() ? e.name : e.recv_cq})
        if (std::find(all.begin(), all.end(), c) == all.end()) all.push_back(c);
    }
    return all;
  }
  std::string reg() { return "r" + std::to_string(registers_++); }
  std::string value() { return std::to_string(1 + below(2)); }

  std::string statement(int t, int node) {
    const std::string local = one_of(words_of(node));
    std::vector<std::size_t> mine;
    for (std::size_t e = 0; e < ends_.size(); ++e)
      if (ends_[e].node == node && (ends_[e].thread == -1 || ends_[e].thread == t)) mine.push_back(e);
    for (const End& e : ends_)
      if (e.node == node && wanted_[e.srq.empty() ? e.name : e.srq] > 0 && !chance(4)) return receive(node, local);
    const int kind = below(12);
    if (kind == 0) return local + " = " + value();
    if (kind == 1) return reg() + " = " + local;
    if (kind == 2) return chance(2) ? "mfence" : reg() + " = cas(" + local + ", " + std::to_string(below(2)) + ", 2)";
    if (kind <= 4 && !queues_of(node).empty()) return poll(node);
    if (kind <= 6) return receive(node, local);
    if (mine.empty()) return local + " = " + value();
    End& end = ends_[one_of(mine)];
    end.thread = t;
    return request(end, local);
  }
  std::string poll(int node) {
    // One that somebody may write to, mostly: a poll that finds nothing for ever has no execution.
    std::vector<std::string> queues;
    for (const std::string& q : queues_of(node))
      if (entries_[q] > 0) queues.push_back(q);
    if (queues.empty() && !chance(12)) return "mfence";
    const std::string queue = one_of(queues.empty() ? queues_of(node) : queues);
    --entries_[queue];
    return chance(2) ? reg() + " = poll(" + queue + ")" : "poll(" + queue + ")";
  }
  std::string receive(int node, const std::string& local) {
    std::vector<std::string> queues;
    for (const End& e : ends_)
      if (e.node == node) queues.push_back(e.srq.empty() ? e.name : e.srq);
    if (queues.empty()) return local + " = " + value();
    const auto wanted =
        std::find_if(queues.begin(), queues.end(), [this](const std::string& q) { return wanted_[q] > 0; });
    const std::string queue = wanted == queues.end() ? one_of(queues) : *wanted;
    --wanted_[queue];
    return "recv(" + queue + ", " + (chance(4) ? "_" : local) + ") as w" + std::to_string(names_++);
  }
  std::string request(const End& end, const std::string& local) {
    const std::string remote = one_of(words_of(at(end.peer).node));
    const std::string source = chance(2) ? local : value();
    const bool rc = end.type == "rc";
    const int kind = end.type == "ud" ? 8 + below(2) : below(rc ? 12 : 9);
    std::string out;
    bool message = true;
    if (rc && kind >= 9) {
      message = false;
      if (kind == 9) out = "get(" + local + ", " + remote;
      if (kind == 10) out = "rcas(" + local + ", " + remote + ", 0, " + value();
      if (kind == 11) out = "rfaa(" + local + ", " + remote + ", " + value();
    } else if (kind >= 8) {
      out = chance(3) ? "sendimm(" + end.name + ", " + source + ", 7"
                      : "send(" + end.name + ", " + (chance(6) ? "_" : source);
    } else if (kind >= 6) {
      out = "putimm(" + remote + ", " + source + ", 7";
    } else if (shape_.lists && kind == 5 && words_of(at(end.peer).node).size() == 2) {
      const auto both = words_of(at(end.peer).node);
      out = "put([" + both[0] + ", " + both[1] + "], [1, 2]";
    } else if (kind >= 4) {
      out = "send(" + end.name + ", " + source;
    } else {
      out = "put(" + remote + ", " + source;
    }
    out += ")";
    if (out.rfind("send", 0) != 0) out += " on " + end.name;
    if (message && chance(6)) out += " inline";
    if (rc && chance(7)) out += " fence";
    if (out.rfind("send", 0) == 0 || out.rfind("putimm", 0) == 0) {
      const End& peer = at(end.peer);
      ++wanted_[peer.srq.empty() ? peer.name : peer.srq];
      ++entries_[peer.recv_cq.empty() ? peer.name : peer.recv_cq];
    }
    if (chance(6)) return out + " unsignaled";
    ++entries_[end.send_cq.empty() ? end.name : end.send_cq];
    if (chance(2)) out += " as w" + std::to_string(names_++);
    return out;
  }

  std::uint64_t state_;
  RandomVerbs shape_;
  std::vector<Word> words_;
  std::vector<End> ends_;
  std::vector<Thread> threads_;
  std::map<std::string, int> entries_, wanted_;  // by queue: completions that may come, messages without a receive
  int srq_node_ = 0, registers_ = 0, names_ = 0;
};

}  // namespace

std::string random_verbs_document(std::uint64_t seed, const RandomVerbs& shape) {
  return VerbsWriter(seed, shape).document();
}

}  // namespace loco::model::litmus::test
