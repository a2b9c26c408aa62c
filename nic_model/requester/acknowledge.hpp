// The requester of a reliable connection, from the answer on: ACKs, NAKs and responses (IBTA volume 1, 9.7.5 and
// 9.7.6). What it does about those that do not come is in retransmit.hpp.
//
// Order: responses are taken in PSN order. One that answers a later request acknowledges all earlier WRITEs and SENDs;
// a READ or an atomic that it passes over has lost its response (an implied NAK): the requester goes back to it.
// Private to nic_model/.
#pragma once

#include "nic_model/engine/engine.hpp"

namespace loco::nic {

/// A response packet has arrived.
void response_arrived(Engine& engine, const fabric::Packet& packet);

}  // namespace loco::nic
