// The memory and queues that a pending event will touch when it runs. Searches leave out orders of events that touch
// nothing in common (docs/machine.md, "Exploration": independence).
//
// A plain description, valid until the next step.
#pragma once

#include "nic_model/verbs.hpp"

namespace loco::nic {

struct Footprint {
  enum class Kind : std::uint8_t {
    thread_step,     ///< runs the code of `thread`: its runner knows the memory that it touches
    internal,        ///< moves something on inside one NIC, or delivers a READ request or an ACK
    request,         ///< data comes to `node` and is queued for memory, at [address, address + bytes)
    response,        ///< data comes back to queue pair `qp` and is queued for memory, as above
    memory_read,     ///< samples [address, address + bytes) of `node`
    memory_write,    ///< makes a write to [address, address + bytes) of `node` visible
    atomic_request,  ///< a remote atomic operation comes to `node` and is queued in its bank
    atomic,          ///< such an operation reads memory, or writes it
  };
  /// The queues, shared by queue pairs, that the event may put something into: the order in which queue pairs do so can
  /// matter.
  enum class Enters : std::uint8_t {
    none,
    eager,   ///< PCIe reads and completion entries: they wait for posted writes, no access to memory waits for them
    posted,  ///< data to be written over PCIe; shared with the ordering domain `nic`
    link,    ///< packets into lanes of the network; shared unless `link.ideal`
  };
  Kind kind = Kind::internal;
  Enters enters = Enters::none;
  bool on_link = false;  ///< the head of a lane of the network arrives
  bool loose = false;    ///< a request is taken that others of its queue pair may overtake
  bool placed = false;   ///< of memory_write: what a request wrote, at its target
  bool queues = false;   ///< something enters or leaves a receive or completion queue, which queue pairs can share, or
                         ///< a message may come that finds no receive
  bool unready = false;  ///< a message comes for which there is no receive now, and which will come again
  bool may_be_lost = false;  ///< a packet comes that nobody sends again: Context::lose
  ThreadId thread = 0;
  QpId qp = 0;
  NodeId node = 0;
  Address address = 0;
  std::uint32_t bytes = 0;
  std::uint64_t wr_id = 0;        ///< of a response: the work request that it answers
  bool requests_waiting = false;  ///< of a response: its queue pair holds work requests that have not started
};

}  // namespace loco::nic
