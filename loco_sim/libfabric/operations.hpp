// Operations that a node has passed to its provider and that have not ended; completions refer to them.
//
// A record is in registered memory, because providers require that for the operands of an atomic. Thread-safe.
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

/// Operations in flight from a thread to a peer.
struct UnderWay {
  std::atomic<std::uint32_t> puts = 0, gets = 0, atomics = 0;
  std::atomic<std::uint64_t> largest_put = 0;  ///< in bytes, since none was in flight
  std::atomic<bool> answered_last = true;      ///< the end of the last one means that all before it are in memory
  [[nodiscard]] std::uint32_t all() const { return puts + gets + atomics; }
  [[nodiscard]] std::atomic<std::uint32_t>& of(Operation operation) {
    if (operation == Operation::put) return puts;
    return operation == Operation::get ? gets : atomics;
  }
};

struct Record {
  fi_context context{};  ///< used by the provider; first, so that its address is that of the record
  std::uint64_t operand = 0, compare = 0;
  std::uint64_t token = 0;
  Address local = 0;  ///< of an atomic by message: where to write the old value
  UnderWay* under_way = nullptr;
  NodeId peer = 0;
  std::uint32_t connection = 0;
  Operation operation = Operation::put;
  bool told = false;  ///< its completion is to be reported
  bool used = false;
  bool given_up = false;  ///< its peer has died: it was reported as failed, and the provider may still use it
};

class Operations {
 public:
  /// `allocate`: returns network memory for this many records.
  using Allocate = std::function<Record*(std::size_t count)>;

  explicit Operations(Allocate allocate) : allocate_(std::move(allocate)) {}

  /// A record of that operation, which then counts as in flight.
  [[nodiscard]] Record& begin(const Record& operation);
  /// Returns false if it had been given up.
  bool end(Record& record);
  /// Gives up everything in flight to a node. Returns the completions to report.
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
