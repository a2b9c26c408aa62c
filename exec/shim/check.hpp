// --check: does the program touch what a request is still working on?
//
// From the call that posts it until a completion that says so has been polled, the buffers of a request are the NIC's
// (IBTA volume 1, 10.8.2): what it reads may not be changed, what it writes neither be read nor changed. Requests among
// themselves are checked when they are posted; the program's own loads and stores where it was compiled with
// -fsanitize=thread, whose calls then come here (stubs/libtsan.cpp). Loads that are volatile or atomic wait for data,
// and are no mistakes.
// For a trace (HostFacts::traced), all of these accesses to registered memory are told to the conductor.
#pragma once

#include <cstdint>

#include "exec/shim/objects.hpp"

namespace loco::shim {

[[nodiscard]] bool checks();

/// A request is in the queue: its record and elements; where the program called from.
void check_send(const Qp& qp, std::uint32_t place, const SendRecord& record, const char* elements,
                std::uintptr_t caller);
void check_receive(std::uint32_t queue, bool shared, std::uint64_t wr_id, const ibv_sge* list, int count,
                   std::uintptr_t caller);
/// A completion has been polled: of all sends of the queue pair up to its place; of the oldest receive, or of that one
/// of a shared queue.
void check_sends_done(std::uint32_t qp, std::uint32_t place);
void check_receive_done(std::uint32_t queue, bool shared, std::uint64_t wr_id);
/// What it had in its queues is dropped.
void check_forget(std::uint32_t qp);

}  // namespace loco::shim
