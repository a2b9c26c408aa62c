// --check: finds uses of buffers that a request still uses.
//
// From the call that posts a request until its completion has been polled, its buffers belong to the NIC (IBTA volume
// 1, 10.8.2): the program may not change a buffer that the NIC reads, and neither read nor change one that the NIC
// writes. Requests are checked against each other when they are posted. The program's own loads and stores are checked
// if it was compiled with -fsanitize=thread, whose calls then come here (stubs/libtsan.cpp). Volatile and atomic loads
// wait for data, and are no mistakes.
// For a trace (HostFacts::traced), all of these accesses to registered memory are told to the conductor.
#pragma once

#include <cstdint>

#include "exec/shim/objects.hpp"

namespace loco::shim {

[[nodiscard]] bool checks();

/// A request has been posted: its record and elements, and the address of the program's call.
void check_send(const Qp& qp, std::uint32_t place, const SendRecord& record, const char* elements,
                std::uintptr_t caller);
void check_receive(std::uint32_t queue, bool shared, std::uint64_t wr_id, const ibv_sge* list, int count,
                   std::uintptr_t caller);
/// A completion has been polled: of all sends of the queue pair up to `place`; of the oldest receive, or of that
/// receive of a shared queue.
void check_sends_done(std::uint32_t qp, std::uint32_t place);
void check_receive_done(std::uint32_t queue, bool shared, std::uint64_t wr_id);
/// The queue pair's requests are dropped.
void check_forget(std::uint32_t qp);

}  // namespace loco::shim
