// Tells every node of a key-value store where keys have come to be, or that they are gone (LOCO paper, App. I).
//
// Each node has a ring buffer that it alone writes, the others read. A thread of its own, a service thread, sends what
// the node's other threads ask it to, applies what the others' rings bring to the local index, and thereby
// acknowledges it; a change is announced when every node that answers has acknowledged it.
// Threads: announce() and announced() may be called by any; a ticket is for the thread that drew it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string_view>

#include "loco_sim/loco/channel.hpp"
#include "loco_sim/loco/kv_index.hpp"
#include "loco_sim/loco/ring_buffer.hpp"

namespace loco {

struct kv_change {
  enum class Kind : std::uint64_t { inserted, erased };
  Kind kind = Kind::inserted;
  std::uint64_t key = 0;
  kv_location where;
};

class kv_tracker : public channel {
 public:
  /// Told of every change, on this node's tracker thread, after the index has it and before it is acknowledged.
  using Told = std::function<void(const kv_change&)>;

  kv_tracker(channel& parent, std::string_view name, std::uint64_t ring_bytes, kv_index& index, Told told);
  /// Ends the tracker thread: nobody may announce anything any more, on any node.
  ~kv_tracker() override;

  /// Starts to announce a change; `done` becomes 1 when every index has it.
  void announce(const kv_change& change, Flag done);

 private:
  struct Request {
    kv_change change;
    Flag done;
    std::uint64_t until = 0;  ///< the ring's position behind it, once it is sent
  };

  /// The tracker thread.
  void serve();
  [[nodiscard]] bool rings_are_ready();
  void track();
  bool receive();
  bool send();
  bool finish();
  void apply(const kv_change& change);

  kv_index& index_;
  Told told_;
  std::deque<ring_buffer> rings_;  ///< by writer; a deque never moves what it holds
  Flag asked_;                     ///< counts requests, so that the tracker thread can watch it
  Flag stop_;
  Flag stopped_;
  std::mutex mutex_;
  std::deque<Request> requests_;  ///< not sent yet
  std::deque<Request> sent_;      ///< not acknowledged yet; the tracker thread's
};

}  // namespace loco
