// What has a number in the machine: hosts, their NICs, and the NICs' ports. Each is a kind of its own.
//
// A host's first NIC has the number of the host, and a NIC's first port the number of the NIC; what follows is in
// config.hpp. Programs, scenarios and traces speak of hosts only, by plain number (NodeId).
#pragma once

#include <cstdint>

#include "fabric/packet.hpp"
#include "sim/id.hpp"

namespace loco::nic {

using NodeId = std::uint32_t;  ///< a host, as programs, scenarios and traces number them: HostId::index()

/// A host: threads, memory and completion queues.
using HostId = sim::Id<struct HostKind>;
/// A NIC: what has queue pairs and a PCIe link.
using NicId = sim::Id<struct NicKind>;
/// A NIC's port: what has an address and cables on the network.
using fabric::PortId;

[[nodiscard]] constexpr NicId first_nic(HostId host) { return NicId(host.index()); }
[[nodiscard]] constexpr PortId first_port(NicId nic) { return PortId(nic.index()); }

}  // namespace loco::nic
