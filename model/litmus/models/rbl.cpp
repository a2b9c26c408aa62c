// rbl-consistency, ring buffers: LOCO paper, Definitions 5.1 and 5.2, and the weaker variant of Section 5.1.
#include <algorithm>

#include "model/litmus/models/axioms.hpp"

namespace loco::model::litmus {
namespace {

/// W^n_x: the subevent by which a successful submit writes on node n.
int write_on(const Skeleton& x, int submit, int node) {
  const EventInfo& e = at(x.events, submit);
  for (int s = e.first; s < e.first + e.count; ++s) {
    const bool here =
        x.sub(s).stamp == Stamp::aCW ? at(x.program->threads, e.thread).node == node : x.sub(s).node == node;
    if (here) return s;
  }
  return kNone;
}

}  // namespace

bool rbl(const Skeleton& x, const ModelOptions& options, Axioms& a) {
  const Program& p = *x.program;
  for (int q = 0; q < len(p.ringbuffers); ++q) {
    std::vector<int> submits;                                  // the successful ones, in program order
    std::vector<std::vector<int>> receives(p.threads.size());  // by thread, successful or not
    for (int e = 0; e < len(x.events); ++e) {
      const Instruction& i = x.instruction(e);
      if (i.object != q) continue;
      if (i.op == Op::submit && at(x.events, e).result == kTrue) submits.push_back(e);
      if (i.op == Op::receive) at(receives, at(x.events, e).thread).push_back(e);
    }
    for (const int reader : at(p.ringbuffers, q).readers) {
      const int node = at(p.threads, reader).node;
      std::size_t received = 0;
      for (const int e : at(receives, reader)) {
        const int s = at(x.events, e).first;
        if (at(x.events, e).result == kTrue) {
          // rf: each thread reads each message at most once, in order, skipping none, so its k-th successful
          // receive reads the k-th successful submit.
          if (received == submits.size()) return false;
          const int w = write_on(x, submits[received++], node);
          a.so.add(w, s);
          a.known_rf.emplace_back(w, s);
        } else {
          // fb: an empty receive comes before every write that its thread had not yet received.
          for (std::size_t m = received; m < submits.size(); ++m) {
            const int w = write_on(x, submits[m], node);
            if (options.ring_rule == RingRule::strong)
              a.so.add(s, w);
            else
              a.never_hb.add(w, s);
          }
        }
      }
    }
  }
  return true;
}

}  // namespace loco::model::litmus
