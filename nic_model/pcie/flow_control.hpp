// PCIe tags and credits: what a TLP waits for, and when it returns that (base specification, 2.2.6.2 and 2.6.1).
//
//   - A tag is in use from when the read request leaves until its last data is in the NIC. So is the buffer space for
//     that data, which the NIC reserves before the request (completion credits).
//   - A credit for a read request's header returns after memory has been read, with the update of credits.
//   - Credits for a write's data return after memory has the data, with the update.
//
// When a read's data will be in the NIC is computed at the request, from a queue: the link carries data in the order of
// requests. Reads that take turns change that order, but not how long all of them keep the link busy. The later
// requests of a read are made when the data before theirs has been sent, but count as if they had left as soon as they
// had a tag, since a NIC requests ahead. What a request always needs, the start of its work request, comes before the
// tag. Anything else that delays it, such as a missing context, holds no tag: the request keeps its place in the queue
// as if it had left at once. A page that the IOMMU's buffer lacks is looked up in its tables before memory is accessed;
// the number of such walks is bounded. All this delays and orders nothing. Private to nic_model/.
#pragma once

#include "nic_model/engine/engine.hpp"

namespace loco::nic {

/// Time on the link of a read's data, split into completions.
[[nodiscard]] sim::Duration data_time(const HardwareProfile& p, std::uint64_t bytes);

/// True if the number of simultaneous IOMMU table walks is bounded.
[[nodiscard]] bool bounds_walks(const HardwareProfile& p);

/// True if anything bounds read requests.
[[nodiscard]] bool bounds_requests(const HardwareProfile& p);

/// Takes a tag and credits for the next request of a read; `left` bytes are still to be requested. Returns when memory
/// is read: at `due`, or, if the request must wait, `reach` after tag and credits are free (time on the link, way,
/// memory). `begin` is what the NIC needs before the request, the start of a work request, while nothing else delays
/// that.
sim::SimTime take_request(Engine& engine, NicId node, std::uint32_t key, std::uint64_t left, sim::SimTime due,
                          sim::Duration reach, sim::Duration begin = {});

/// Takes credits for a TLP of a posted write. Returns when memory has it: at `due`, or, if it must wait, its time on
/// the link plus `way` after the credits are free. Precondition: there is a limit.
sim::SimTime take_posted(Engine& engine, NicId node, std::uint64_t bytes, sim::SimTime due, sim::Duration way);

}  // namespace loco::nic
