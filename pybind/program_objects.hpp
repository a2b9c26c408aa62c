// LOCO's objects in a Python program: declared for the whole program, made on every node, used by number. No Python in
// here.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "loco_sim/loco/membership/manager.hpp"

namespace loco::python {

/// `_core.OBJECTS`: the kinds, and the meaning of their numbers.
enum class ObjectKind : std::uint8_t {
  var,         ///<
  owned_var,   ///< owner
  atomic_var,  ///< home, initial value
  sst,         ///<
  ring,        ///< writer, bytes, reading threads a node
  queue,       ///< capacity, home
  mutex,       ///< home, hand-overs within a node at most
  store,       ///< slots a node
};
inline constexpr std::array<const char*, 8> kObjectNames = {"var",  "owned_var", "atomic_var", "sst",
                                                            "ring", "queue",     "mutex",      "store"};

/// `_core.CALLS`: a thread's calls on an object, with arguments and results.
enum class ObjectCall : std::uint8_t {
  load,              ///< element -> value (of atomic variables: the one on the home)
  write,             ///< value
  push,              ///< node
  broadcast,         ///<
  pull,              ///< node -> value (owned variables: of the owner; state tables: of that node's element)
  add,               ///< value -> old value
  exchange,          ///< value -> old value
  compare_exchange,  ///< expected, desired -> old value
  send,              ///< value
  try_send,          ///< value -> 1 or 0
  receive,           ///< -> value
  try_receive,       ///< -> value or none
  enqueue,           ///< value
  try_enqueue,       ///< value -> 1 or 0
  dequeue,           ///< -> value, or none once it is closed and empty
  try_dequeue,       ///< -> value or none
  close,             ///<
  lock,              ///<
  try_lock,          ///< -> 1 or 0
  try_lock_for,      ///< picoseconds -> 1 or 0
  unlock,            ///<
  lookup,            ///< key -> value or none
  insert,            ///< key, value -> 1 or 0
  update,            ///< key, value -> 1 or 0
  erase,             ///< key -> 1 or 0
};
inline constexpr std::array<const char*, static_cast<std::size_t>(ObjectCall::erase) + 1> kCallNames = {
    "load",  "write",    "push",     "broadcast",    "pull",    "add",         "exchange", "compare_exchange",
    "send",  "try_send", "receive",  "try_receive",  "enqueue", "try_enqueue", "dequeue",  "try_dequeue",
    "close", "lock",     "try_lock", "try_lock_for", "unlock",  "lookup",      "insert",   "update",
    "erase"};

struct ObjectDeclaration {
  ObjectKind kind = ObjectKind::var;
  std::string name;
  std::vector<std::uint64_t> numbers;
};

using ObjectFunction = std::function<std::optional<std::uint64_t>(std::uint64_t a, std::uint64_t b)>;

/// One of them on a node: what each of its calls does. The functions own it.
using ProgramObject = std::map<ObjectCall, ObjectFunction>;

/// `users`: the nodes that run threads.
[[nodiscard]] ProgramObject make_object(manager& mgr, const ObjectDeclaration& of, const std::vector<NodeId>& users);
/// Throws std::invalid_argument for a call that the object does not have; Python's classes check that first.
std::optional<std::uint64_t> call(const ProgramObject& object, ObjectCall what, std::uint64_t a, std::uint64_t b);

}  // namespace loco::python
