#include "nic_model/responder/atomics.hpp"

#include "nic_model/responder/responder.hpp"

namespace loco::nic {

namespace {
void start_atomic(Engine& engine, NodeId node) {
  sim::Ring<AtomicRequest>& atomics = engine.hosts[node].atomics;
  const auto dropped = [&](const AtomicRequest& a) { return !engine.responders[a.qp].holds(a.response); };
  while (!atomics.empty() && dropped(atomics.front())) atomics.pop_front();  // by a RESET
  if (atomics.empty()) return;
  engine.hosts[node].atomic_since = engine.now();
  const AtomicRequest request = atomics.front();
  engine.responders[request.qp].read_for_atomic(engine, node, request.response);
}
}  // namespace

void queue_atomic(Engine& engine, NodeId node, const AtomicRequest& request) {
  sim::Ring<AtomicRequest>& atomics = engine.hosts[node].atomics;
  atomics.push_back(request);
  if (atomics.size() == 1) start_atomic(engine, node);
}

void execute_atomic(Engine& engine, NodeId node) {
  const AtomicRequest request = engine.hosts[node].atomics.front();
  Responder& responder = engine.responders[request.qp];
  if (!responder.holds(request.response)) return atomic_unit_free(engine, node);  // dropped by a RESET
  responder.execute_atomic(engine, request.qp, request.response);
}

void atomic_unit_free(Engine& engine, NodeId node) {
  Host& host = engine.hosts[node];
  host.atomics_busy += engine.now() - host.atomic_since;
  sim::Ring<AtomicRequest>& atomics = host.atomics;
  atomics.pop_front();
  if (!atomics.empty()) start_atomic(engine, node);
}

}  // namespace loco::nic
