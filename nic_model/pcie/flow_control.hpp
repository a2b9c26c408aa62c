// PCIe tags and credits: what a TLP waits for, and when it gives that back (base specification, 2.2.6.2 and 2.6.1).
//
// - A tag is in use from when the read request leaves until the last of its data is in the NIC. So is the room for that
//   data, which the NIC sets aside before it asks (completion credits).
// - A credit for a read request's header is back when memory has been read and the update of credits has returned.
// - Credits for a write's data are back when memory has it and the update has returned.
//
// When data will be in the NIC is said when it is asked for, by a queue: the link carries it in the order of the
// requests. Reads that take turns on the link change that order, not until when all of them keep it busy. Requests of a
// read behind its first are looked at when the data before theirs has been sent, and as if they had left when there was
// a tag: a NIC asks ahead. What a NIC always needs before a request leaves, the start of a work request, comes before
// the tag. What else delays it (a context that the NIC must read) takes no tag: such a request has its place in the
// queue as if it left at once. A page that the IOMMU's buffer does not hold is looked up in its tables before memory is
// accessed, and so many at once. All of this delays and none of it orders. Private to nic_model/.
#pragma once

#include "nic_model/engine/engine.hpp"

namespace loco::nic {

/// Time on the link of the data of a read request, in completions.
[[nodiscard]] sim::Duration data_time(const HardwareProfile& p, std::uint64_t bytes);

/// Does the IOMMU walk a bounded number of its tables at once?
[[nodiscard]] bool bounds_walks(const HardwareProfile& p);

/// Is there any bound on read requests?
[[nodiscard]] bool bounds_requests(const HardwareProfile& p);

/// The next request of a read takes a tag and credits; `left` bytes of the read have not been asked for. Returns when
/// memory is read for it: at `due`, or, if it must wait, `reach` after they are free (its time on the link, its way,
/// memory). `begin`: what the NIC needs before it asks, the start of a work request, as long as nothing else delays
/// that.
sim::SimTime take_request(Engine& engine, NodeId node, std::uint32_t key, std::uint64_t left, sim::SimTime due,
                          sim::Duration reach, sim::Duration begin = {});

/// A TLP of a posted write takes credits. Returns when memory has it: at `due`, or, if it must wait, its time on the
/// link and `way` after they are free. Precondition: there is a limit.
sim::SimTime take_posted(Engine& engine, NodeId node, std::uint64_t bytes, sim::SimTime due, sim::Duration way);

}  // namespace loco::nic
