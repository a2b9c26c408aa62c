// rsockets (rsocket(7)): byte streams over a reliable connection; datagrams are in datagrams.hpp.
//
// Each side of a stream has a ring that the other writes to, and announces its address in the private data of its
// connection request or reply. Data goes by WRITE with immediate, whose value is the length, from a ring of the
// sender's own. Notices (credits for data that was read, an end, memory for riowrite) are SENDs of a Control. Both
// consume a receive of the peer, which is counted like the bytes: no message ever finds none.
// All of it uses the public calls of connection managers and verbs. A stream makes progress only during its program's
// calls.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include "exec/shim/cm/ids.hpp"

namespace loco::cm {

/// Address of a ring, and the number of receives behind it.
struct Offer {
  std::uint64_t address;
  std::uint32_t key, bytes, receives;
};

enum class Tells : std::uint32_t { credit, end, map, unmap };
struct Control {
  Tells what;
  std::uint32_t bytes, messages;          ///< credit
  std::uint32_t key;                      ///< map
  std::uint64_t offset, address, extent;  ///< map, unmap: the offset
};

/// Memory for riowrite: this side's with its region, the peer's with its key.
struct Mapping {
  std::uint64_t offset, address, extent;
  std::uint32_t key;
  ibv_mr* region;
  Mapping* next;
};

struct RSocketOptions {
  std::uint32_t send_bytes = 1U << 17U, receive_bytes = 1U << 17U, send_entries = 384, receives = 384;
  std::uint32_t inline_bytes = 64;
  std::uint32_t mappings = 0;  ///< RDMA_IOMAPSIZE
};

struct Datagrams;

struct RSocket {
  int file;  ///< descriptor of its id's event channel, by which the stream is known
  rdma_cm_id* id;
  bool bound, listening, connected, nonblocking;
  bool ended, peer_ended, broken;  ///< by shutdown, by the peer's shutdown, by an error
  RSocketOptions options;
  ibv_cq* cq;
  char* memory;  ///< the send ring, the receive ring, and slots for Controls; of datagrams, see Datagrams
  std::size_t memory_bytes;
  ibv_mr* region;
  Offer peer;
  std::uint32_t send_at, send_busy;  ///< next byte of the send ring, and bytes in flight
  std::uint32_t requests;            ///< requests in flight
  std::uint32_t peer_at, peer_room;  ///< next byte of the peer's ring, and its free bytes
  std::uint32_t peer_receives;
  std::uint32_t read_at, readable;         ///< position and bytes in the receive ring
  std::uint32_t read_owed, received_owed;  ///< not yet credited to the peer
  Mapping *mine, *theirs;
  Datagrams* datagrams;  ///< null: it is a stream (datagrams.hpp)
  RSocket* next;
};

[[nodiscard]] RSocket* rsocket_of(int file);
[[nodiscard]] RSocket* make_rsocket(rdma_port_space space);
/// Registers it by its descriptor.
[[nodiscard]] RSocket* adopt(rdma_cm_id* id, const RSocketOptions& options);
void forget(RSocket& s);

/// Makes completion queue, queue pair and registered memory. Returns false with errno on failure, as prepare() does.
bool make_queues(RSocket& s, ibv_qp_type type, std::size_t memory_bytes, unsigned rights);
/// Posts a receive for `bytes` of the memory at `at`.
bool post_receive(RSocket& s, std::uint64_t number, char* at, std::size_t bytes);
/// Makes queue pair, rings and receives.
bool prepare(RSocket& s);
[[nodiscard]] Offer offer_of(const RSocket& s);
/// The connection has been established.
void begin(RSocket& s, const Offer& peer);
/// Handles what has arrived. Returns false if there was nothing.
bool progress(RSocket& s);
[[nodiscard]] bool can_send(const RSocket& s);
/// Sends as much as there is room for.
std::size_t send_some(RSocket& s, const char* data, std::size_t bytes);
std::size_t read_some(RSocket& s, char* out, std::size_t bytes, bool peek);
bool tell(RSocket& s, const Control& control);
/// A one-sided write to memory that the peer has mapped. Returns the bytes written, 0 if there is no room now, or -1
/// with errno.
ssize_t write_mapped(RSocket& s, const char* data, std::size_t bytes, std::uint64_t offset);
/// The connected stream, or null with errno.
[[nodiscard]] RSocket* connected_rsocket(int file);
[[nodiscard]] bool blocks(const RSocket& s, int flags);
/// What poll(2) would say of the wanted events.
[[nodiscard]] short state_of(RSocket& s, short wanted);
/// Waits until `done`, which checks the stream, is true. Returns false if its connection is broken.
template <typename Done>
bool wait_until(RSocket& s, Done done) {
  while (!done()) {
    if (s.broken) return false;
    progress(s);
  }
  return true;
}

}  // namespace loco::cm
