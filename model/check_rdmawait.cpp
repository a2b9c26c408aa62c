// rdmawait (LOCO paper, Section 3.3 and Appendix G.2): rf, mo, rb, rb_i, iso, pfg, pfp, nfo.
#include <algorithm>

#include "model/library_checker.hpp"
#include "model/nic_flush_order.hpp"
#include "model/shared_memory.hpp"
#include "model/words.hpp"
#include "model/work_ids.hpp"

namespace loco::model {
namespace {

class RdmawaitChecker final : public LibraryChecker {
 public:
  explicit RdmawaitChecker(const CheckContext& context) : context_(context), memory_(context_), flushes_(context_) {}

  void begin_thread(std::uint32_t thread) override {
    memory_.begin_thread();
    work_.begin_thread();
    flushes_.begin_thread(thread);
  }

  void subevents(Event& event) override {
    for (const SubeventId id : context_.index.subevents_of(event.id)) {
      const Kind s = context_.index.kind(id);
      const Point finish = context_.order.finish(id);
      event.nodes.push_back({id, s.stamp, s.peer, finish, is_instant(s.stamp) ? finish : context_.order.start(id)});
    }
  }

  void visit(Event& event) override {
    issued_within(event);
    for (Node& node : event.nodes) {
      if (!is_access(node.stamp)) continue;
      if (node.stamp == Stamp::aNRW || node.stamp == Stamp::aNLW)
        context_.order.edge_to_start(flushes_.next_write(), node.start, Rule::nfo);
      if (const SubeventId missed = memory_.access(node); missed != 0)
        context_.order.edge(node.finish, context_.order.start(missed), Rule::rb_i);
      if (!is_instant(node.stamp)) context_.order.starts(node.start, node.finish);
    }
    completion(event);
  }

 private:
  /// iso: the i-th word read feeds the i-th written; a failing CAS fences before it reads.
  void issued_within(Event& event) {
    if (event.nodes.size() < 2) return;
    Order& order = context_.order;
    std::vector<Node>& nodes = event.nodes;
    if (event.call->method == Method::cas) {
      for (const Node& fence : nodes)
        for (const Node& read : nodes)
          if (fence.stamp == Stamp::aMF && read.stamp == Stamp::aCR) order.edge(fence.finish, read.finish, Rule::iso);
      return;
    }
    for (const Stamp written : {Stamp::aNRW, Stamp::aNLW}) {
      const auto is_nic_read = [](const Node& n) { return n.stamp == Stamp::aNLR || n.stamp == Stamp::aNRR; };
      auto read = std::find_if(nodes.begin(), nodes.end(), is_nic_read);
      for (Node& write : nodes) {
        if (write.stamp != written || read == nodes.end()) continue;
        order.edge_to_start(read->finish, write.start, Rule::iso);
        read = std::find_if(read + 1, nodes.end(), is_nic_read);
      }
    }
  }

  /// pfg and pfp.
  void completion(Event& event) {
    Order& order = context_.order;
    if (event.call->method == Method::wait) {
      for (const Node& wait : event.nodes) {
        const std::uint64_t d = waited_for(*event.call, context_.index.subevent(wait.subevent));
        const WorkIds::Outstanding out = work_.take(d);
        order.edge(out.finished, wait.finish, Rule::pfg);
        order.edge(out.started, wait.finish, Rule::pfp);
        if (out.incomplete != 0)
          context_.reports.add(Rule::incomplete, [&] {
            return call_text(context_.index.trace(), event.id) + " returned, but " +
                   call_text(context_.index.trace(), out.incomplete) + " has not written all that it read";
          });
      }
      return;
    }
    if (event.call->work_id == 0) return;
    WorkIds::Outstanding& out = work_.of(event.call->work_id);
    std::ptrdiff_t unwritten = 0;
    for (const Node& node : event.nodes) {
      if (node.stamp == Stamp::aNLW) out.finished = order.join(out.finished, node.finish);
      if (node.stamp == Stamp::aNRW) out.started = order.join(out.started, node.start);
      if (node.stamp == Stamp::aNLR || node.stamp == Stamp::aNRR) ++unwritten;
      const bool atomics_local_half =
          event.call->method == Method::remote_faa || event.call->method == Method::remote_cas;
      if (node.stamp == Stamp::aNLW || (node.stamp == Stamp::aNRW && !atomics_local_half)) --unwritten;
    }
    if (unwritten > 0 && event.call->result == 0) out.incomplete = event.id;
  }

  CheckContext context_;
  SharedMemory memory_;
  NicFlushOrder flushes_;
  WorkIds work_;
};

}  // namespace

std::unique_ptr<LibraryChecker> make_rdmawait_checker(const CheckContext& context) {
  return std::make_unique<RdmawaitChecker>(context);
}

}  // namespace loco::model
