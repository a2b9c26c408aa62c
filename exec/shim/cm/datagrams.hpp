// Datagrams of rsockets (rsocket(7)): a queue pair of UD for each socket.
//
// A bound socket listens on its port. Before its first datagram to an address, a sender asks there for the queue pair
// (IBTA volume 1, 12.11: SIDR), and waits for the answer, which comes during a call of the receiving program, for a
// second at most. Its own host and port travel as immediate data. As with UDP, what nobody listens for, or has no
// receive for, is lost.
#pragma once

#include "exec/shim/cm/rsocket.hpp"

namespace loco::cm {

/// Where a datagram goes to, or comes from: a host, and from bit 0 on 16 bits of port.
using Place = std::uint32_t;

struct Destination {
  Place place;
  std::uint32_t qp;
  ibv_ah* handle;
  Destination* next;
};

struct Arrived {
  std::uint32_t slot, bytes;
  Place from;
};

struct Datagrams {
  std::uint32_t most;  ///< bytes of a datagram; the socket's memory has slots of those sent, then of those received
  std::uint32_t next_slot, sending;  ///< of the sent ones
  Arrived* arrived;                  ///< a ring with a place for each receive
  std::uint32_t first, count;        ///< in it
  Place peer;
  bool has_peer;
  Destination* known;
};

/// False if there is no memory for it.
[[nodiscard]] bool become_datagrams(RSocket& s);
void drop_datagrams(RSocket& s);

/// Of a socket of datagrams; they return 0, or -1 with errno.
int bind_datagrams(RSocket& s, const sockaddr* address);
int connect_datagrams(RSocket& s, const sockaddr* address);
/// Bytes, or -1 with errno. Without `to` it goes to the connected address.
ssize_t send_datagram(RSocket& s, const iovec* pieces, std::size_t count, bool blocks, const sockaddr* to);
ssize_t receive_datagram(RSocket& s, const iovec* pieces, std::size_t count, bool blocks, bool peek, sockaddr* from,
                         socklen_t* bytes);
/// Looks once at what has arrived and been sent.
void progress_datagrams(RSocket& s);
[[nodiscard]] bool can_send_datagram(const RSocket& s);
void wait_until_sent(RSocket& s);

}  // namespace loco::cm
