// sv, the shared variables (LOCO paper, Section 3.4). Each node has its own copy of a location, so rf, mo and rb
// are those of the copies' words; gf is its stamps and nothing more.
#include <fmt/format.h>

#include "model/copied_words.hpp"
#include "model/library_checker.hpp"
#include "model/shared_memory.hpp"
#include "model/words.hpp"
#include "model/work_ids.hpp"

namespace loco::model {
namespace {

class SvChecker final : public LibraryChecker {
 public:
  explicit SvChecker(const CheckContext& context)
      : context_(context), memory_(context_), copied_words_(context_.index) {}

  void begin_thread(std::uint32_t /*thread*/) override {
    memory_.begin_thread();
    work_.begin_thread();
  }

  void subevents(Event& event) override;
  void visit(Event& event) override;
  void finish() override { memory_.finish(); }

 private:
  void check_value(const Event& event) const;

  CheckContext context_;
  SharedMemory memory_;
  WorkIds work_;
  CopiedWords copied_words_;
};

/// A read or write of one word: the value that the call returned, or was given, must be the value of its subevent. A
/// recorded value of 0 means that the trace has none.
void SvChecker::check_value(const Event& event) const {
  const bool reads = event.call->method == Method::sv_read;
  if (!reads && event.call->method != Method::sv_write) return;
  const std::uint64_t said = reads ? event.call->result : event.call->argument;
  if (said == 0 || event.nodes.size() != 1) return;
  const SubeventId id = event.nodes.front().subevent;
  if (context_.index.subevent(id).value == said) return;
  context_.reports.add(Rule::returned_value, [&] {
    return fmt::format("{}, but the call {} {}", subevent_text(context_.index.trace(), id),
                       reads ? "returned" : "was to write", said);
  });
}

void SvChecker::subevents(Event& event) {
  Seq waited = context_.take_visible(event, kNever);
  if (waited == kNever && event.call->returned) waited = event.call->end;
  if (waited == kNever) return;
  if (event.call->method == Method::sv_wait) context_.synthesise(event, Stamp::aWT, 0, waited);
  if (event.call->method == Method::gf && event.call->returned)
    for (const std::uint32_t n : context_.index.trace().node_sets[event.call->node_set])
      context_.synthesise(event, Stamp::aGF, n, waited);
}

void SvChecker::visit(Event& event) {
  Order& order = context_.order;
  if (event.call->method == Method::bcast)  // iso: within each of its puts
    for (const CallId put : event.calls)
      for (const CopiedWords::Pair& pair : copied_words_.of(context_.index.subevents_of(put), Stamp::aNLR, Stamp::aNRW))
        if (pair.read != 0) order.edge(order.finish(pair.read), order.finish(pair.written), Rule::iso);
  for (const Node& node : event.nodes) {
    if (node.subevent == 0 || !is_access(node.stamp)) continue;
    if (const SubeventId missed = memory_.access(node); missed != 0)
      context_.reports.add(Rule::own_write, [&] {
        return subevent_text(context_.index.trace(), node.subevent) + " does not see the thread's own earlier " +
               access_text(context_.index.trace(), missed);
      });
  }
  check_value(event);
  if (event.call->method == Method::bcast && event.call->work_id != 0) {
    WorkIds::Outstanding& out = work_.of(event.call->work_id);
    for (const Node& node : event.nodes)
      if (node.stamp == Stamp::aNLR && !node.given_up) out.finished = order.join(out.finished, node.finish);
  }
  if (event.call->method == Method::sv_wait)
    for (const Node& node : event.nodes) order.edge(work_.take(event.call->work_id).finished, node.finish, Rule::pf);
}

}  // namespace

std::unique_ptr<LibraryChecker> make_sv_checker(const CheckContext& context) {
  return std::make_unique<SvChecker>(context);
}

}  // namespace loco::model
