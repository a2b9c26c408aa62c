// The kinds of workload: parameters and programs of each. workload.cpp has the table.
#pragma once

#include <array>

#include "loco_sim/baselines/message_rank.hpp"
#include "loco_sim/loco/barrier.hpp"
#include "loco_sim/loco/ring_buffer.hpp"
#include "loco_sim/workloads/workload.hpp"

namespace loco::workloads {

inline constexpr ParamSpec kIterations{"iterations", ParamKind::count, 1000, 1, 100'000'000, "measured rounds"};
inline constexpr ParamSpec kThreadsPerNode{
    "threads_per_node", ParamKind::count, 1, 1, 256, "threads of each node that take part"};
inline constexpr ParamSpec kPayload{
    "size", ParamKind::size, 8, 8, 1 << 20, "bytes of the shared value, a multiple of 8", {}, 8};

/// Of what goes over messages, as in MPI libraries: message_rank.hpp says what it models.
inline constexpr ParamSpec kInline{"inline",
                                   ParamKind::boolean,
                                   1,
                                   0,
                                   1,
                                   "messages ride in the work request where they fit, as MPI libraries do it; off: the "
                                   "NIC reads them from memory, as LOCO's puts"};
inline constexpr ParamSpec kReceivedNs{"library_ns",
                                       ParamKind::count,
                                       225,
                                       0,
                                       1'000'000,
                                       "nanoseconds that a message-passing library takes for a received message, "
                                       "besides what the simulated hardware takes"};

inline constexpr ParamSpec kSentNs{
    "library_send_ns", ParamKind::count, 27, 0, 1'000'000, "the same for a message that is sent"};
/// Open MPI, as message_rank.hpp and message_collectives.hpp have it.
inline constexpr std::array<std::string_view, 2> kWaitNames = {"waitany", "testsome"};

inline constexpr std::array<std::string_view, 3> kFenceNames = {"all_nodes", "participants", "none"};

inline constexpr std::array<std::string_view, 6> kBarrierAlgorithmNames = {
    "loco", "dissemination", "recursive_doubling", "linear", "tree", "open_mpi"};
inline constexpr std::array kBarrierParams = {
    kIterations,
    kThreadsPerNode,
    ParamSpec{"fence", ParamKind::choice, 0, 0, 2,
              "which nodes the barrier fences: all (transitive), the participants' or none (not a correct barrier)",
              kFenceNames},
    ParamSpec{"algorithm", ParamKind::choice, 0, 0, 5,
              "LOCO's barrier, or one over messages as MPI libraries have them, which never fences; open_mpi: the one "
              "that Open MPI 5 takes for so many ranks",
              kBarrierAlgorithmNames},
    kInline,
    kReceivedNs,
    kSentNs};
inline constexpr std::array<std::string_view, 3> kCarrierNames = {"variables", "ring_buffer", "tree"};
inline constexpr std::array kBroadcastParams = {
    kIterations,
    kPayload,
    ParamSpec{
        "over", ParamKind::choice, 0, 0, 2,
        "what carries the value: as many variables as may be outstanding, in turn, a ring buffer, or messages down a "
        "binomial tree as in MPI libraries",
        kCarrierNames},
    ParamSpec{"outstanding", ParamKind::count, 1, 1, 4096, "broadcasts that not every node has confirmed yet, at most"},
    ParamSpec{"ring", ParamKind::size, 64 << 10, 16, 1 << 30, "bytes of the ring buffer, a multiple of 8", {}, 8},
    ParamSpec{"heads", ParamKind::count, 1, 1, 4096,
              "messages that the ring buffer has on their way at once; 1: as the paper has it"},
    ParamSpec{"wait", ParamKind::choice, 0, 0, 1,
              "over a tree: how node 0 learns that others have a broadcast, one at a time (MPI_Waitany) or all that "
              "have come (MPI_Testsome)",
              kWaitNames},
    kInline,
    kReceivedNs,
    kSentNs};

inline constexpr std::array<std::string_view, 2> kMixedSizeNames = {"checksum", "guards"};
inline constexpr std::array kMixedSizeParams = {
    kIterations, ParamSpec{"size", ParamKind::size, 64, 16, 1 << 20, "bytes of the value, a multiple of 8", {}, 8},
    ParamSpec{"with", ParamKind::choice, 0, 0, 1, "how readers tell a whole value from a torn one", kMixedSizeNames}};

inline constexpr ParamSpec kHandOvers{
    "hand_overs", ParamKind::count,
    16,           0,
    1'000'000,    "times in a row that a lock may go to another thread of the same node"};
inline constexpr ParamSpec kReleaseFence{
    "fence", ParamKind::boolean,
    1,       0,
    1,       "what was written under a lock is in memory before it is released; off: broken"};
inline constexpr std::array<std::string_view, 2> kLockAlgorithmNames = {"loco", "mpi_window"};
inline constexpr ParamSpec kLockAlgorithm{
    "algorithm",
    ParamKind::choice,
    0,
    0,
    1,
    "LOCO's locks, or those of MPI windows over remote atomics, which are where the data is; these know no hand-overs "
    "and no fence",
    kLockAlgorithmNames};
inline constexpr std::array kLockParams = {kIterations, kThreadsPerNode, kHandOvers, kReleaseFence, kLockAlgorithm};
inline constexpr std::array kTransactionParams = {
    kIterations,
    kThreadsPerNode,
    kHandOvers,
    kReleaseFence,
    ParamSpec{"accounts", ParamKind::count, 10'000, 2, 100'000'000,
              "account balances, striped over the nodes; those of a transfer are read at the end"},
    ParamSpec{"locks", ParamKind::count, 341, 1, 1'000'000,
              "locks, striped over the nodes; account a is under lock a modulo locks"},
    kLockAlgorithm,
    ParamSpec{"registrations", ParamKind::boolean, 0, 0, 1,
              "the accounts under each lock of an MPI window are a memory registration of their own, as MPI's windows "
              "are; off: all of a node are one, as LOCO's regions"}};
inline constexpr std::array<std::string_view, 6> kMixNames = {"read",   "mixed",        "write",
                                                              "insert", "mixed_insert", "churn"};
inline constexpr std::array<std::string_view, 2> kKeysNames = {"uniform", "zipfian"};
inline constexpr std::array<std::string_view, 4> kStoreNames = {"loco", "rpc", "tree", "tcp"};
inline constexpr std::array kKvstoreParams = {
    ParamSpec{"iterations", ParamKind::count, 1000, 1, 100'000'000, "operations of each thread"},
    kThreadsPerNode,
    ParamSpec{"window", ParamKind::count, 3, 1, 4096, "operations that a thread has under way at once"},
    ParamSpec{"mix", ParamKind::choice, 1, 0, 5,
              "lookups only, half lookups and half updates, or updates only; insert: inserts of new keys only, "
              "mixed_insert: half of the operations lookups, churn: inserts and erases of a few keys of each thread",
              kMixNames},
    ParamSpec{"keys", ParamKind::choice, 0, 0, 1,
              "how keys are drawn: each as likely, or as YCSB's Zipfian generator does, with theta 0.99", kKeysNames},
    ParamSpec{"key_space", ParamKind::size, 64 << 10, 16, std::int64_t{1} << 34,
              "bytes of all keys and values, 16 for each; 80 % are there from the start and drawn from"},
    ParamSpec{"locks", ParamKind::count, 1024, 1, 1'000'000,
              "locks, striped over the nodes; a key's is found by its hash"},
    kHandOvers,
    ParamSpec{"device_locks", ParamKind::boolean, 0, 0, 1, "the words of the locks are in the memory of the NICs"},
    ParamSpec{"fence", ParamKind::boolean, 1, 0, 1,
              "an update is in memory before its lock is released; off: not linearisable"},
    ParamSpec{"store", ParamKind::choice, 0, 0, 3,
              "LOCO's store; rpc: server threads that clients send requests to, as many as clients; tree: Sherman's B+ "
              "tree on one-sided operations, with locks and fence of its own; tcp: Redis' way, one server for four "
              "clients over the kernel's TCP",
              kStoreNames},
    ParamSpec{"index_cache", ParamKind::boolean, 1, 0, 1,
              "each node knows where the leaves of a tree are; off: every operation goes down from the root"},
    kInline};
inline constexpr std::array kDcdcParams = {
    ParamSpec{"period_us", ParamKind::count, 40, 1, 10'000, "microseconds between two turns of the controller"},
    ParamSpec{"converter_period_us", ParamKind::count, 10, 1, 10'000, "microseconds between two turns of a converter"},
    ParamSpec{"duration_us", ParamKind::count, 20'000, 100, 10'000'000,
              "microseconds of the whole; the last fifth is looked at"}};
inline constexpr std::array kMessageParams = {kIterations, kPayload};
inline constexpr std::array kMixParams = {kIterations};

/// Named after what they do; patterns.cpp says what each shows.
inline constexpr std::array<std::string_view, 8> kPatternNames = {
    "store_put",     "put_get",       "get_read",       "put_put",
    "put_put_twice", "get_fence_put", "put_wait_store", "barrier_third_node"};
inline constexpr std::array kPatternParams = {
    ParamSpec{"iterations", ParamKind::count, 10, 1, 1'000'000, "rounds"},
    ParamSpec{"pattern", ParamKind::choice, 0, 0, 7, "what the nodes do in a round", kPatternNames}};

inline constexpr std::array<std::string_view, 4> kTrafficNames = {"incast", "permutation", "all_to_all", "victim"};
inline constexpr std::array kTrafficParams = {
    ParamSpec{
        "pattern", ParamKind::choice, 0, 0, 3,
        "who writes to whom: all to node 0, each to another one drawn from the seed, all to all, or all from node "
        "2 on to node 0 except the last, the victim, which writes to node 1 (3 nodes or more)",
        kTrafficNames},
    ParamSpec{"size", ParamKind::size, 1 << 20, 1, 1 << 30, "bytes of a message"},
    ParamSpec{"count", ParamKind::count, 1, 1, 1'000'000, "messages from each sender to each of its receivers"},
    ParamSpec{"outstanding", ParamKind::count, 1, 1, 1024, "messages that a sender has under way at once"}};

inline constexpr std::array<std::string_view, 2> kLookupReadNames = {"pipelined", "waited"};
inline constexpr std::array kLookupParams = {
    ParamSpec{"iterations", ParamKind::count, 1000, 1, 100'000'000, "lookups of each client"},
    ParamSpec{"size", ParamKind::size, 1024, 8, 1 << 20, "bytes of a value, a multiple of 8", {}, 8},
    ParamSpec{"objects", ParamKind::count, 16, 1, 1'000'000, "objects that node 0 owns"},
    ParamSpec{"outstanding", ParamKind::count, 4, 1, 1024, "lookups that a client has under way at once"},
    ParamSpec{"reads", ParamKind::choice, 0, 0, 1,
              "how a lookup keeps its three READs in order: not at all, or by waiting for each answer",
              kLookupReadNames},
    ParamSpec{"update_pause_ns", ParamKind::count, 500, 0, 1'000'000'000,
              "nanoseconds between two updates of the owner, which under other schedules than timed waits now and then "
              "for a lookup to succeed"}};

void start_barrier(const Setup& setup);
void start_broadcast(const Setup& setup);
void start_dcdc(const Setup& setup);
void start_kvstore(const Setup& setup);
void start_lock(const Setup& setup);
void start_message_passing(const Setup& setup);
void start_mix(const Setup& setup);
void start_mixed_size(const Setup& setup);
void start_pattern(const Setup& setup);
void start_traffic(const Setup& setup);
void start_transactions(const Setup& setup);
void start_lookup(const Setup& setup);

/// An object's options under the faults that are switched on.
[[nodiscard]] barrier_options options_under(const LibraryFaults& faults, barrier_options options = {});
[[nodiscard]] ring_options options_under(const LibraryFaults& faults, ring_options options);
/// A ring that holds no message.
[[nodiscard]] std::optional<Misfit> broadcast_misfit(const Params& params, std::uint32_t nodes);
/// A victim that would write to itself.
[[nodiscard]] std::optional<Misfit> traffic_misfit(const Params& params, std::uint32_t nodes);
/// All messages of a sender may be for one node.
[[nodiscard]] std::uint32_t traffic_send_queue(const Params& params);
/// Node 0 owns all objects.
[[nodiscard]] std::uint32_t lookup_send_queue(const Params& params);
/// LOCO's store and the tree have locks, those over messages none.
[[nodiscard]] bool kvstore_locks(const Params& params);
/// More inserts than there are free slots.
[[nodiscard]] std::optional<Misfit> kvstore_misfit(const Params& params, std::uint32_t nodes);
/// library_send_ns and library_ns.
[[nodiscard]] baselines::message_rank::Costs library_costs(const Params& params);

}  // namespace loco::workloads
