// Compiles coreRMA to verbs: a coreRMA program becomes one of puts, gets, waits and fences. Each thread's code is the
// sequence of steps that its process takes on the hardware model (coreRMA paper, Tables 2 and 3: put is a WRITE, get a
// READ).
//
// What the paper's statements require, and how hardware provides it:
//   - Local accesses are sequential (LO; Section 5.3: "these rules assume that local actions of a CPU are sequentially
//     consistent"). x86 loads pass earlier stores, so a fence precedes whatever the CPU reads after a store.
//   - Remote statements are posted and proceed by themselves. LO needs nothing else here, because doorbells queue
//     behind stores.
//   - rga and cas read operands from memory, act atomically on the target and write what they found to memory: a NIC's
//     fetch-and-add and compare-and-swap. If the NIC does not read operands (HardwareProfile::nic_atomic_operands), the
//     CPU does when it posts them.
//   - flush(dst) waits for the completions of everything posted to dst. A WRITE or an atomic completes before memory
//     has what it wrote, so a READ follows, which pushes those writes (docs/machine.md, PCIe), and is waited for.
// Words are atomic on this hardware, so non-atomic accesses are atomic here.
#pragma once

#include "model/litmus/language/program.hpp"
#include "nic_model/profile.hpp"

namespace loco::explore {

/// How the compilation differs between networks.
struct VerbsOptions {
  nic::AtomicOperands operands = nic::AtomicOperands::memory;
  bool inline_puts = false;  ///< the CPU reads a put's source when it posts it
};

/// The options for a profile.
[[nodiscard]] VerbsOptions verbs_options(const nic::HardwareProfile& profile);

/// Converts a coreRMA program (is_corerma of its model) to one that explore::Machine runs. Each flush is replaced as
/// above, and each remote statement gets a work id for its target. `rga` and `remote_cas` remain, as the NIC's atomics.
/// With `operand` (and `operand2`) the NIC reads these locations; otherwise `expr` (and `expr2`) are the operands.
/// Registers and observables keep their names and positions; locations for the READs of flushes are appended.
[[nodiscard]] model::litmus::Program over_verbs(const model::litmus::Program& program, const VerbsOptions& options);

}  // namespace loco::explore
