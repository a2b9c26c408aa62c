// Lists of flows as files. Both readers throw text::InputError at the first error in the order of the file. In a list
// that they return every flow begins.
#pragma once

#include <string>

#include "loco_sim/workloads/flows/flow.hpp"

namespace loco::workloads::flows {

/// The unit of numbers without a unit in a connection matrix's `start`, in picoseconds.
using StartUnit = std::int64_t;

/// Reads `source,destination,bytes,start` and, if the first line names them, `id,class,after,delay`, in any order.
/// `start` and `delay` are picoseconds or have a unit; `after: 3;7` starts a flow `delay` after the later end of flows
/// 3 and 7. `nodes`: number of hosts.
[[nodiscard]] FlowList read_flow_csv(const std::string& text, const std::string& file, std::uint32_t nodes);

/// htsim's connection matrix (github.com/Broadcom/csg-htsim, sim/datacenter/connection_matrix.cpp has its grammar):
/// a line is words parted by blanks.
///   Nodes N | Connections N | Triggers N | Failures 0
///   S->D [id I] (start TIME | trigger T) size B {send_done_trigger T | recv_done_trigger T | prio P | msg M}
///   trigger id T (oneshot | multishot | barrier count N)
[[nodiscard]] FlowList read_connection_matrix(const std::string& text, const std::string& file, std::uint32_t nodes,
                                              StartUnit unit);

}  // namespace loco::workloads::flows
