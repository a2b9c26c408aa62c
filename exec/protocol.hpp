// The protocol between the conductor and a program's shim: the layout of a channel, which is all that both sides know
// (docs/exec.md).
//
// A channel is a memfd that both sides map, one per thread of a program. `turn` says who may run: a program runs only
// while it has the turn. It hands over by writing a request, giving the turn away and waiting to get it back (a futex).
// Posts do not hand over. They go into `posts`, each with the time by which the program has run ahead of the clock, and
// the conductor makes them, in order and at their times, before it handles the next request. Times are picoseconds,
// addresses those of the program. Plain data only, because the two sides are compiled separately.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace loco::exec {

inline constexpr std::uint32_t kProtocolVersion = 4;
/// Where a program finds the file descriptor of its channel.
inline constexpr const char* kChannelVariable = "LOCO_SIM_CHANNEL";

enum class Turn : std::uint32_t { program, conductor };

/// Requests of a program; arguments and replies are those of Channel, in this order.
enum class Request : std::uint32_t {
  none,
  start,         ///< the program has loaded the shim; (thread id of the system)
  exit,          ///< its main has returned, or it has called exit
  sync,          ///< asks for the time
  sleep,         ///< (time)
  wait_io,       ///< for a change of any socket, pipe or event of the run; (deadline or -1) -> 0: change, 1: deadline
  yield,         ///< the other threads of the process have a turn
  wait_process,  ///< for another thread of the process: a lock, a condition, an end; (deadline or -1) -> as wait_io
  thread_start,  ///< (file descriptor of the new channel)
  thread_exit,
  process_start,    ///< (file descriptor of the new channel, process id): a child of fork -> its number on the host
  move,             ///< (host): a child of fork that has nothing yet goes on there, as by a remote shell -> 0, or errno
  register_memory,  ///< (address, bytes, access, offset of the I/O address, page runs in data, domain) -> key
  deregister_memory,  ///< (key)
  change_memory,      ///< (key, address, bytes, access, page runs in data, domain): the same region, elsewhere -> 0 or
                      ///< errno
  alloc_window,       ///< (domain) -> key of a memory window, or -1; deregister_memory frees it
  alloc_device,       ///< (bytes) -> number of memory on the NIC, or -1
  free_device,        ///< (number)
  copy_device,        ///< (number, offset, bytes, to the NIC): through data
  register_device,    ///< (number, offset, bytes, access, domain | NIC << kNicBit) -> key, or -1
  create_cq,          ///< (entries, completion channel or -1) -> number
  resize_cq,          ///< (cq, entries) -> 0 or errno
  create_srq,         ///< (entries, cq or -1: for XRC) -> number
  modify_srq,         ///< (srq, limit)
  create_qp,        ///< (type and, from bit 32 on, domain, and kNotToItself, send cq, receive cq, send entries, receive
                    ///< entries, srq or -1) -> number
  modify_qp,        ///< (qp, state); QpChange in data -> 0 or errno
  query_qp,         ///< (qp) -> state
  destroy,          ///< (what: Made, number)
  poll_cq,          ///< (cq, entries, watched: so many numbers of CQs in data) -> entries in data, left in the CQ
  arm_cq,           ///< (cq, solicited only)
  get_cq_event,     ///< (completion channel, blocking) -> cq, or -1
  get_async_event,  ///< (blocking) -> AsyncEvent, or -1; its object
  wait_memory,      ///< (address): a thread reads the same value again and again
  spin,             ///< (instruction): a thread's loop recurs; -> 0: others have run, 1: nothing is new
  access,           ///< (address, bytes, kAccess*, instruction): the program loads, or has stored, what NICs reach
  multicast,        ///< (qp, attach or detach, its group in two words) -> 0 or errno
  cm_listen,        ///< (port, backlog) -> 0 or errno
  cm_send,          ///< CmMessage in data
  set_timer,        ///< (number, when or 0, again after): a timerfd of the program
  note,  ///< a text in data: what a program did not get, or why another run may differ; (kind: Note, hash; of a
         ///< race two code addresses, the second of which is between the @ of the text)
};

/// Names for reports and records.
inline constexpr const char* kRequestNames[] = {
    "none",      "start",       "exit",     "sync",      "sleep",     "wait_io",       "yield",      "wait_process",
    "thread",    "thread_exit", "fork",     "move",      "reg_mr",    "dereg_mr",      "rereg_mr",   "alloc_mw",
    "alloc_dm",  "free_dm",     "copy_dm",  "reg_dm_mr", "create_cq", "resize_cq",     "create_srq", "modify_srq",
    "create_qp", "modify_qp",   "query_qp", "destroy",   "poll_cq",   "req_notify_cq", "get_event",  "async_event",
    "wait_word", "spin",        "access",   "multicast", "cm_listen", "cm_send",       "set_timer",  "note"};
inline constexpr std::size_t kRequests = sizeof(kRequestNames) / sizeof(kRequestNames[0]);
static_assert(kRequests == static_cast<std::size_t>(Request::note) + 1);

enum class Made : std::uint32_t { cq, qp, srq };
enum class Note : std::uint32_t { unsupported, not_deterministic, approximated, race };
enum class QpKind : std::uint32_t { rc, uc, ud, xrc };
enum class Post : std::uint32_t { send, receive, shared_receive };
/// Numbered as in the specification's state diagram, and as enum ibv_qp_state.
enum class State : std::uint32_t { reset, init, rtr, rts, sqd, sqe, error };
/// The values of nic::Opcode, which the shim does not know.
enum class Operation : std::uint32_t {
  write,
  read,
  compare_swap,
  fetch_add,
  send,
  recv,
  recv_with_imm,
  bind,       ///< a memory window of `remote_key` to the element, with the rights compare_add; its key will be `imm`;
              ///< swap: addresses begin with 0
  invalidate  ///< the memory window of `remote_key`
};
/// Access rights of operations, as in verbs.
inline constexpr std::uint32_t kLocalWriteRight = 1, kRemoteWriteRight = 2, kRemoteReadRight = 4,
                               kRemoteAtomicRight = 8, kRelaxedRight = 16;

/// Of Request::access: a store; by which something is told (volatile, atomic).
inline constexpr std::uint64_t kAccessWrites = 1, kAccessFlag = 2;

inline constexpr std::uint32_t kNoQueue = 0xffffffffU;
/// As remote_qp of a datagram: it goes to the group whose GID is in `remote` and `compare_add`.
inline constexpr std::uint32_t kToGroup = 0xfffffffeU;

/// In a queue pair's type: from this bit on, the number of the host's NIC that it uses.
inline constexpr unsigned kNicBit = 48;
/// In a queue pair's type: what it sends to its own group does not come back to it.
inline constexpr std::uint64_t kNotToItself = std::uint64_t{1} << 62U;

struct Element {  ///< of a scatter/gather list
  std::uint64_t address;
  std::uint32_t length;
  std::uint32_t key;
};
inline constexpr std::uint32_t kElementsMax = 30;

/// A send work request; its elements follow, then its inline bytes, rounded up to 8.
struct SendRecord {
  std::uint64_t wr_id;
  std::uint64_t remote;
  std::uint64_t compare_add;
  std::uint64_t swap;
  std::uint32_t operation;
  std::uint32_t remote_key;
  std::uint32_t imm;
  std::uint32_t remote_qp;  ///< UD
  std::uint32_t remote_qkey;
  std::uint32_t inline_bytes;
  std::uint16_t elements;
  bool with_imm;
  bool signaled;
  bool fence;
  bool is_inline;
  bool solicited;
  bool invalidates;  ///< a SEND: `imm` is a key of the receiver that becomes invalid
};

struct ReceiveRecord {
  std::uint64_t wr_id;
  std::uint64_t elements;
};

/// The header before the records of one post.
struct PostHeader {
  Post post;
  std::uint32_t queue;
  std::uint32_t count;
  std::uint32_t bytes;  ///< length of the records
  std::int64_t ahead_ps;
  std::uint64_t caller;  ///< instruction of the program that the call returns to
};

struct Completion {
  std::uint64_t wr_id;
  std::uint32_t status;  ///< rdma::Status
  std::uint32_t operation;
  std::uint32_t length;
  std::uint32_t imm;
  std::uint32_t qp;
  std::uint32_t source_qp;  ///< for a receive on UD
  std::uint32_t place;      ///< for a send: its number in the send queue
  std::uint32_t srq;        ///< for a receive on XRC: its shared receive queue
  bool with_imm;
  bool invalidated;  ///< `imm` is a key
};
inline constexpr std::uint32_t kCompletionsMax = 256;  ///< in one poll

struct PageRun {  ///< memory that the program has made a shared mapping of a memfd
  std::uint64_t address;
  std::uint64_t bytes;
  std::int64_t file;    ///< descriptor in the program; -1: not shared, accessed through the kernel
  std::uint64_t known;  ///< not new, but confirmed
};
inline constexpr std::uint32_t kRunsMax = 1024;

/// Attributes of ibv_modify_qp in the simulator's units. Absent ones are 0 or kNoQueue.
struct QpChange {
  std::uint32_t dest_qp, rq_psn, sq_psn, max_rd_atomic, retry_count, rnr_retry, max_dest_rd_atomic, path_mtu, qkey;
  std::uint32_t access;  ///< rights of remote requests
  std::int64_t timeout_ps, min_rnr_timer_ps;
};

enum class AsyncEvent : std::uint32_t {
  qp_fatal,
  qp_request_error,
  qp_access_error,
  last_wqe,
  srq_limit,
  port_error,
  port_active,
  cq_error
};

/// A message between connection managers (IBTA volume 1, 12.6); sidr_*: for datagrams (12.11).
enum class CmType : std::uint32_t { req, rep, rtu, rej, dreq, drep, sidr_req, sidr_rep };
inline constexpr std::uint32_t kPrivateData = 256;
struct CmMessage {
  CmType type;
  std::uint32_t from_host, to_host, from_id, to_id, port, port_space, reason;
  std::uint32_t qp, qkey, psn, responder_resources, initiator_depth, rnr_retry, bytes, from_port;
  std::uint64_t serial;
  std::uint8_t private_data[kPrivateData];
};
/// Ids are numbers within a process; from this bit on they contain the number of the process.
inline constexpr unsigned kProcessBit = 20;
inline constexpr std::uint32_t kListener = 0xffffffffU;  ///< as to_id: whoever listens on `port`

inline constexpr std::uint32_t kNicsMax = 32;  ///< per host, as far as programs see them

/// Facts that do not change during a run.
struct HostFacts {
  std::uint32_t host, hosts;
  std::uint32_t nics;  ///< of the host, all alike
  std::uint32_t mtu, max_rd_atomic, inline_max, max_qp_wr, max_cqe, max_srq_wr;
  std::uint32_t infiniband;  ///< the link layer is InfiniBand; otherwise Ethernet
  std::uint64_t device_memory;
  std::uint32_t atomics;
  std::uint32_t lockstep;      ///< posts hand over at once
  std::uint32_t terminal;      ///< standard input is one
  std::uint32_t traced;        ///< loads and stores are to be told, where the program was compiled for it
  std::uint32_t checks;        ///< buffers of requests are checked (shim/check.hpp)
  std::uint32_t width, speed;  ///< of the port, in the encoding of ibv_port_attr
  std::int32_t board;          ///< descriptor of a Board
  std::uint32_t process;       ///< number of the process on the host: 0, or a child
  std::uint32_t conductor;     ///< process id of the conductor; programs end when it does
  std::uint32_t network;  ///< second and third octet of the run's addresses, 127.NETWORK.h+1; programs see 127.1.0.h+1
  std::int64_t post_ps, doorbell_ps, store_ps, poll_empty_ps, clock_ps;
  std::uint64_t seed;
};

/// Events to show on descriptors of the program: asynchronous ones, timers from kTimerNews on, and completion channels,
/// by number.
inline constexpr std::uint32_t kAsyncNews = 0xfffffffeU, kTimerNews = 0x80000000U, kNewsMax = 512;
inline constexpr std::uint32_t kMailMax = 16;

/// One direction of a TCP connection, or (from_*: 0) the connections to a listener: what has been given to the kernel
/// and what has been taken from it. Data in flight in the kernel is waited for in real time, so that the kernel's own
/// delay never shows.
struct Stream {
  std::uint64_t key;  ///< host and port of the sender, then of the receiver, 16 bits each; 0: unused
  std::uint64_t sent, received;
  std::uint64_t closed;
  std::uint64_t copies;  ///< processes with copies of the sender's end, beyond the first
};
inline constexpr std::uint32_t kStreams = 1U << 15U;
/// Shared by all programs of a run.
struct Board {
  Stream streams[kStreams];
};

inline constexpr std::size_t kDataBytes = 128U << 10U;
inline constexpr std::size_t kPostBytes = 512U << 10U;

struct Channel {
  std::uint32_t version;
  std::uint32_t bytes;  ///< sizeof(Channel)
  std::atomic<std::uint32_t> turn;
  Request request;
  std::uint64_t arguments[6];
  std::int64_t replies[4];
  std::int64_t now_ps;          ///< time of the last reply
  std::int64_t ahead_ps;        ///< how long the program has run since
  std::int64_t alarm_ps;        ///< when its alarm is due; 0: no alarm
  std::uint32_t thread;         ///< the kernel's thread id, for signals
  std::uint32_t io;             ///< the program has sent, connected or closed: descriptors of others may be ready
  std::uint32_t released;       ///< other threads of the process may find a lock, a condition or an end
  std::uint32_t forked;         ///< the program has children that are not conducted
  std::uint32_t daemon;         ///< it survives the program that started it
  std::uint32_t watches;        ///< registered memory exists, so silence may mean polling it
  std::uint32_t threads;        ///< the process has other threads
  std::uint32_t accesses_told;  ///< the program was compiled to report its loads and stores
  std::uint32_t waited;         ///< this request ended a loop that polls memory
  std::uint32_t ports_down;     ///< a bit for each NIC of the host whose cable is down
  std::uint32_t news_count;
  std::uint32_t news[kNewsMax];
  std::uint32_t mail_count;  ///< number of messages for the program's connection manager
  CmMessage mail[kMailMax];
  std::uint64_t posts_bytes;
  HostFacts facts;
  alignas(64) char data[kDataBytes];
  alignas(64) char posts[kPostBytes];
};

}  // namespace loco::exec
