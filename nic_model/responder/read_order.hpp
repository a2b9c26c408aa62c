// The order of the PCIe reads that the READs of one queue pair make (pcie.read_ordering): a what-if for architects.
//
// PCIe lets reads pass reads, so today a client that needs two READs in order waits for the first one's answer. The
// alternatives follow Efficient Remote Memory Ordering (ASPLOS 2026): the NIC issues one read at a time; the root
// complex executes a stream's reads one after the other; or it executes them in any order, keeps what they read, and
// lets them take effect in order, after repeating those whose bytes have changed since. A read that takes effect with
// the bytes that memory has at that instant is the same as one executed then, so values decide, not addresses.
// The stream is a ring per queue pair; only its oldest READ can take effect, completion by completion as its data goes
// on the link: speculation costs no more than no order at all, until it fails.
//
// Without an order, or with speculation, the READs of a queue pair still take turns: their answers leave in order, so
// the NIC asks for one's data behind the other's. Those behind a READ of several completions wait until the last of
// these is on the link. That is a delay: who waits has a pending event, without a time yet. Private to nic_model/.
#pragma once

#include "nic_model/engine/engine.hpp"

namespace loco::nic {

/// Issues the PCIe read of a READ, or puts it behind the others of its stream.
void issue_remote_read(Engine& engine, QpId qp, std::uint64_t number);
/// Nothing at the root complex holds the PCIe read back.
void remote_read_may_execute(Engine& engine, const HeldRead& read);
/// kEventReadRemote: does the next step of a READ take effect now? Else it has been executed ahead of its turn, or is
/// repeated because memory has changed since.
bool takes_effect(Engine& engine, QpId qp, std::uint64_t number);
/// All bytes of a READ have been read, and are on the link until `link_free`: the next one's turn.
void remote_read_done(Engine& engine, QpId qp, std::uint64_t number, sim::SimTime link_free);

}  // namespace loco::nic
