// rbl, the ring buffers (LOCO paper, Section 5): one writer, FIFO, every reader thread receives every message.
//
// Since no message may be received twice, out of order or skipped, a thread's k-th successful receive is of the
// k-th successful submit: rf needs no guess. fb is sparse: an empty receive precedes the first message that the
// thread had not received yet, and the later ones follow by ppo of the writer (B2, G7).
#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "model/library_checker.hpp"
#include "model/words.hpp"

namespace loco::model {
namespace {

class RblChecker final : public LibraryChecker {
 public:
  explicit RblChecker(const CheckContext& context)
      : context_(context), buffers_(context.index.trace().objects.size()) {}

  void begin_thread(std::uint32_t /*thread*/) override { ++epoch_; }
  void subevents(Event& event) override;
  void visit(Event& event) override;
  void finish() override;

 private:
  struct Message {
    CallId submit = 0;
    Point local;                                          // aCW
    std::vector<std::pair<std::uint32_t, Point>> remote;  // aNRW by node
  };
  struct Receive {
    CallId call = 0;
    std::uint32_t thread = 0;
    std::size_t index = 0;  // of the message received, or of the first one not seen
    bool empty = false;
    Point at;
  };
  struct Buffer {
    std::uint32_t writer = 0;  // + 1
    std::uint32_t epoch = 0;
    std::size_t received = 0;  // by the thread being shown
    std::vector<Message> messages;
    std::vector<Receive> receives;
  };

  [[nodiscard]] bool publishes(const Event& event, CallId call) const;
  void submit_nodes(Event& event);
  void finish_buffer(const Buffer& b);
  [[nodiscard]] const Point* write_on(const Message& m, const Buffer& b, std::uint32_t node) const;
  [[nodiscard]] bool may_use(const Object& object, Buffer& b, const Event& event) const;

  CheckContext context_;
  std::vector<Buffer> buffers_;
  std::uint32_t epoch_ = 0;
};

/// Is the call a part of writing or broadcasting a head? LOCO names heads by their ring.
bool RblChecker::publishes(const Event& event, CallId call) const {
  const Trace& trace = context_.index.trace();
  const std::string heads = trace.objects[event.call->object].name + "/heads";
  for (; call != event.id; call = context_.index.call(call).parent)
    if (trace.objects[context_.index.call(call).object].name.starts_with(heads)) return true;
  return false;
}

/// aCW and aNRW_n of the last write and broadcast of the implementation: those that publish the message. A call that
/// did not return may not have come so far; while it has published nothing, it has no subevents.
void RblChecker::submit_nodes(Event& event) {
  const TraceIndex& index = context_.index;
  SubeventId local = 0;
  std::map<std::uint32_t, SubeventId> remote;
  for (const CallId call : event.calls) {
    if (!event.call->returned && !publishes(event, call)) continue;
    for (const SubeventId id : index.subevents_of(call)) {
      const Subevent& s = index.subevent(id);
      if (s.stamp == Stamp::aCW) {
        local = id;
        remote.clear();  // of what was written before: the NIC may not have come to this write when the run ended
      }
      if (s.stamp == Stamp::aNRW) remote[s.peer] = id;
    }
  }
  if (!event.call->returned && local == 0) return;
  const std::uint32_t here = index.trace().threads[event.thread].node;
  for (const std::uint32_t t : index.trace().objects[event.call->object].participants)
    if (const std::uint32_t n = index.trace().threads[t].node; n != here) remote.try_emplace(n, 0);
  const auto add = [&](SubeventId id, Stamp stamp, std::uint32_t peer, Seq unrecorded) {
    if (id == 0) return context_.synthesise(event, stamp, peer, unrecorded);
    const Point at = context_.order.finish(id);
    event.nodes.push_back({id, stamp, peer, at, at});
  };
  add(local, Stamp::aCW, 0, event.call->end);  // a store is recorded when it is made: there will be none
  for (const auto& [peer, id] : remote) add(id, Stamp::aNRW, peer, kNever);
}

void RblChecker::subevents(Event& event) {
  const bool submits = event.call->method == Method::submit;
  if (submits && (!event.call->returned || event.call->result != 0)) return submit_nodes(event);
  if (!event.call->returned) return;
  const bool got = event.call->method == Method::receive && event.call->result != 0;
  // Hints: a message is there by the last read of the implementation; that none was, at the first.
  Seq first = kNever, last = event.call->end;
  for (const CallId call : event.calls)
    for (const SubeventId id : context_.index.subevents_of(call))
      if (const Subevent& s = context_.index.subevent(id); s.stamp == Stamp::aCR || s.stamp == Stamp::aWT) {
        if (first == kNever) first = s.finish;
        last = s.finish;
      }
  const bool empty = event.call->method == Method::receive && !got;
  const Stamp stamp = got ? Stamp::aCR : Stamp::aWT;
  context_.synthesise(event, stamp, 0, empty && first != kNever ? first : last);
}

bool RblChecker::may_use(const Object& object, Buffer& b, const Event& event) const {
  const bool submits = event.call->method == Method::submit;
  if (submits && b.writer == 0) b.writer = event.thread + 1;
  if (submits && b.writer != event.thread + 1) return false;
  if (object.participants.empty()) return true;
  if (submits) return object.participants.front() == event.thread;
  return std::find(object.participants.begin() + 1, object.participants.end(), event.thread) !=
         object.participants.end();
}

void RblChecker::visit(Event& event) {
  Buffer& b = buffers_[event.call->object];
  if (b.epoch != epoch_) {
    b.epoch = epoch_;
    b.received = 0;
  }
  const Trace& trace = context_.index.trace();
  if (!may_use(trace.objects[event.call->object], b, event)) {
    context_.reports.add(Rule::participants, [&] {
      return thread_text(trace, event.thread) + " calls " + call_text(trace, event.id) + " and may not";
    });
    return;
  }
  if (event.call->method == Method::submit) {
    if (event.nodes.empty() || event.nodes.front().stamp != Stamp::aCW) return;  // failed, or not come so far
    Message m;
    m.submit = event.id;
    for (const Node& node : event.nodes) {
      if (node.stamp == Stamp::aCW) m.local = node.finish;
      if (node.stamp == Stamp::aNRW) m.remote.emplace_back(node.peer, node.finish);
    }
    b.messages.push_back(std::move(m));
  } else if (event.call->returned) {
    const bool empty = event.call->result == 0;
    b.receives.push_back({event.id, event.thread, b.received, empty, event.nodes.front().finish});
    if (!empty) ++b.received;
  }
}

const Point* RblChecker::write_on(const Message& m, const Buffer& b, std::uint32_t node) const {
  if (b.writer != 0 && context_.index.trace().threads[b.writer - 1].node == node) return &m.local;
  for (const auto& [peer, at] : m.remote)
    if (peer == node) return &at;
  return nullptr;
}

void RblChecker::finish_buffer(const Buffer& b) {
  const Trace& trace = context_.index.trace();
  std::map<std::uint64_t, std::size_t> by_value;
  for (std::size_t i = 0; i < b.messages.size(); ++i)
    by_value.emplace(context_.index.call(b.messages[i].submit).argument, i);
  for (const Receive& r : b.receives) {
    const Message* m = r.index < b.messages.size() ? &b.messages[r.index] : nullptr;
    if (!r.empty) {
      const std::uint64_t value = context_.index.call(r.call).result;
      const bool right = m != nullptr && context_.index.call(m->submit).argument == value;
      if (!right) {
        const bool known = by_value.contains(value);
        context_.reports.add(known ? Rule::message_order : Rule::message_value, [&] {
          return fmt::format("{}: {} received {} as message number {} of its buffer{}", thread_text(trace, r.thread),
                             call_text(trace, r.call), value, r.index + 1,
                             known ? fmt::format(", which is number {}", by_value.at(value) + 1) : std::string());
        });
        continue;
      }
    }
    if (m == nullptr) continue;
    const Point* write = write_on(*m, b, trace.threads[r.thread].node);
    if (write == nullptr) continue;
    if (r.empty) {
      context_.order.edge(r.at, *write, Rule::rbl_fb);
    } else {
      context_.order.edge(*write, r.at, Rule::rbl_rf);
    }
  }
}

void RblChecker::finish() {
  for (const Buffer& b : buffers_)
    if (!b.receives.empty()) finish_buffer(b);
}

}  // namespace

std::unique_ptr<LibraryChecker> make_rbl_checker(const CheckContext& context) {
  return std::make_unique<RblChecker>(context);
}

}  // namespace loco::model
