// coreRMA statements as verbs: a coreRMA program becomes one over puts, gets, waits and fences, each thread's code the
// steps that its process takes on the hardware model (coreRMA paper, Tables 2 and 3: put is a WRITE, get a READ).
//
// What the paper's statements ask for, and how hardware gives it:
//   - local accesses are sequential (LO; Section 5.3: "these rules assume that local actions of a CPU are sequentially
//     consistent"): x86 loads pass earlier stores, so whatever the CPU reads after a store has a fence in front of it;
//   - remote statements are posted and go on by themselves: nothing else of LO needs help, doorbells queue behind
//   stores;
//   - rga and cas read operands from memory, act atomically on the target and write what they found to memory: a NIC's
//     fetch-and-add and compare-and-swap. Where the NIC does not read operands (HardwareProfile::nic_atomic_operands)
//     the CPU does, when it posts them;
//   - flush(dst) waits for the completions of everything posted to dst; as a WRITE or an atomic completes before memory
//     has what it wrote, a READ follows, which pushes those writes (docs/machine.md, PCIe), and is waited for.
// Words are atomic on this hardware, so non-atomic accesses are atomic here.
#pragma once

#include "model/litmus/program.hpp"
#include "nic_model/profile.hpp"

namespace loco::explore {

/// What differs between networks in how statements are compiled.
struct VerbsOptions {
  nic::AtomicOperands operands = nic::AtomicOperands::memory;
  bool inline_puts = false;  ///< the CPU reads a put's source when it posts it
};

/// The options of a profile.
[[nodiscard]] VerbsOptions verbs_options(const nic::HardwareProfile& profile);

/// A coreRMA program (is_corerma of its model) as one that explore::Machine runs: each flush replaced as above, each
/// remote statement with a work id of its target. `rga` and `remote_cas` stay, as the NIC's atomics: with `operand`
/// (and `operand2`) the NIC reads these locations, without them `expr` (and `expr2`) are the operands. Registers and
/// observables keep their names and positions; locations that a READ of a flush needs are added behind the others.
[[nodiscard]] model::litmus::Program over_verbs(const model::litmus::Program& program, const VerbsOptions& options);

}  // namespace loco::explore
