// What requester and responder announce when a queue pair cannot go on; which states follow, verbs knows. Private to
// nic_model/.
#pragma once

#include "nic_model/engine/engine.hpp"

namespace loco::nic {

/// A responder has refused what it cannot forget (IBTA volume 1, 9.9.3), or lost a completion.
struct ConnectionFailed {
  QpId qp = 0;
};
/// A work request has ended with an error.
struct SendFailed {
  QpId qp = 0;
};

// announcements.cpp
void announce(Engine& engine, const ConnectionFailed& message);
void announce(Engine& engine, const SendFailed& message);

}  // namespace loco::nic
