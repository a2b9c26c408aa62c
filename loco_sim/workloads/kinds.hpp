// The kinds of workload: parameters and programs of each. workload.cpp has the table.
#pragma once

#include <array>

#include "loco_sim/baselines/message_rank.hpp"
#include "loco_sim/loco/objects/barrier.hpp"
#include "loco_sim/loco/objects/ring_buffer.hpp"
#include "loco_sim/workloads/collectives/schedule.hpp"
#include "loco_sim/workloads/workload.hpp"
#include "nic_model/verbs.hpp"
#include "options/rows.hpp"

namespace loco::workloads {

using options::Option;
namespace rows = options::rows;

inline constexpr Option kIterations = rows::integer("iterations", 1000, {1, 100'000'000}, "measured rounds");
inline constexpr Option kThreadsPerNode =
    rows::integer("threads_per_node", 1, {1, 256}, "threads of each node that take part");
inline constexpr Option kPayload =
    rows::whole_words(rows::size("size", 8, {8, 1 << 20}, "bytes of the shared value, a multiple of 8"));

/// For workloads over messages, as in MPI libraries; message_rank.hpp describes the model.
inline constexpr Option kInline = rows::flag("inline", true,
                                             "messages ride in the work request where they fit, as MPI libraries do "
                                             "it; off: the NIC reads them from memory, as LOCO's puts");
inline constexpr Option kReceivedNs = rows::integer("library_ns", 225, {0, 1'000'000},
                                                    "nanoseconds that a message-passing library takes for a received "
                                                    "message, besides what the simulated hardware takes");

inline constexpr Option kSentNs =
    rows::integer("library_send_ns", 27, {0, 1'000'000}, "the same for a message that is sent");
/// Open MPI, as modelled by message_rank.hpp and message_collectives.hpp.
inline constexpr std::array<std::string_view, 2> kWaitNames = {"waitany", "testsome"};

inline constexpr std::array<std::string_view, 3> kFenceNames = {"all_nodes", "participants", "none"};

inline constexpr std::array<std::string_view, 6> kBarrierAlgorithmNames = {
    "loco", "dissemination", "recursive_doubling", "linear", "tree", "open_mpi"};
inline constexpr std::array kBarrierParams = {
    kIterations,
    kThreadsPerNode,
    rows::choice("fence", 0, kFenceNames,
                 "which nodes the barrier fences: all (transitive), the participants' or none (not a correct barrier)"),
    rows::choice("algorithm", 0, kBarrierAlgorithmNames,
                 "LOCO's barrier, or one over messages as MPI libraries have them, which never fences; open_mpi: the "
                 "one that Open MPI 5 takes for so many ranks"),
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
  return rows::choice("algorithm", 0, names, doc);
}
inline constexpr Option kCollectiveSize = rows::whole_words(rows::size(
    "size", 1 << 20, {8, 1 << 30},
    "bytes of a node's vector, as nccl-tests count them: of all_gather, reduce_scatter and all_to_all all parts"));
inline constexpr Option kCollectiveIterations =
    rows::integer("iterations", 10, {1, 1'000'000}, "measured, one after the other; all nodes begin together");
inline constexpr Option kChannels =
    rows::integer("channels", 1, {1, 64},
                  "the vector is divided among so many rings or trees at once, each with queue pairs of its own");
inline constexpr Option kChunk =
    rows::size("chunk", 0, {0, 1 << 30}, "what chain and double_tree cut a channel's vector into; 0B: 64 chunks");
inline constexpr Option kWarmup = rows::integer("warmup", 0, {0, 1'000'000}, "iterations before the measured ones");
inline constexpr Option kCollectiveReduceRate =
    rows::rate("reduce_rate", 0, {0, 10'000'000'000'000},
               "how fast a node adds what has come to its own, in bits per second, 1Mbps or more; 0bps: in no time but "
               "that of a part's first word, which is summed and checked");
/// Nothing is added.
inline constexpr Option kNoReduceRate = rows::rate("reduce_rate", 0, {0, 0}, "0bps: nothing is added");

inline constexpr std::array<std::string_view, 3> kCarrierNames = {"variables", "ring_buffer", "tree"};
inline constexpr Option kBroadcastPayload = rows::whole_words(
    rows::size("size", 8, {8, 1 << 30}, "bytes of the shared value, a multiple of 8; 1 MiB at most with LOCO's"));
inline constexpr std::array kBroadcastParams = {
    kIterations,
    kBroadcastPayload,
    rows::choice("over", 0, kCarrierNames,
                 "what carries the value: as many variables as may be outstanding, in turn, a ring buffer, or messages "
                 "down a binomial tree as in MPI libraries"),
    rows::integer("outstanding", 1, {1, 4096}, "broadcasts that not every node has confirmed yet, at most"),
    rows::whole_words(rows::size("ring", 64 << 10, {16, 1 << 30}, "bytes of the ring buffer, a multiple of 8")),
    rows::integer("heads", 1, {1, 4096},
                  "messages that the ring buffer has on their way at once; 1: as the paper has it"),
    rows::choice("wait", 0, kWaitNames,
                 "over a tree: how node 0 learns that others have a broadcast, one at a time (MPI_Waitany) or all that "
                 "have come (MPI_Testsome)"),
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
inline constexpr std::array kMixedSizeParams = {
    kIterations, rows::whole_words(rows::size("size", 64, {16, 1 << 20}, "bytes of the value, a multiple of 8")),
    rows::choice("with", 0, kMixedSizeNames, "how readers tell a whole value from a torn one")};

inline constexpr Option kHandOvers = rows::integer(
    "hand_overs", 16, {0, 1'000'000}, "times in a row that a lock may go to another thread of the same node");
inline constexpr Option kReleaseFence =
    rows::flag("fence", true, "what was written under a lock is in memory before it is released; off: broken");
inline constexpr std::array<std::string_view, 2> kLockAlgorithmNames = {"loco", "mpi_window"};
inline constexpr Option kLockAlgorithm =
    rows::choice("algorithm", 0, kLockAlgorithmNames,
                 "LOCO's locks, or those of MPI windows over remote atomics, which are where the data is; these know "
                 "no hand-overs and no fence");
inline constexpr std::array<std::string_view, 3> kLockClassNames = {"strong", "weak", "node"};
inline constexpr std::array<std::string_view, 2> kCounterNames = {"other", "home"};
inline constexpr std::array kLockParams = {
    kIterations,
    kThreadsPerNode,
    kHandOvers,
    kReleaseFence,
    kLockAlgorithm,
    rows::choice("counter", 0, kCounterNames, "where it is: on the last node, or on the lock's home, node 0"),
    rows::choice("lock_class", 0, kLockClassNames,
                 "what a LOCO lock promises of what was put under it: that all is there for the next holder, nothing, "
                 "or what was put to the lock's home; what it does not promise the threads fence, unless fence is off"),
    rows::flag("device_memory", false, "the words of a LOCO lock are in the memory of the NIC")};
inline constexpr std::array kTransactionParams = {
    kIterations,
    kThreadsPerNode,
    kHandOvers,
    kReleaseFence,
    rows::integer("accounts", 10'000, {2, 100'000'000},
                  "account balances, striped over the nodes; those of a transfer are read at the end"),
    rows::integer("locks", 341, {1, 1'000'000},
                  "locks, striped over the nodes; account a is under lock a modulo locks"),
    kLockAlgorithm,
    rows::flag("registrations", false,
               "the accounts under each lock of an MPI window are a memory registration of their own, as MPI's windows "
               "are; off: all of a node are one, as LOCO's regions")};
inline constexpr std::array<std::string_view, 6> kMixNames = {"read",   "mixed",        "write",
                                                              "insert", "mixed_insert", "churn"};
inline constexpr std::array<std::string_view, 2> kKeysNames = {"uniform", "zipfian"};
inline constexpr std::array<std::string_view, 4> kStoreNames = {"loco", "rpc", "tree", "tcp"};
inline constexpr std::array kKvstoreParams = {
    rows::integer("iterations", 1000, {1, 100'000'000}, "operations of each thread"),
    kThreadsPerNode,
    rows::integer("window", 3, {1, 4096}, "operations that a thread has under way at once"),
    rows::choice(
        "mix", 1, kMixNames,
        "lookups only, half lookups and half updates, or updates only; insert: inserts of new keys only, mixed_insert: "
        "half of the operations lookups, churn: inserts and erases of a few keys of each thread"),
    rows::choice("keys", 0, kKeysNames,
                 "how keys are drawn: each as likely, or as YCSB's Zipfian generator does, with theta 0.99"),
    rows::size("key_space", 64 << 10, {16, std::int64_t{1} << 34},
               "bytes of all keys and values, 16 for each; 80 % are there from the start and drawn from"),
    rows::integer("locks", 1024, {1, 1'000'000}, "locks, striped over the nodes; a key's is found by its hash"),
    kHandOvers,
    rows::flag("device_locks", false, "the words of the locks are in the memory of the NICs"),
    rows::flag("fence", true, "an update is in memory before its lock is released; off: not linearisable"),
    rows::choice("store", 0, kStoreNames,
                 "LOCO's store; rpc: server threads that clients send requests to, as many as clients; tree: Sherman's "
                 "B+ tree on one-sided operations, with locks and fence of its own; tcp: Redis' way, one server for "
                 "four clients over the kernel's TCP"),
    rows::flag("index_cache", true,
               "each node knows where the leaves of a tree are; off: every operation goes down from the root"),
    kInline};
inline constexpr std::array kDcdcParams = {
    rows::integer("period_us", 40, {1, 10'000}, "microseconds between two turns of the controller"),
    rows::integer("converter_period_us", 10, {1, 10'000}, "microseconds between two turns of a converter"),
    rows::integer("duration_us", 20'000, {100, 10'000'000}, "microseconds of the whole; the last fifth is looked at")};
inline constexpr std::array kMessageParams = {kIterations, kPayload};
inline constexpr std::array kMixParams = {kIterations};

/// Named after what they do; patterns.cpp says what each shows.
inline constexpr std::array<std::string_view, 9> kPatternNames = {
    "store_put",     "put_get",        "get_read",           "put_put",  "put_put_twice",
    "get_fence_put", "put_wait_store", "barrier_third_node", "fetch_add"};
inline constexpr std::array kPatternParams = {
    rows::integer("iterations", 10, {1, 1'000'000}, "rounds"),
    rows::choice("pattern", 0, kPatternNames, "what the nodes do in a round")};

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
    rows::choice("pattern", 0, kTrafficNames,
                 "who writes to whom: all to node 0, each to another one drawn from the seed, all to all, or all from "
                 "node 2 on to node 0 except the last, the victim, which writes to node 1 (3 nodes or more)"),
    rows::size("size", 1 << 20, {1, 1 << 30}, "bytes of a message"),
    rows::integer("count", 1, {1, 1'000'000}, "messages from each sender to each of its receivers"),
    rows::integer("outstanding", 1, {1, 1024}, "messages that a sender has under way at once"),
    rows::choice("memory", 0, kMemoryNames,
                 "whose memory messages are sent from and written to: the host's, behind its first socket or another "
                 "one (hosts: pcie), or one of its GPUs' (hosts: devices)")};

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
    rows::file("flows", {1, 4096},
               "a list of flows: FILE.csv, or htsim's FILE.cm; in place of the keys from pattern to until"),
    rows::choice("start_unit", 0, kStartUnitNames, "what start counts in a .cm file"),
    rows::choice("pattern", 1, kFlowPatternNames,
                 "who sends to whom: senders to one receiver, each to another one drawn from the seed, each to the "
                 "node so many further on, all to all in turn, each flow to another one, or as in traffic"),
    rows::integer("senders", 0, {0, 16383}, "of incast: so many, the nodes behind the receiver; 0: all others"),
    rows::integer("receiver", 0, {0, 16383}, "of incast"),
    rows::integer("shift", 1, {1, 16383}, "of shift"),
    rows::size("size", 1 << 20, {1, kFlowBytesMost}, "bytes of each flow"),
    rows::file("sizes", {1, 4096},
               "in place of size: a file of points bytes,percent; so many percent of the flows have at most so many "
               "bytes, uniform between two points"),
    rows::choice("arrivals", 0, kArrivalNames,
                 "all flows of the pattern at once, so every so often, or each host's by a Poisson process"),
    rows::duration("every", 0, rows::kAny, "between two rounds of arrivals: every"),
    rows::integer("load", 0, {0, 10'000},
                  "of poisson: payload that a sender has to send, in thousandths of its port's rate"),
    rows::integer("count", 0, {0, 10'000'000}, "flows in all; 0: no bound"),
    rows::duration("until", 0, rows::kAny, "no flow arrives later; 0s: no bound"),
    rows::choice("queue_pairs", 0, kQueuePairsNames,
                 "one for each source and destination, with flows in their order, or one for each flow under way"),
    rows::choice(
        "operation", 0, kFlowOperationNames,
        "a WRITE by the source, a READ by the destination, or a SEND, for which the destination has receives posted"),
    rows::choice(
        "flows_end", 0, kFlowEndNames,
        "what a slowdown counts to: the last byte is in the receiver's memory, or the sender has seen the completion"),
    rows::choice("ideal", 0, kIdealNames,
                 "what a slowdown is over: the flow alone in the same network, or a round trip and the wire's time at "
                 "the sender's port, as papers have it"),
    rows::duration("measure.from", 0, rows::kAny, "flows that begin earlier are left out")};

inline constexpr std::array<std::string_view, 2> kLookupReadNames = {"pipelined", "waited"};
inline constexpr std::array kLookupParams = {
    rows::integer("iterations", 1000, {1, 100'000'000}, "lookups of each client"),
    rows::whole_words(rows::size("size", 1024, {8, 1 << 20}, "bytes of a value, a multiple of 8")),
    rows::integer("objects", 16, {1, 1'000'000}, "objects that node 0 owns"),
    rows::integer("outstanding", 4, {1, 1024}, "lookups that a client has under way at once"),
    rows::choice("reads", 0, kLookupReadNames,
                 "how a lookup keeps its three READs in order: not at all, or by waiting for each answer"),
    rows::integer("update_pause_ns", 500, {0, 1'000'000'000},
                  "nanoseconds between two updates of the owner, which under other schedules than timed waits now and "
                  "then for a lookup to succeed")};

inline constexpr std::array kAllReduceParams = {
    rows::whole_words(rows::size("size", 1 << 20, {16, 1 << 30},
                                 "bytes of each node's vector, a multiple of 8 and at least 8 for each node; a chunk "
                                 "is a node's part of it, in whole words")),
    rows::integer("iterations", 10, {1, 100'000'000}, "all-reduces, one after the other"),
    rows::rate("reduce_rate", 0, {0, 10'000'000'000'000},
               "how fast a node adds what has come to its own, in bits of a chunk per second, 1Mbps or more; 0bps: "
               "adding takes no time but that of a chunk's first word, which is summed and checked"),
    algorithm_option(kAllReduceAlgorithmNames,
                     "ring; halving_doubling: recursive halving, then doubling; recursive_doubling: whole vectors, a "
                     "power of two of nodes; double_tree: two trees of chunks; hierarchical: within groups, then "
                     "between them"),
    rows::integer("group", 0, {0, 1024}, "of hierarchical: so many nodes in a row are a group"),
    kChannels,
    kChunk,
    kWarmup};
constexpr std::array<Option, 7> collective_params(const Option& algorithm, const Option& reduce_rate) {
  return {kCollectiveSize, kCollectiveIterations, algorithm, kChannels, kChunk, kWarmup, reduce_rate};
}
inline constexpr std::array kAllGatherParams = collective_params(
    algorithm_option(kAllGatherAlgorithmNames, "ring, or for a power of two of nodes recursive_doubling"),
    kNoReduceRate);
inline constexpr std::array kReduceScatterParams = collective_params(
    algorithm_option(kReduceScatterAlgorithmNames, "ring, or for a power of two of nodes recursive_halving"),
    kCollectiveReduceRate);
inline constexpr std::array kAllToAllParams = collective_params(
    algorithm_option(kAllToAllAlgorithmNames,
                     "pairwise: to the next node, to the one behind it, ...; staged: each when the part of the stage "
                     "before has come; bruck: in log2 n steps of half the size; direct: all at once"),
    kNoReduceRate);
inline constexpr std::array kReduceParams = collective_params(
    algorithm_option(kReduceAlgorithmNames, "up a binomial tree, or along a chain in chunks, to node 0"),
    kCollectiveReduceRate);

/// True if the all-reduce plays a schedule instead of running the program of all_reduce_workload.cpp.
[[nodiscard]] bool plays_schedule(const Params& params);
/// Of every collective (collective_workloads.cpp).
template <collectives::Collective What>
void start_schedule(const Setup& setup);
/// Refuses vectors that cannot be divided evenly into parts, and numbers of nodes that are no power of two where the
/// algorithm needs one.
template <collectives::Collective What>
[[nodiscard]] std::optional<Misfit> schedule_misfit(const Params& params, std::uint32_t nodes);
void start_all_reduce(const Setup& setup);
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
