// A trace: what a run did, with its own witness. The one plain struct between simulators and checkers.
//
// A run is a list of calls (method calls of libraries, nested: a barrier is made of broadcasts, a broadcast of
// puts) and a list of subevents (the accesses to memory and the fences that the innermost calls are made of:
// LOCO/Mowgli paper, Section 3.1 and Fig. 10). Reads name the subevent they read from and writes the one they
// overwrote, so `rf` and `mo` are recorded, never guessed.
//
// Locations are aligned 8-byte words, named by (home node, byte address). An access wider than a word is one
// subevent per word.
//
// Order stamps (`Seq`) count what the machine did: two subevents with different stamps happened in that order.
// They orient `nfo` (a NIC write was flushed before a NIC read iff it finished before the read) and give the
// checkers a candidate order; consistency itself is decided on the relations.
//
// A run may end while operations are under way. Their subevents that have not begun are in the trace, too, marked by
// `start` == kNever: executions of the models are complete, and what was posted comes after everything that was seen.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "rdma/packet_opcode.hpp"
#include "rdma/stamp.hpp"
#include "trace/call_info.hpp"
#include "trace/verbs.hpp"

namespace loco::trace {

using rdma::is_family;
using rdma::kStamps;
using rdma::Stamp;

enum class Library : std::uint8_t { rdmawait, sv, bal, rbl, msw, lock, kvstore };

enum class Method : std::uint8_t {
  // rdmawait: the calls that touch the machine. remote_faa and remote_cas are an extension (not in the paper).
  write,
  read,
  cas,
  mfence,
  get,
  put,
  wait,
  rfence,
  remote_faa,
  remote_cas,
  // sv
  sv_write,
  sv_read,
  bcast,
  sv_wait,
  gf,
  // bal
  barrier,
  // rbl
  submit,
  receive,
  // msw
  msw_write,
  msw_tryread,
  msw_get,
  msw_put,
  msw_wait,
  // locks and the key-value store
  acquire,
  release,
  kv_lookup,
  kv_insert,
  kv_update,
  kv_delete,
};

using CallId = std::uint32_t;      ///< index + 1 into Trace::calls; 0 is "none"
using SubeventId = std::uint32_t;  ///< index + 1 into Trace::subevents; 0 is the initial value
using Seq = std::uint64_t;
inline constexpr Seq kNever = std::numeric_limits<Seq>::max();  ///< had not finished when the run ended

struct Thread {
  std::uint32_t node = 0;
  std::string name;
};

/// A method call. Calls of one thread are in program order by position in Trace::calls.
struct Call {
  CallId parent = 0;  ///< the call that this one helps to implement; 0 for the program's own calls
  std::uint32_t thread = 0;
  Library library = Library::rdmawait;
  Method method = Method::read;
  bool returned = false;       ///< false: still running when the trace ended; `end` and `result` are then meaningless
  std::uint8_t zero = 0;       ///< padding, so that equal runs have equal bytes
  std::uint32_t object = 0;    ///< index into Trace::objects (variable, barrier, ring buffer, ...); 0 is unnamed
  std::uint32_t node_set = 0;  ///< index into Trace::node_sets (targets of a bcast, a gf, a barrier); 0 is empty
  std::uint32_t zeros = 0;
  std::uint64_t work_id = 0;   ///< the `d` of get, put, bcast, wait; 0 is none
  std::uint64_t argument = 0;  ///< value written, message checksum, key, ...: per method, docs/trace-format.md
  std::uint64_t result = 0;
  Seq begin = 0;
  Seq end = kNever;
  std::int64_t begin_ps = 0;  ///< the same two instants on the calling thread's clock, in simulated picoseconds
  std::int64_t end_ps = 0;
};

/// One access or fence of an innermost call.
struct Subevent {
  CallId call = 0;
  Stamp stamp = Stamp::aCR;
  std::uint8_t zero = 0;
  std::uint16_t peer = 0;  ///< the n of a family stamp: the remote node of the operation
  std::uint16_t node = 0;  ///< home node of the word accessed
  std::uint16_t zeros16 = 0;
  std::uint32_t zeros32 = 0;
  std::uint64_t address = 0;     ///< byte address of the word on its home node, a multiple of 8
  std::uint64_t value = 0;       ///< what was read or written (an aCAS: written)
  std::uint64_t value_read = 0;  ///< aCAS: the value that it read; aNAR: its place in rao, see below
  SubeventId source = 0;         ///< of a read (and aCAS): the write that it read from
  SubeventId overwrote = 0;      ///< of a write (and aCAS): the write before it in `mo`
  Seq start = 0;                 ///< when it began; for all but aCW, aNLW, aNRW equal to `finish`; kNever: see below
  Seq finish = kNever;           ///< when it took effect in memory
  std::int64_t start_ps = 0;     ///< the same two instants in simulated picoseconds
  std::int64_t finish_ps = 0;
};

/// rao is the order in which a node's NIC executed remote atomics; an aNAR's place in it counts from 1. A NIC with
/// several units has an order for each; the unit's number is in the bits above the place.
inline constexpr unsigned kRaoPlaceBits = 40;
[[nodiscard]] constexpr std::uint64_t rao_place(const Subevent& s) {
  return s.value_read & ((std::uint64_t{1} << kRaoPlaceBits) - 1);
}
[[nodiscard]] constexpr std::uint64_t rao_unit(const Subevent& s) { return s.value_read >> kRaoPlaceBits; }

/// Posted but not begun when the run ended; only for subevents of NICs. `value`, `source` and `overwrote` are then
/// meaningless. `finish` is when the node's software learned that the operation had failed; kNever if it did not.
[[nodiscard]] constexpr bool is_unbegun(const Subevent& s) { return s.start == kNever; }
/// True if it has taken effect in memory.
[[nodiscard]] constexpr bool has_finished(const Subevent& s) { return s.start != kNever && s.finish != kNever; }
/// True if it never began because its operation failed, and the node's software learned of that.
[[nodiscard]] constexpr bool is_given_up(const Subevent& s) { return is_unbegun(s) && s.finish != kNever; }

/// What the machine did between accesses to memory. Only for pictures of a run; no checker uses it.
struct Activity {
  enum class Kind : std::uint8_t {
    packet,      ///< from when the NIC hands it to its port until the other NIC has it
    tlp_write,   ///< posted, from the NIC to memory
    tlp_read,    ///< the NIC's request
    completion,  ///< of such a request
    doorbell,    ///< a CPU's store to the NIC
    cqe,         ///< a completion queue entry is in memory
  };
  Kind kind = Kind::packet;
  std::uint8_t opcode = 0;  ///< packets: an rdma::PacketOpcode
  std::uint16_t node = 0;   ///< where it begins
  std::uint16_t peer = 0;   ///< packets: where it ends; otherwise `node`
  std::uint16_t zeros16 = 0;
  std::uint32_t qp = 0;      ///< of the sender
  std::uint32_t number = 0;  ///< packets: the packet sequence number
  std::uint32_t bytes = 0;   ///< packets: on the wire; TLPs: of their data
  std::uint32_t zeros32 = 0;
  std::int64_t start_ps = 0;   ///< simulated picoseconds
  std::int64_t finish_ps = 0;  ///< packets: -1 if it never arrived; otherwise equal to `start_ps`
};

static_assert(std::has_unique_object_representations_v<Call> && std::has_unique_object_representations_v<Subevent> &&
              std::has_unique_object_representations_v<Activity>);

/// A named object that calls act on.
struct Object {
  std::string name;                         ///< e.g. "bar/sst/ov0"
  std::vector<std::uint32_t> participants;  ///< of barriers: the threads that synchronise; otherwise empty
  bool transitive = false;                  ///< of barriers: fences every node, not only the participants' nodes
};

struct Trace {
  std::string scenario;
  std::uint64_t seed = 0;
  std::uint32_t nodes = 0;
  std::vector<Thread> threads;
  std::vector<Object> objects = {Object{}};                  ///< [0] is the unnamed object
  std::vector<std::vector<std::uint32_t>> node_sets = {{}};  ///< [0] is the empty set
  std::vector<Call> calls;
  std::vector<Subevent> subevents;   ///< in order of creation: a call's subevents may be anywhere
  std::vector<Activity> activities;  ///< in order of their start; empty unless requested
  std::optional<Verbs> verbs;        ///< for a verbs program: what its queues did
  bool atomics_have_places = true;   ///< false: read from a file of version 1 or 2, in which atomics read with aNRR
  bool calls_have_times = true;      ///< false: read from a file of version 1, in which only subevents have times
};

}  // namespace loco::trace
