#include "verify/auto_engine.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "verify/done_at_once.hpp"
#include "verify/explicit_engine.hpp"
#include "verify/schedule.hpp"

namespace loco::verify {

namespace {

/// The budget of engines in the first round, and the factor of each further one. The same on every machine, so that the
/// same program has the same answer in the same words wherever it is reached in time.
constexpr std::uint64_t kFirstPoints = 20'000;
constexpr std::uint64_t kFirstTicks = 150'000;
constexpr std::uint64_t kMore = 8;

/// A schedule without a network as one with: each operation is done as soon as it is issued.
Schedule done_at_once(const Program& program, const Schedule& schedule) {
  Schedule result;
  std::uint32_t issued = 0;
  for (const Step& step : schedule) {
    result.push_back(step);
    const Action& action = program.processes[step.process].edges[step.edge].action;
    if (action.kind != ActionKind::kRemote) continue;
    const RemoteKind kind = program.remotes[action.remote].kind;
    for (Part part = first_part(kind); part != Part::kDone; part = part_after(kind, part))
      result.push_back({Step::Kind::kNic, 0, 0, 0, issued});
    ++issued;
  }
  return result;
}

class AutoEngine : public Engine {
 public:
  explicit AutoEngine(std::function<std::unique_ptr<Engine>()> other) : make_other_(std::move(other)) {}

  [[nodiscard]] std::string_view name() const override { return "auto"; }

  [[nodiscard]] Answer check(const Task& task) override {
    Answer answer;
    said_.clear();
    // The weaker network first: its proofs count, and what tells its states apart is less, since no order has to be
    // kept.
    std::vector<Network> networks;
    const bool keeps_order = task.network == Network::kVerbs || task.network == Network::kInOrder;
    if (keeps_order) networks.push_back(Network::kUnordered);
    networks.push_back(task.network);
    if (task.network != Network::kSc) networks.push_back(Network::kSc);
    network_matters_ = !all_done_at_once(task.program, task.flushes);
    std::map<Network, Helps> helps;
    // Of `sc` a counterexample is wanted, and a proof only where it is one of every network.
    for (const Network n : networks)
      helps[n] = {.points = true, .ticks = n == task.network || n != Network::kSc || !network_matters_};
    std::uint64_t points = kFirstPoints;
    std::uint64_t ticks = kFirstTicks;
    for (bool more = true; more; points *= kMore, ticks *= kMore) {
      more = false;
      for (const Network n : networks) {
        Task other{task.program, task.flushes, n, task.limits};
        Helps& more_of = helps[n];
        if (more_of.points && ask(*explicit_engine(points, points), other, task, more_of, more_of.points, answer))
          return answer;
        std::unique_ptr<Engine>& engine = others_[n];
        if (!engine) engine = make_other_();
        other.limits.grant(ticks);
        if (more_of.ticks && ask(*engine, other, task, more_of, more_of.ticks, answer)) return answer;
        if (n == task.network || (n == Network::kUnordered && keeps_order) || !network_matters_)
          more = more || more_of.points || more_of.ticks;
        if (task.limits.out_of_time()) return unknown(std::move(answer));
      }
      if (!network_matters_) networks.assign(1, Network::kSc);  // there is less to tell apart
    }
    return unknown(std::move(answer));
  }

 private:
  /// Whether an engine may know with more points, or the other one with more ticks.
  struct Helps {
    bool points = false;
    bool ticks = false;
  };

  Answer unknown(Answer answer) const {
    answer.engine = name();
    for (const auto& [engine, why] : said_) answer.why += (answer.why.empty() ? "" : "; ") + engine + ": " + why;
    return answer;
  }

  /// Whether the engine knows: about the network asked for, or a proof on a weaker one, or a counterexample on `sc`.
  /// `helps`: whether it may know with more; `both`: what is broken on a weaker network no engine proves there. Of what
  /// it says about the network when it does not know, the last counts.
  bool ask(Engine& engine, const Task& asked, const Task& task, Helps& both, bool& helps, Answer& answer) {
    if (task.limits.out_of_time() && !said_.empty()) return false;
    Answer found = engine.check(asked);
    helps = found.verdict == Verdict::kUnknown && found.more;
    const bool as_asked = asked.network == task.network;
    if (found.verdict == Verdict::kUnknown) {
      if (as_asked || (asked.network == Network::kSc && !network_matters_)) note(std::move(found));
      return false;
    }
    if (as_asked) {
      answer = std::move(found);
      return true;
    }
    if (asked.network == Network::kSc && found.verdict == Verdict::kUnsafe)
      return from_sc(task, std::move(found), answer);
    if (found.verdict == Verdict::kUnsafe) both = {};
    if (found.verdict != Verdict::kSafe || (asked.network == Network::kSc && network_matters_)) return false;
    found.why = asked.network == Network::kSc
                    ? fmt::format("each operation is waited for at once, so that no network matters: {}", found.why)
                    : fmt::format("under {}, which shows all that {} does: {}", verify::name(asked.network),
                                  verify::name(task.network), found.why);
    found.certificate.clear();
    answer = std::move(found);
    return true;
  }

  static bool from_sc(const Task& task, Answer found, Answer& answer) {
    const Semantics semantics(task.program, task.flushes, task.network);
    Counterexample counterexample{done_at_once(task.program, found.counterexample->schedule), false};
    const Run outcome = run(semantics, counterexample.schedule);
    if (!outcome.broken) return false;
    counterexample.schedule.resize(outcome.steps);
    found.why =
        fmt::format("{} fails after {} steps, as it does without a network", outcome.broken->text, outcome.steps);
    found.counterexample = std::move(counterexample);
    answer = std::move(found);
    return true;
  }

  void note(Answer found) {
    const auto same = [&](const auto& said) { return said.first == found.engine; };
    const auto before = std::find_if(said_.begin(), said_.end(), same);
    if (before == said_.end())
      said_.emplace_back(std::move(found.engine), std::move(found.why));
    else
      before->second = std::move(found.why);
  }

  std::function<std::unique_ptr<Engine>()> make_other_;
  std::map<Network, std::unique_ptr<Engine>> others_;      ///< they keep what they learnt about a network
  std::vector<std::pair<std::string, std::string>> said_;  ///< engines and why they do not know
  bool network_matters_ = true;                            ///< is a proof on `sc` none?
};

}  // namespace

std::unique_ptr<Engine> auto_engine(std::function<std::unique_ptr<Engine>()> other) {
  return std::make_unique<AutoEngine>(std::move(other));
}

}  // namespace loco::verify
