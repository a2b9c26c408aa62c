#include "model/litmus/implementations/soundness.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "model/litmus/answers/litmus.hpp"
#include "model/litmus/implementations/clients.hpp"
#include "model/litmus/implementations/promises.hpp"
#include "text/words.hpp"

namespace loco::model::litmus {
namespace {

ClientAlphabet alphabet(const SoundnessOptions& o) {
  if (o.library == "rdmawait") return rdmawait_clients(o.threads);
  if (o.library == "sv") return sv_clients(o.threads);
  if (o.library == "bal") return bal_clients(o.threads, o.transitive);
  if (o.library == "rbl") return rbl_clients(o.threads);
  if (o.library == "msw") return msw_clients(o.threads, o.implementation.mixed_size != MixedSize::hash);
  throw std::invalid_argument("expected a library (rdmawait, sv, bal, rbl, msw, lock), found " +
                              text::in_quotes(o.library));
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
    // No (more) calls for this thread.
    if (options_.every_client || options_.promises || !idle_thread(alphabet_, thread, at(client_, thread)))
      extend(thread + 1, left);
    if (left == 0 || len(at(client_, thread)) == options_.calls) return;
    for (int c = 0; c < len(at(alphabet_.calls, thread)); ++c) {
      at(client_, thread).push_back(c);
      extend(thread, left - 1);
      at(client_, thread).pop_back();
    }
  }

  /// Does the client say anything: a call of the library, and something read?
  [[nodiscard]] bool telling() const {
    bool library = false, reads = options_.promises;
    std::vector<int> barriers;
    for (int t = 0; t < options_.threads; ++t) {
      int count = 0;
      for (const int c : at(client_, t)) {
        const ClientCall& call = at(at(alphabet_.calls, t), c);
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
    std::string s = "name: client\nmodel: " + std::string(options_.library == "rdmawait" ? "rdmawait" : "loco") + "\n" +
                    alphabet_.head + "threads:\n";
    int registers = 0, values = 0;
    for (int t = 0; t < options_.threads; ++t) {
      std::string code;
      for (const int c : at(client_, t)) {
        std::string text = at(at(alphabet_.calls, t), c).text;
        if (const std::size_t r = text.find("R = "); r != std::string::npos)
          text.replace(r, 1, "r" + std::to_string(registers++));
        if (const std::size_t v = text.find("= V"); v != std::string::npos)
          text.replace(v + 2, 1, std::to_string(++values));
        code += (code.empty() ? "" : "; ") + text;
      }
      s += "  - {node: " + std::to_string(at(alphabet_.nodes, t)) + ", code: \"" + code + "\"}\n";
    }
    return s;
  }

  /// Every read of a tuple succeeds: a failing one changes nothing else, on either side, so that a client in which it
  /// shows something forbidden shows it without the read, too. The thread goes round in a circle where one fails.
  static void expect_tuples(Program& p) {
    for (Thread& t : p.threads) {
      std::vector<Instruction> code;
      for (const Instruction& i : t.code) {  // straight-line code: there are no targets to move
        code.push_back(i);
        if (i.op != Op::tuple_read) continue;
        const int first = len(p.exprs);
        p.exprs.push_back({ExprOp::reg, 0, i.target, kNone, kNone});
        p.exprs.push_back({ExprOp::constant, kBottom, kNone, kNone, kNone});
        p.exprs.push_back({ExprOp::ne, 0, kNone, first, first + 1});
        Instruction again;
        again.op = Op::branch_zero;
        again.expr = first + 2;
        again.jump = len(code);
        again.at = i.at;
        again.text = i.text;
        code.push_back(std::move(again));
      }
      t.code = std::move(code);
    }
  }

  /// Sorted. Those of the two sides compare: an implemented program has the same observables in the same order, and
  /// the client's tuples before its own.
  [[nodiscard]] std::vector<Outcome> outcomes(const Program& p, const std::string& model) {
    Options o;
    o.model = model;
    o.model_options = options_.model_options;
    o.loop_bound = options_.loop_bound;
    o.outcomes_only = true;
    Result r = enumerate(p, o);
    result_.complete = result_.complete && r.complete_in_bound;
    return r.outcomes.all();
  }

  void compare() {
    if (!telling() || (!options_.every_client && !options_.promises && covered(alphabet_, client_))) return;
    const std::string text = document();
    Program client = parse_text(text, "client").front();
    if (alphabet_.tuples && !options_.every_client && !options_.promises) expect_tuples(client);
    const bool waits = options_.library == "rdmawait";
    const Program implemented =
        waits ? waits_by_polls(client, !options_.wait_without_poll) : implement(client, options_.implementation);
    const std::vector<Outcome> allowed = outcomes(client, waits ? "rdmawait" : "loco"),
                               shown = outcomes(implemented, waits ? "rdmatso" : "loco");
    ++result_.clients;
    std::vector<Outcome> forbidden;
    std::set_difference(shown.begin(), shown.end(), allowed.begin(), allowed.end(), std::back_inserter(forbidden));
    for (const Outcome& o : forbidden) result_.outcomes.push_back(implemented.text(o));
    std::sort(result_.outcomes.begin(), result_.outcomes.end());
    if (options_.promises && result_.outcomes.empty()) {
      const PromiseResult kept =
          check_promises(client, implemented, options_.model_options, options_.loop_bound, options_.executions_max);
      result_.promise = kept.broken;
      result_.executions += kept.executions;
      result_.complete = result_.complete && kept.complete;
      result_.cut += kept.complete ? 0 : 1;
    }
    if (!result_.outcomes.empty() || !result_.promise.empty()) {
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
  ClientAlphabet alphabet_;
  Client client_;
  SoundnessResult result_;
  bool stopped_ = false;
};

}  // namespace

SoundnessResult check_soundness(const SoundnessOptions& options, const SoundnessProgress& progress) {
  if (const SoundnessOptions* const asked = &options; asked->library == "lock")
    return check_lock_soundness(options, progress);
  if (options.threads < 1 || options.calls < 1 || options.threads > 8)
    throw std::invalid_argument("expected 1 to 8 threads and at least 1 call");
  if (options.promises && options.library == "rdmawait")
    throw std::invalid_argument("expected promises of sv, bal, rbl or msw");
  return Soundness(options, progress).run();
}

}  // namespace loco::model::litmus
