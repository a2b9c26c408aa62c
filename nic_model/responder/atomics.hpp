// The atomics waiting at a NIC, and the turns in which the responders of its queue pairs execute them.
//
// A NIC tells atomics apart by some address bits, which select a bank (nic.atomic_banks). A bank executes one at a
// time, in the order of arrival: read, modify, write; the next read follows that write. So atomics on the same word
// exclude each other, and those in different banks are not ordered at all. ConnectX-3 has one bank; from Connect-IB on
// the bank is given by the lowest 12 bits of the address (Kalia et al., USENIX ATC 2016, atomics; Wang et al., Sherman,
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

/// An atomic that waits for its turn in a bank, or is being executed.
struct AtomicTurn {
  std::uint32_t bank = 0;
  QpId qp = 0;
  std::uint64_t response = 0;
  sim::SimTime since{};  // when its turn began

  bool operator==(const AtomicTurn&) const = default;
};

class AtomicUnit {
 public:
  /// The atomic that the bank is executing, or null.
  [[nodiscard]] const AtomicTurn* current(std::uint32_t bank) const;
  /// Busy time of the busiest bank.
  [[nodiscard]] sim::Duration busy() const;

  /// The place in rao of the next atomic that a bank executes, for the trace: counts from 1, with the bank number above
  /// 40 bits.
  [[nodiscard]] std::uint64_t next_place(std::uint32_t bank);

  /// Appends it to its bank's queue.
  void push(const AtomicTurn& turn) { turns_.push_back(turn); }
  /// The first of a bank's queue begins. Precondition: current(bank).
  void begin(std::uint32_t bank, sim::SimTime now);
  /// The first of a bank's queue has been executed. Precondition: current(bank).
  void end(std::uint32_t bank, sim::SimTime now);
  /// Removes the first of a bank's queue, which a RESET has dropped. Precondition: current(bank).
  void drop(std::uint32_t bank) { turns_.erase(first(bank)); }

  void hash(Hasher& h) const;
  /// Throws sim::BrokenInvariant.
  void check(NicId node, sim::SimTime now, std::uint32_t banks) const;
  bool operator==(const AtomicUnit&) const = default;

 private:
  [[nodiscard]] std::vector<AtomicTurn>::iterator first(std::uint32_t bank) {
    return std::find_if(turns_.begin(), turns_.end(), [bank](const AtomicTurn& t) { return t.bank == bank; });
  }

  std::vector<AtomicTurn> turns_{};        // in order of arrival; each bank executes its first
  std::vector<sim::Duration> busy_{};      // busy time, by bank
  std::vector<std::uint64_t> executed_{};  // atomics executed, by bank; only if a trace is kept
};

/// The bank of a word.
[[nodiscard]] inline std::uint32_t atomic_bank(const HardwareProfile& p, Address address) {
  return static_cast<std::uint32_t>(address / 8 % p.nic_atomic_banks);
}
/// Queues an atomic on a word; it begins at once if its bank is idle.
void queue_atomic(Engine& engine, NicId node, QpId qp, std::uint64_t response, Address address);
/// kEventAtomic: the word has been read.
void execute_atomic(Engine& engine, NicId node, std::uint32_t bank);
/// kEventAtomicDone, or the commit of the atomic's write: the next one in the bank begins.
void atomic_done(Engine& engine, NicId node, std::uint32_t bank);

}  // namespace loco::nic
