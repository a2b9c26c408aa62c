#include "model/litmus/soundness.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "model/litmus/litmus.hpp"

namespace loco::model::litmus {
namespace {

/// A call that clients may make; `R` in its text stands for a register of its own.
struct Call {
  std::string text;
  bool of_library = true;
  bool reads = false;
};

/// What the clients of a library are made of: the document around the threads, and each thread's calls.
struct Alphabet {
  std::string head;
  std::vector<int> nodes;  ///< of the threads
  std::vector<std::vector<Call>> calls;
  bool round = true;  ///< turning the threads round (and nodes and locations with them) gives an equivalent client
};

std::string all_but(int thread, int threads) {
  std::string s;
  for (int t = 0; t < threads; ++t)
    if (t != thread) s += (s.empty() ? "" : ", ") + std::to_string(t + 1);
  return s;
}

Alphabet sv_clients(int threads) {
  Alphabet a{"locations: {s: {shared: true}, t: {shared: true}}\n", {}, {}};
  for (int t = 0; t < threads; ++t) {
    std::vector<Call> calls = {{"s = 1", true, false},
                               {"t = 1", true, false},
                               {"s = 2", true, false},
                               {"R = s", true, true},
                               {"R = t", true, true}};
    if (threads > 1) {
      const std::string others = all_but(t, threads);
      for (const char* v : {"s", "t"})
        calls.push_back({std::string("bcast(") + v + ", {" + others + "}) as d", true, false});
      calls.push_back({"wait(d)", true, false});
      calls.push_back({"gf({" + others + "})", true, false});
    }
    calls.push_back({"bcast(s, {" + std::to_string(t + 1) + "}) as e", true, false});
    calls.push_back({"mfence", false, false});
    a.nodes.push_back(t + 1);
    a.calls.push_back(std::move(calls));
  }
  return a;
}

Alphabet bal_clients(int threads, bool transitive) {
  Alphabet a{"locations: {", {}, {}};
  std::string participants;
  for (int t = 0; t < threads; ++t) {
    a.head += (t > 0 ? ", x" : "x") + std::to_string(t + 1) + ": {node: " + std::to_string(t + 1) + "}";
    a.head += ", l" + std::to_string(t + 1) + ": {node: " + std::to_string(t + 1) + "}";
    participants += (t > 0 ? ", " : "") + std::to_string(t);
  }
  a.head +=
      "}\nbarriers: {z: {threads: [" + participants + "], transitive: " + (transitive ? "true" : "false") + "}}\n";
  for (int t = 0; t < threads; ++t) {
    const std::string own = std::to_string(t + 1);
    std::vector<Call> calls = {
        {"barrier(z)", true, false}, {"R = x" + own, false, true}, {"x" + own + " = 1", false, false}};
    for (int k = 0; k < threads; ++k)  // the thread's own first: threads are then alike up to turning them round
      calls.push_back({"put(x" + std::to_string((t + k) % threads + 1) + ", 1)", false, false});
    for (int k = 1; k < threads; ++k)
      calls.push_back({"get(l" + own + ", x" + std::to_string((t + k) % threads + 1) + ") as k; wait(k); R = l" + own,
                       false, true});
    a.nodes.push_back(t + 1);
    a.calls.push_back(std::move(calls));
  }
  return a;
}

Alphabet rbl_clients(int threads) {
  Alphabet a{"locations: {x1: {node: 1}, x2: {node: 2}}\nringbuffers: {q: {writer: 0, readers: [", {}, {}, false};
  for (int t = 1; t < std::max(threads, 2); ++t) a.head += (t > 1 ? ", " : "") + std::to_string(t % threads);
  a.head += "]}}\n";
  for (int t = 0; t < threads; ++t) {
    std::vector<Call> calls;
    if (t == 0) calls = {{"R = submit(q, 1)", true, true}, {"R = submit(q, 2)", true, true}};
    if (t > 0 || threads == 1) calls.push_back({"R = receive(q)", true, true});
    if (t < 2) {
      calls.push_back({"put(x" + std::to_string(2 - t) + ", 1)", false, false});
      calls.push_back({"R = x" + std::to_string(t + 1), false, true});
    }
    a.nodes.push_back(t + 1);
    a.calls.push_back(std::move(calls));
  }
  return a;
}

/// A hash tells a torn value, whoever tore it. Guards tell it if one thread writes, and no NIC copies meanwhile.
Alphabet msw_clients(int threads, bool guards) {
  Alphabet a{"locations: {m: {node: 1, init: [0, 0]}, k: {node: 1, init: [0, 0]}}\n", {}, {}, !guards};
  const std::vector<Call> reads = {{"R = tryread(m)", true, true}, {"R = tryread(k)", true, true}};
  const std::vector<Call> writes = {
      {"write(m, [1, 1])", true, false}, {"write(m, [2, 2])", true, false}, {"write(k, [1, 1])", true, false}};
  const std::vector<Call> copies = {
      {"put(k, m) as d", true, false}, {"get(k, m) as d", true, false}, {"wait(d)", true, false}};
  for (int t = 0; t < threads; ++t) {
    std::vector<Call> calls = reads;
    if (!guards || t == 0) calls.insert(calls.end(), writes.begin(), writes.end());
    if (!guards) calls.insert(calls.end(), copies.begin(), copies.end());
    a.nodes.push_back(1);
    a.calls.push_back(std::move(calls));
  }
  return a;
}

Alphabet alphabet(const SoundnessOptions& o) {
  if (o.library == "sv") return sv_clients(o.threads);
  if (o.library == "bal") return bal_clients(o.threads, o.transitive);
  if (o.library == "rbl") return rbl_clients(o.threads);
  if (o.library == "msw") return msw_clients(o.threads, o.implementation.mixed_size != MixedSize::hash);
  throw std::invalid_argument("expected a library (sv, bal, rbl, msw), found '" + o.library + "'");
}

class Soundness {
 public:
  Soundness(const SoundnessOptions& options, const SoundnessProgress& progress)
      : options_(options), progress_(progress), alphabet_(alphabet(options)) {}

  SoundnessResult run() {
    for (int total = 1; total <= options_.threads * options_.calls && !stopped_; ++total) {
      client_.assign(static_cast<std::size_t>(options_.threads), {});
      extend(0, total);
    }
    return std::move(result_);
  }

 private:
  /// All clients whose threads from `thread` on have `left` calls together.
  void extend(int thread, int left) {
    if (stopped_) return;
    if (thread == options_.threads) {
      if (left == 0) compare();
      return;
    }
    extend(thread + 1, left);  // no (more) calls for this thread
    if (left == 0 || len(at(client_, thread)) == options_.calls) return;
    for (int c = 0; c < len(at(alphabet_.calls, thread)); ++c) {
      at(client_, thread).push_back(c);
      extend(thread, left - 1);
      at(client_, thread).pop_back();
    }
  }

  /// Of the clients that differ by turning the threads round, the first.
  [[nodiscard]] bool first_of_its_kind() const {
    for (std::size_t k = 1; alphabet_.round && k < client_.size(); ++k) {
      auto turned = client_;
      std::rotate(turned.begin(), turned.begin() + static_cast<std::ptrdiff_t>(k), turned.end());
      if (turned < client_) return false;
    }
    return true;
  }

  /// Has it calls that do nothing, on either side? Without them it is a smaller client, compared before: a wait with
  /// nothing to wait for, a fence that nothing precedes or follows.
  [[nodiscard]] bool has_idle_calls() const {
    for (int t = 0; t < options_.threads; ++t) {
      const auto& calls = at(client_, t);
      bool started = false;
      for (int i = 0; i < len(calls); ++i) {
        const std::string& text = at(at(alphabet_.calls, t), at(calls, i)).text;
        if (text == "wait(d)" && !started) return true;
        if (text == "mfence" && (i == 0 || i + 1 == len(calls))) return true;
        started = started || text.find("as d") != std::string::npos;
      }
    }
    return false;
  }

  /// Does the client say anything: a call of the library, and something read?
  [[nodiscard]] bool telling() const {
    bool library = false, reads = false;
    std::vector<int> barriers;
    for (int t = 0; t < options_.threads; ++t) {
      int count = 0;
      for (const int c : at(client_, t)) {
        const Call& call = at(at(alphabet_.calls, t), c);
        library = library || call.of_library;
        reads = reads || call.reads;
        count += call.text == "barrier(z)" ? 1 : 0;
      }
      barriers.push_back(count);
    }
    // Unequal numbers of barriers: neither side has an execution.
    return library && reads && std::equal(barriers.begin() + 1, barriers.end(), barriers.begin());
  }

  [[nodiscard]] std::string document() const {
    std::string s = "name: client\nmodel: loco\n" + alphabet_.head + "threads:\n";
    int registers = 0;
    for (int t = 0; t < options_.threads; ++t) {
      std::string code;
      for (const int c : at(client_, t)) {
        std::string text = at(at(alphabet_.calls, t), c).text;
        if (const std::size_t r = text.find("R = "); r != std::string::npos)
          text.replace(r, 1, "r" + std::to_string(registers++));
        code += (code.empty() ? "" : "; ") + text;
      }
      s += "  - {node: " + std::to_string(at(alphabet_.nodes, t)) + ", code: \"" + code + "\"}\n";
    }
    return s;
  }

  void compare() {
    if (!telling() || has_idle_calls() || !first_of_its_kind()) return;
    const std::string text = document();
    const Program client = parse_text(text, "client").front();
    const auto outcomes = [&](const Program& p) {
      Options o;
      o.model = "loco";
      o.model_options = options_.model_options;
      o.loop_bound = options_.loop_bound;
      o.outcomes_only = true;
      const Result r = enumerate(p, o);
      result_.complete = result_.complete && r.complete;
      std::set<std::string> texts;
      for (const Outcome& outcome : r.outcomes) texts.insert(p.text(outcome));
      return texts;
    };
    const std::set<std::string> allowed = outcomes(client);
    const std::set<std::string> shown = outcomes(implement(client, options_.implementation));
    ++result_.clients;
    std::set_difference(shown.begin(), shown.end(), allowed.begin(), allowed.end(),
                        std::back_inserter(result_.outcomes));
    if (!result_.outcomes.empty()) {
      result_.sound = false;
      result_.counterexample = text;
      stopped_ = true;
    } else if ((options_.clients_max != 0 && result_.clients >= options_.clients_max) ||
               (progress_ && result_.clients % 64 == 0 && !progress_(result_.clients))) {
      result_.complete = false;
      stopped_ = true;
    }
  }

  const SoundnessOptions& options_;
  const SoundnessProgress& progress_;
  Alphabet alphabet_;
  std::vector<std::vector<int>> client_;
  SoundnessResult result_;
  bool stopped_ = false;
};

}  // namespace

SoundnessResult check_soundness(const SoundnessOptions& options, const SoundnessProgress& progress) {
  if (options.threads < 1 || options.calls < 1 || options.threads > 8)
    throw std::invalid_argument("expected 1 to 8 threads and at least 1 call");
  return Soundness(options, progress).run();
}

}  // namespace loco::model::litmus
