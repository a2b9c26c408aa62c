// An event of an execution at some level: one library call and its subevents, as the checkers see it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/order.hpp"
#include "model/trace.hpp"

namespace loco::model {

struct Node {
  SubeventId subevent = 0;  ///< 0: synthesised
  Stamp stamp = Stamp::aCR;
  std::uint32_t peer = 0;  ///< of a family stamp
  Point finish;            ///< F
  Point start;             ///< S; the same as F for instants and for every library but rdmawait
  bool given_up = false;   ///< it never began, and the node's software knew that its operation had failed
};

struct Event {
  CallId id = 0;
  std::uint32_t thread = 0;
  const Call* call = nullptr;
  std::span<const CallId> calls;  ///< the call itself and what it is made of, in program order
  std::vector<Node> nodes;
};

}  // namespace loco::model
