// The receive buffer of a NIC: payload that has come by its link and waits for PCIe.
//
// ConnectX NICs have such a buffer a port, and thresholds in it at which they pause the link and let it go on (NVIDIA,
// "HowTo Tune Receive Buffers on Mellanox Adapter Cards"; Linux, mlx5/core/en/port_buffer.c: xoff leaves room for what
// may still come, xon is a largest packet below). Full, the NIC pauses its link (IEEE 802.1Qbb; the credits of
// InfiniBand come to the same), so that its peer or the switch holds what comes next, and nothing is lost. With
// fabric.flow_control: drop_tail nobody can be paused: what does not fit is dropped, and counted. What a NIC sends to
// itself waits in its send queue while the buffer is full.
//
// Bytes of payload are counted, from when their write is posted until memory has them; so those that are on PCIe are
// among them. There is no buffer on the ideal network, nor in the flow model, whose packets are messages. It delays,
// it orders nothing. Private to nic_model/.
#pragma once

#include <vector>

#include "nic_model/engine/engine.hpp"

namespace loco::nic {

/// Works out the thresholds of all hosts; once, when the machine is built.
void set_up_receive_buffers(std::vector<Host>& hosts, const fabric::Network& network, const HardwareProfile& profile);
/// Is there room for a packet that has just come? If not, it is counted as dropped: nobody will see it.
[[nodiscard]] bool admit_received(Engine& engine, const fabric::Packet& packet);
/// Payload waits for PCIe from now on.
void hold_received(Engine& engine, NodeId node, std::uint32_t bytes);
/// Memory has it.
void release_received(Engine& engine, NodeId node, std::uint32_t bytes);
/// Does what a queue pair sends to its own NIC have to wait? It will be told when that is over.
[[nodiscard]] bool wait_for_own_buffer(Engine& engine, QpId qp, bool responder);

}  // namespace loco::nic
