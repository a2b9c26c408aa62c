// Operations that a node has given to its provider and that have not ended: what comes back with a completion.
//
// A record lives in registered memory, for providers want the operands of an atomic there. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <rdma/fabric.h>
#include <vector>

#include "loco_sim/loco/transport.hpp"

namespace loco::libfabric {

/// Of a thread towards a peer: operations under way.
struct UnderWay {
  std::atomic<std::uint32_t> puts = 0, gets = 0, atomics = 0;
  std::atomic<std::uint64_t> largest_put = 0;  ///< bytes, since there was none
  std::atomic<bool> answered_last = true;      ///< the last one that ended says that all before it is in memory
  [[nodiscard]] std::uint32_t all() const { return puts + gets + atomics; }
  [[nodiscard]] std::atomic<std::uint32_t>& of(Operation operation) {
    if (operation == Operation::put) return puts;
    return operation == Operation::get ? gets : atomics;
  }
};

struct Record {
  fi_context context{};  ///< the provider's; first, so that its address is the record's
  std::uint64_t operand = 0, compare = 0;
  std::uint64_t token = 0;
  Address local = 0;  ///< of an atomic that goes by message: where the old value comes to
  UnderWay* under_way = nullptr;
  NodeId peer = 0;
  std::uint32_t connection = 0;
  Operation operation = Operation::put;
  bool told = false;  ///< somebody wants its completion
  bool used = false;
  bool given_up = false;  ///< its peer has died: it has been told as failed, and the provider may still have it
};

class Operations {
 public:
  /// `allocate`: network memory for so many records.
  using Allocate = std::function<Record*(std::size_t count)>;

  explicit Operations(Allocate allocate) : allocate_(std::move(allocate)) {}

  /// Of that operation; counted with what is under way.
  [[nodiscard]] Record& begin(const Record& operation);
  /// False: it had been given up.
  bool end(Record& record);
  /// All that are under way towards a node and have not been given up are; what to tell of them.
  [[nodiscard]] std::vector<Completion> give_up(NodeId peer, Status status);
  [[nodiscard]] bool any(NodeId peer);

 private:
  static constexpr std::size_t kEach = 1024;

  Allocate allocate_;
  std::mutex mutex_;
  std::vector<Record*> pieces_;
  std::vector<Record*> free_;
};

}  // namespace loco::libfabric
