// What a Python program's operations do on a node: named memory, operations in flight, barriers, on LOCO's manager.
//
// Every node has the same memory, one symmetric region; a variable is a byte offset in it. A thread has at most
// kOperationsMax remote operations in flight: one more waits for the oldest. No Python in here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "loco_sim/loco/membership/channel.hpp"
#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/objects/barrier.hpp"
#include "loco_sim/loco/operations/ack_key.hpp"
#include "pybind/program_objects.hpp"

namespace loco::python {

/// The requests of a thread; Python knows their numbers by kOperationNames.
enum class Operation : std::uint8_t {
  now,           ///< -> picoseconds
  compute,       ///< picoseconds
  load,          ///< offset -> value
  store,         ///< offset, value
  cas,           ///< offset, expected, desired -> old value
  fence,         ///<
  put_value,     ///< node, offset, value, wait -> handle
  put,           ///< node, offset, size, local offset, wait -> handle
  get_value,     ///< node, offset, wait -> value if waited for, else handle
  get,           ///< node, offset, size, local offset, wait -> handle
  fetch_add,     ///< node, offset, add, wait -> old value if waited for, else handle
  compare_swap,  ///< node, offset, expected, desired, wait -> old value if waited for, else handle
  wait,          ///< handle -> value, of operations that have one
  remote_fence,  ///< node
  wait_until,    ///< offset, comparison, value -> the value that was seen
  barrier,       ///< index
  object,        ///< index, call, up to two arguments -> the result listed in program_objects.hpp
  count,
};

/// `_core.OPERATIONS`: the names, in the order of the enumeration.
inline constexpr std::array<const char*, static_cast<std::size_t>(Operation::count)> kOperationNames = {
    "now", "compute",   "load",         "store", "cas",          "fence",      "put_value", "put",   "get_value",
    "get", "fetch_add", "compare_swap", "wait",  "remote_fence", "wait_until", "barrier",   "object"};

/// `_core.COMPARISONS`.
enum class Comparison : std::uint8_t { equal, different, at_least, at_most };
inline constexpr std::array<const char*, 4> kComparisonNames = {"==", "!=", ">=", "<="};

struct Request {
  Operation operation = Operation::now;
  std::array<std::uint64_t, 5> arguments{};
};

struct BarrierDeclaration {
  std::string name;
  std::vector<NodeId> participants;
  std::uint32_t threads_per_node = 1;
};

/// The program's memory on one node.
class program_memory : public channel {
 public:
  program_memory(manager& mgr, std::uint64_t size) : channel(mgr, "program", expect_num{mgr.num_nodes() - 1}) {
    region_ = symmetric_region("memory", size);
    join();
  }
  [[nodiscard]] Address local_base() const { return local(region_).base; }
  [[nodiscard]] Region at(NodeId node) const { return node == my_node() ? local(region_) : remote(region_, node); }

 private:
  RegionIndex region_ = 0;
};

class ProgramNode {
 public:
  /// `users`: the nodes that run threads.
  ProgramNode(Transport& transport, std::uint64_t memory_bytes, const std::vector<BarrierDeclaration>& barriers,
              const std::vector<ObjectDeclaration>& objects, const std::vector<NodeId>& users);

  /// Until no node needs the objects any more: then they may go.
  void finish();

  [[nodiscard]] Transport& transport() { return transport_; }
  [[nodiscard]] Address memory_base() const { return memory_.local_base(); }

 private:
  friend class ProgramThread;

  Transport& transport_;
  manager manager_;
  program_memory memory_;
  std::vector<std::unique_ptr<barrier>> barriers_;  ///< null where this node takes no part
  std::vector<ProgramObject> objects_;
  std::unique_ptr<barrier> end_;  ///< null without objects
};

class ProgramThread {
 public:
  static constexpr std::size_t kOperationsMax = 64;

  explicit ProgramThread(ProgramNode& node);
  /// Throws std::exception for a mistake of the program, and operation_error.
  std::optional<std::uint64_t> perform(const Request& request);

 private:
  /// The state of an operation as far as the thread knows.
  enum class Known : std::uint8_t { nothing, complete, failed };

  struct InFlight {
    explicit InFlight(manager& mgr) : key(mgr) {}
    ack_key key;
    std::uint64_t handle = 0;
    Known known = Known::complete;
    bool has_value = false;
  };

  /// Takes the place of the operation kOperationsMax before. If that one has failed and nobody has waited for it,
  /// throws its error, once.
  InFlight& begin(bool has_value);
  /// Until it is complete; throws operation_error if it has failed.
  void learn(InFlight& operation);
  std::optional<std::uint64_t> finish(InFlight& operation);
  std::optional<std::uint64_t> finish_if(bool wanted, InFlight& operation);
  std::optional<std::uint64_t> perform_remote(const Request& request);
  std::uint64_t wait_until(Address address, std::uint64_t comparison, std::uint64_t value);
  [[nodiscard]] Address word_of(const InFlight& operation) const;

  ProgramNode& node_;
  Transport& transport_;
  Address words_;  ///< a private word for each operation in flight: source of a value, or where one lands
  std::vector<std::unique_ptr<InFlight>> operations_;
  std::uint64_t next_handle_ = 0;
};

}  // namespace loco::python
