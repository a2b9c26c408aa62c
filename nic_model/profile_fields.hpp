// The fields of a hardware profile as a table: the one source of the YAML keys, units, ranges and descriptions.
//
// The loader, `loco-sim list hardware` and the schema are generated from it. Values are int64 in the base unit of
// the kind: picoseconds, bytes, bits a second, a plain count, 0/1, or the index of an enumerator's name. The default
// of a field is what a default-constructed HardwareProfile holds: value(HardwareProfile{}, field).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

#include "nic_model/profile.hpp"

namespace loco::nic {

enum class UnitKind : std::uint8_t { duration, size, rate, count, boolean, choice };

using ProfileMember =
    std::variant<sim::Duration HardwareProfile::*, sim::Bytes HardwareProfile::*, sim::BitsPerSecond HardwareProfile::*,
                 std::uint32_t HardwareProfile::*, bool HardwareProfile::*, OrderingDomain HardwareProfile::*,
                 ReadOrdering HardwareProfile::*, AtomicCap HardwareProfile::*, Placement HardwareProfile::*,
                 AtomicOperands HardwareProfile::*, StaleOperands HardwareProfile::*>;

struct ProfileField {
  std::string_view key;  ///< "group.name": a map of maps in YAML
  UnitKind unit;
  ProfileMember member;
  std::int64_t minimum;
  std::int64_t maximum;
  std::string_view description;
  std::span<const std::string_view> choices = {};  ///< names by index, for UnitKind::choice
};

inline constexpr std::array<std::string_view, 2> kOrderingDomainNames = {"qp", "nic"};
inline constexpr std::array<std::string_view, 5> kPlacementNames = {"in_order", "out_of_order", "unordered",
                                                                    "reads_overtake", "serial"};
inline constexpr std::array<std::string_view, 2> kAtomicOperandsNames = {"posted", "memory"};
inline constexpr std::array<std::string_view, 4> kStaleOperandsNames = {"none", "compare", "add", "both"};
inline constexpr std::array<std::string_view, 4> kReadOrderingNames = {"unordered", "nic_serialised", "root_complex",
                                                                       "speculative"};
inline constexpr std::array<std::string_view, 3> kAtomicCapNames = {"none", "hca", "global"};

namespace detail {
inline constexpr std::int64_t kMaxCost = 1'000'000'000;        // 1 ms
inline constexpr std::int64_t kMaxRnrTimer = 655'360'000'000;  // 655.36 ms: code 0 of IBTA volume 1, table 45
inline constexpr std::int64_t kMaxRate = 10'000'000'000'000;   // 10 Tb/s
using P = HardwareProfile;

constexpr ProfileField cost(std::string_view key, sim::Duration P::*member, std::string_view what) {
  return {key, UnitKind::duration, member, 0, kMaxCost, what};
}
constexpr ProfileField size(std::string_view key, sim::Bytes P::*member, std::int64_t low, std::int64_t high,
                            std::string_view what) {
  return {key, UnitKind::size, member, low, high, what};
}
constexpr ProfileField rate(std::string_view key, sim::BitsPerSecond P::*member, std::string_view what) {
  return {key, UnitKind::rate, member, 0, kMaxRate, what};
}
constexpr ProfileField count(std::string_view key, std::uint32_t P::*member, std::int64_t low, std::int64_t high,
                             std::string_view what) {
  return {key, UnitKind::count, member, low, high, what};
}
constexpr ProfileField flag(std::string_view key, bool P::*member, std::string_view what) {
  return {key, UnitKind::boolean, member, 0, 1, what};
}
}  // namespace detail

inline constexpr auto kProfileFields = std::to_array<ProfileField>({
    detail::cost("cpu.load", &HardwareProfile::cpu_load, "a load"),
    detail::cost("cpu.store", &HardwareProfile::cpu_store, "a store into the store buffer"),
    detail::cost("cpu.fence", &HardwareProfile::cpu_fence, "mfence, once the store buffer is empty"),
    detail::cost("cpu.atomic", &HardwareProfile::cpu_atomic, "a locked instruction, once the store buffer is empty"),
    detail::cost("cpu.post_wqe", &HardwareProfile::cpu_post_wqe, "building one work request"),
    detail::cost("cpu.doorbell", &HardwareProfile::cpu_doorbell, "ringing the doorbell, once per post"),
    detail::cost("cpu.poll_empty", &HardwareProfile::cpu_poll_empty, "polling an empty completion queue"),
    detail::cost("cpu.poll_cqe", &HardwareProfile::cpu_poll_cqe, "taking one CQE"),
    detail::cost("cpu.store_drain", &HardwareProfile::cpu_store_drain, "head of the store buffer to memory"),
    detail::count("cpu.store_buffer_entries", &HardwareProfile::cpu_store_buffer_entries, 1, 1024,
                  "entries of the store buffer"),
    detail::cost("cpu.mmio_gap", &HardwareProfile::cpu_mmio_gap, "between 64-byte bursts of stores to the NIC"),
    detail::rate("cpu.copy_rate", &HardwareProfile::cpu_copy_rate,
                 "copying memory, where a message library copies; 0 is free"),
    detail::count("pcie.generation", &HardwareProfile::pcie_generation, 0, 6,
                  "with pcie.lanes, gives the TLP bandwidth; 0: pcie.rate does"),
    detail::count("pcie.lanes", &HardwareProfile::pcie_lanes, 1, 16, "width of the link"),
    detail::rate("pcie.rate", &HardwareProfile::pcie_rate,
                 "TLP bandwidth, each direction, in place of generation and lanes; 0 is infinitely fast"),
    detail::size("pcie.mps", &HardwareProfile::pcie_mps, 8, 4096, "maximum payload of a memory write TLP"),
    detail::size("pcie.mrrs", &HardwareProfile::pcie_mrrs, 8, 4096, "maximum read request size"),
    detail::size("pcie.read_completion", &HardwareProfile::pcie_read_completion, 8, 4096,
                 "payload of a read completion TLP"),
    detail::size("pcie.write_header", &HardwareProfile::pcie_write_header, 0, 64,
                 "header and framing of a memory write TLP"),
    detail::size("pcie.read_header", &HardwareProfile::pcie_read_header, 0, 64,
                 "header and framing of a memory read TLP"),
    detail::size("pcie.completion_header", &HardwareProfile::pcie_completion_header, 0, 64,
                 "header and framing of a completion TLP"),
    detail::cost("pcie.upstream", &HardwareProfile::pcie_upstream, "NIC to root complex"),
    detail::cost("pcie.downstream", &HardwareProfile::pcie_downstream, "root complex to NIC"),
    detail::cost("pcie.read_access", &HardwareProfile::pcie_read_access,
                 "a read at the root complex until memory is sampled"),
    detail::cost("pcie.write_commit", &HardwareProfile::pcie_write_commit,
                 "a write at the root complex until memory has it"),
    ProfileField{"pcie.ordering_domain", UnitKind::choice, &HardwareProfile::pcie_ordering_domain, 0, 1,
                 "which posted writes are ordered among themselves", kOrderingDomainNames},
    detail::count("pcie.functions", &HardwareProfile::pcie_functions, 1, 256,
                  "PCIe functions, each with a requester ID, that a NIC's queue pairs are spread over in turn"),
    detail::flag("pcie.id_ordering", &HardwareProfile::pcie_id_ordering,
                 "ID-based ordering: writes and reads of one function pass writes of the others"),
    ProfileField{"pcie.read_ordering", UnitKind::choice, &HardwareProfile::pcie_read_ordering, 0, 3,
                 "what keeps the PCIe reads of a queue pair's READs in order (PCIe itself does not)",
                 kReadOrderingNames},
    detail::count("pcie.tags", &HardwareProfile::pcie_tags, 0, 65536, "read requests under way at once; 0: no limit"),
    detail::count("pcie.nonposted_credits", &HardwareProfile::pcie_nonposted_credits, 0, 65536,
                  "read requests that the root complex takes at once; 0: no limit"),
    detail::size("pcie.posted_credits", &HardwareProfile::pcie_posted_credits, 0, 1 << 24,
                 "bytes of writes that the root complex takes at once; 0: no limit"),
    detail::size("pcie.completion_credits", &HardwareProfile::pcie_completion_credits, 0, 1 << 24,
                 "bytes of read data that the NIC takes at once; 0: no limit, as the PCIe specification asks for"),
    detail::size("pcie.cpu_cache", &HardwareProfile::pcie_cpu_cache, 0, 1LL << 40,
                 "memory regions of at most this size, and queues, lie in the CPU's cache"),
    detail::cost("pcie.warm_saving", &HardwareProfile::pcie_warm_saving,
                 "what an access to a region in the CPU's cache is faster by"),
    detail::flag("pcie.remote_numa", &HardwareProfile::pcie_remote_numa, "memory is at another socket than the NIC"),
    detail::cost("pcie.numa_penalty", &HardwareProfile::pcie_numa_penalty, "an access to another socket's memory"),
    detail::flag("pcie.iommu", &HardwareProfile::pcie_iommu, "an IOMMU translates the NIC's addresses"),
    detail::size("pcie.iommu_window", &HardwareProfile::pcie_iommu_window, 0, 1LL << 40,
                 "memory that the IOMMU's translation buffer covers, in pages of 4 KiB"),
    detail::cost("pcie.iommu_penalty", &HardwareProfile::pcie_iommu_penalty,
                 "an access to a page that it does not hold"),
    detail::cost("nic.wqe_start", &HardwareProfile::nic_wqe_start,
                 "a fetched work request until its first PCIe read or packet"),
    detail::cost("nic.transmit", &HardwareProfile::nic_transmit,
                 "a packet's data present until its first bit is on the wire"),
    detail::cost("nic.receive", &HardwareProfile::nic_receive, "a packet received until it is acted on"),
    detail::cost(
        "nic.packet_gap", &HardwareProfile::nic_packet_gap,
        "least distance between packets that one NIC begins to send; what is shorter comes nearer to what is before it "
        "in the packet buffer (nic.buffer_rate)"),
    detail::cost("nic.atomic_modify", &HardwareProfile::nic_atomic_modify,
                 "between the read and the write of an atomic"),
    detail::cost("nic.cqe", &HardwareProfile::nic_cqe, "a work request complete until its CQE is posted"),
    detail::cost("nic.loopback", &HardwareProfile::nic_loopback,
                 "a packet from a NIC to itself, in place of nic.transmit, the network and nic.receive"),
    detail::size("nic.wqe_bytes", &HardwareProfile::nic_wqe_bytes, 16, 1024, "a work request in the send queue"),
    detail::size("nic.cqe_bytes", &HardwareProfile::nic_cqe_bytes, 16, 128, "a CQE"),
    detail::count("nic.wqe_fetch_max", &HardwareProfile::nic_wqe_fetch_max, 1, 256,
                  "work requests that one PCIe read fetches"),
    detail::count("nic.max_rd_atomic", &HardwareProfile::nic_max_rd_atomic, 1, 128,
                  "reads and atomics outstanding per queue pair"),
    detail::size("nic.max_message", &HardwareProfile::nic_max_message, 256, std::int64_t{1} << 31,
                 "longest message (max_msg_sz of ibv_port_attr); a longer one completes with loc_len_err"),
    detail::flag("nic.send_segments", &HardwareProfile::nic_send_segments,
                 "a SEND may take several packets; without: one of more than the MTU completes with loc_len_err"),
    detail::size("nic.inline_max", &HardwareProfile::nic_inline_max, 0, 1024, "largest inline payload"),
    detail::flag("nic.blueflame", &HardwareProfile::nic_blueflame,
                 "a single inline WQE that fits travels in the doorbell write"),
    detail::size("nic.blueflame_max", &HardwareProfile::nic_blueflame_max, 0, 4096,
                 "WQE bytes that fit into a doorbell write"),
    ProfileField{
        "nic.atomic_cap", UnitKind::choice, &HardwareProfile::nic_atomic_cap, 0, 2,
        "remote atomics: the NIC has none, or they are atomic among each other (hca), or with the CPU too (global)",
        kAtomicCapNames},
    detail::count("nic.units", &HardwareProfile::nic_units, 0, 4096,
                  "processing units that start work requests, one at a time for a queue pair; 0: no units, all start "
                  "at once"),
    detail::cost("nic.unit_time", &HardwareProfile::nic_unit_time,
                 "a processing unit is busy with a work request, besides what contexts cost; without units nothing"),
    detail::cost("nic.qp_gap", &HardwareProfile::nic_qp_gap,
                 "a queue pair starts nothing for so long behind a work request whose data is not inline; other queue "
                 "pairs may; without units nothing"),
    detail::count("nic.context_entries", &HardwareProfile::nic_context_entries, 0, 1 << 20,
                  "queue pair contexts that the NIC holds; 0: all"),
    detail::count("nic.read_state_entries", &HardwareProfile::nic_read_state_entries, 0, 1 << 20,
                  "outstanding reads and atomics whose state the NIC holds; 0: all"),
    detail::count("nic.translation_entries", &HardwareProfile::nic_translation_entries, 0, 1 << 20,
                  "memory translations that the NIC holds; 0: all"),
    detail::size("nic.translation_page", &HardwareProfile::nic_translation_page, 4096, 1 << 30,
                 "memory that one translation covers"),
    detail::size("nic.context_bytes", &HardwareProfile::nic_context_bytes, 8, 4096,
                 "read over PCIe for a context, state or translation that the NIC does not hold"),
    detail::count("nic.context_fetches", &HardwareProfile::nic_context_fetches, 0, 4096,
                  "such reads under way at once; 0: no limit"),
    detail::rate("nic.buffer_rate", &HardwareProfile::nic_buffer_rate,
                 "delay of each packet in each NIC: its payload at this rate, as through a packet buffer. Packets do "
                 "not wait for one another: bandwidth stays as it is; 0: no delay"),
    detail::cost("nic.device_access", &HardwareProfile::nic_device_access, "an access to memory on the NIC"),
    detail::size("nic.device_memory", &HardwareProfile::nic_device_memory, 0, std::int64_t{1} << 40,
                 "memory on the NIC that regions can be in; 0: no limit"),
    ProfileField{"nic.ack_timeout", UnitKind::duration, &HardwareProfile::nic_ack_timeout, 0, 9'000'000'000'000'000,
                 "a request without a response until it is repeated: any time; real NICs have 4.096 us * 2^n only"},
    detail::count("nic.retry_count", &HardwareProfile::nic_retry_count, 0, 7, "repetitions before retry_exc_err"),
    ProfileField{"nic.rnr_timer", UnitKind::duration, &HardwareProfile::nic_rnr_timer, 0, detail::kMaxRnrTimer,
                 "what a receiver without a receive request tells the sender to wait"},
    detail::count("nic.rnr_retry", &HardwareProfile::nic_rnr_retry, 0, 7,
                  "repetitions before rnr_retry_exc_err; 7: for ever"),
    detail::count("nic.ack_coalescing", &HardwareProfile::nic_ack_coalescing, 0, 65536,
                  "packets of a message for each ACK, its last one apart; 0: one ACK a message"),
    ProfileField{
        "nic.placement", UnitKind::choice, &HardwareProfile::nic_placement, 0, 4,
        "when packets of one queue pair are placed: in order, as they come, READs too as they come, only READs "
        "as they come, or in order and one at a time",
        kPlacementNames},
    ProfileField{"nic.atomic_operands", UnitKind::choice, &HardwareProfile::nic_atomic_operands, 0, 1,
                 "rga and cas of coreRMA programs: the CPU reads the operands when it posts, or the NIC later",
                 kAtomicOperandsNames},
    ProfileField{"nic.stale_operands", UnitKind::choice, &HardwareProfile::nic_stale_operands, 0, 3,
                 "atomics on the NIC's own node that leave before their operands in memory have been read, with what "
                 "the NIC has read last",
                 kStaleOperandsNames},
    detail::flag("nic.inline_puts", &HardwareProfile::nic_inline_puts,
                 "puts of litmus programs are inline: the CPU reads the payload when it posts"),
    detail::flag("link.ideal", &HardwareProfile::link_ideal,
                 "no network: packets keep their order per queue pair only"),
    detail::rate("link.rate", &HardwareProfile::link_rate, "link bandwidth; 0 is infinitely fast"),
    detail::cost("link.delay", &HardwareProfile::link_delay, "propagation over one link"),
    detail::size("link.mtu", &HardwareProfile::link_mtu, 64, 16384, "payload bytes of a packet"),
    detail::size("link.overhead", &HardwareProfile::link_overhead, 0, 256, "framing and headers of every packet"),
    detail::cost("switch.latency", &HardwareProfile::switch_latency, "first byte in to first byte out of a switch"),
});

/// A field of a profile in its base unit.
[[nodiscard]] std::int64_t value(const HardwareProfile& profile, const ProfileField& field);
/// Sets a field from its base unit. Precondition: minimum <= value <= maximum.
void set_value(HardwareProfile& profile, const ProfileField& field, std::int64_t value);

}  // namespace loco::nic
