#include "nic_model/profile_options.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "options/rows.hpp"

namespace loco::nic {

namespace profile_table {
namespace {

using options::member;
using options::Option;
using P = HardwareProfile;

constexpr std::array<std::string_view, 2> kOrderingDomainNames = {"qp", "nic"};
constexpr std::array<std::string_view, 2> kAtomicOperandsNames = {"posted", "memory"};
constexpr std::array<std::string_view, 2> kAtomicPlacementNames = {"behind_earlier", "as_they_come"};
constexpr std::array<std::string_view, 2> kWordOrderNames = {"ascending", "any"};
constexpr std::array<std::string_view, 4> kStaleOperandsNames = {"none", "compare", "add", "both"};
constexpr std::array<std::string_view, 4> kReadOrderingNames = {"unordered", "nic_serialised", "root_complex",
                                                                "speculative"};
constexpr std::array<std::string_view, 4> kRecoveryNames = {"by_placement", "go_back_n", "selective_repeat", "timer"};
constexpr std::array<std::string_view, 3> kSlowRestartNames = {"off", "drop_tail", "on"};
constexpr std::array<std::string_view, 3> kAtomicCapNames = {"none", "hca", "global"};

constexpr std::int64_t kMaxCost = 1'000'000'000;        // 1 ms
constexpr std::int64_t kMaxRnrTimer = 655'360'000'000;  // 655.36 ms: code 0 of IBTA volume 1, table 45
constexpr std::int64_t kMaxRate = 10'000'000'000'000;   // 10 Tb/s

template <sim::Duration P::*Member>
constexpr Option cost(std::string_view key, std::string_view what) {
  return member<Member>(key, {0, kMaxCost}, what);
}
template <sim::BitsPerSecond P::*Member>
constexpr Option rate(std::string_view key, std::string_view what) {
  return member<Member>(key, {0, kMaxRate}, what);
}

constexpr auto kOptions = std::to_array<Option>({
    cost<&P::cpu_load>("cpu.load", "a load"),
    cost<&P::cpu_store>("cpu.store", "a store into the store buffer"),
    cost<&P::cpu_fence>("cpu.fence", "mfence, once the store buffer is empty"),
    cost<&P::cpu_atomic>("cpu.atomic", "a locked instruction, once the store buffer is empty"),
    cost<&P::cpu_post_wqe>("cpu.post_wqe", "building one work request"),
    cost<&P::cpu_doorbell>("cpu.doorbell", "ringing the doorbell, once per post"),
    cost<&P::cpu_poll_empty>("cpu.poll_empty", "polling an empty completion queue"),
    cost<&P::cpu_poll_cqe>("cpu.poll_cqe", "taking one CQE"),
    cost<&P::cpu_store_drain>("cpu.store_drain", "head of the store buffer to memory"),
    member<&P::cpu_store_buffer_entries>("cpu.store_buffer_entries", {1, 1024}, "entries of the store buffer"),
    cost<&P::cpu_mmio_gap>("cpu.mmio_gap", "between 64-byte bursts of stores to the NIC"),
    rate<&P::cpu_copy_rate>("cpu.copy_rate", "copying memory, where a message library copies; 0 is free"),
    member<&P::pcie_generation>("pcie.generation", {0, 6},
                                "with pcie.lanes, gives the TLP bandwidth; 0: pcie.rate does"),
    member<&P::pcie_lanes>("pcie.lanes", {1, 16}, "width of the link"),
    rate<&P::pcie_rate>("pcie.rate",
                        "TLP bandwidth, each direction, in place of generation and lanes; 0 is infinitely fast"),
    member<&P::pcie_mps>("pcie.mps", {8, 4096}, "maximum payload of a memory write TLP"),
    member<&P::pcie_mrrs>("pcie.mrrs", {8, 4096}, "maximum read request size"),
    member<&P::pcie_read_completion>("pcie.read_completion", {8, 4096}, "payload of a read completion TLP"),
    member<&P::pcie_write_header>("pcie.write_header", {0, 64}, "header and framing of a memory write TLP"),
    member<&P::pcie_read_header>("pcie.read_header", {0, 64}, "header and framing of a memory read TLP"),
    member<&P::pcie_completion_header>("pcie.completion_header", {0, 64}, "header and framing of a completion TLP"),
    cost<&P::pcie_upstream>("pcie.upstream", "NIC to root complex"),
    cost<&P::pcie_downstream>("pcie.downstream", "root complex to NIC"),
    cost<&P::pcie_read_access>("pcie.read_access", "a read at the root complex until memory is sampled"),
    cost<&P::pcie_write_commit>("pcie.write_commit", "a write at the root complex until memory has it"),
    member<&P::pcie_ordering_domain>("pcie.ordering_domain", kOrderingDomainNames,
                                     "which posted writes are ordered among themselves"),
    member<&P::pcie_functions>(
        "pcie.functions", {1, 256},
        "PCIe functions, each with a requester ID, that a NIC's queue pairs are spread over in turn"),
    member<&P::pcie_id_ordering>("pcie.id_ordering",
                                 "ID-based ordering: writes and reads of one function pass writes of the others"),
    member<&P::pcie_read_ordering>("pcie.read_ordering", kReadOrderingNames,
                                   "what keeps the PCIe reads of a queue pair's READs in order (PCIe itself does not)"),
    cost<&P::pcie_write_interval>("pcie.write_interval",
                                  "least distance between commits of write TLPs without relaxed ordering: a root "
                                  "complex that ends one before the next; 0: none"),
    cost<&P::pcie_read_interval>("pcie.read_interval",
                                 "least distance between read requests that the DMA engine issues; 0: none"),
    member<&P::pcie_tags>("pcie.tags", {0, 65536}, "read requests under way at once; 0: no limit"),
    member<&P::pcie_nonposted_credits>("pcie.nonposted_credits", {0, 65536},
                                       "read requests that the root complex takes at once; 0: no limit"),
    member<&P::pcie_posted_credits>("pcie.posted_credits", {0, 1 << 24},
                                    "bytes of writes that the root complex takes at once; 0: no limit"),
    member<&P::pcie_completion_credits>(
        "pcie.completion_credits", {0, 1 << 24},
        "bytes of read data that the NIC takes at once; 0: no limit, as the PCIe specification asks for"),
    member<&P::pcie_cpu_cache>("pcie.cpu_cache", {0, 1LL << 40},
                               "memory regions of at most this size, and queues, lie in the CPU's cache"),
    cost<&P::pcie_warm_saving>("pcie.warm_saving", "what an access to a region in the CPU's cache is faster by"),
    cost<&P::pcie_switch>("pcie.switch", "a PCIe switch on the way of a NIC or GPU that is behind one, each way"),
    rate<&P::pcie_peer_write>("pcie.peer_write",
                              "writes to a GPU that go through the root complex; 0: as fast as the links"),
    rate<&P::pcie_peer_read>("pcie.peer_read",
                             "data of reads of a GPU that goes through the root complex; 0: as fast as the links"),
    member<&P::pcie_remote_numa>("pcie.remote_numa", "memory is at another socket than the NIC"),
    cost<&P::pcie_numa_penalty>("pcie.numa_penalty", "an access to another socket's memory"),
    member<&P::pcie_iommu>("pcie.iommu", "an IOMMU translates the NIC's addresses"),
    member<&P::pcie_iommu_window>("pcie.iommu_window", {0, 1LL << 40},
                                  "memory that the IOMMU's translation buffer covers, in pages of 4 KiB"),
    cost<&P::pcie_iommu_penalty>("pcie.iommu_penalty",
                                 "an access to a page that it does not hold: a walk of its tables"),
    member<&P::pcie_iommu_walks>("pcie.iommu_walks", {0, 65536}, "such walks at once; 0: no limit"),
    cost<&P::nic_wqe_start>("nic.wqe_start", "a fetched work request until its first PCIe read or packet"),
    cost<&P::nic_transmit>("nic.transmit", "a packet's data present until its first bit is on the wire"),
    cost<&P::nic_receive>("nic.receive", "a packet received until it is acted on"),
    cost<&P::nic_jitter>("nic.jitter",
                         "nic.receive is the middle of many times: the least is this much shorter, half of the packets "
                         "take at least so much more than the least, a quarter twice as much, an eighth three times; "
                         "timed runs, not with fabric.variation: none"),
    cost<&P::nic_packet_gap>("nic.packet_gap",
                             "least distance between packets that one NIC begins to send; what is shorter comes nearer "
                             "to what is before it in the packet buffer (nic.buffer_rate)"),
    cost<&P::nic_atomic_modify>("nic.atomic_modify", "between the read and the write of an atomic"),
    cost<&P::nic_cqe>("nic.cqe", "a work request complete until its CQE is posted"),
    cost<&P::nic_loopback>("nic.loopback",
                           "a packet from a NIC to itself, in place of nic.transmit, the network and nic.receive"),
    member<&P::nic_wqe_bytes>("nic.wqe_bytes", {16, 1024}, "a work request in the send queue"),
    member<&P::nic_cqe_bytes>("nic.cqe_bytes", {16, 128}, "a CQE"),
    member<&P::nic_wqe_fetch_max>("nic.wqe_fetch_max", {1, 256}, "work requests that one PCIe read fetches"),
    member<&P::nic_max_rd_atomic>("nic.max_rd_atomic", {1, 128}, "reads and atomics outstanding per queue pair"),
    member<&P::nic_max_message>(
        "nic.max_message", {256, std::int64_t{1} << 31},
        "longest message (max_msg_sz of ibv_port_attr); a longer one completes with loc_len_err"),
    member<&P::nic_send_segments>(
        "nic.send_segments",
        "a SEND may take several packets; without: one of more than the MTU completes with loc_len_err"),
    member<&P::nic_inline_max>("nic.inline_max", {0, 1024}, "largest inline payload"),
    member<&P::nic_blueflame>("nic.blueflame", "a single inline WQE that fits travels in the doorbell write"),
    member<&P::nic_blueflame_max>("nic.blueflame_max", {0, 4096}, "WQE bytes that fit into a doorbell write"),
    member<&P::nic_atomic_cap>(
        "nic.atomic_cap", kAtomicCapNames,
        "remote atomics: the NIC has none, or they are atomic among each other (hca), or with the CPU too (global)"),
    member<&P::nic_atomic_banks>("nic.atomic_banks", {1, 4096},
                                 "banks of atomics, each for the words of the same address / 8 modulo their number: "
                                 "one atomic at a time in each"),
    member<&P::nic_units>(
        "nic.units", {0, 4096},
        "processing units that start work requests, one at a time for a queue pair; 0: no units, all start at once"),
    cost<&P::nic_unit_time>(
        "nic.unit_time",
        "a processing unit is busy with a work request, besides what contexts cost; without units nothing"),
    cost<&P::nic_qp_gap>("nic.qp_gap",
                         "a queue pair starts nothing for so long behind a work request whose data is not inline; "
                         "other queue pairs may; without units nothing"),
    rate<&P::nic_qp_gap_rate>("nic.qp_gap_rate",
                              "nic.qp_gap is at least nic.unit_time and what the payload of the first packet takes at "
                              "this rate; 0: one time for all sizes"),
    member<&P::nic_read_packets>("nic.read_packets", {0, 1024},
                                 "packets of READ data that a queue pair reads from memory at a time: they leave no "
                                 "faster than that, other queue pairs' may; 0: no limit"),
    cost<&P::nic_read_gap>("nic.read_gap",
                           "a queue pair answers nothing for so long behind the data of a READ; other queue pairs may"),
    member<&P::nic_context_entries>("nic.context_entries", {0, 1 << 20},
                                    "queue pair contexts that the NIC holds; 0: all"),
    member<&P::nic_read_state_entries>("nic.read_state_entries", {0, 1 << 20},
                                       "outstanding reads and atomics whose state the NIC holds; 0: all"),
    member<&P::nic_translation_entries>("nic.translation_entries", {0, 1 << 20},
                                        "memory translations that the NIC holds; 0: all"),
    member<&P::nic_translation_page>("nic.translation_page", {4096, 1 << 30}, "memory that one translation covers"),
    member<&P::nic_context_bytes>("nic.context_bytes", {8, 4096},
                                  "read over PCIe for a context, state or translation that the NIC does not hold"),
    member<&P::nic_context_fetches>("nic.context_fetches", {0, 4096}, "such reads under way at once; 0: no limit"),
    rate<&P::nic_buffer_rate>("nic.buffer_rate",
                              "delay of each packet in each NIC: its payload at this rate, as through a packet buffer. "
                              "Packets do not wait for one another: bandwidth stays as it is; 0: no delay"),
    rate<&P::nic_path_rate>("nic.path_rate",
                            "data path between PCIe and packets in each NIC, which data flows through as it comes: "
                            "where PCIe is faster, a packet is late by the difference; 0: none"),
    cost<&P::nic_device_access>("nic.device_access", "an access to memory on the NIC"),
    member<&P::nic_device_memory>("nic.device_memory", {0, std::int64_t{1} << 40},
                                  "memory on the NIC that regions can be in; 0: no limit"),
    member<&P::nic_device_own_path>("nic.device_own_path",
                                    "memory on the NIC is reached on a path of its own: a queue pair's accesses there "
                                    "keep no order with its accesses to the host's memory"),
    member<&P::nic_receive_buffer>("nic.receive_buffer", {0, 1 << 30},
                                   "packets that have come and wait for PCIe; when that is full the NIC pauses its "
                                   "link, or drops with fabric.flow_control: drop_tail; 0: no limit"),
    member<&P::nic_receive_cell>("nic.receive_cell", {0, 4096},
                                 "the receive buffer is handed out in cells of so many bytes, which hold a packet's "
                                 "headers (link.overhead), too; 0: bytes of payload are counted"),
    member<&P::nic_ack_timeout>(
        "nic.ack_timeout", {0, 9'000'000'000'000'000},
        "a request without a response until it is repeated: any time; real NICs have 4.096 us * 2^n only"),
    cost<&P::nic_adaptive_timeout>("nic.adaptive_timeout",
                                   "adaptive retransmission: the first time-out; each one without progress is twice as "
                                   "long, up to nic.ack_timeout; 0: all are nic.ack_timeout"),
    cost<&P::nic_tail_timeout>("nic.tail_timeout",
                               "the time-out while at most nic.tail_packets are under way, whose loss no later packet "
                               "shows (IRN: RTO_low); 0: as with more"),
    member<&P::nic_tail_packets>("nic.tail_packets", {1, 1 << 20}, "packets under way for which nic.tail_timeout is"),
    member<&P::nic_lossy_timeout>(
        "nic.lossy_timeout", {0, 1'000'000'000'000},
        "adaptive retransmission on fabrics that drop (fabric.flow_control: drop_tail): the first time-out; doubles "
        "with each one until there is progress, ends in retry_exc_err after the time of nic.retry_count + 1 times "
        "nic.ack_timeout; 0: as on other fabrics"),
    member<&P::nic_tx_window>(
        "nic.tx_window", {0, 1LL << 32},
        "transmit window: bytes that a queue pair sends without an answer, in packets of the MTU; 0: no limit"),
    member<&P::nic_slow_restart>("nic.slow_restart", kSlowRestartNames,
                                 "behind a time-out a queue pair has a window of 16 packets, which grows by what is "
                                 "acknowledged until it covers a round trip: off, on fabrics that drop, or on"),
    cost<&P::nic_slow_restart_idle>("nic.slow_restart_idle",
                                    "so, too, when it has had nothing to send for so long; 0: not"),
    member<&P::nic_recovery>("nic.recovery", kRecoveryNames,
                             "what repeats lost packets: a NAK for a gap and going back to it, a NAK for each packet "
                             "behind a gap and only what is missing, or the timer alone, which goes back; by "
                             "placement: the first in order, the second out of order"),
    member<&P::nic_reorder_tolerance>("nic.reorder_tolerance", {0, kMaxCost},
                                      "selective repeat on networks with several paths: how much later than others a "
                                      "packet may come and is not lost"),
    member<&P::nic_retry_count>("nic.retry_count", {0, 7}, "repetitions before retry_exc_err"),
    member<&P::nic_rnr_timer>("nic.rnr_timer", {0, kMaxRnrTimer},
                              "what a receiver without a receive request tells the sender to wait"),
    member<&P::nic_rnr_retry>("nic.rnr_retry", {0, 7}, "repetitions before rnr_retry_exc_err; 7: for ever"),
    member<&P::nic_ack_coalescing>("nic.ack_coalescing", {0, 65536},
                                   "packets of a message for each ACK, its last one apart; 0: one ACK a message"),
    member<&P::nic_placement>("nic.placement", kPlacementNames,
                              "when packets of one queue pair are placed: in order, as they come, READs too as they "
                              "come, only READs as they come, or in order and one at a time"),
    member<&P::nic_atomic_placement>("nic.atomic_placement", kAtomicPlacementNames,
                                     "with nic.placement out_of_order or unordered: atomics are executed behind all "
                                     "earlier messages, or as they come"),
    member<&P::nic_word_order>("nic.word_order", kWordOrderNames,
                               "in which order the words of one message are read from memory and placed there: that of "
                               "addresses, a TLP at a time, or any, nic.word_unit at a time (that of addresses with "
                               "pcie.read_ordering: speculative and nic.stale_operands)"),
    member<&P::nic_word_unit>("nic.word_unit", {8, 4096},
                              "with nic.word_order any: aligned bytes that are read or placed at once"),
    member<&P::nic_atomic_operands>(
        "nic.atomic_operands", kAtomicOperandsNames,
        "rga and cas of coreRMA programs: the CPU reads the operands when it posts, or the NIC later"),
    member<&P::nic_stale_operands>("nic.stale_operands", kStaleOperandsNames,
                                   "atomics on the NIC's own node that leave before their operands in memory have been "
                                   "read, with what the NIC has read last"),
    member<&P::nic_inline_puts>("nic.inline_puts",
                                "puts of litmus programs are inline: the CPU reads the payload when it posts"),
    member<&P::link_ideal>("link.ideal", "no network: packets keep their order per queue pair only"),
    rate<&P::link_rate>("link.rate", "link bandwidth; 0 is infinitely fast"),
    cost<&P::link_delay>("link.delay", "propagation over one link"),
    member<&P::link_mtu>("link.mtu", {64, 16384},
                         "payload bytes of a packet; verbs have 256, 512, 1024, 2048 and 4096, any other is a what-if"),
    member<&P::link_overhead>("link.overhead", {0, 256}, "framing and headers of every packet"),
    cost<&P::switch_latency>("switch.latency", "first byte in to first byte out of a switch"),
});

}  // namespace
}  // namespace profile_table

std::span<const options::Option> profile_options() { return profile_table::kOptions; }

}  // namespace loco::nic
