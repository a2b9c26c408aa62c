// Lower bounds on the memory of the simulating machine that a run of each kind needs, before it is run: what its
// programs keep and touch, how much they measure, and how much of it a trace records. They follow from what the
// workload's own file does; queues, retransmissions and polling come on top.
#include <algorithm>
#include <array>
#include <cmath>

#include "loco_sim/workloads/kinds.hpp"
#include "loco_sim/workloads/workload.hpp"

namespace loco::workloads {

namespace {

using Count = double;  // products of parameters may exceed 64 bits

Count parameter(const Params& params, std::string_view key) { return static_cast<Count>(params.get(key)); }
Count words_of(Count bytes) { return std::ceil(bytes / kWord); }

/// For each word one access by the source's NIC and one by the destination's.
constexpr Count kEnds = 2;

Footprint of_barrier(const Params& params, Count nodes) {
  const Count calls = parameter(params, "iterations") * parameter(params, "threads_per_node") * nodes;
  return {.operations = calls, .calls = calls, .accesses = nodes > 1 ? kEnds * calls : 0};
}

Footprint of_broadcast(const Params& params, Count nodes) {
  const Count rounds = parameter(params, "iterations");
  return {.operations = rounds,
          .calls = rounds * nodes,
          .accesses = rounds * (nodes - 1) * kEnds * words_of(parameter(params, "size"))};
}

Footprint of_message_passing(const Params& params, Count nodes) {
  const Count messages = parameter(params, "iterations") * std::floor(nodes / 2);
  return {
      .operations = messages, .calls = messages, .accesses = messages * kEnds * words_of(parameter(params, "size"))};
}

Footprint of_mixed_size(const Params& params, Count nodes) {
  const Count writes = parameter(params, "iterations");
  return {.operations = writes,
          .calls = writes,
          .accesses = writes * (nodes - 1) * kEnds * words_of(parameter(params, "size"))};
}

Footprint of_locked(const Params& params, Count nodes) {
  const Count turns = parameter(params, "iterations") * parameter(params, "threads_per_node") * nodes;
  return {.operations = turns, .calls = kEnds * turns, .accesses = turns};
}

/// For each lock every node keeps a word that says whose turn it is.
Count bytes_of_locks(const Params& params, Count nodes) { return nodes * parameter(params, "locks") * kWord; }

Footprint of_transactions(const Params& params, Count nodes) {
  Footprint footprint = of_locked(params, nodes);
  footprint.bytes = bytes_of_locks(params, nodes);
  return footprint;
}

/// LOCO: the index is a table of 24-byte entries on every node, of a size that is a power of two and at most seven
/// eighths full. Values take five words, on one node each. Tree: leaves of 128 words with 24 entries, whose places
/// every node knows, and the sorted entries once. Others: a table on one node.
Footprint of_kvstore(const Params& params, Count nodes) {
  enum : std::int64_t { kLoco, kRpc, kTree };
  constexpr Count kPairBytes = 16;
  constexpr Count kIndexBytes = 24;
  constexpr Count kSlotWords = 3;
  constexpr Count kLeafWords = 128;
  constexpr Count kLeafEntries = 24;
  const std::int64_t store = params.get("store");
  const Count slots = parameter(params, "key_space") / kPairBytes;
  const Count entries = std::max<Count>(std::floor(slots * 8 / 10), 1);
  const Count operations = parameter(params, "iterations") * parameter(params, "threads_per_node") * nodes;
  const Count leaves = entries / kLeafEntries;
  const Count bytes = store == kLoco ? nodes * std::exp2(std::ceil(std::log2(entries * 8 / 7))) * kIndexBytes +
                                           (slots * 2 + entries * kSlotWords) * kWord + bytes_of_locks(params, nodes)
                      : store == kTree
                          ? leaves * kLeafWords * kWord + nodes * leaves * kIndexBytes + entries * kPairBytes
                          : entries * kIndexBytes;
  const Count loaded = store == kLoco ? entries * kSlotWords : store == kTree ? leaves * kLeafWords : 0;
  return {.bytes = bytes, .operations = operations, .calls = entries + operations, .accesses = loaded + operations};
}

Footprint of_traffic(const Params& params, Count nodes) {
  enum : std::int64_t { kIncast, kPermutation, kAllToAll };
  const std::int64_t pattern = params.get("pattern");
  const Count size = parameter(params, "size");
  const Count pairs = pattern == kAllToAll ? nodes * (nodes - 1) : pattern == kPermutation ? nodes : nodes - 1;
  const Count messages = pairs * parameter(params, "count");
  // The messages are zeroes, which take no memory.
  return {.bytes = messages * kWord,
          .operations = messages,
          .calls = messages,
          .accesses = messages * kEnds * words_of(size)};
}

Footprint of_lookup(const Params& params, Count nodes) {
  const Count lookups = parameter(params, "iterations") * (nodes - 1);
  return {
      .operations = lookups, .calls = 3 * lookups, .accesses = lookups * kEnds * words_of(parameter(params, "size"))};
}

Footprint of_all_reduce(const Params& params, Count nodes) {
  const Count all_reduces = parameter(params, "iterations");
  const Count steps = 2 * (nodes - 1);
  // In each step the nodes write all chunks once and one word each. Data is zero except for the first word of a chunk,
  // which is kept in the vector and where it lands to be added.
  const Count kept = nodes * (2 * nodes - 1 + 2 * steps);
  return {.bytes = kept * kWord,
          .operations = all_reduces * nodes,
          .calls = all_reduces * steps * 2 * nodes,
          .accesses = all_reduces * steps * kEnds * (words_of(parameter(params, "size")) + nodes)};
}

Footprint of_dcdc(const Params& params, Count nodes) {
  const Count turns = parameter(params, "duration_us") / parameter(params, "period_us");
  return {.operations = turns, .calls = turns, .accesses = turns * (nodes - 1)};
}

Footprint of_rounds(const Params& params, Count /*nodes*/) {
  const Count n = parameter(params, "iterations");
  return {.operations = n, .calls = n, .accesses = n};
}

struct FootprintRow {
  std::string_view kind;
  Footprint (*of)(const Params&, Count nodes);
};

constexpr std::array kFootprints = {FootprintRow{"quickstart", of_rounds},
                                    FootprintRow{"barrier", of_barrier},
                                    FootprintRow{"broadcast", of_broadcast},
                                    FootprintRow{"message_passing", of_message_passing},
                                    FootprintRow{"mixed_size", of_mixed_size},
                                    FootprintRow{"lock", of_locked},
                                    FootprintRow{"transactions", of_transactions},
                                    FootprintRow{"kvstore", of_kvstore},
                                    FootprintRow{"dcdc", of_dcdc},
                                    FootprintRow{"pattern", of_rounds},
                                    FootprintRow{"traffic", of_traffic},
                                    FootprintRow{"lookup", of_lookup},
                                    FootprintRow{"all_reduce", of_all_reduce}};

}  // namespace

Footprint footprint(const Workload& workload, const Params& params, std::uint32_t nodes) {
  const auto* const row = std::ranges::find(kFootprints, workload.kind, &FootprintRow::kind);
  return row == kFootprints.end() ? Footprint{} : row->of(params, nodes);
}

}  // namespace loco::workloads
