// A hardware profile: every cost, size and option of the simulated host, PCIe link, NIC and network, and the deliberate
// faults. A plain value, read from hardware/*.yaml elsewhere. The table in profile_options.hpp has each field's YAML
// key, unit, default and range.
//
// The defaults describe an ideal machine that is exactly as weak as the declarative memory model. Costs of zero must
// not affect any order, because order comes only from queues (docs/machine.md, law 1).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "nic_model/transport_options.hpp"
#include "sim/time.hpp"

namespace loco::nic {

/// Which PCIe posted writes are ordered among each other and flushed by a read.
enum class OrderingDomain : std::uint8_t {
  qp,   ///< those of one queue pair in one role (requester or responder)
  nic,  ///< all of the NIC: no relaxed ordering
};

/// What a remote atomic is atomic with respect to (ibv_atomic_cap).
enum class AtomicCap : std::uint8_t {
  none,    ///< the NIC has no atomics; posting one fails
  hca,     ///< this NIC's atomics: it reads memory, then writes it
  global,  ///< the CPU as well: the root complex does both in one step
};

/// In which order the packets of a queue pair are placed in memory.
enum class Placement : std::uint8_t {
  in_order,      ///< in PSN order; packets that arrive early are dropped and requested again
  out_of_order,  ///< as they arrive, but SENDs, READs and atomics after all earlier messages (as mlx5 does)
  unordered,     ///< as they arrive, READs too (as Amazon's SRD does)
  /// WRITEs, SENDs and atomics in PSN order; READs as they arrive, even before earlier messages. Cray Aries was found
  /// to do this with deterministic routing, although its documentation promises one order (coreRMA paper, Section 7).
  reads_overtake,
  serial,  ///< in PSN order, each after the memory access of the one before: a target in software (Portals 4 over UDP)
};
/// In which order the words of one message are read from memory or placed there. The memory models assume `any`, where
/// an access to several words is one subevent per word, in no order (docs/checking.md).
enum class WordOrder : std::uint8_t {
  ascending,  ///< by address, one TLP or read completion at a time
  any,        ///< no order, nic.word_unit at a time
};
/// When atomics are executed if other requests are executed as they arrive (Placement::out_of_order, unordered).
enum class AtomicPlacement : std::uint8_t {
  behind_earlier,  ///< after all earlier messages, as on mlx5 and SRD
  as_they_come,
};
/// True if a request can be executed before one that was sent earlier.
[[nodiscard]] constexpr bool overtakes(Placement p) { return p != Placement::in_order && p != Placement::serial; }
/// True if a WRITE can be placed before one that was sent earlier.
[[nodiscard]] constexpr bool writes_overtake(Placement p) {
  return p == Placement::out_of_order || p == Placement::unordered;
}
[[nodiscard]] constexpr bool reads_as_they_come(Placement p) {
  return p == Placement::unordered || p == Placement::reads_overtake;
}

/// How reliable connections detect and resend lost packets.
enum class Recovery : std::uint8_t {
  by_placement,      ///< go_back_n if packets are placed in order, selective_repeat otherwise
  go_back_n,         ///< a NAK reports a gap; everything from the gap on is sent again (IBTA volume 1, 9.7.5)
  selective_repeat,  ///< answers report what has come after a gap; only the rest is sent again
                     ///< (requester/selective_repeat.hpp)
  timer,             ///< gaps are not reported; after a timeout everything is sent again
};
[[nodiscard]] constexpr Recovery recovery_of(Recovery r, Placement p) {
  if (r != Recovery::by_placement) return r;
  return overtakes(p) ? Recovery::selective_repeat : Recovery::go_back_n;
}

/// After which timeouts a queue pair restarts with a small window (requester/transmit_window.hpp).
enum class SlowRestart : std::uint8_t {
  off,
  drop_tail,  ///< on fabrics with fabric.flow_control: drop_tail, for which NICs have this option
  on,         ///< on all fabrics
};

/// Where a remote atomic's operands come from if the program has them in memory.
enum class AtomicOperands : std::uint8_t {
  posted,  ///< the CPU reads them when it posts, and they are part of the work request (verbs, DMAPP)
  memory,  ///< the NIC reads them when it starts the work request (Portals 4: a memory descriptor)
};

/// Which atomics of a NIC on its own node leave before their operands have been read from memory. They carry the words
/// that the NIC has read last (Portals 4 over UDP: coreRMA paper, Fig. 7). Only with operands in memory.
enum class StaleOperands : std::uint8_t { none, compare, add, both };

/// What orders the PCIe reads of one queue pair's READs. All but `unordered` are what-ifs, because PCIe has no such
/// order (compared in Efficient Remote Memory Ordering, ASPLOS 2026).
enum class ReadOrdering : std::uint8_t {
  unordered,       ///< nothing: PCIe reads may pass PCIe reads
  nic_serialised,  ///< the NIC issues a read once the data of the one before has arrived
  root_complex,    ///< the root complex executes the reads of a stream one after the other
  speculative,     ///< the root complex executes them in any order and repeats those that a write has overtaken
};

/// Deliberate faults: broken hardware, to show that the checkers can fail.
enum class Fault : std::uint8_t {
  posted_passes_posted,    ///< posted writes of one ordering domain commit in any order
  read_does_not_flush,     ///< a PCIe read passes posted writes issued before it
  completion_before_data,  ///< a CQE may pass the data that it announces
  doorbell_before_stores,  ///< a doorbell passes the thread's earlier stores
  payload_reads_reorder,   ///< payload reads of one queue pair take effect in any order
  fence_ignored,           ///< the fence flag is not honoured
  responder_reorders,      ///< requests of one queue pair are executed in any order
  early_write_completion,  ///< a write completes when its work request starts: before its payload is read
  atomic_replayed,         ///< an atomic whose request arrives again is executed again
};
inline constexpr std::array<std::string_view, 9> kFaultNames = {
    "posted_passes_posted",   "read_does_not_flush",    "completion_before_data",
    "doorbell_before_stores", "payload_reads_reorder",  "fence_ignored",
    "responder_reorders",     "early_write_completion", "atomic_replayed"};

/// A set of faults.
class Faults {
 public:
  [[nodiscard]] constexpr bool has(Fault f) const { return ((bits_ >> static_cast<unsigned>(f)) & 1U) != 0; }
  constexpr Faults& add(Fault f) {
    bits_ |= 1U << static_cast<unsigned>(f);
    return *this;
  }
  [[nodiscard]] constexpr bool none() const { return bits_ == 0; }
  constexpr bool operator==(const Faults&) const = default;

 private:
  std::uint32_t bits_ = 0;
};

inline constexpr sim::Bytes kIommuPage{4096};  ///< covered by one entry of the IOMMU's translation buffer

struct HardwareProfile {
  // --- cpu: what a thread's own instructions cost; the code that runs threads adds them up -------------------------
  sim::Duration cpu_load{};
  sim::Duration cpu_store{};
  sim::Duration cpu_fence{};        ///< an mfence when the store buffer is empty
  sim::Duration cpu_atomic{};       ///< a locked instruction when the store buffer is empty
  sim::Duration cpu_post_wqe{};     ///< building one work request
  sim::Duration cpu_doorbell{};     ///< the store to the NIC, once per post
  sim::Duration cpu_poll_empty{};   ///< a poll of an empty completion queue
  sim::Duration cpu_poll_cqe{};     ///< taking one CQE
  sim::Duration cpu_store_drain{};  ///< from the head of the store buffer to memory
  sim::Duration cpu_mmio_gap{};     ///< between 64-byte bursts of stores to the NIC
  std::uint32_t cpu_store_buffer_entries = 56;
  sim::BitsPerSecond cpu_copy_rate{};  ///< of copies made by message libraries; 0: free

  // --- pcie --------------------------------------------------------------------------------------------------------
  std::uint32_t pcie_generation = 0;  ///< gives the rate together with the lanes; 0: the rate is set directly
  std::uint32_t pcie_lanes = 16;
  sim::BitsPerSecond pcie_rate{};      ///< TLP bytes in each direction; 0: infinitely fast
  sim::Bytes pcie_mps{8};              ///< maximum payload of a memory write TLP; each TLP commits at once
  sim::Bytes pcie_mrrs{512};           ///< maximum read request
  sim::Bytes pcie_read_completion{8};  ///< payload of a completion TLP; memory is read in steps of this size
  sim::Bytes pcie_write_header{24};
  sim::Bytes pcie_read_header{24};
  sim::Bytes pcie_completion_header{20};
  sim::Duration pcie_upstream{};      ///< NIC to root complex
  sim::Duration pcie_downstream{};    ///< root complex to NIC: completions, doorbells
  sim::Duration pcie_read_access{};   ///< from a read's arrival at the root complex until memory is read
  sim::Duration pcie_write_commit{};  ///< from a write's arrival at the root complex until memory has it
  OrderingDomain pcie_ordering_domain = OrderingDomain::qp;
  std::uint32_t pcie_functions = 1;  ///< a NIC's queue pairs are spread over them in turn; each has a requester ID
  bool pcie_id_ordering = false;     ///< ID-based ordering: requests of one function pass writes of the others
  ReadOrdering pcie_read_ordering = ReadOrdering::unordered;
  /// Minimum time between commits of write TLPs that keep their order, if the root complex ends one before the next.
  sim::Duration pcie_write_interval{};
  sim::Duration pcie_read_interval{};        ///< minimum time between read requests of the NIC's DMA engine
  std::uint32_t pcie_tags = 0;               ///< read requests in flight at once; 0: no limit
  std::uint32_t pcie_nonposted_credits = 0;  ///< read requests that the root complex accepts at once; 0: no limit
  sim::Bytes pcie_posted_credits{0};         ///< bytes of writes that the root complex accepts at once; 0: no limit
  sim::Bytes pcie_completion_credits{0};     ///< bytes of read data that the NIC accepts at once; 0: no limit
  sim::Bytes pcie_cpu_cache{0};              ///< regions of at most this size are in the CPU's cache
  sim::Duration pcie_warm_saving{};          ///< by how much an access to such a region is faster
  sim::Duration pcie_switch{};               ///< of a switch on the way, in each direction
  sim::BitsPerSecond pcie_peer_write{};      ///< of writes to a GPU through the root complex; 0: link speed
  sim::BitsPerSecond pcie_peer_read{};       ///< the same of read data
  bool pcie_remote_numa = false;             ///< memory is on another socket than the NIC
  sim::Duration pcie_numa_penalty{};
  bool pcie_iommu = false;             ///< addresses are translated by an IOMMU
  sim::Bytes pcie_iommu_window{};      ///< covered by its translation buffer, in pages of 4 KiB
  sim::Duration pcie_iommu_penalty{};  ///< of an access to a page that is not covered: a walk of the IOMMU's tables
  std::uint32_t pcie_iommu_walks = 0;  ///< such walks at once; 0: no limit

  // --- nic ---------------------------------------------------------------------------------------------------------
  sim::Duration nic_wqe_start{};      ///< from a fetched work request to its first PCIe read or packet
  sim::Duration nic_transmit{};       ///< from a packet's data being in the NIC to its first bit on the wire
  sim::Duration nic_receive{};        ///< from a packet's last bit received to its processing
  sim::Duration nic_jitter{};         ///< half of the packets take this much longer there, a quarter twice as much
  sim::Duration nic_packet_gap{};     ///< minimum time between packets that a NIC starts to send
  sim::Duration nic_atomic_modify{};  ///< between the read and the write of an atomic
  sim::Duration nic_cqe{};            ///< from the end of a work request to the posting of its CQE
  sim::Duration nic_loopback{};       ///< of a packet from a NIC to itself, instead of the network
  sim::Bytes nic_wqe_bytes{64};
  sim::Bytes nic_cqe_bytes{64};
  std::uint32_t nic_wqe_fetch_max = 8;    ///< work requests that one PCIe read fetches
  std::uint32_t nic_max_rd_atomic = 128;  ///< reads and atomics outstanding per queue pair
  sim::Bytes nic_inline_max{0};           ///< largest inline payload
  bool nic_blueflame = false;             ///< a single inline WQE that fits travels in the doorbell write
  sim::Bytes nic_blueflame_max{256};      ///< WQE bytes that fit
  AtomicCap nic_atomic_cap = AtomicCap::hca;
  std::uint32_t nic_atomic_banks = 1;         ///< each executes one atomic at a time; chosen by address
  std::uint32_t nic_units = 0;                ///< processing units that start work requests; 0: no units
  sim::Duration nic_unit_time{};              ///< a work request occupies a unit for this long
  sim::Duration nic_qp_gap{};                 ///< between a queue pair's work requests that are not inline
  sim::BitsPerSecond nic_qp_gap_rate{};       ///< the gap covers the first packet's payload; 0: it does not
  sim::Duration nic_read_gap{};               ///< between a queue pair's answers to READs
  std::uint32_t nic_read_packets = 0;         ///< packets of READ data that a queue pair reads at a time; 0: all
  std::uint32_t nic_context_entries = 0;      ///< queue pair contexts that the NIC holds; 0: all
  std::uint32_t nic_read_state_entries = 0;   ///< outstanding READs and atomics whose state it holds; 0: all
  std::uint32_t nic_translation_entries = 0;  ///< memory translations that it holds; 0: all
  sim::Bytes nic_translation_page{4096};      ///< covered by one of them
  sim::Bytes nic_context_bytes{256};          ///< read over PCIe for what the NIC does not hold
  std::uint32_t nic_context_fetches = 0;      ///< such reads in flight at once; 0: no limit
  sim::BitsPerSecond nic_buffer_rate{};       ///< of a packet through the NIC's packet buffer; 0: no delay
  sim::BitsPerSecond nic_path_rate{};         ///< of the NIC's data path, through which PCIe data passes; 0: as PCIe
  sim::Duration nic_device_access{};          ///< of memory on the NIC
  sim::Bytes nic_max_message{std::uint64_t{1} << 31U};  ///< longest message (max_msg_sz)
  bool nic_send_segments = true;                        ///< a SEND may take several packets
  sim::Bytes nic_device_memory{};                       ///< amount of memory on the NIC; 0: no limit
  bool nic_device_own_path = false;                     ///< it has its own path, without order relative to host memory
  sim::Bytes nic_receive_buffer{};                      ///< for packets that wait for PCIe; 0: no limit
  sim::Bytes nic_receive_cell{};                        ///< unit that packets with headers fill; 0: payload bytes count
  sim::Duration nic_ack_timeout{67'108'864'000};  ///< 4.096 us * 2^14; without a response, the request is repeated
  sim::Duration nic_adaptive_timeout{};           ///< the first timeout; doubles each time; 0: nic_ack_timeout
  sim::Duration nic_tail_timeout{};               ///< with few packets in flight; 0: as with many
  std::uint32_t nic_tail_packets = 3;             ///< how many packets are few
  sim::Duration nic_lossy_timeout{};              ///< the first timeout where switches drop packets; 0: as elsewhere
  sim::Bytes nic_tx_window{};                     ///< unacknowledged bytes of a queue pair; 0: no limit
  SlowRestart nic_slow_restart = SlowRestart::off;
  sim::Duration nic_slow_restart_idle{};  ///< also restart after this long with nothing to send; 0: no
  Recovery nic_recovery = Recovery::by_placement;
  sim::Duration nic_reorder_tolerance{100'000'000};  ///< how late a packet on another path may arrive
  std::uint32_t nic_retry_count = 7;                 ///< repetitions before retry_exc_err
  sim::Duration nic_rnr_timer{640'000'000};          ///< how long an RNR NAK asks the requester to wait
  std::uint32_t nic_rnr_retry = 7;                   ///< repetitions before rnr_retry_exc_err; 7: for ever
  std::uint32_t nic_ack_coalescing = 0;              ///< packets of a message for each ACK; 0: one ACK a message
  Placement nic_placement = Placement::in_order;
  AtomicPlacement nic_atomic_placement = AtomicPlacement::behind_earlier;
  WordOrder nic_word_order = WordOrder::any;
  sim::Bytes nic_word_unit{8};  ///< with `any`: aligned bytes read or placed at once
  AtomicOperands nic_atomic_operands = AtomicOperands::memory;
  StaleOperands nic_stale_operands = StaleOperands::none;
  bool nic_inline_puts = false;  ///< litmus programs' puts are posted with inline payloads

  // --- network -----------------------------------------------------------------------------------------------------
  bool link_ideal = true;  ///< no network, whatever the topology: see fabric::Topology::ideal
  sim::BitsPerSecond link_rate{};
  sim::Duration link_delay{};
  sim::Bytes link_mtu{4096};     ///< payload bytes of a packet
  sim::Bytes link_overhead{82};  ///< framing and headers of each packet, without extension headers
  sim::Duration switch_latency{};

  /// The transport of reliable queue pairs. Not a cost of the hardware and not in profile_options().
  TransportOptions transport{};

  Faults faults;

  bool operator==(const HardwareProfile&) const = default;

  /// True if a NIC has more than one order of posted writes.
  [[nodiscard]] bool splits_writes() const {
    return pcie_ordering_domain == OrderingDomain::qp || (pcie_id_ordering && pcie_functions > 1);
  }
  /// What a packet takes of the receive buffer in addition to its payload: headers, and the rest of the last cell.
  [[nodiscard]] std::uint32_t received_besides(std::uint32_t payload) const {
    const std::uint64_t cell = nic_receive_cell.count;
    if (cell == 0) return 0;
    const std::uint64_t bytes = payload + link_overhead.count;
    return static_cast<std::uint32_t>((bytes + cell - 1) / cell * cell - payload);
  }
  /// Empty if every field is in range and they are consistent; otherwise the error.
  [[nodiscard]] std::string validate() const;
};

}  // namespace loco::nic
