#include "nic_model/responder/atomics.hpp"

#include "nic_model/engine/check.hpp"
#include "nic_model/responder/responder.hpp"
#include "probe/probe.hpp"

namespace loco::nic {

const AtomicTurn* AtomicUnit::current(std::uint32_t bank) const {
  const auto found = std::ranges::find(turns_, bank, &AtomicTurn::bank);
  return found == turns_.end() ? nullptr : &*found;
}

sim::Duration AtomicUnit::busy() const { return busy_.empty() ? sim::Duration{} : std::ranges::max(busy_); }

std::uint64_t AtomicUnit::next_place(std::uint32_t bank) {
  constexpr unsigned kPlaceBits = 40;
  if (bank >= executed_.size()) executed_.resize(bank + 1);
  return ++executed_[bank] | std::uint64_t{bank} << kPlaceBits;
}

void AtomicUnit::begin(std::uint32_t bank, sim::SimTime now) { first(bank)->since = now; }

void AtomicUnit::end(std::uint32_t bank, sim::SimTime now) {
  const auto done = first(bank);
  if (bank >= busy_.size()) busy_.resize(bank + 1);
  busy_[bank] += now - done->since;
  turns_.erase(done);
}

void AtomicUnit::hash(Hasher& h) const {
  // Arrivals in different banks are not ordered with each other, so each turn is hashed with its place in its own bank.
  std::uint64_t sum = 0;
  for (auto turn = turns_.begin(); turn != turns_.end(); ++turn) {
    Hasher one;
    one.add_all(turn->bank,
                std::count_if(turns_.begin(), turn, [&](const AtomicTurn& t) { return t.bank == turn->bank; }),
                turn->qp, turn->response);
    sum += one.value();
  }
  h.add_all(turns_.size(), sum);
}

void AtomicUnit::check(NicId node, sim::SimTime now, std::uint32_t banks) const {
  const Check check(now, "atomics", "node", node);
  check.holds(busy_.size() <= banks, "only banks that there are have been busy");
  for (const AtomicTurn& turn : turns_) {
    check.holds(turn.bank < banks, "an atomic is in a bank that there is");
    check.holds(turn.since <= now, "a turn has begun before now");
    const auto same = [&](const AtomicTurn& t) { return t.qp == turn.qp && t.response == turn.response; };
    check.holds(std::ranges::count_if(turns_, same) == 1, "an atomic waits once");
  }
}

namespace {
void start_next(Engine& engine, NicId node, std::uint32_t bank) {
  AtomicUnit& unit = engine.atomics[node];
  const AtomicTurn* next = unit.current(bank);
  while (next != nullptr && !engine.responders[next->qp].holds(next->response)) {  // dropped by a RESET
    LOCO_PROBE(atomic_of_a_past_connection);
    unit.drop(bank);
    next = unit.current(bank);
  }
  if (next == nullptr) return;
  unit.begin(bank, engine.now());
  engine.responders[next->qp].read_for_atomic(engine, node, next->response, bank);
}
}  // namespace

void queue_atomic(Engine& engine, NicId node, QpId qp, std::uint64_t response, Address address) {
  AtomicUnit& unit = engine.atomics[node];
  const std::uint32_t bank = atomic_bank(engine.profile(node), address);
  const bool idle = unit.current(bank) == nullptr;
  if (!idle) LOCO_PROBE(atomic_waits_for_its_bank);
  unit.push({.bank = bank, .qp = qp, .response = response});
  if (idle) start_next(engine, node, bank);
}

void execute_atomic(Engine& engine, NicId node, std::uint32_t bank) {
  const AtomicTurn turn = *engine.atomics[node].current(bank);
  Responder& responder = engine.responders[turn.qp];
  if (!responder.holds(turn.response)) return atomic_done(engine, node, bank);  // dropped by a RESET
  responder.execute_atomic(engine, turn.qp, turn.response, bank);
}

void atomic_done(Engine& engine, NicId node, std::uint32_t bank) {
  engine.atomics[node].end(bank, engine.now());
  start_next(engine, node, bank);
}

}  // namespace loco::nic
