// What all units share: the configuration, simulated time, pending events, the order counter and the counters. A value.
// Private to nic_model/.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "fabric/congestion/congestion.hpp"
#include "nic_model/config.hpp"
#include "nic_model/counters.hpp"
#include "nic_model/delivery/transports.hpp"
#include "nic_model/verbs.hpp"
#include "sim/event_queue.hpp"
#include "sim/time.hpp"

namespace loco::nic {

/// Event kinds of the NIC model. The comments say what `where` and `a` are and what is due.
enum EventKind : std::uint16_t {
  kEventThreadStep = 0x200,  ///< thread
  kEventDrain,               ///< thread: the head of its store buffer
  kEventDoorbell,            ///< node: the oldest doorbell on its way to the NIC
  kEventFetchWqe,            ///< qp: a PCIe read of `a` work requests has returned
  kEventReadPayload,         ///< qp, WQE number: next step of the PCIe read of its payload
  kEventTransmit,            ///< qp: next packet of its send queue
  kEventReadRemote,          ///< qp, response number: next step of the PCIe read for a READ
  kEventAtomic,              ///< node, bank: the PCIe read of an atomic
  kEventAtomicDone,          ///< node, bank: an atomic has ended (when no write had to be committed)
  kEventRespond,             ///< qp: next packet of its responses
  kEventCommit,              ///< ordering domain, write number: next TLP of a posted write reaches memory
  kEventStrayRequest,        ///< qp, stray slot: a request that the fault responder_reorders has set apart
  kEventTimeout,             ///< qp: its transport timer
  kEventRnrTimer,            ///< qp: the receiver may be ready now
  kEventUnitFree = 0x240,    ///< qp: the processing unit that it waits for is free
  kEventArrival,             ///< qp: the oldest packet that waits for the queue pair's context
  kEventProbe,               ///< node, probe: next step of a bare DMA read
  kEventProbeDone,           ///< node: the data of a bare DMA read is in the device
  kEventAckTimers,           ///< requesters that wait for answers are checked: requester/ack_timers.hpp
  kEventNoAnswer,            ///< qp: what it has sent, or the answer to it, was dropped by its peer: no_answer.hpp
  kEventSetFlag,             ///< host: its flag `a` becomes `b`, by nobody of the machine
};

/// The time of a pending event whose time another pending event will set. Where any pending event may be next, so may
/// this one.
inline constexpr sim::SimTime kNoTimeYet = sim::SimTime::max();

class Kernel {
 public:
  /// Throws std::invalid_argument for an impossible configuration.
  explicit Kernel(const SystemConfig& config);

  [[nodiscard]] const SystemConfig& config() const { return config_; }
  /// The hardware of a NIC and its host. Of a NIC behind a PCIe switch each way to the root complex is longer by it.
  [[nodiscard]] const HardwareProfile& profile(NicId nic) const { return profile(first_port(nic)); }
  /// That of the port's NIC.
  [[nodiscard]] const HardwareProfile& profile(PortId port) const {
    if (alike_) [[likely]]
      return config_.profile;
    return kinds_[kind_of_[port]];
  }
  /// Number of NICs of all hosts, and of ports of all NICs.
  [[nodiscard]] std::uint32_t nics() const { return nics_; }
  [[nodiscard]] std::uint32_t ports() const { return nics() + static_cast<std::uint32_t>(further_ports_.size()); }
  [[nodiscard]] sim::IdRange<NicId> all_nics() const { return sim::IdRange<NicId>(nics()); }
  [[nodiscard]] sim::IdRange<PortId> all_ports() const { return sim::IdRange<PortId>(ports()); }
  [[nodiscard]] NicId nic_of_port(PortId port) const {
    return port.index() < nics() ? NicId(port.index()) : further_ports_[port.index() - nics()].nic;
  }
  /// Has any NIC several?
  [[nodiscard]] bool several_ports() const { return !further_ports_.empty(); }
  /// That port of a NIC. Throws std::invalid_argument when there is none.
  [[nodiscard]] PortId port_of(NicId nic, std::uint32_t index) const {
    return index == 0 ? first_port(nic) : further_port(nic, index);
  }
  /// Of no NIC there is no host: a UD queue pair has no peer.
  [[nodiscard]] HostId host_of(NicId nic) const {
    if (nic.index() < config_.nodes || nic == NicId::none()) [[likely]]
      return HostId(nic.index());
    return further_nics_[nic.index() - config_.nodes].host;
  }
  [[nodiscard]] HostId host_of(PortId port) const { return host_of(nic_of_port(port)); }
  /// The NIC's index among those of its host.
  [[nodiscard]] std::uint32_t index_of(NicId nic) const {
    return nic.index() < config_.nodes ? 0 : further_nics_[nic.index() - config_.nodes].index;
  }
  /// Throws std::invalid_argument if the host has no such NIC.
  [[nodiscard]] NicId nic_of(HostId host, std::uint32_t index) const;
  [[nodiscard]] const Faults& faults() const { return config_.profile.faults; }
  /// How connections deliver, by policy_number().
  [[nodiscard]] const DeliveryPolicy& policy(std::uint8_t number) const { return policies_[number]; }
  /// Of a queue pair of this type, whose QpConfig::transport is `own`: its number in transports(), and behind those the
  /// ones of SystemConfig::transports. Throws std::invalid_argument where there is no such one.
  [[nodiscard]] std::uint8_t policy_number(QpType type, std::uint8_t own) const;
  /// True if the network can lose or reorder packets.
  [[nodiscard]] bool loses_packets() const { return loses_packets_; }
  /// True if the words of one message are read and placed in any order (nic.word_order).
  [[nodiscard]] bool any_word_order() const { return any_word_order_; }
  /// True if, without a network, the words of a message also travel one by one (pcie/parts.hpp).
  [[nodiscard]] bool words_travel_alone() const { return words_travel_alone_; }
  /// True if all TLPs of a packet may be one step: see pcie/bursts.hpp.
  [[nodiscard]] bool bursts() const { return bursts_; }
  /// True if such a step is in progress.
  [[nodiscard]] bool bursting() const { return bursting_ != 0; }
  void burst_begins() { ++bursting_; }
  void burst_ends() { --bursting_; }

  /// True if packets that wait for a paused port can time out and be sent again: in runs in the order of time, on every
  /// network but the ideal one and the flow model.
  [[nodiscard]] bool times_ports() const { return times_ports_; }
  /// True if datagrams arrive in any order: on the ideal network, where any pending event may be next.
  [[nodiscard]] bool datagrams_overtake() const { return datagrams_overtake_; }
  /// By how much, at most, a NIC delays packets of a queue pair that arrive in any order whatever the paths. On the
  /// ideal network no time passes.
  [[nodiscard]] sim::Duration packet_spread() const { return packet_spread_; }

  /// Is this a run in the order of time?
  [[nodiscard]] bool in_time() const { return in_time_; }
  /// The first timeout of adaptive retransmission, which adapts its timeouts to round trips, on fabrics that drop
  /// packets; otherwise zero.
  [[nodiscard]] sim::Duration lossy_timeout(NicId node) const {
    return drops_in_time_ ? profile(node).nic_lossy_timeout : sim::Duration{};
  }
  /// True if a queue pair of this NIC starts with a small window after a timeout.
  [[nodiscard]] bool slow_restarts(NicId node) const {
    const SlowRestart restart = profile(node).nic_slow_restart;
    return in_time_ && (restart == SlowRestart::on || (restart == SlowRestart::drop_tail && drops_in_time_));
  }
  /// True if requesters measure round trips or count what is in flight (requester/transmit_window.hpp).
  [[nodiscard]] bool windows() const { return windows_; }
  /// The settings of congestion control. controls(): whether any algorithm acts on answers, which only runs in the
  /// order of time allow.
  [[nodiscard]] const fabric::CongestionSettings& congestion(std::uint8_t which = 0) const {
    return congestion_[which];
  }
  [[nodiscard]] bool controls() const { return controls_; }
  /// True if a requester may have to wait for answers before it sends more.
  [[nodiscard]] bool holds_back() const { return windows_ || controls_; }
  /// Packets of a message for each ACK; 0: only the last one requests an ACK.
  [[nodiscard]] std::uint32_t ack_every(NicId node) const { return controls_ ? 1 : profile(node).nic_ack_coalescing; }

  [[nodiscard]] sim::SimTime now() const { return now_; }
  /// To call before an event is handled.
  void advance(sim::SimTime to) {
    if (to > now_) now_ = to;
    ++counters_.events;
  }
  sim::EventHandle schedule(EventKind what, std::uint32_t where, std::uint64_t a, sim::SimTime at) {
    return events_.push({.at = at < now_ ? now_ : at, .what = what, .where = where, .a = a});
  }
  /// The same for one part of what the event concerns.
  sim::EventHandle schedule_part(EventKind what, std::uint32_t where, std::uint64_t a, std::uint64_t part,
                                 sim::SimTime at) {
    return events_.push({.at = at < now_ ? now_ : at, .what = what, .where = where, .a = a, .b = part});
  }
  bool cancel(sim::EventHandle event) { return events_.cancel(event); }
  [[nodiscard]] sim::EventQueue& events() { return events_; }
  [[nodiscard]] const sim::EventQueue& events() const { return events_; }

  // --- a part of a machine (docs/parallel-runs.md)
  // ----------------------------------------------------------------------
  /// True if this port, NIC or host is simulated in this part. NICs of a host are never apart.
  [[nodiscard]] bool has(PortId port) const { return config_.network.share.has(port.index()); }
  [[nodiscard]] bool has(NicId nic) const { return has(first_port(nic)); }
  [[nodiscard]] bool has(HostId host) const { return has(first_nic(host)); }
  /// True if events of equal time are ordered as in a machine in parts.
  [[nodiscard]] bool ranked() const { return ranked_; }
  /// Schedules an event of a queue pair at another one's request: in this part, or by handing it to the NIC's part.
  void schedule_for(NicId nic, sim::Event event) {
    event.priority = kOfOthers;
    if (!has(nic)) return for_others_.push_back(event);
    if (!ranked_) return static_cast<void>(events_.push({event.at, event.what, 0, event.where, event.a, event.b}));
    events_.push_ranked(event, event.where);
  }
  [[nodiscard]] std::vector<sim::Event>& for_others() { return for_others_; }
  /// An event of a host that comes behind everything else of its instant, whatever is simulated beside it.
  void schedule_last(EventKind what, HostId host, std::uint64_t a, std::uint64_t b, sim::SimTime at) {
    events_.push({.at = at, .what = what, .priority = kLast, .where = host.index(), .a = a, .b = b});
  }
  /// Adds another part's counters and takes the later time.
  void absorb(const Kernel& part);

  /// The next order stamp.
  std::uint64_t next_seq() { return seq_++; }
  [[nodiscard]] std::uint64_t seq() const { return seq_; }
  /// The next subevent's id. Throws std::length_error if no id is left.
  SubeventId next_subevent();
  [[nodiscard]] SubeventId subevents() const { return subevents_; }

  /// look_begins(): a check of the requesters that wait for answers (requester/ack_timers.hpp) becomes pending;
  /// look_ends(): it no longer is.
  void look_begins() { ++looks_; }
  void look_ends() { --looks_; }
  /// True if nothing but such checks is pending.
  [[nodiscard]] bool only_looks() const { return events_.size() == looks_; }

  /// Counts steps that have no event of their own as events.
  void count_steps(std::uint64_t steps) { counters_.events += steps; }
  /// Does not count the event being handled as a step.
  void uncount_step() { --counters_.events; }
  void count(std::uint64_t Counters::*what, std::uint64_t more = 1) { counters_.*what += more; }
  [[nodiscard]] const Counters& counters() const { return counters_; }

  bool operator==(const Kernel& other) const;

 private:
  static constexpr std::uint8_t kOfOthers = sim::kRanked + 1;  // after the network's events
  static constexpr std::uint8_t kLast = kOfOthers + 1;

  void set_kinds();
  [[nodiscard]] PortId further_port(NicId nic, std::uint32_t index) const;

  SystemConfig config_;
  std::uint32_t nics_ = 0;
  std::vector<NicPlace> further_nics_{};
  std::vector<PortPlace> further_ports_{};
  bool alike_ = true;                     // all NICs have the same hardware
  std::vector<HardwareProfile> kinds_{};  // else: what there is
  sim::IdVector<PortId, std::uint16_t> kind_of_{};
  std::vector<DeliveryPolicy> policies_{};
  bool loses_packets_ = false;
  bool times_ports_ = false;
  bool any_word_order_ = false;
  bool words_travel_alone_ = false;
  bool datagrams_overtake_ = false;
  sim::Duration packet_spread_{};
  bool in_time_ = false;        // this run takes events in the order of time
  bool drops_in_time_ = false;  // the same, and switches drop packets
  bool windows_ = false;
  bool controls_ = false;
  std::vector<fabric::CongestionSettings> congestion_{};  // the network's, then SystemConfig::congestion
  bool bursts_ = false;
  std::uint32_t bursting_ = 0;
  bool ranked_ = false;
  std::vector<sim::Event> for_others_{};
  std::size_t looks_ = 0;
  sim::EventQueue events_;
  Counters counters_;
  sim::SimTime now_{};
  std::uint64_t seq_ = 0;
  SubeventId subevents_ = 0;
};

/// The network that goes with a configuration.
[[nodiscard]] fabric::Config fabric_config(const SystemConfig& config);

}  // namespace loco::nic
