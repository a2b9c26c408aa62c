// The kinds of workload: parameters and programs of each. workload.cpp has the table.
#pragma once

#include <array>

#include "loco_sim/baselines/message_rank.hpp"
#include "loco_sim/loco/objects/barrier.hpp"
#include "loco_sim/loco/objects/ring_buffer.hpp"
#include "loco_sim/workloads/workload.hpp"
#include "nic_model/verbs.hpp"

namespace loco::workloads {

using options::Option;
using options::Type;

inline constexpr Option kIterations{.key = "iterations",
                                    .type = Type::integer,
                                    .fallback = 1000,
                                    .least = 1,
                                    .most = 100'000'000,
                                    .doc = "measured rounds"};
inline constexpr Option kThreadsPerNode{.key = "threads_per_node",
                                        .type = Type::integer,
                                        .fallback = 1,
                                        .least = 1,
                                        .most = 256,
                                        .doc = "threads of each node that take part"};
inline constexpr Option kPayload{.key = "size",
                                 .type = Type::size,
                                 .fallback = 8,
                                 .least = 8,
                                 .most = 1 << 20,
                                 .doc = "bytes of the shared value, a multiple of 8",
                                 .multiple_of = 8};

/// For workloads over messages, as in MPI libraries; message_rank.hpp describes the model.
inline constexpr Option kInline{.key = "inline",
                                .type = Type::boolean,
                                .fallback = 1,
                                .doc =
                                    "messages ride in the work request where they fit, as MPI libraries do it; off: "
                                    "the NIC reads them from memory, as LOCO's puts"};
inline constexpr Option kReceivedNs{.key = "library_ns",
                                    .type = Type::integer,
                                    .fallback = 225,
                                    .most = 1'000'000,
                                    .doc =
                                        "nanoseconds that a message-passing library takes for a received message, "
                                        "besides what the simulated hardware takes"};

inline constexpr Option kSentNs{.key = "library_send_ns",
                                .type = Type::integer,
                                .fallback = 27,
                                .most = 1'000'000,
                                .doc = "the same for a message that is sent"};
/// Open MPI, as modelled by message_rank.hpp and message_collectives.hpp.
inline constexpr std::array<std::string_view, 2> kWaitNames = {"waitany", "testsome"};

inline constexpr std::array<std::string_view, 3> kFenceNames = {"all_nodes", "participants", "none"};

inline constexpr std::array<std::string_view, 6> kBarrierAlgorithmNames = {
    "loco", "dissemination", "recursive_doubling", "linear", "tree", "open_mpi"};
inline constexpr std::array kBarrierParams = {
    kIterations,
    kThreadsPerNode,
    Option{
        .key = "fence",
        .type = Type::choice,
        .fallback = 0,
        .choices = kFenceNames,
        .doc = "which nodes the barrier fences: all (transitive), the participants' or none (not a correct barrier)"},
    Option{.key = "algorithm",
           .type = Type::choice,
           .fallback = 0,
           .choices = kBarrierAlgorithmNames,
           .doc = "LOCO's barrier, or one over messages as MPI libraries have them, which never fences; open_mpi: the "
                  "one that Open MPI 5 takes for so many ranks"},
    kInline,
    kReceivedNs,
    kSentNs};
// --- collectives (docs/collectives.md) ---

/// Slower adding could exceed simulated time.
inline constexpr std::int64_t kReduceRateLeast = 1'000'000;
inline constexpr std::array<std::string_view, 5> kAllReduceAlgorithmNames = {
    "ring", "halving_doubling", "recursive_doubling", "double_tree", "hierarchical"};
inline constexpr std::array<std::string_view, 2> kAllGatherAlgorithmNames = {"ring", "recursive_doubling"};
inline constexpr std::array<std::string_view, 2> kReduceScatterAlgorithmNames = {"ring", "recursive_halving"};
inline constexpr std::array<std::string_view, 4> kAllToAllAlgorithmNames = {"pairwise", "staged", "bruck", "direct"};
inline constexpr std::array<std::string_view, 4> kBroadcastAlgorithmNames = {"loco", "binomial", "chain",
                                                                             "scatter_all_gather"};
inline constexpr std::array<std::string_view, 2> kReduceAlgorithmNames = {"binomial", "chain"};

template <std::size_t Size>
constexpr Option algorithm_option(const std::array<std::string_view, Size>& names, std::string_view doc) {
  return {.key = "algorithm", .type = Type::choice, .fallback = 0, .choices = names, .doc = doc};
}
inline constexpr Option kCollectiveSize{
    .key = "size",
    .type = Type::size,
    .fallback = 1 << 20,
    .least = 8,
    .most = 1 << 30,
    .doc = "bytes of a node's vector, as nccl-tests count them: of all_gather, reduce_scatter and all_to_all all parts",
    .multiple_of = 8};
inline constexpr Option kCollectiveIterations{.key = "iterations",
                                              .type = Type::integer,
                                              .fallback = 10,
                                              .least = 1,
                                              .most = 1'000'000,
                                              .doc = "measured, one after the other; all nodes begin together"};
inline constexpr Option kChannels{.key = "channels",
                                  .type = Type::integer,
                                  .fallback = 1,
                                  .least = 1,
                                  .most = 64,
                                  .doc =
                                      "the vector is divided among so many rings or trees at once, each with queue "
                                      "pairs of its own"};
inline constexpr Option kChunk{.key = "chunk",
                               .type = Type::size,
                               .fallback = 0,
                               .most = 1 << 30,
                               .doc = "what chain and double_tree cut a channel's vector into; 0B: 64 chunks"};
inline constexpr Option kWarmup{.key = "warmup",
                                .type = Type::integer,
                                .fallback = 0,
                                .most = 1'000'000,
                                .doc = "iterations before the measured ones"};
inline constexpr Option kCollectiveReduceRate{
    .key = "reduce_rate",
    .type = Type::rate,
    .fallback = 0,
    .most = 10'000'000'000'000,
    .doc =
        "how fast a node adds what has come to its own, in bits per second, 1Mbps or more; 0bps: in no time but that "
        "of a part's first word, which is summed and checked"};
/// Nothing is added.
inline constexpr Option kNoReduceRate{
    .key = "reduce_rate", .type = Type::rate, .fallback = 0, .most = 0, .doc = "0bps: nothing is added"};

inline constexpr std::array<std::string_view, 3> kCarrierNames = {"variables", "ring_buffer", "tree"};
inline constexpr Option kBroadcastPayload{
    .key = "size",
    .type = Type::size,
    .fallback = 8,
    .least = 8,
    .most = 1 << 30,
    .doc = "bytes of the shared value, a multiple of 8; 1 MiB at most with LOCO's",
    .multiple_of = 8};
inline constexpr std::array kBroadcastParams = {
    kIterations,
    kBroadcastPayload,
    Option{.key = "over",
           .type = Type::choice,
           .fallback = 0,
           .choices = kCarrierNames,
           .doc = "what carries the value: as many variables as may be outstanding, in turn, a ring buffer, or "
                  "messages down a binomial tree as in MPI libraries"},
    Option{.key = "outstanding",
           .type = Type::integer,
           .fallback = 1,
           .least = 1,
           .most = 4096,
           .doc = "broadcasts that not every node has confirmed yet, at most"},
    Option{.key = "ring",
           .type = Type::size,
           .fallback = 64 << 10,
           .least = 16,
           .most = 1 << 30,
           .doc = "bytes of the ring buffer, a multiple of 8",
           .multiple_of = 8},
    Option{.key = "heads",
           .type = Type::integer,
           .fallback = 1,
           .least = 1,
           .most = 4096,
           .doc = "messages that the ring buffer has on their way at once; 1: as the paper has it"},
    Option{.key = "wait",
           .type = Type::choice,
           .fallback = 0,
           .choices = kWaitNames,
           .doc = "over a tree: how node 0 learns that others have a broadcast, one at a time (MPI_Waitany) or all "
                  "that have come (MPI_Testsome)"},
    kInline,
    kReceivedNs,
    kSentNs,
    algorithm_option(kBroadcastAlgorithmNames,
                     "loco: over what is said above; else a collective over puts (docs/collectives.md): down a "
                     "binomial tree, along a chain in chunks, or scattered and gathered"),
    kChannels,
    kChunk,
    kWarmup,
    kNoReduceRate};

inline constexpr std::array<std::string_view, 2> kMixedSizeNames = {"checksum", "guards"};
inline constexpr std::array kMixedSizeParams = {kIterations,
                                                Option{.key = "size",
                                                       .type = Type::size,
                                                       .fallback = 64,
                                                       .least = 16,
                                                       .most = 1 << 20,
                                                       .doc = "bytes of the value, a multiple of 8",
                                                       .multiple_of = 8},
                                                Option{.key = "with",
                                                       .type = Type::choice,
                                                       .fallback = 0,
                                                       .choices = kMixedSizeNames,
                                                       .doc = "how readers tell a whole value from a torn one"}};

inline constexpr Option kHandOvers{.key = "hand_overs",
                                   .type = Type::integer,
                                   .fallback = 16,
                                   .most = 1'000'000,
                                   .doc = "times in a row that a lock may go to another thread of the same node"};
inline constexpr Option kReleaseFence{
    .key = "fence",
    .type = Type::boolean,
    .fallback = 1,
    .doc = "what was written under a lock is in memory before it is released; off: broken"};
inline constexpr std::array<std::string_view, 2> kLockAlgorithmNames = {"loco", "mpi_window"};
inline constexpr Option kLockAlgorithm{.key = "algorithm",
                                       .type = Type::choice,
                                       .fallback = 0,
                                       .choices = kLockAlgorithmNames,
                                       .doc =
                                           "LOCO's locks, or those of MPI windows over remote atomics, which are where "
                                           "the data is; these know no hand-overs and no fence"};
inline constexpr std::array<std::string_view, 3> kLockClassNames = {"strong", "weak", "node"};
inline constexpr std::array<std::string_view, 2> kCounterNames = {"other", "home"};
inline constexpr std::array kLockParams = {
    kIterations,
    kThreadsPerNode,
    kHandOvers,
    kReleaseFence,
    kLockAlgorithm,
    Option{.key = "counter",
           .type = Type::choice,
           .fallback = 0,
           .choices = kCounterNames,
           .doc = "where it is: on the last node, or on the lock's home, node 0"},
    Option{.key = "lock_class",
           .type = Type::choice,
           .fallback = 0,
           .choices = kLockClassNames,
           .doc =
               "what a LOCO lock promises of what was put under it: that all is there for the next holder, nothing, "
               "or what was put to the lock's home; what it does not promise the threads fence, unless fence is off"},
    Option{.key = "device_memory",
           .type = Type::boolean,
           .fallback = 0,
           .doc = "the words of a LOCO lock are in the memory of the NIC"}};
inline constexpr std::array kTransactionParams = {
    kIterations,
    kThreadsPerNode,
    kHandOvers,
    kReleaseFence,
    Option{.key = "accounts",
           .type = Type::integer,
           .fallback = 10'000,
           .least = 2,
           .most = 100'000'000,
           .doc = "account balances, striped over the nodes; those of a transfer are read at the end"},
    Option{.key = "locks",
           .type = Type::integer,
           .fallback = 341,
           .least = 1,
           .most = 1'000'000,
           .doc = "locks, striped over the nodes; account a is under lock a modulo locks"},
    kLockAlgorithm,
    Option{.key = "registrations",
           .type = Type::boolean,
           .fallback = 0,
           .doc = "the accounts under each lock of an MPI window are a memory registration of their own, as MPI's "
                  "windows are; off: all of a node are one, as LOCO's regions"}};
inline constexpr std::array<std::string_view, 6> kMixNames = {"read",   "mixed",        "write",
                                                              "insert", "mixed_insert", "churn"};
inline constexpr std::array<std::string_view, 2> kKeysNames = {"uniform", "zipfian"};
inline constexpr std::array<std::string_view, 4> kStoreNames = {"loco", "rpc", "tree", "tcp"};
inline constexpr std::array kKvstoreParams = {
    Option{.key = "iterations",
           .type = Type::integer,
           .fallback = 1000,
           .least = 1,
           .most = 100'000'000,
           .doc = "operations of each thread"},
    kThreadsPerNode,
    Option{.key = "window",
           .type = Type::integer,
           .fallback = 3,
           .least = 1,
           .most = 4096,
           .doc = "operations that a thread has under way at once"},
    Option{.key = "mix",
           .type = Type::choice,
           .fallback = 1,
           .choices = kMixNames,
           .doc =
               "lookups only, half lookups and half updates, or updates only; insert: inserts of new keys only, "
               "mixed_insert: half of the operations lookups, churn: inserts and erases of a few keys of each thread"},
    Option{.key = "keys",
           .type = Type::choice,
           .fallback = 0,
           .choices = kKeysNames,
           .doc = "how keys are drawn: each as likely, or as YCSB's Zipfian generator does, with theta 0.99"},
    Option{.key = "key_space",
           .type = Type::size,
           .fallback = 64 << 10,
           .least = 16,
           .most = std::int64_t{1} << 34,
           .doc = "bytes of all keys and values, 16 for each; 80 % are there from the start and drawn from"},
    Option{.key = "locks",
           .type = Type::integer,
           .fallback = 1024,
           .least = 1,
           .most = 1'000'000,
           .doc = "locks, striped over the nodes; a key's is found by its hash"},
    kHandOvers,
    Option{.key = "device_locks",
           .type = Type::boolean,
           .fallback = 0,
           .doc = "the words of the locks are in the memory of the NICs"},
    Option{.key = "fence",
           .type = Type::boolean,
           .fallback = 1,
           .doc = "an update is in memory before its lock is released; off: not linearisable"},
    Option{.key = "store",
           .type = Type::choice,
           .fallback = 0,
           .choices = kStoreNames,
           .doc = "LOCO's store; rpc: server threads that clients send requests to, as many as clients; tree: "
                  "Sherman's B+ tree on one-sided operations, with locks and fence of its own; tcp: Redis' way, one "
                  "server for four clients over the kernel's TCP"},
    Option{.key = "index_cache",
           .type = Type::boolean,
           .fallback = 1,
           .doc = "each node knows where the leaves of a tree are; off: every operation goes down from the root"},
    kInline};
inline constexpr std::array kDcdcParams = {Option{.key = "period_us",
                                                  .type = Type::integer,
                                                  .fallback = 40,
                                                  .least = 1,
                                                  .most = 10'000,
                                                  .doc = "microseconds between two turns of the controller"},
                                           Option{.key = "converter_period_us",
                                                  .type = Type::integer,
                                                  .fallback = 10,
                                                  .least = 1,
                                                  .most = 10'000,
                                                  .doc = "microseconds between two turns of a converter"},
                                           Option{.key = "duration_us",
                                                  .type = Type::integer,
                                                  .fallback = 20'000,
                                                  .least = 100,
                                                  .most = 10'000'000,
                                                  .doc = "microseconds of the whole; the last fifth is looked at"}};
inline constexpr std::array kMessageParams = {kIterations, kPayload};
inline constexpr std::array kMixParams = {kIterations};

/// Named after what they do; patterns.cpp says what each shows.
inline constexpr std::array<std::string_view, 9> kPatternNames = {
    "store_put",     "put_get",        "get_read",           "put_put",  "put_put_twice",
    "get_fence_put", "put_wait_store", "barrier_third_node", "fetch_add"};
inline constexpr std::array kPatternParams = {
    Option{.key = "iterations", .type = Type::integer, .fallback = 10, .least = 1, .most = 1'000'000, .doc = "rounds"},
    Option{.key = "pattern",
           .type = Type::choice,
           .fallback = 0,
           .choices = kPatternNames,
           .doc = "what the nodes do in a round"}};

inline constexpr std::array<std::string_view, 4> kTrafficNames = {"incast", "permutation", "all_to_all", "victim"};
inline constexpr std::array<std::string_view, 16> kMemoryNames = {"host",  "gpu0",  "gpu1",  "gpu2",  "gpu3",  "gpu4",
                                                                  "gpu5",  "gpu6",  "gpu7",  "numa1", "numa2", "numa3",
                                                                  "numa4", "numa5", "numa6", "numa7"};
/// Where memory of such a name is.
[[nodiscard]] constexpr nic::RegionKind memory_of_name(std::int64_t name) {
  constexpr std::int64_t kLastGpu = 8;
  const bool gpu = name <= kLastGpu;
  return {.gpu = static_cast<std::uint8_t>(gpu ? name : 0),
          .numa = static_cast<std::uint8_t>(gpu ? 0 : name - kLastGpu)};
}
inline constexpr std::array kTrafficParams = {
    Option{.key = "pattern",
           .type = Type::choice,
           .fallback = 0,
           .choices = kTrafficNames,
           .doc = "who writes to whom: all to node 0, each to another one drawn from the seed, all to all, or all from "
                  "node 2 on to node 0 except the last, the victim, which writes to node 1 (3 nodes or more)"},
    Option{.key = "size",
           .type = Type::size,
           .fallback = 1 << 20,
           .least = 1,
           .most = 1 << 30,
           .doc = "bytes of a message"},
    Option{.key = "count",
           .type = Type::integer,
           .fallback = 1,
           .least = 1,
           .most = 1'000'000,
           .doc = "messages from each sender to each of its receivers"},
    Option{.key = "outstanding",
           .type = Type::integer,
           .fallback = 1,
           .least = 1,
           .most = 1024,
           .doc = "messages that a sender has under way at once"},
    Option{.key = "memory",
           .type = Type::choice,
           .fallback = 0,
           .choices = kMemoryNames,
           .doc = "whose memory messages are sent from and written to: the host's, behind its first socket or another "
                  "one (hosts: "
                  "pcie), or one of its GPUs' (hosts: devices)"}};

inline constexpr std::int64_t kFlowBytesMost = std::int64_t{1} << 30;
inline constexpr std::array<std::string_view, 6> kFlowPatternNames = {"incast",     "permutation", "shift",
                                                                      "all_to_all", "random",      "victim"};
inline constexpr std::array<std::string_view, 3> kArrivalNames = {"at_once", "every", "poisson"};
inline constexpr std::array<std::string_view, 4> kStartUnitNames = {"ps", "ns", "us", "ms"};
inline constexpr std::array<std::string_view, 2> kQueuePairsNames = {"pair", "flow"};
inline constexpr std::array<std::string_view, 3> kFlowOperationNames = {"write", "read", "send"};
inline constexpr std::array<std::string_view, 2> kFlowEndNames = {"received", "completed"};
inline constexpr std::array<std::string_view, 2> kIdealNames = {"alone", "base_rtt"};
inline constexpr std::array kFlowsParams = {
    Option{.key = "flows",
           .least = 1,
           .most = 4096,
           .doc = "a list of flows: FILE.csv, or htsim's FILE.cm; in place of the keys from pattern to until",
           .file = true},
    Option{.key = "start_unit",
           .type = Type::choice,
           .fallback = 0,
           .choices = kStartUnitNames,
           .doc = "what start counts in a .cm file"},
    Option{.key = "pattern",
           .type = Type::choice,
           .fallback = 1,
           .choices = kFlowPatternNames,
           .doc = "who sends to whom: senders to one receiver, each to another one drawn from the seed, each to the "
                  "node so many further on, all to all in turn, each flow to another one, or as in traffic"},
    Option{.key = "senders",
           .type = Type::integer,
           .fallback = 0,
           .most = 16383,
           .doc = "of incast: so many, the nodes behind the receiver; 0: all others"},
    Option{.key = "receiver", .type = Type::integer, .fallback = 0, .most = 16383, .doc = "of incast"},
    Option{.key = "shift", .type = Type::integer, .fallback = 1, .least = 1, .most = 16383, .doc = "of shift"},
    Option{.key = "size",
           .type = Type::size,
           .fallback = 1 << 20,
           .least = 1,
           .most = kFlowBytesMost,
           .doc = "bytes of each flow"},
    Option{.key = "sizes",
           .least = 1,
           .most = 4096,
           .doc = "in place of size: a file of points bytes,percent; so many percent of the flows have at most so many "
                  "bytes, uniform between two points",
           .file = true},
    Option{.key = "arrivals",
           .type = Type::choice,
           .fallback = 0,
           .choices = kArrivalNames,
           .doc = "all flows of the pattern at once, so every so often, or each host's by a Poisson process"},
    Option{.key = "every", .type = Type::duration, .fallback = 0, .doc = "between two rounds of arrivals: every"},
    Option{.key = "load",
           .type = Type::integer,
           .fallback = 0,
           .most = 10'000,
           .doc = "of poisson: payload that a sender has to send, in thousandths of its port's rate"},
    Option{
        .key = "count", .type = Type::integer, .fallback = 0, .most = 10'000'000, .doc = "flows in all; 0: no bound"},
    Option{.key = "until", .type = Type::duration, .fallback = 0, .doc = "no flow arrives later; 0s: no bound"},
    Option{.key = "queue_pairs",
           .type = Type::choice,
           .fallback = 0,
           .choices = kQueuePairsNames,
           .doc = "one for each source and destination, with flows in their order, or one for each flow under way"},
    Option{.key = "operation",
           .type = Type::choice,
           .fallback = 0,
           .choices = kFlowOperationNames,
           .doc = "a WRITE by the source, a READ by the destination, or a SEND, for which the destination has receives "
                  "posted"},
    Option{.key = "flows_end",
           .type = Type::choice,
           .fallback = 0,
           .choices = kFlowEndNames,
           .doc = "what a slowdown counts to: the last byte is in the receiver's memory, or the sender has seen the "
                  "completion"},
    Option{.key = "ideal",
           .type = Type::choice,
           .fallback = 0,
           .choices = kIdealNames,
           .doc = "what a slowdown is over: the flow alone in the same network, or a round trip and the wire's time at "
                  "the sender's port, as papers have it"},
    Option{
        .key = "measure.from", .type = Type::duration, .fallback = 0, .doc = "flows that begin earlier are left out"}};

inline constexpr std::array<std::string_view, 2> kLookupReadNames = {"pipelined", "waited"};
inline constexpr std::array kLookupParams = {
    Option{.key = "iterations",
           .type = Type::integer,
           .fallback = 1000,
           .least = 1,
           .most = 100'000'000,
           .doc = "lookups of each client"},
    Option{.key = "size",
           .type = Type::size,
           .fallback = 1024,
           .least = 8,
           .most = 1 << 20,
           .doc = "bytes of a value, a multiple of 8",
           .multiple_of = 8},
    Option{.key = "objects",
           .type = Type::integer,
           .fallback = 16,
           .least = 1,
           .most = 1'000'000,
           .doc = "objects that node 0 owns"},
    Option{.key = "outstanding",
           .type = Type::integer,
           .fallback = 4,
           .least = 1,
           .most = 1024,
           .doc = "lookups that a client has under way at once"},
    Option{.key = "reads",
           .type = Type::choice,
           .fallback = 0,
           .choices = kLookupReadNames,
           .doc = "how a lookup keeps its three READs in order: not at all, or by waiting for each answer"},
    Option{.key = "update_pause_ns",
           .type = Type::integer,
           .fallback = 500,
           .most = 1'000'000'000,
           .doc = "nanoseconds between two updates of the owner, which under other schedules than timed waits now and "
                  "then for a lookup to succeed"}};

inline constexpr std::array kAllReduceParams = {
    Option{.key = "size",
           .type = Type::size,
           .fallback = 1 << 20,
           .least = 16,
           .most = 1 << 30,
           .doc = "bytes of each node's vector, a multiple of 8 and at least 8 for each node; a chunk is a node's part "
                  "of it, in whole words",
           .multiple_of = 8},
    Option{.key = "iterations",
           .type = Type::integer,
           .fallback = 10,
           .least = 1,
           .most = 100'000'000,
           .doc = "all-reduces, one after the other"},
    Option{.key = "reduce_rate",
           .type = Type::rate,
           .fallback = 0,
           .most = 10'000'000'000'000,
           .doc = "how fast a node adds what has come to its own, in bits of a chunk per second, 1Mbps or more; 0bps: "
                  "adding takes no time but that of a chunk's first word, which is summed and checked"},
    algorithm_option(kAllReduceAlgorithmNames,
                     "ring; halving_doubling: recursive halving, then doubling; recursive_doubling: whole vectors, a "
                     "power of two of nodes; double_tree: two trees of chunks; hierarchical: within groups, then "
                     "between them"),
    Option{.key = "group",
           .type = Type::integer,
           .fallback = 0,
           .most = 1024,
           .doc = "of hierarchical: so many nodes in a row are a group"},
    kChannels,
    kChunk,
    kWarmup};
inline constexpr std::array kAllGatherParams = {
    kCollectiveSize,
    kCollectiveIterations,
    algorithm_option(kAllGatherAlgorithmNames, "ring, or for a power of two of nodes recursive_doubling"),
    kChannels,
    kChunk,
    kWarmup,
    kNoReduceRate};
inline constexpr std::array kReduceScatterParams = {
    kCollectiveSize,
    kCollectiveIterations,
    algorithm_option(kReduceScatterAlgorithmNames, "ring, or for a power of two of nodes recursive_halving"),
    kChannels,
    kChunk,
    kWarmup,
    kCollectiveReduceRate};
inline constexpr std::array kAllToAllParams = {
    kCollectiveSize,
    kCollectiveIterations,
    algorithm_option(kAllToAllAlgorithmNames,
                     "pairwise: to the next node, to the one behind it, ...; staged: each when the part of the stage "
                     "before has come; bruck: in log2 n steps of half the size; direct: all at once"),
    kChannels,
    kChunk,
    kWarmup,
    kNoReduceRate};
inline constexpr std::array kReduceParams = {
    kCollectiveSize,
    kCollectiveIterations,
    algorithm_option(kReduceAlgorithmNames, "up a binomial tree, or along a chain in chunks, to node 0"),
    kChannels,
    kChunk,
    kWarmup,
    kCollectiveReduceRate};

/// True if the all-reduce plays a schedule instead of running the program of all_reduce_workload.cpp.
[[nodiscard]] bool plays_schedule(const Params& params);
void start_all_gather(const Setup& setup);
void start_all_reduce(const Setup& setup);
void start_all_reduce_schedule(const Setup& setup);
void start_all_to_all(const Setup& setup);
void start_broadcast_schedule(const Setup& setup);
void start_reduce(const Setup& setup);
void start_reduce_scatter(const Setup& setup);
void start_barrier(const Setup& setup);
void start_broadcast(const Setup& setup);
void start_dcdc(const Setup& setup);
void start_flows(const Setup& setup);
void start_kvstore(const Setup& setup);
void start_lock(const Setup& setup);
void start_message_passing(const Setup& setup);
void start_mix(const Setup& setup);
void start_mixed_size(const Setup& setup);
void start_pattern(const Setup& setup);
void start_traffic(const Setup& setup);
void start_transactions(const Setup& setup);
void start_lookup(const Setup& setup);

/// An object's options with the faults that are switched on.
[[nodiscard]] barrier_options options_under(const LibraryFaults& faults, barrier_options options = {});
[[nodiscard]] ring_options options_under(const LibraryFaults& faults, ring_options options);
/// Refuses a ring that is too small for a message.
[[nodiscard]] std::optional<Misfit> broadcast_misfit(const Params& params, std::uint32_t nodes);
/// Refuses a victim that would write to itself.
[[nodiscard]] std::optional<Misfit> traffic_misfit(const Params& params, std::uint32_t nodes);
/// Refuses hosts that do not exist. Throws text::InputError for a file that is not a list or distribution.
[[nodiscard]] std::optional<Misfit> flows_misfit(const Params& params, std::uint32_t nodes);
[[nodiscard]] std::string_view flows_not_in_parts(const Params& params);
[[nodiscard]] std::optional<Results> merge_flows(const std::vector<Results>& parts,
                                                 const std::vector<std::uint8_t>& part_of, const Params& params);
/// Sorted traffic classes that flows of a list have of their own.
[[nodiscard]] std::vector<std::uint8_t> classes_of_flows(const Params& params, std::uint32_t nodes);
/// All messages of a sender may go to one node.
[[nodiscard]] std::uint32_t traffic_send_queue(const Params& params);
/// Refuses a vector of less than a word per node.
[[nodiscard]] std::optional<Misfit> all_reduce_misfit(const Params& params, std::uint32_t nodes);
/// Refuses vectors that cannot be divided evenly into parts, and numbers of nodes that are no power of two where the
/// algorithm needs one.
[[nodiscard]] std::optional<Misfit> all_reduce_schedule_misfit(const Params& params, std::uint32_t nodes);
[[nodiscard]] std::optional<Misfit> all_gather_misfit(const Params& params, std::uint32_t nodes);
[[nodiscard]] std::optional<Misfit> reduce_scatter_misfit(const Params& params, std::uint32_t nodes);
[[nodiscard]] std::optional<Misfit> all_to_all_misfit(const Params& params, std::uint32_t nodes);
[[nodiscard]] std::optional<Misfit> broadcast_schedule_misfit(const Params& params, std::uint32_t nodes);
[[nodiscard]] std::optional<Misfit> reduce_misfit(const Params& params, std::uint32_t nodes);
[[nodiscard]] std::uint32_t collective_send_queue(const Params& params);
/// True for a broadcast with puts along a tree, without LOCO's objects.
[[nodiscard]] bool is_collective_broadcast(const Params& params);
[[nodiscard]] std::uint32_t broadcast_send_queue(const Params& params);
/// All puts of a node go to the next one.
[[nodiscard]] std::uint32_t all_reduce_send_queue(const Params& params);
/// Node 0 owns all objects.
[[nodiscard]] std::uint32_t lookup_send_queue(const Params& params);
/// True for LOCO's store and the tree, which have locks; stores over messages have none.
[[nodiscard]] bool kvstore_locks(const Params& params);
/// lock_misfit(): refuses options that locks of MPI windows do not have. kvstore_misfit(): refuses more inserts than
/// free slots.
[[nodiscard]] std::optional<Misfit> lock_misfit(const Params& params, std::uint32_t nodes);
[[nodiscard]] std::optional<Misfit> kvstore_misfit(const Params& params, std::uint32_t nodes);
/// From library_send_ns and library_ns.
[[nodiscard]] baselines::message_rank::Costs library_costs(const Params& params);

}  // namespace loco::workloads
