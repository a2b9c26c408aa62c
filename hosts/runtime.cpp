#include "hosts/runtime.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <ranges>
#include <utility>

#include "fabric/disconnect.hpp"
#include "hosts/flow_driver.hpp"

namespace loco::hosts {

namespace {
Config checked(Config config) {
  if (!config.stops.empty() && config.schedule != Schedule::timed)
    throw std::invalid_argument("nodes stop at a time, which only the timed schedule has");
  std::ranges::stable_sort(config.stops, {}, &NodeStop::at);
  return config;
}
}  // namespace

nic::SystemConfig system_config(const Config& config) {
  fabric::Config network = config.network;
  network.nodes = nic::count_ports(config.hosts, config.nodes);
  network.topology = config.profile.link_ideal ? fabric::Topology::ideal : config.topology;
  if (config.schedule != Schedule::timed)
    network.options.variation = fabric::Variation::none;  // times mean nothing there
  for (const NodeStop& stop : config.stops)
    for (const nic::PortId port : nic::ports_of(config.hosts, config.nodes, nic::HostId(stop.node)))
      fabric::disconnect(network, port, stop.at);
  return {.profile = config.profile,
          .hosts = config.hosts,
          .topology = config.topology,
          .network = network,
          .nodes = config.nodes,
          .path_mtu = config.path_mtu,
          .congestion = config.congestion,
          .transports = config.transports,
          // A node may stop between any two events, so TLPs must not share one.
          .timed = config.schedule == Schedule::timed && config.stops.empty(),
          .timers = config.schedule == Schedule::timed,
          .seed = config.seed,
          .witness = config.record};
}

Runtime::Runtime(Config config)
    : config_(checked(std::move(config))),
      system_(system_config(config_)),
      scheduler_(config_.schedule, config_.seed),
      threads_(system_, config_.schedule == Schedule::timed, recorder_) {
  threads_.set_strong(config_.strong);
  if (config_.record) {
    recorder_ = std::make_unique<Recorder>(config_.nodes, config_.record_activities);
    recorder_->trace().seed = config_.seed;
  }
  if (config_.series_interval.ps > 0 && config_.schedule == Schedule::timed &&
      system_.network().packet_network() != nullptr) {
    series_.emplace(config_.series_interval);
  }
}

Runtime::~Runtime() { threads_.unwind(); }

namespace {
/// A program has thrown, which ends the run at once.
struct Failed {};
}  // namespace

void Runtime::run(const Report& waiting) {
  nic::Context context{.runner = threads_, .observer = recorder_.get(), .messages = messages_};
  steps_ = 0;
  std::uint64_t check_at = check_progress(steps_, waiting);
  const bool always_between = series_ || !config_.stops.empty();
  const auto step = [&] {
    if (always_between || before_next_) before_step();
    if (!scheduler_.step(system_, context)) return false;
    if (threads_.failed()) throw Failed{};
    if (++steps_ == check_at) check_at = check_progress(steps_, waiting);
    return refused_.empty();
  };
  try {
    if (config_.network.model == fabric::Model::flow) return run_on_flows(system_, step);
    if (config_.meeting != nullptr) {
      const auto run_until = [&](sim::SimTime end) {
        while (!config_.meeting->must_return(config_.network.share.part) && system_.due_before(end) && step()) {
        }
      };
      if (!config_.meeting->run(config_.network.share.part, system_, run_until))
        throw PartEnded("another part of the machine has ended the run");
      return;
    }
    while (step()) {
    }
  } catch (const Failed&) {  // the caller asks threads()
    return;
  }
}

void Runtime::stop_nodes() {
  if (system_.idle()) return;
  for (; stopped_ < config_.stops.size() && config_.stops[stopped_].at <= system_.next_time(); ++stopped_) {
    system_.power_off(config_.stops[stopped_].node);
    threads_.halt(config_.stops[stopped_].node);
  }
}

void Runtime::before_step() {
  if (before_next_) std::exchange(before_next_, {})();
  if (series_ && !system_.idle()) series_->until(*system_.network().packet_network(), system_.next_time());
  if (stopped_ < config_.stops.size()) stop_nodes();
}

std::uint64_t Runtime::check_progress(std::uint64_t events, const Report& waiting) {
  constexpr std::uint64_t kAskEvery = 4096;
  if (events > config_.events_max)
    throw EventLimit("the run has taken " + std::to_string(config_.events_max) + " events and has not ended" +
                     refused_text() + waiting());
  try {
    if (config_.budget != nullptr) config_.budget->check();
  } catch (const sim::LimitReached& reached) {
    throw sim::LimitReached(reached.what() + asking_text());
  }
  heap_.follow();
  const std::uint64_t next = events >= look_at_ && look_for_refusals(events) ? 1 : kAskEvery;
  return std::min(events + next, std::max(config_.events_max, events) + 1);
}

bool Runtime::look_for_refusals(std::uint64_t events) {
  constexpr std::uint64_t kLookEvery = 1 << 18;
  constexpr std::uint32_t kLooks = 128;  // refusing and repeating a message takes some dozens of events
  const bool others_may_act =
      config_.network.model == fabric::Model::flow || config_.meeting != nullptr || stopped_ < config_.stops.size();
  const std::uint64_t refusals_before = std::exchange(refusals_, system_.counters().rnr_naks);
  if (!others_may_act && (looks_ > 0 || refusals_ != refusals_before)) {
    std::vector<nic::QpId> refused = system_.refused_for_ever();
    if (!refused.empty() && refused.size() == system_.pending_events()) refused_ = std::move(refused);
    if (++looks_ < kLooks) return true;
  }
  looks_ = 0;
  look_at_ = events + kLookEvery;
  return false;
}

/// Threads that ask others again and again, which may be in vain and why the run does not end. In the same line, since
/// a limit is told in one.
std::string Runtime::asking_text() const {
  constexpr std::size_t kNamed = 3;
  const auto asks = [](const auto& thread) { return !thread->ended && !thread->service && thread->waits_for; };
  std::string text;
  for (const auto& thread : threads_.all() | std::views::filter(asks) | std::views::take(kNamed))
    text += fmt::format("; thread {} of node {} waits until {}", thread->name, thread->node, thread->waits_for());
  return text;
}

std::string Runtime::refused_text() const {
  constexpr std::size_t kNamed = 8;
  const std::vector<nic::QpId> refused = refused_.empty() ? system_.refused_for_ever() : refused_;
  std::string text;
  for (const nic::QpId qp : refused | std::views::take(kNamed))
    text += fmt::format(
        "; queue pair {} (host {}, to host {}) sends a message again and again: rnr_retry is 7, and no "
        "receive is posted for it",
        qp, system_.qp_node(qp), system_.qp_peer_node(qp));
  if (refused.size() > kNamed) text += fmt::format("; so do {} others", refused.size() - kNamed);
  if (!refused.empty()) text += fmt::format("; {} RNR NAKs", system_.counters().rnr_naks);
  return text;
}

trace::Trace Runtime::take_trace() {
  if (!recorder_) return {};
  if (threads_.in_step()) throw std::logic_error("a trace is taken during its cluster's run");
  const std::unique_ptr<Recorder> recorder = std::move(recorder_);
  // A run that a limit has ended gets a tenth of it on top, to complete its trace.
  constexpr double kGrace = 1.1;
  (void)recorder->end_run([this] { return config_.budget == nullptr || config_.budget->within(kGrace); });
  if (recorder->verbs() != nullptr) recorder->verbs()->end(system_);
  return std::move(recorder->trace());
}

std::string Runtime::pause_cycle() const {
  const fabric::PacketNetwork* network = system_.network().packet_network();
  return network == nullptr ? std::string() : fabric::cycle_text(*network, fabric::pause_cycle(*network));
}

std::string Runtime::paused_text() const {
  if (system_.network().packet_network() == nullptr) return {};
  const fabric::PacketNetwork& network = *system_.network().packet_network();
  constexpr std::size_t kNamed = 16;
  const std::vector<fabric::topology::LinkId> paused = network.paused_links();
  std::string text;
  for (std::size_t i = 0; i < std::min(paused.size(), kNamed); ++i) {
    const fabric::topology::Link& link = network.graph().link(paused[i]);
    text += (i == 0 ? "\n  paused links (PFC): " : ", ") + network.graph().name(link.from) + "-" +
            network.graph().name(link.to);
  }
  if (paused.size() > kNamed) text += " and " + std::to_string(paused.size() - kNamed) + " more";
  const std::string cycle = pause_cycle();
  return cycle.empty() ? text : text + "\n  PFC deadlock: " + cycle;
}

}  // namespace loco::hosts
