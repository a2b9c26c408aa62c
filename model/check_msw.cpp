// msw, mixed-size writes (LOCO paper, Appendix H.6 and D): a successful read returns a tuple that some write wrote.
//
// Tuples are compared by the checksums that the calls recorded. The relations are those of the words that a tuple
// is made of, between the finishes of its calls; reads that failed are ignored, as the specification says.
#include "model/flat_map.hpp"
#include "model/library_checker.hpp"
#include "model/shared_memory.hpp"
#include "model/words.hpp"
#include "model/work_ids.hpp"

namespace loco::model {
namespace {

class MswChecker final : public LibraryChecker {
 public:
  explicit MswChecker(const CheckContext& context) : context_(context), memory_(context_) {
    for (CallId id = 1; id <= context.index.trace().calls.size(); ++id)
      if (context.index.kind_of_call(id).method == Method::msw_write)
        written_[NumberKey{context.index.call(id).argument}] = true;
  }

  void begin_thread(std::uint32_t /*thread*/) override {
    memory_.begin_thread();
    work_.begin_thread();
  }

  void subevents(Event& event) override {
    if (event.call->method == Method::msw_tryread && event.call->returned && event.call->result == 0) return;
    const std::uint32_t visible = visible_stamps(Library::msw, event.call->method);
    Seq waited = event.call->end;
    for (const CallId call : event.calls)
      for (const SubeventId id : context_.index.subevents_of(call)) {
        const Subevent& s = context_.index.subevent(id);
        if (s.stamp == Stamp::aWT) waited = s.finish;
        if ((visible >> static_cast<unsigned>(s.stamp) & 1U) == 0) continue;
        const Point at = context_.order.finish(id);
        event.nodes.push_back({id, s.stamp, s.peer, at, at});
      }
    if (event.call->method != Method::msw_wait || !event.call->returned) return;
    const Point at = context_.order.synthesise(event.id, Stamp::aWT, 0, waited);
    event.nodes.push_back({0, Stamp::aWT, 0, at, at});
  }

  void visit(Event& event) override {
    Order& order = context_.order;
    bool initial = true;  // every word read was never written
    for (const Node& node : event.nodes) {
      if (node.subevent == 0) continue;
      (void)memory_.access(node);
      initial = initial && context_.index.subevent(node.subevent).source == 0;
      if (node.stamp == Stamp::aNLW && event.call->work_id != 0) {
        WorkIds::Outstanding& out = work_.of(event.call->work_id);
        out.finished = order.join(out.finished, node.finish);
      }
    }
    if (event.call->method == Method::msw_wait)
      for (const Node& node : event.nodes) order.edge(work_.take(event.call->work_id).finished, node.finish, Rule::pfg);
    const bool read = event.call->method == Method::msw_tryread && event.call->returned && event.call->result != 0;
    if (read && !initial && written_.find(NumberKey{event.call->result}) == nullptr)
      context_.reports.add(Rule::torn_read, [&] {
        return thread_text(context_.index.trace(), event.thread) + ": " + call_text(context_.index.trace(), event.id) +
               " returned a tuple that nobody wrote";
      });
  }

 private:
  CheckContext context_;
  SharedMemory memory_;
  WorkIds work_;
  FlatMap<NumberKey, bool> written_;  // checksums of the tuples written
};

}  // namespace

std::unique_ptr<LibraryChecker> make_msw_checker(const CheckContext& context) {
  return std::make_unique<MswChecker>(context);
}

}  // namespace loco::model
