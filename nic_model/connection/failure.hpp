// The announcements of requester and responder that a queue pair cannot go on. verbs/ decides which states follow.
// Private to nic_model/.
#pragma once

#include "nic_model/engine/engine.hpp"

namespace loco::nic {

/// A responder has refused a request with an error that ends the connection (IBTA volume 1, 9.9.3), or a completion was
/// lost.
struct ConnectionFailed {
  QpId qp = 0;
};
/// A work request has ended with an error.
struct SendFailed {
  QpId qp = 0;
};

// Implemented in announcements.cpp.
void announce(Engine& engine, const ConnectionFailed& message);
void announce(Engine& engine, const SendFailed& message);

}  // namespace loco::nic
