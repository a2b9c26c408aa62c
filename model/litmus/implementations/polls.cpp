// The implementation of rdmawait over rdmatso (LOCO paper, Fig. 24), for straight-line programs: a wait polls, of each
// node, until the last operation with its identifier has been taken. There it is known how many polls that takes.
#include "model/litmus/implementations/assembler.hpp"
#include "model/litmus/implementations/implementations.hpp"

namespace loco::model::litmus {
namespace {

class PollsForWaits : private Assembler {
 public:
  PollsForWaits(const Program& program, bool polls) : Assembler(program), source_(program), polls_(polls) {
    out_.model = "rdmatso";
    for (int t = 0; t < len(source_.threads); ++t) thread(t);
  }
  Program take() { return std::move(out_); }

 private:
  struct Queue {
    std::vector<int> identifiers;  // of the thread's operations towards a node
    int polled = 0;
  };

  void thread(int t) {
    thread_ = t;
    origin_ = kNone;
    at(out_.threads, t).code.clear();
    std::vector<Queue> queues(source_.nodes.size());
    for (const Instruction& i : at(source_.threads, t).code) {
      from_ = &i;
      ++origin_;
      if (i.op == Op::wait) {
        if (polls_) wait(i.work_id, queues);
        continue;
      }
      at(out_.threads, t).code.push_back(i);
      at(out_.threads, t).code.back().origin = origin_;
      const bool remote = i.op == Op::put || i.op == Op::get || is_remote_atomic(i.op);
      if (!remote) continue;
      const int node = at(source_.locations, i.op == Op::put ? i.location : i.source).node;
      for (std::size_t n = 0; n < queues.size(); ++n)
        if (source_.nodes[n] == node) queues[n].identifiers.push_back(i.work_id);
    }
  }

  void wait(int work_id, std::vector<Queue>& queues) {
    for (std::size_t n = 0; n < queues.size(); ++n) {
      Queue& q = queues[n];
      int until = 0;
      for (int k = 0; k < len(q.identifiers); ++k)
        if (at(q.identifiers, k) == work_id) until = k + 1;
      for (; q.polled < until; ++q.polled) emit(Op::poll).node = source_.nodes[n];
    }
  }

  const Program& source_;
  const bool polls_;
};

}  // namespace

Program waits_by_polls(const Program& program, bool polls) { return PollsForWaits(program, polls).take(); }

}  // namespace loco::model::litmus
