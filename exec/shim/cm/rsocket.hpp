// rsockets (rsocket(7)): byte streams over a reliable connection.
//
// A stream has a ring that its peer writes to, and the peer has one: each says in the private data of its connection
// request or reply where its ring is. Data goes by WRITE with immediate, whose value is its length, from a ring of the
// sender's own. What tells of something (credits for what has been read, an end, memory for riowrite) is a SEND of a
// Control. Both take a receive of the peer, which are counted as the bytes are: nothing ever finds none.
// All of it is done with the public calls of connection managers and verbs. Nobody works for a stream but who calls.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include "exec/shim/cm/ids.hpp"

namespace loco::cm {

/// Where a ring is, and how many receives lie behind it.
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

/// Memory that riowrite reaches: of this side with its region, of the other with its key.
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

struct RSocket {
  int file;  ///< that of its id's event channel: its name
  rdma_cm_id* id;
  bool bound, listening, connected, nonblocking;
  bool ended, peer_ended, broken;  ///< by shutdown, or by an error
  RSocketOptions options;
  ibv_cq* cq;
  char* memory;  ///< the ring that is sent from, the one that is received in, and slots of Controls
  ibv_mr* region;
  Offer peer;
  std::uint32_t send_at, send_busy;  ///< of the ring that is sent from: its next byte, those on their way
  std::uint32_t requests;            ///< on their way
  std::uint32_t peer_at, peer_room;  ///< of the peer's ring: the next byte, those that are free
  std::uint32_t peer_receives;
  std::uint32_t read_at, readable;         ///< of the ring that is received in
  std::uint32_t read_owed, received_owed;  ///< that the peer has not been told of
  Mapping *mine, *theirs;
  RSocket* next;
};

[[nodiscard]] RSocket* rsocket_of(int file);
[[nodiscard]] RSocket* make_rsocket();
/// Known by its file from now on.
[[nodiscard]] RSocket* adopt(rdma_cm_id* id, const RSocketOptions& options);
void forget(RSocket& s);

/// Queue pair, rings and receives; errno and false where that fails.
bool prepare(RSocket& s);
[[nodiscard]] Offer offer_of(const RSocket& s);
/// The connection is there.
void begin(RSocket& s, const Offer& peer);
/// What has come since; false: nothing.
bool progress(RSocket& s);
[[nodiscard]] bool can_send(const RSocket& s);
/// As much as there is room for now.
std::size_t send_some(RSocket& s, const char* data, std::size_t bytes);
std::size_t read_some(RSocket& s, char* out, std::size_t bytes, bool peek);
bool tell(RSocket& s, const Control& control);
/// One-sided, to memory that the peer has mapped there; bytes written, 0: there is no room now; -1 and errno.
ssize_t write_mapped(RSocket& s, const char* data, std::size_t bytes, std::uint64_t offset);
/// Until `done`, which looks at the stream; false: its connection is broken.
template <typename Done>
bool wait_until(RSocket& s, Done done) {
  while (!done()) {
    if (s.broken) return false;
    progress(s);
  }
  return true;
}

}  // namespace loco::cm
