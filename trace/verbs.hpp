// What a run of a verbs program did besides its accesses to memory: work requests and receives as posted, messages that
// took receives, completion queue entries, polls, and the source lines of its calls.
//
// These are the events of queues: a receive becomes known to the NIC (aRP), a message takes one (aRX), a receive CQE
// and a send CQE are written (aRC, aSC), a poll takes one (aWT). Each list is in the order in which things happened.
// That gives the orders of a receive queue (rqo, rco), of a completion queue (co, plo) and of a send queue
// (Request::number). docs/verbs.md says what a checker does with them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace loco::trace {

struct Verbs {
  static constexpr std::uint32_t kNone = 0xffffffffU;

  /// A line of the program.
  struct Place {
    std::string file;
    std::uint32_t line = 0;
    bool operator==(const Place&) const = default;
  };

  enum class Transport : std::uint8_t { rc, uc, ud };
  struct QueuePair {
    std::uint32_t node = 0;
    Transport type = Transport::rc;
    std::uint32_t peer = kNone;  ///< index of the queue pair that it is connected to
    std::uint32_t send_cq = 0;
    std::uint32_t recv_cq = 0;
    std::uint32_t receives = kNone;  ///< its receive queue, shared or not
  };

  /// A registration.
  struct Region {
    std::uint32_t node = 0;
    std::uint64_t base = 0;
    std::uint64_t size = 0;
    bool relaxed = false;  ///< IBV_ACCESS_RELAXED_ORDERING
    bool device = false;   ///< ibv_alloc_dm
  };

  enum class Opcode : std::uint8_t { write, read, compare_swap, fetch_add, send };
  struct Request {
    std::uint32_t call = 0;  ///< of Trace::calls, from 1
    std::uint32_t qp = 0;
    std::uint32_t number = 0;  ///< in its send queue
    Opcode opcode = Opcode::write;
    bool signaled = true;
    bool inline_data = false;
    bool fence = false;
    bool immediate = false;
    std::uint32_t bytes = 0;
    std::uint64_t local = 0;
    std::uint64_t remote = 0;
    std::uint64_t wr_id = 0;
  };

  struct Receive {
    std::uint32_t thread = kNone;  ///< kNone: posted before the run
    std::uint32_t after = 0;       ///< number of calls of the trace that had begun when it was posted
    std::uint32_t place = 0;
    std::uint32_t queue = 0;
    std::uint32_t bytes = 0;
    std::uint64_t address = 0;
    std::uint64_t wr_id = 0;
  };

  /// A message that needs a receive has reached its responder.
  struct Message {
    std::uint32_t request = kNone;  ///< index of the request; kNone: its sender no longer knows it
    std::uint32_t qp = 0;           ///< the responder's
    std::uint32_t receive = kNone;  ///< index of the receive that it took; kNone: there was none
  };

  /// A completion queue entry in memory.
  struct Entry {
    std::uint32_t cq = 0;
    std::uint32_t qp = 0;
    bool receive = false;
    bool failed = false;
    std::uint32_t request = kNone;  ///< of a send
    std::uint32_t message = kNone;  ///< of a receive
    std::uint32_t poll = kNone;     ///< index of the poll that took it
  };

  struct Poll {
    std::uint32_t call = 0;
    std::uint32_t cq = 0;
    std::uint32_t entry = kNone;
  };

  std::vector<Place> places = {Place{}};   ///< [0] is unknown
  std::vector<std::uint32_t> call_places;  ///< by call: index into places; shorter where unknown
  std::vector<QueuePair> queue_pairs;
  std::vector<Region> regions;
  std::vector<std::uint32_t> cq_entries;  ///< by completion queue: its capacity
  std::vector<Request> requests;
  std::vector<Receive> receives;
  std::vector<Message> messages;
  std::vector<Entry> entries;
  std::vector<Poll> polls;
  std::vector<std::uint32_t> overruns;                         ///< completion queues that had no room
  std::vector<std::uint32_t> flag_calls;                       ///< calls that access their word as a flag
  std::vector<std::pair<std::uint32_t, std::uint64_t>> flags;  ///< words that are declared as flags: node, address
  bool writes_overtake = false;     ///< hardware: writes of a queue pair are placed in any order
  bool reads_as_they_come = false;  ///< and READs do not wait for earlier writes
};

}  // namespace loco::trace
