#include "loco_sim/run/hints.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <functional>
#include <iterator>
#include <string_view>

#include "fabric/fabric_options.hpp"
#include "nic_model/delivery/transports.hpp"
#include "nic_model/profile_options.hpp"

namespace loco {

namespace {

double number(std::uint64_t count) { return static_cast<double>(count); }

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

/// A readable time: `67.1 ms`, `10 us`.
std::string time_text(double ps) {
  constexpr std::array<std::string_view, 5> kUnits = {"ps", "ns", "us", "ms", "s"};
  constexpr double kStep = 1000;
  std::size_t unit = 0;
  for (; ps >= kStep - 0.5 && unit + 1 < kUnits.size(); ++unit) ps /= kStep;  // three digits are shown
  return fmt::format("{:.3g} {}", ps, kUnits.at(unit));
}

std::string percent(double share) { return fmt::format("{:.{}f} %", share * 100, share < 0.1 ? 1 : 0); }

/// What hints are derived from.
struct Run {
  const scenario::Scenario& scenario;
  const RunResult& result;
  const HintShares& shares;

  [[nodiscard]] const nic::Counters& counters() const { return result.counters; }
  [[nodiscard]] const fabric::Options& network() const { return scenario.network.options; }
  /// Of all hosts together, until the last operation ended.
  [[nodiscard]] double host_time() const { return static_cast<double>(result.simulated_ps) * scenario.nodes; }
  [[nodiscard]] bool reorders() const {
    return network().routing == fabric::topology::Routing::adaptive ||
           network().routing == fabric::topology::Routing::spray;
  }
  [[nodiscard]] bool needs_order() const {
    return std::ranges::any_of(scenario::hardware_in_use(scenario),
                               [](const auto& nic) { return !nic::reliable_order(nic).overtakes(); });
  }
};

std::string_view placement(const Run& run) {
  return nic::kPlacementNames.at(static_cast<std::size_t>(run.scenario.hardware.nic_placement));
}

/// If something failed and hosts have different path MTUs, they are a likely reason, although nothing counts it.
std::string path_mtus(const Run& run) {
  const std::vector<std::uint32_t>& mtus = run.scenario.path_mtu;
  const auto differs = std::ranges::adjacent_find(mtus, std::ranges::not_equal_to{});
  if (run.result.broken.empty() || differs == mtus.end()) return {};
  const auto bytes = [&](std::uint32_t mtu) { return mtu != 0 ? mtu : run.scenario.hardware.link_mtu.count; };
  return fmt::format("path MTUs of {} and {} B: between such hosts only messages of one packet pass; fabric.path_mtu",
                     bytes(*differs), bytes(*std::next(differs)));
}

/// What loses packets, by key: the scenario's loss rate and failures, and full buffers.
std::string why_lost(const Run& run) {
  const fabric::Config& network = run.scenario.network;
  const bool lossy = network.options.loss > 0;
  const bool fails = !network.losses.empty() || !network.changes.empty() || !run.scenario.stops.empty();
  std::string causes;
  if (fails) {
    causes = fmt::format("links fail or lose them: fabric.failures{}", lossy ? ", fabric.loss" : "");
  } else if (lossy) {
    causes = "links lose them: fabric.loss";
  }
  const std::uint64_t given_up = run.result.workload_counters.value("fabric_watchdog_lost");
  if (given_up > 0) {
    causes += causes.empty() ? "" : "; or ";
    causes += fmt::format("queues that were paused for too long are given up, {}: fabric.pfc.watchdog", given_up);
  }
  if (network.buffers_overflow() && given_up < run.counters().packets_lost) {
    causes += causes.empty() ? "" : "; or ";
    causes += "fabric.flow_control: pfc pauses links in place of dropping; fabric.buffer.size";
  }
  return causes;
}

std::string losses(const Run& run) {
  const std::uint64_t lost = run.counters().packets_lost;
  const double part = share(number(lost), number(run.counters().packets_sent));
  if (lost == 0 || part < run.shares.losses) return {};
  return fmt::format("packets_lost: {}, {} of the packets: {}", lost, percent(part), why_lost(run));
}

/// Retransmissions because of reordering, which an in-order NIC cannot distinguish from loss, or because of loss.
std::string retransmissions(const Run& run) {
  const std::uint64_t times = run.counters().retransmissions;
  const double part = share(number(times), number(run.counters().packets_sent));
  if (times == 0 || part < run.shares.retransmissions) return {};
  const std::string counted = fmt::format("retransmissions: {}, one for each {:.0f} packets", times, 1 / part);
  if (run.reorders() && run.needs_order() && run.counters().packets_lost < times) {
    return fmt::format(
        "{}: fabric.routing: {} reorders packets, which a NIC with hardware.nic.placement: {} takes for loss; "
        "hardware.nic.placement: out_of_order, or fabric.routing: ecmp",
        counted, fabric::kRoutingNames.at(static_cast<std::size_t>(run.network().routing)), placement(run));
  }
  const nic::HardwareProfile& nic = run.scenario.hardware;
  if (nic::reliable_order(nic).when_whole)
    return counted +
           ": each is a packet that was trimmed, lost or late, sent again alone; transport.rto_least, "
           "hardware.nic.reorder_tolerance";
  if (nic::recovery_of(nic.nic_recovery, nic.nic_placement) == nic::Recovery::selective_repeat)
    return counted + ": each is a packet that was lost or late, sent again alone; hardware.nic.reorder_tolerance";
  if (run.counters().packets_lost > 0)
    return counted +
           ": for want of the packets that got lost, all that came behind them is sent again; a NIC with "
           "hardware.nic.placement: out_of_order asks for those alone";
  return counted + ": for want of answers in time; hardware.nic.ack_timeout";
}

std::string timeouts(const Run& run) {
  const std::uint64_t times = run.counters().timeouts;
  const nic::HardwareProfile& p = run.scenario.hardware;
  const bool adapts = p.nic_lossy_timeout.ps > 0 && run.network().flow_control == fabric::FlowControl::drop_tail;
  const sim::Duration each = adapts ? p.nic_lossy_timeout : p.nic_ack_timeout;
  const double waited = number(times) * static_cast<double>(each.ps);
  if (times == 0 || share(waited, run.host_time()) < run.shares.waiting) return {};
  if (adapts)
    return fmt::format("timeouts: {}, from {} on; hardware.nic.lossy_timeout", times,
                       time_text(static_cast<double>(each.ps)));
  return fmt::format("timeouts: {}, each after {} without an answer; hardware.nic.ack_timeout", times,
                     time_text(static_cast<double>(each.ps)));
}

std::string not_ready(const Run& run) {
  const std::uint64_t times = run.counters().rnr_naks;
  const double part = share(number(times), number(run.counters().work_requests));
  if (times == 0 || part < run.shares.not_ready) return {};
  return fmt::format(
      "rnr_naks: {}: messages found no receive request, and each waits {} until it is tried again; "
      "hardware.nic.rnr_timer, or more receive requests",
      times, time_text(static_cast<double>(run.scenario.hardware.nic_rnr_timer.ps)));
}

std::string deadlock(const Run& run) {
  if (run.result.pause_cycle.empty()) return {};
  return fmt::format("PFC deadlock: {}; routes without cycles, or fabric.flow_control: drop_tail",
                     run.result.pause_cycle);
}

std::string pauses(const Run& run) {
  const double paused = number(run.result.workload_counters.value("fabric_paused_ps"));
  const double part = share(paused, run.host_time());
  if (paused == 0 || part < run.shares.paused) return {};
  const std::uint64_t by_nics = run.counters().tx_pauses;
  const std::string whose =
      by_nics == 0 ? std::string("fabric.buffer.size, fabric.pfc.xoff, or fabric.ecn.enabled and fabric.dcqcn.enabled")
                   : fmt::format(
                         "tx_pauses: {} times a NIC's receive buffer was full, since PCIe takes less than the port "
                         "brings; hardware.pcie.lanes, hardware.pcie.mps",
                         by_nics);
  return fmt::format("fabric_pauses: {}: links stood still for {} together, {} of the run for each host; {}",
                     run.result.workload_counters.value("fabric_pauses"), time_text(paused), percent(part), whose);
}

std::string discards(const Run& run) {
  const std::uint64_t times = run.counters().rx_discards;
  const double part = share(number(times), number(run.counters().packets_sent));
  if (times == 0 || part < run.shares.losses) return {};
  return fmt::format(
      "rx_discards: {}, {} of the packets: a NIC's receive buffer was full, since PCIe takes less than the port "
      "brings; hardware.pcie.lanes, hardware.pcie.mps, or fabric.flow_control: pfc",
      times, percent(part));
}

/// Compulsory misses, which no cache size avoids: for each queue pair between two hosts both parts of its context and
/// the slots of its reads, as requester and as responder, and a few regions.
double first_looks(const Run& run) {
  constexpr double kContexts = 4, kRegions = 4;
  const auto threads = run.scenario.settings.find("workload.threads");
  const double ends = static_cast<double>(run.scenario.nodes) * run.scenario.nodes;
  const double pairs = ends * static_cast<double>(threads == run.scenario.settings.end()
                                                      ? 1
                                                      : std::max<std::int64_t>(1, threads->second.number));
  return pairs * (kContexts + kRegions + 2.0 * run.scenario.hardware.nic_max_rd_atomic);
}

/// A ring whose nodes no longer begin their steps together.
std::string out_of_step(const Run& run) {
  const auto in_step = static_cast<double>(run.result.in_step_ps);
  if (in_step == 0 || run.result.operations.empty()) return {};
  const auto median = static_cast<double>(summarise(run.result.operations.front().samples_ps).median_ps);
  if (median < in_step * (1 + run.shares.out_of_step)) return {};
  return fmt::format(
      "all_reduce: {} where nodes in step take {}: a round of cache misses ({}) has put the ring out of step, and "
      "payload reads wait for the next chunk's writes since; workload.warmup, hardware.nic.translation_page",
      time_text(median), time_text(in_step), run.counters().cache_misses);
}

std::string misses(const Run& run) {
  const std::uint64_t times = run.counters().cache_misses;
  const double part = share(number(times), number(run.counters().work_requests));
  if (number(times) <= first_looks(run) || part < run.shares.misses) return {};
  return fmt::format(
      "cache_misses: {} with {} work requests: contexts, read states or translations are read over PCIe; "
      "hardware.nic.context_entries, nic.read_state_entries, nic.translation_entries",
      times, run.counters().work_requests);
}

std::string pcie(const Run& run) {
  const double rate = static_cast<double>(run.scenario.hardware.pcie_rate.value);
  if (rate <= 0) return {};
  const double carried = rate / 8 * run.host_time() * 1e-12;
  const double up = share(number(run.counters().pcie_bytes_up), carried);
  const double down = share(number(run.counters().pcie_bytes_down), carried);
  if (std::max(up, down) < run.shares.pcie) return {};
  return fmt::format("pcie_bytes_{}: the PCIe links are {} busy; hardware.pcie.rate", up > down ? "up" : "down",
                     percent(std::max(up, down)));
}

}  // namespace

std::vector<std::string> hints(const scenario::Scenario& scenario, const RunResult& result, const HintShares& shares) {
  const Run run{scenario, result, shares};
  std::vector<std::string> all;
  for (const auto hint : {&deadlock, &path_mtus, &retransmissions, &timeouts, &losses, &discards, &pauses, &not_ready,
                          &out_of_step, &misses, &pcie}) {
    std::string line = hint(run);
    if (!line.empty() && all.size() < kHintsMax) all.push_back(std::move(line));
  }
  return all;
}

}  // namespace loco
