// The exceptions that LOCO throws. A failure of the simulated network is an operation_error; every other class reports
// a mistake of the program.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "loco_sim/loco/transport.hpp"

namespace loco {

/// The endpoints of a channel do not fit together, or a name is used twice.
class setup_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A one-sided operation finished with an error, or the peer that a call waits for does not answer; what() names the
/// operation, the peer, and the status as verbs does.
class operation_error : public std::runtime_error {
 public:
  operation_error(Status status, const std::string& what, NodeId peer)
      : std::runtime_error(what), status_(status), peer_(peer) {}
  [[nodiscard]] Status status() const { return status_; }
  [[nodiscard]] NodeId peer() const { return peer_; }

 private:
  Status status_;
  NodeId peer_;
};

/// A node wrote a variable that another node owns, or used a part of a channel that belongs to others.
class ownership_error : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// A message does not fit into the object that should carry it.
class size_error : public std::length_error {
 public:
  using std::length_error::length_error;
};

/// The queue has been closed: push() is refused, and pop() too once the queue is empty.
class queue_closed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

[[nodiscard]] std::string_view name(Operation operation);
/// The error "node 1: WHAT to node 2 failed: STATUS".
[[nodiscard]] operation_error failure(NodeId node, std::string_view what, NodeId peer, Status status);

}  // namespace loco
