// The atomics that a NIC has been asked for, which the responders of its queue pairs execute in turn.
//
// A NIC keeps atomics apart by some bits of their addresses: a bank each (nic.atomic_banks). In a bank one is executed
// at a time, in the order of arrival: read, modify, write; the next one's read is behind that write. So atomics on a
// word exclude each other. Those of different banks are ordered with nothing. ConnectX-3 has one bank; from Connect-IB
// on the bank is the lowest 12 bits of the address (Kalia et al., USENIX ATC 2016, atomics; Wang et al., Sherman,
// SIGMOD 2022, 3.2.2). Private to nic_model/.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "nic_model/engine/engine.hpp"
#include "nic_model/engine/hash.hpp"
#include "nic_model/verbs.hpp"
#include "sim/time.hpp"

namespace loco::nic {

/// An atomic that waits for its turn in a bank, or has it.
struct AtomicTurn {
  std::uint32_t bank = 0;
  QpId qp = 0;
  std::uint64_t response = 0;
  sim::SimTime since{};  // it has had the bank

  bool operator==(const AtomicTurn&) const = default;
};

class AtomicUnit {
 public:
  /// The one that has the bank, or null.
  [[nodiscard]] const AtomicTurn* current(std::uint32_t bank) const;
  /// Of the bank that has been busy longest.
  [[nodiscard]] sim::Duration busy() const;

  /// The place in rao of the next atomic that a bank executes, for the trace: from 1, and the bank above 40 bits.
  [[nodiscard]] std::uint64_t next_place(std::uint32_t bank);

  /// At the end of its bank's queue.
  void push(const AtomicTurn& turn) { turns_.push_back(turn); }
  /// The first of a bank begins. Precondition: current(bank).
  void begin(std::uint32_t bank, sim::SimTime now);
  /// The first of a bank has been executed. Precondition: current(bank).
  void end(std::uint32_t bank, sim::SimTime now);
  /// The first of a bank was dropped by a RESET. Precondition: current(bank).
  void drop(std::uint32_t bank) { turns_.erase(first(bank)); }

  void hash(Hasher& h) const;
  /// Throws sim::BrokenInvariant.
  void check(NodeId node, sim::SimTime now, std::uint32_t banks) const;
  bool operator==(const AtomicUnit&) const = default;

 private:
  [[nodiscard]] std::vector<AtomicTurn>::iterator first(std::uint32_t bank) {
    return std::find_if(turns_.begin(), turns_.end(), [bank](const AtomicTurn& t) { return t.bank == bank; });
  }

  std::vector<AtomicTurn> turns_{};        // in the order of arrival; the first of each bank is being executed
  std::vector<sim::Duration> busy_{};      // by bank
  std::vector<std::uint64_t> executed_{};  // by bank; only where a trace is kept
};

/// The bank of a word.
[[nodiscard]] inline std::uint32_t atomic_bank(const HardwareProfile& p, Address address) {
  return static_cast<std::uint32_t>(address / 8 % p.nic_atomic_banks);
}
/// An atomic on a word waits for its turn, or begins.
void queue_atomic(Engine& engine, NodeId node, QpId qp, std::uint64_t response, Address address);
/// kEventAtomic: the word has been read.
void execute_atomic(Engine& engine, NodeId node, std::uint32_t bank);
/// kEventAtomicDone, and the commit of an atomic's write.
void atomic_done(Engine& engine, NodeId node, std::uint32_t bank);

}  // namespace loco::nic
