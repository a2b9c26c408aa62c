// bal, the barriers (LOCO paper, Section 4): aGF of every participant's node (of every node when transitive) at
// the entry, aCR at the exit, and so from every entry to every exit of one round.
#include <algorithm>
#include <fmt/format.h>

#include "model/library_checker.hpp"
#include "model/words.hpp"

namespace loco::model {
namespace {

class BalChecker final : public LibraryChecker {
 public:
  explicit BalChecker(const CheckContext& context);

  void begin_thread(std::uint32_t /*thread*/) override { ++epoch_; }
  void subevents(Event& event) override;
  void visit(Event& event) override;
  void finish() override;

 private:
  struct Round {
    std::uint32_t entered = 0;
    CallId first = 0;  // some call of the round, for messages
    Point entries;
    std::vector<Point> exits;
  };
  struct Barrier {
    std::uint32_t epoch = 0;
    std::uint32_t calls = 0;  // of the thread being shown, those that it made again counted once
    bool again = false;       // its latest one ended in its fence
    bool known = false;
    std::vector<std::uint32_t> fenced;  // nodes
    std::vector<Round> rounds;
  };

  Barrier& barrier(std::uint32_t object);
  [[nodiscard]] bool has_fenced(const Event& event) const;
  [[nodiscard]] bool ended_in_fence(const Event& event) const;

  CheckContext context_;
  std::vector<Barrier> barriers_;
  std::vector<std::uint32_t> everywhere_;  // nodes that some operation names: aGF of any other orders nothing more
  std::uint32_t epoch_ = 0;
};

BalChecker::BalChecker(const CheckContext& context)
    : context_(context), barriers_(context.index.trace().objects.size()) {
  const Trace& trace = context.index.trace();
  std::vector<bool> named(trace.nodes, false);
  for (SubeventId id = 1; id <= trace.subevents.size(); ++id) named[context.index.kind(id).peer] = true;
  for (std::uint32_t n = 0; n < trace.nodes; ++n)
    if (named[n]) everywhere_.push_back(n);
}

BalChecker::Barrier& BalChecker::barrier(std::uint32_t object) {
  Barrier& b = barriers_[object];
  if (!b.known) {
    b.known = true;
    const Trace& trace = context_.index.trace();
    const Object& o = trace.objects[object];
    if (o.transitive) b.fenced = everywhere_;
    for (const std::uint32_t t : o.participants) b.fenced.push_back(trace.threads[t].node);
    std::sort(b.fenced.begin(), b.fenced.end());
    b.fenced.erase(std::unique(b.fenced.begin(), b.fenced.end()), b.fenced.end());
  }
  if (b.epoch != epoch_) {
    b.epoch = epoch_;
    b.calls = 0;
    b.again = false;
  }
  return b;
}

/// A call that did not return has fenced if the global fence that it is made of did.
bool BalChecker::has_fenced(const Event& event) const {
  return event.call->returned || std::any_of(event.calls.begin(), event.calls.end(), [&](CallId id) {
           const Call& call = context_.index.call(id);
           return call.method == Method::gf && call.returned;
         });
}

/// With the error of an operation: then it has not counted, and may be made again. It is part of that call's round.
bool BalChecker::ended_in_fence(const Event& event) const {
  bool fence = false;
  for (const CallId id : event.calls) {
    const Call& call = context_.index.call(id);
    if (call.parent != event.id) continue;
    fence = call.method == Method::gf && !call.returned;
    if (!fence) return false;
  }
  return fence;
}

void BalChecker::subevents(Event& event) {
  // Where the implementation waits for its fences and where it last looks at a counter: the hints for aGF and aCR.
  const TraceIndex& index = context_.index;
  Seq fenced = event.call->begin;
  Seq left = event.call->end;
  for (const CallId call : event.calls)
    for (const SubeventId id : index.subevents_of(call)) {
      const Stamp stamp = index.kind(id).stamp;
      if (stamp == Stamp::aWT) fenced = index.subevent(id).finish;
      if (stamp == Stamp::aCR) left = index.subevent(id).finish;
    }
  if (!has_fenced(event)) return;
  for (const std::uint32_t n : barrier(event.call->object).fenced) context_.synthesise(event, Stamp::aGF, n, fenced);
  if (event.call->returned) context_.synthesise(event, Stamp::aCR, 0, left);
}

void BalChecker::visit(Event& event) {
  Barrier& b = barrier(event.call->object);
  const Trace& trace = context_.index.trace();
  const auto& participants = trace.objects[event.call->object].participants;
  if (std::find(participants.begin(), participants.end(), event.thread) == participants.end()) {
    context_.reports.add(Rule::participants, [&] {
      return thread_text(trace, event.thread) + " calls " + call_text(trace, event.id) + " and is no participant";
    });
    return;
  }
  if (b.rounds.size() <= b.calls) b.rounds.resize(b.calls + 1);
  Round& round = b.rounds[b.calls];
  if (!b.again) ++round.entered;
  b.again = ended_in_fence(event);
  if (!b.again) ++b.calls;
  round.first = event.id;
  for (const Node& node : event.nodes) {
    if (node.stamp == Stamp::aGF) round.entries = context_.order.join(round.entries, node.finish);
    if (node.stamp == Stamp::aCR) round.exits.push_back(node.finish);
  }
}

void BalChecker::finish() {
  const Trace& trace = context_.index.trace();
  for (std::size_t object = 0; object < barriers_.size(); ++object) {
    const std::size_t expected = trace.objects[object].participants.size();
    const Barrier& b = barriers_[object];
    for (std::size_t r = 0; r < b.rounds.size(); ++r) {
      const Round& round = b.rounds[r];
      for (const Point& exit : round.exits) context_.order.edge(round.entries, exit, Rule::bal_so);
      if (!round.exits.empty() && round.entered < expected)
        context_.reports.add(Rule::barrier_count, [&] {
          return fmt::format("round {} of {} was left by {} threads, but only {} of {} participants came to it", r + 1,
                             call_text(trace, round.first), round.exits.size(), round.entered, expected);
        });
    }
  }
}

}  // namespace

std::unique_ptr<LibraryChecker> make_bal_checker(const CheckContext& context) {
  return std::make_unique<BalChecker>(context);
}

}  // namespace loco::model
