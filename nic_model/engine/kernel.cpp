#include "nic_model/engine/kernel.hpp"

#include <stdexcept>
#include <string>

namespace loco::nic {

namespace {

/// May packets of one flow take several paths?
bool has_paths(const SystemConfig& c) {
  const fabric::Routing routing = c.network.options.routing;
  return routing != fabric::Routing::deterministic && routing != fabric::Routing::ecmp;
}

/// Can packets be lost, or come in another order than they were sent in?
bool is_lossy(const SystemConfig& c) {
  if (c.profile.link_ideal) return false;
  const fabric::Options& o = c.network.options;
  return has_paths(c) || c.network.buffers_overflow() || o.loss != 0 || !c.network.losses.empty() ||
         !c.network.changes.empty();
}

/// May TLPs of a packet be one step? Not where each is observed, waits for credits or a distance, or may pass others;
/// nor where PCIe takes no time, or packets are messages of any length.
bool has_bursts(const SystemConfig& c) {
  const HardwareProfile& p = c.profile;
  return c.timed && !c.witness && p.nic_word_order == WordOrder::ascending && p.faults.none() &&
         p.pcie_rate.value != 0 && p.pcie_posted_credits.count == 0 && p.pcie_write_interval.ps == 0 &&
         p.nic_stale_operands == StaleOperands::none && c.network.model == fabric::Model::packet;
}

SystemConfig checked(const SystemConfig& config) {
  if (const std::string error = config.profile.validate(); !error.empty()) throw std::invalid_argument(error);
  if (const std::string_view error = fabric_config(config).validate(); !error.empty()) {
    throw std::invalid_argument(std::string(error));
  }
  const fabric::CongestionAlgorithm algorithm = config.network.options.algorithm();
  if (needs_answers(algorithm) && config.profile.nic_ack_coalescing > 1) {
    throw std::invalid_argument(
        "congestion.algorithm hpcc, timely, swift and nscc need an answer a packet: nic.ack_coalescing 1, or 0 to have "
        "it set");
  }
  if (needs_answers(algorithm) && config.profile.link_rate.value == 0) {
    throw std::invalid_argument("congestion.algorithm hpcc, timely, swift and nscc need links with a rate");
  }
  const Faults& faults = config.profile.faults;
  if (is_lossy(config) && (faults.has(Fault::responder_reorders) || faults.has(Fault::early_write_completion))) {
    throw std::invalid_argument(
        "the faults responder_reorders and early_write_completion need a network that neither loses nor reorders");
  }
  return config;
}

}  // namespace

fabric::Config fabric_config(const SystemConfig& c) {
  const HardwareProfile& p = c.profile;
  fabric::Config network = c.network;
  network.topology = p.link_ideal ? fabric::Topology::ideal : c.topology;
  network.nodes = c.nodes;
  network.link_rate = p.link_rate;
  network.link_delay = p.link_delay;
  network.switch_latency = p.switch_latency;
  network.loopback_latency = p.nic_loopback;
  network.delivery_latency = p.nic_receive;
  network.delivery_jitter = p.nic_jitter;
  network.packets = {.mtu = p.link_mtu,
                     .overhead = p.link_overhead,
                     .reth_in_all = overtakes(p.nic_placement),
                     .gap = p.nic_packet_gap};
  network.planes = writes_overtake(p.nic_placement);
  network.packet_max = p.link_mtu + p.link_overhead + sim::Bytes{fabric::kAtomicEthBytes};
  if (needs_telemetry(network.options.algorithm())) {
    network.packet_max =
        network.packet_max + sim::Bytes{fabric::kTelemetryBytes + fabric::kTelemetryHops * fabric::kTelemetryHopBytes};
  }
  return network;
}

Kernel::Kernel(const SystemConfig& c) : config_(checked(c)), lossy_(is_lossy(c)), bursts_(has_bursts(c)) {
  const Placement placement = c.profile.nic_placement;
  loose_ = reads_as_they_come(placement) || (placement == Placement::out_of_order && lossy_);
  // Speculation compares what it has read from its beginning on; the flaw is about what was read last.
  any_word_order_ = c.profile.nic_word_order == WordOrder::any &&
                    c.profile.pcie_read_ordering != ReadOrdering::speculative &&
                    c.profile.nic_stale_operands == StaleOperands::none;
  // Packets of a word would cost what packets cost: only where none costs anything.
  const HardwareProfile& p = c.profile;
  const bool free =
      p.pcie_rate.value == 0 && p.nic_transmit.ps == 0 && p.nic_receive.ps == 0 && p.nic_packet_gap.ps == 0;
  words_travel_alone_ = any_word_order_ && free && p.link_ideal && !overtakes(placement) && p.faults.none() &&
                        c.network.model == fabric::Model::packet;
  const Recovery recovery = recovery_of(c.profile.nic_recovery, placement);
  const bool flows = c.network.model == fabric::Model::flow;  // whose events are not here: time must not run ahead
  times_ports_ = c.timers && !c.profile.link_ideal && !flows;
  watches_time_ = times_ports_ && !lossy_;
  selective_ = recovery == Recovery::selective_repeat && lossy_;
  const bool ideal = c.profile.link_ideal;
  any_packet_next_ = overtakes(placement) && (ideal || c.network.options.order == fabric::PacketOrder::any);
  // As if it came over other switches than those before it: what one hop takes for a whole packet.
  if (!ideal) {
    packet_spread_ = c.profile.link_delay + c.profile.switch_latency +
                     sim::transmission_time(c.profile.link_mtu + c.profile.link_overhead, c.profile.link_rate);
  }
  naks_gaps_ = recovery != Recovery::timer;
  const SlowRestart restart = c.profile.nic_slow_restart;
  const bool drops = lossy_ && c.network.options.flow_control == fabric::FlowControl::drop_tail;
  const bool in_time = c.timed || c.timers;  // else a window would keep packets in an order that nothing else keeps
  if (in_time && drops) lossy_timeout_ = c.profile.nic_lossy_timeout;
  slow_restarts_ = in_time && (restart == SlowRestart::on || (restart == SlowRestart::drop_tail && drops));
  windows_ = in_time && (lossy_timeout_.ps > 0 || slow_restarts_ || c.profile.nic_tx_window.count > 0 ||
                         c.profile.nic_slow_restart_idle.ps > 0);
  const fabric::Options& options = c.network.options;
  const bool unheard = needs_answers(options.algorithm()) && !in_time;
  congestion_ = {unheard ? fabric::CongestionAlgorithm::none : options.algorithm(), options.dcqcn, options.congestion};
  controls_ = needs_answers(congestion_.algorithm);
  ack_every_ = controls_ ? 1 : c.profile.nic_ack_coalescing;
  if (has_paths(c)) reorder_tolerance_ = c.profile.nic_reorder_tolerance;
}

SubeventId Kernel::next_subevent() {
  if (subevents_ == 0xffffffffU) throw std::length_error("a run records at most 2^32 - 1 subevents");
  return ++subevents_;
}

bool Kernel::operator==(const Kernel& o) const {
  if (events_.size() != o.events_.size()) return false;
  for (std::size_t i = 0; i < events_.size(); ++i) {
    if (!(events_.pending(i) == o.events_.pending(i))) return false;
  }
  return config_.profile == o.config_.profile && config_.nodes == o.config_.nodes &&
         config_.witness == o.config_.witness && counters_ == o.counters_ && now_ == o.now_ && seq_ == o.seq_ &&
         subevents_ == o.subevents_;
}

}  // namespace loco::nic
