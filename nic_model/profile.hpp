// A hardware profile: every cost, size and option of the simulated host, PCIe link, NIC and network, and the
// deliberate faults. A plain value; read from hardware/*.yaml elsewhere. The table in profile_options.hpp gives each
// field its YAML key, unit, default and range.
//
// The defaults are those of an ideal machine that is exactly as weak as the declarative memory model: costs of zero
// are not allowed to matter for order, because order comes from queues only (docs/machine.md, law 1).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "nic_model/transport_options.hpp"
#include "sim/time.hpp"

namespace loco::nic {

/// Which PCIe posted writes are ordered among themselves, and pushed by a read.
enum class OrderingDomain : std::uint8_t {
  qp,   ///< those of one queue pair and role (requester or responder)
  nic,  ///< all of the NIC's: no relaxed ordering
};

/// Against whom a remote atomic is atomic (ibv_atomic_cap).
enum class AtomicCap : std::uint8_t {
  none,    ///< the NIC has no atomics: posting one is refused
  hca,     ///< against this NIC's atomics: it reads, then writes, memory
  global,  ///< against the CPU too: the root complex does it in one step
};

/// When packets of one queue pair are placed in memory.
enum class Placement : std::uint8_t {
  in_order,      ///< in PSN order: what comes early is dropped and asked for again
  out_of_order,  ///< as they come, SENDs, READs and atomics behind all earlier messages (as mlx5 does)
  unordered,     ///< as they come, READs too (as Amazon's SRD does)
  /// WRITEs, SENDs and atomics in PSN order; READs as they come, past earlier messages: what Cray Aries was found to do
  /// with deterministic routing, although its documentation promises one order (coreRMA paper, Section 7)
  reads_overtake,
  serial,  ///< in PSN order, each once the one before it has accessed memory: a target in software (Portals 4 over UDP)
};
/// In which order the words of one message are read from memory, or placed there. What the models know is `any`: an
/// access of several words is one subevent a word, in no order (docs/checking.md).
enum class WordOrder : std::uint8_t {
  ascending,  ///< of addresses: a TLP, or a completion of a read, at a time
  any,        ///< none: nic.word_unit at a time
};
/// When atomics are executed where other requests are taken as they come (Placement::out_of_order, unordered).
enum class AtomicPlacement : std::uint8_t {
  behind_earlier,  ///< behind all earlier messages, as mlx5 and SRD do
  as_they_come,
};
/// Can a request be executed before one that was sent earlier?
[[nodiscard]] constexpr bool overtakes(Placement p) { return p != Placement::in_order && p != Placement::serial; }
/// Can a WRITE be placed before one that was sent earlier?
[[nodiscard]] constexpr bool writes_overtake(Placement p) {
  return p == Placement::out_of_order || p == Placement::unordered;
}
[[nodiscard]] constexpr bool reads_as_they_come(Placement p) {
  return p == Placement::unordered || p == Placement::reads_overtake;
}

/// What finds and repeats what the network has lost, on reliable connections.
enum class Recovery : std::uint8_t {
  by_placement,      ///< go_back_n in order, selective_repeat out of order
  go_back_n,         ///< a NAK for a gap; everything from the gap on is sent again (IBTA volume 1, 9.7.5)
  selective_repeat,  ///< what has come behind a gap is said; what is missing is sent again
                     ///< (requester/selective_repeat.hpp)
  timer,             ///< nothing is said of gaps: the timer finds them, and everything is sent again
};
[[nodiscard]] constexpr Recovery recovery_of(Recovery r, Placement p) {
  if (r != Recovery::by_placement) return r;
  return overtakes(p) ? Recovery::selective_repeat : Recovery::go_back_n;
}

/// Behind which time-outs a queue pair begins with a small window (requester/transmit_window.hpp).
enum class SlowRestart : std::uint8_t {
  off,
  drop_tail,  ///< on fabrics with fabric.flow_control: drop_tail, for which NICs have it
  on,         ///< everywhere
};

/// Where a remote atomic's operands come from when the program has them in memory.
enum class AtomicOperands : std::uint8_t {
  posted,  ///< the CPU reads them when it posts: they are part of the work request (verbs, DMAPP)
  memory,  ///< the NIC reads them when it starts the work request (Portals 4: a memory descriptor)
};

/// Which atomics of a NIC on its own node leave before their operands have been read from memory, and carry the words
/// that the NIC has read last (Portals 4 over UDP: coreRMA paper, Fig. 7). With operands in memory only.
enum class StaleOperands : std::uint8_t { none, compare, add, both };

/// What keeps the PCIe reads of one queue pair's READs in order. All but `unordered` are what-ifs: PCIe has no such
/// order (Efficient Remote Memory Ordering, ASPLOS 2026, compares them).
enum class ReadOrdering : std::uint8_t {
  unordered,       ///< nothing: PCIe reads may pass PCIe reads
  nic_serialised,  ///< the NIC issues the next read when the data of the last one is there
  root_complex,    ///< the root complex executes the reads of a stream one after the other
  speculative,     ///< the root complex executes them in any order and repeats those that a write has overtaken
};

/// Deliberate faults: broken hardware, to prove that the checkers can fail.
enum class Fault : std::uint8_t {
  posted_passes_posted,    ///< posted writes of one ordering domain commit in any order
  read_does_not_flush,     ///< a PCIe read passes posted writes issued before it
  completion_before_data,  ///< a CQE does not stay behind the data it announces
  doorbell_before_stores,  ///< a doorbell passes the thread's earlier stores
  payload_reads_reorder,   ///< payload reads of one queue pair take effect in any order
  fence_ignored,           ///< the fence flag is not honoured
  responder_reorders,      ///< requests of one queue pair are executed in any order
  early_write_completion,  ///< a write completes when its work request starts: before its payload is read
  atomic_replayed,         ///< an atomic whose request comes again is executed again
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

inline constexpr sim::Bytes kIommuPage{4096};  ///< what an entry of the IOMMU's buffer covers

struct HardwareProfile {
  // --- cpu: what a thread's own instructions cost; the code that runs threads adds them up -------------------------
  sim::Duration cpu_load{};
  sim::Duration cpu_store{};
  sim::Duration cpu_fence{};        ///< mfence once the store buffer is empty
  sim::Duration cpu_atomic{};       ///< locked instruction once the store buffer is empty
  sim::Duration cpu_post_wqe{};     ///< building one work request
  sim::Duration cpu_doorbell{};     ///< once per post: the store to the NIC
  sim::Duration cpu_poll_empty{};   ///< a poll of an empty completion queue
  sim::Duration cpu_poll_cqe{};     ///< taking one CQE
  sim::Duration cpu_store_drain{};  ///< head of the store buffer to memory
  sim::Duration cpu_mmio_gap{};     ///< between 64-byte bursts of stores to the NIC
  std::uint32_t cpu_store_buffer_entries = 56;
  sim::BitsPerSecond cpu_copy_rate{};  ///< copying memory, where a message library copies; 0 is free

  // --- pcie --------------------------------------------------------------------------------------------------------
  std::uint32_t pcie_generation = 0;  ///< with the lanes, gives the rate; 0: the rate is set on its own
  std::uint32_t pcie_lanes = 16;
  sim::BitsPerSecond pcie_rate{};      ///< TLP bytes a second, each direction; 0 is infinitely fast
  sim::Bytes pcie_mps{8};              ///< maximum payload of a memory write TLP; one TLP commits at once
  sim::Bytes pcie_mrrs{512};           ///< maximum read request
  sim::Bytes pcie_read_completion{8};  ///< payload of a completion TLP; memory is sampled in these steps
  sim::Bytes pcie_write_header{24};
  sim::Bytes pcie_read_header{24};
  sim::Bytes pcie_completion_header{20};
  sim::Duration pcie_upstream{};      ///< NIC to root complex
  sim::Duration pcie_downstream{};    ///< root complex to NIC: completions, doorbells
  sim::Duration pcie_read_access{};   ///< a read at the root complex until memory is sampled
  sim::Duration pcie_write_commit{};  ///< a write at the root complex until memory has it
  OrderingDomain pcie_ordering_domain = OrderingDomain::qp;
  std::uint32_t pcie_functions = 1;  ///< that a NIC's queue pairs are spread over in turn, each a requester ID
  bool pcie_id_ordering = false;     ///< ID-based ordering: requests of one function pass writes of the others
  ReadOrdering pcie_read_ordering = ReadOrdering::unordered;
  /// Least distance between commits of write TLPs that keep their order: a root complex that ends one before the next.
  sim::Duration pcie_write_interval{};
  sim::Duration pcie_read_interval{};        ///< least distance between read requests that the NIC's DMA engine issues
  std::uint32_t pcie_tags = 0;               ///< read requests under way at once; 0 is no limit
  std::uint32_t pcie_nonposted_credits = 0;  ///< read requests that the root complex takes at once; 0 is no limit
  sim::Bytes pcie_posted_credits{0};         ///< bytes of writes that the root complex takes at once; 0 is no limit
  sim::Bytes pcie_completion_credits{0};     ///< bytes of read data that the NIC takes at once; 0 is no limit
  sim::Bytes pcie_cpu_cache{0};              ///< regions of at most this size lie in the CPU's cache
  sim::Duration pcie_warm_saving{};          ///< what an access to such a region is faster by
  sim::Duration pcie_switch{};               ///< a switch on the way, each way
  sim::BitsPerSecond pcie_peer_write{};      ///< of writes to a GPU through the root complex; 0: as fast as links
  sim::BitsPerSecond pcie_peer_read{};       ///< and of the data of reads
  bool pcie_remote_numa = false;             ///< memory is at another socket than the NIC
  sim::Duration pcie_numa_penalty{};
  bool pcie_iommu = false;             ///< addresses are translated by an IOMMU
  sim::Bytes pcie_iommu_window{};      ///< what its translation buffer covers, in pages of 4 KiB
  sim::Duration pcie_iommu_penalty{};  ///< of an access to a page outside of it: a walk of the IOMMU's tables
  std::uint32_t pcie_iommu_walks = 0;  ///< so many of them at once; 0 is no limit

  // --- nic ---------------------------------------------------------------------------------------------------------
  sim::Duration nic_wqe_start{};      ///< a fetched work request until its first PCIe read or packet
  sim::Duration nic_transmit{};       ///< a packet's data present until its first bit is on the wire
  sim::Duration nic_receive{};        ///< a packet's last bit received until it is acted on
  sim::Duration nic_jitter{};         ///< half of the packets take this much longer until then, a quarter twice as much
  sim::Duration nic_packet_gap{};     ///< least distance between packets that one NIC begins to send
  sim::Duration nic_atomic_modify{};  ///< between the read and the write of an atomic
  sim::Duration nic_cqe{};            ///< a work request complete until its CQE is posted
  sim::Duration nic_loopback{};       ///< a packet from a NIC to itself, in place of the network
  sim::Bytes nic_wqe_bytes{64};
  sim::Bytes nic_cqe_bytes{64};
  std::uint32_t nic_wqe_fetch_max = 8;    ///< work requests that one PCIe read fetches
  std::uint32_t nic_max_rd_atomic = 128;  ///< reads and atomics outstanding per queue pair
  sim::Bytes nic_inline_max{0};           ///< largest inline payload
  bool nic_blueflame = false;             ///< a single inline WQE that fits travels in the doorbell write
  sim::Bytes nic_blueflame_max{256};      ///< WQE bytes that fit
  AtomicCap nic_atomic_cap = AtomicCap::hca;
  std::uint32_t nic_atomic_banks = 1;         ///< in each of which one atomic is executed at a time, by address
  std::uint32_t nic_units = 0;                ///< processing units that start work requests; 0: no units
  sim::Duration nic_unit_time{};              ///< a unit is busy with a work request
  sim::Duration nic_qp_gap{};                 ///< between a queue pair's work requests that are not inline
  sim::BitsPerSecond nic_qp_gap_rate{};       ///< that gap is longer by the message at this rate; 0: it is not
  sim::Duration nic_read_gap{};               ///< between a queue pair's answers to READs
  std::uint32_t nic_read_packets = 0;         ///< packets of READ data that a queue pair reads at a time; 0: all
  std::uint32_t nic_context_entries = 0;      ///< queue pair contexts that the NIC holds; 0: all
  std::uint32_t nic_read_state_entries = 0;   ///< outstanding READs and atomics whose state it holds; 0: all
  std::uint32_t nic_translation_entries = 0;  ///< memory translations that it holds; 0: all
  sim::Bytes nic_translation_page{4096};      ///< covered by one of them
  sim::Bytes nic_context_bytes{256};          ///< read over PCIe for what it does not hold
  std::uint32_t nic_context_fetches = 0;      ///< such reads under way at once; 0 is no limit
  sim::BitsPerSecond nic_buffer_rate{};       ///< of a packet through the NIC's packet buffer; 0 is no delay
  sim::BitsPerSecond nic_path_rate{};         ///< of the NIC's data path, which PCIe data flows through; 0: as PCIe
  sim::Duration nic_device_access{};          ///< memory on the NIC
  sim::Bytes nic_max_message{std::uint64_t{1} << 31U};  ///< longest message (max_msg_sz)
  bool nic_send_segments = true;                        ///< a SEND may take several packets
  sim::Bytes nic_device_memory{};                       ///< how much of that there is; 0 is no limit
  bool nic_device_own_path = false;               ///< it is reached on a path of its own: no order with the host's
  sim::Bytes nic_receive_buffer{};                ///< packets that wait for PCIe; 0 is no limit
  sim::Bytes nic_receive_cell{};                  ///< of it, which a packet fills with its headers; 0: payload counts
  sim::Duration nic_ack_timeout{67'108'864'000};  ///< 4.096 us * 2^14: without a response, the request is repeated
  sim::Duration nic_adaptive_timeout{};           ///< the first one; doubles with each repetition; 0: nic_ack_timeout
  sim::Duration nic_tail_timeout{};               ///< with few packets under way; 0: as with many
  std::uint32_t nic_tail_packets = 3;             ///< so few
  sim::Duration nic_lossy_timeout{};              ///< the first one where switches drop; 0: as elsewhere
  sim::Bytes nic_tx_window{};                     ///< unacknowledged bytes of a queue pair; 0: no limit
  SlowRestart nic_slow_restart = SlowRestart::off;
  sim::Duration nic_slow_restart_idle{};  ///< also behind so long a time without anything to send; 0: not
  Recovery nic_recovery = Recovery::by_placement;
  sim::Duration nic_reorder_tolerance{100'000'000};  ///< how late a packet may be that has taken another path
  std::uint32_t nic_retry_count = 7;                 ///< repetitions before retry_exc_err
  sim::Duration nic_rnr_timer{640'000'000};          ///< what an RNR NAK tells the requester to wait
  std::uint32_t nic_rnr_retry = 7;                   ///< repetitions before rnr_retry_exc_err; 7: for ever
  std::uint32_t nic_ack_coalescing = 0;              ///< packets of a message for each ACK; 0: one ACK a message
  Placement nic_placement = Placement::in_order;
  AtomicPlacement nic_atomic_placement = AtomicPlacement::behind_earlier;
  WordOrder nic_word_order = WordOrder::any;
  sim::Bytes nic_word_unit{8};  ///< with `any`: aligned bytes that are read or placed at once
  AtomicOperands nic_atomic_operands = AtomicOperands::memory;
  StaleOperands nic_stale_operands = StaleOperands::none;
  bool nic_inline_puts = false;  ///< litmus programs' puts are posted with inline payloads

  // --- network -----------------------------------------------------------------------------------------------------
  bool link_ideal = true;  ///< no network at all, whatever the topology: see fabric::Topology::ideal
  sim::BitsPerSecond link_rate{};
  sim::Duration link_delay{};
  sim::Bytes link_mtu{4096};     ///< payload bytes of a packet
  sim::Bytes link_overhead{82};  ///< bytes of framing and headers of every packet, extension headers apart
  sim::Duration switch_latency{};

  /// What reliable queue pairs are. No cost of the hardware, and not among profile_options().
  TransportOptions transport{};

  Faults faults;

  bool operator==(const HardwareProfile&) const = default;

  /// Has a NIC more than one order of posted writes?
  [[nodiscard]] bool splits_writes() const {
    return pcie_ordering_domain == OrderingDomain::qp || (pcie_id_ordering && pcie_functions > 1);
  }
  /// What a packet's payload takes of the receive buffer besides its own bytes: headers, and the rest of the last cell.
  [[nodiscard]] std::uint32_t received_besides(std::uint32_t payload) const {
    const std::uint64_t cell = nic_receive_cell.count;
    if (cell == 0) return 0;
    const std::uint64_t bytes = payload + link_overhead.count;
    return static_cast<std::uint32_t>((bytes + cell - 1) / cell * cell - payload);
  }
  /// Empty when every field is in range and they fit together, else what is wrong.
  [[nodiscard]] std::string validate() const;
};

}  // namespace loco::nic
