// SimGrid behind FlowClock: a module of its own, which is loaded when a run needs it.
#include <algorithm>
#include <cmath>
#include <exception>
#include <map>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/kernel/resource/Action.hpp>
#include <simgrid/kernel/resource/Model.hpp>
#include <simgrid/s4u.hpp>
#include <simgrid/version.h>
#include <unordered_map>
#include <utility>

#include "fabric/flow/flow_clock.hpp"
#include "fabric/flow/platform.hpp"

namespace loco::fabric {

namespace s4u = simgrid::s4u;
using simgrid::kernel::timer::Timer;

namespace {

bool used = false;  // SimGrid has been started in this process: it cannot be started twice

double seconds(sim::SimTime at) { return static_cast<double>(at.ps) * 1e-12; }

/// Thrown out of SimGrid's loop when the client has nothing left to do.
struct Finished {};

/// Plain max-min sharing of what links carry. Latencies are added by us, since only the last byte's counts: a message
/// follows the one before it without waiting for that to arrive.
std::vector<std::string> arguments() {
  std::vector<std::string> list = {"loco-sim",
                                   "--log=root.thresh:error",
                                   "--cfg=network/model:CM02",
                                   "--cfg=network/crosstraffic:0",
                                   "--cfg=network/TCP-gamma:0",
                                   "--cfg=network/weight-S:0",
                                   "--cfg=network/latency-factor:0",
                                   "--cfg=network/bandwidth-factor:1"};
  // Below a picosecond: times that lie closer are one to SimGrid.
  list.emplace_back(SIMGRID_VERSION >= 33400 ? "--cfg=precision/timing:1e-13" : "--cfg=surf/precision:1e-13");
  return list;
}

class SimGridEngine final : public FlowClock::Engine {
 public:
  explicit SimGridEngine(const Config& config) : config_(config) {
    if (std::exchange(used, true)) throw FlowError("SimGrid runs once in a process: give each run its own");
    std::vector<std::string> words = arguments();
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    auto argc = static_cast<int>(argv.size());
    argv.push_back(nullptr);
    simgrid_ = std::make_unique<s4u::Engine>(&argc, argv.data());
    s4u::Host::on_creation_cb([this](const s4u::Host& host) { names_.push_back(host.get_name()); });
    route_of_ = build_platform(*simgrid_, names_, config_);
    for (const std::string& name : names_) hosts_.push_back(s4u::Host::by_name(name));
    for (const CrossFlow& flow : config_.flow.cross_traffic) {
      if (flow.from >= hosts_.size() || flow.to >= hosts_.size()) throw FlowError("background traffic of no host");
    }
    // a signal of all activities up to 3.33, of each kind from 3.34 on: this call finds either
    s4u::Comm::on_completion_cb([this](const s4u::Activity& activity) { completed(&activity); });
  }

  [[nodiscard]] const std::vector<std::string>& hosts() const override { return names_; }

  void run(FlowClient& client) override {
    client_ = &client;
    for (const CrossFlow& flow : config_.flow.cross_traffic) {
      Timer::set(seconds(flow.start), [this, flow] { start_cross(flow); });
    }
    wake(sim::SimTime{});
    try {
      simgrid_->run();
    } catch (const Finished&) {
    }
    if (failure_) std::rethrow_exception(failure_);
    if (!finished_) throw FlowError("SimGrid has stopped before the run's end");
  }

 private:
  struct Running {
    s4u::CommPtr comm;
    std::uint32_t lane = 0;
    FlowEnd end{};
  };

  /// SimGrid's time, in ours; never backwards.
  void look_at_clock() { now_ = std::max(now_, sim::SimTime{std::llround(s4u::Engine::get_clock() * 1e12)}); }

  /// Sees to it that pump() is called at `at` at the latest.
  void wake(sim::SimTime at) {
    if (timer_ != nullptr && timer_at_ <= at) return;
    if (timer_ != nullptr) timer_->remove();
    timer_at_ = at;
    timer_ = Timer::set(std::max(seconds(at), s4u::Engine::get_clock()), [this] {
      timer_ = nullptr;
      now_ = std::max(now_, timer_at_);
      pump();
    });
  }

  void completed(const s4u::Activity* activity) {
    const auto found = running_.find(activity);
    if (found == running_.end()) return;  // background traffic
    ended_.emplace_back(found->second.lane, found->second.end);
    finished_comms_.push_back(std::move(found->second.comm));  // not destroyed while SimGrid still looks at it
    running_.erase(found);
    look_at_clock();
    wake(now_);
  }

  /// What is due now, flows that have ended first.
  void pump() {
    try {
      finished_comms_.clear();
      std::sort(ended_.begin(), ended_.end(),  // of one moment: in an order of ours
                [](const auto& a, const auto& b) { return a.first < b.first; });
      for (const auto& [lane, end] : std::exchange(ended_, {})) client_->ended(lane, now_, end);
      go_on();
    } catch (...) {
      failure_ = std::current_exception();
      throw Finished{};
    }
    if (finished_) throw Finished{};
  }

  void go_on() {
    for (;;) {
      while (const std::optional<FlowStart> flow = client_->take_start()) {
        if (flow->withdrawn) {
          withdraw(flow->lane);
        } else {
          starts_.emplace(flow->at, *flow);
        }
      }
      while (!starts_.empty() && starts_.begin()->first <= now_) {
        start(starts_.begin()->second);
        starts_.erase(starts_.begin());
      }
      const std::optional<sim::SimTime> next = client_->next_time();
      const std::optional<sim::SimTime> first =
          starts_.empty() ? std::optional<sim::SimTime>() : starts_.begin()->first;
      // Without a flow under way, nothing of SimGrid's can come before the next start.
      const bool alone = running_.empty() && (!first || (next && *next <= *first));
      if (next && (*next <= now_ || alone)) {
        client_->step();
        continue;
      }
      if (next || first) return wake(std::min(next.value_or(*first), first.value_or(*next)));
      finished_ = running_.empty();
      return;
    }
  }

  void start(const FlowStart& flow) {
    s4u::Host* from = hosts_.at(flow.source);
    s4u::Host* to = hosts_.at(flow.destination);
    s4u::CommPtr comm = s4u::Comm::sendto_init(from, to);
    comm->set_payload_size(flow.bytes);
    const s4u::Activity* key = comm.get();
    running_[key] = {comm, flow.lane, route_of_(flow)};
    comm->start();
  }

  /// A lane has one flow, which is under way or is still to start.
  void withdraw(std::uint32_t lane) {
    std::erase_if(starts_, [lane](const auto& start) { return start.second.lane == lane; });
    const auto found =
        std::find_if(running_.begin(), running_.end(), [lane](const auto& flow) { return flow.second.lane == lane; });
    if (found == running_.end()) return;
    finished_comms_.push_back(std::move(found->second.comm));
    running_.erase(found);  // nobody is told of its end
    finished_comms_.back()->cancel();
  }

  void start_cross(const CrossFlow& flow) {
    s4u::CommPtr comm = s4u::Comm::sendto_init(hosts_[flow.from], hosts_[flow.to]);
    constexpr std::uint64_t kForEver = std::uint64_t{1} << 60U;
    comm->set_payload_size(flow.size.count != 0 ? flow.size.count : kForEver);
    cross_.push_back(comm);
    comm->start();
    if (flow.rate.value != 0) limit(*comm, static_cast<double>(flow.rate.value) / 8);
  }

  /// Comm::set_rate() is not for communications without mailboxes (3.32 ignores it): the action below has the bound.
  void limit(const s4u::Comm& comm, double bytes_per_second) {
    for (simgrid::kernel::resource::Model* model : simgrid_->get_all_models()) {
      for (simgrid::kernel::resource::Action& action : *model->get_started_action_set()) {
        if (action.get_activity() == comm.get_impl()) action.set_bound(bytes_per_second);
      }
    }
  }

  Config config_;
  std::unique_ptr<s4u::Engine> simgrid_;
  std::vector<std::string> names_;
  std::vector<s4u::Host*> hosts_;
  RouteOf route_of_;
  FlowClient* client_ = nullptr;
  sim::SimTime now_{};
  Timer* timer_ = nullptr;
  sim::SimTime timer_at_{};
  std::multimap<sim::SimTime, FlowStart> starts_;              // equal times: in the order in which they were told
  std::unordered_map<const s4u::Activity*, Running> running_;  // only for finding: its order tells nobody
  std::vector<std::pair<std::uint32_t, FlowEnd>> ended_;
  std::vector<s4u::CommPtr> finished_comms_;
  std::vector<s4u::CommPtr> cross_;
  std::exception_ptr failure_;
  bool finished_ = false;
};

}  // namespace

}  // namespace loco::fabric

extern "C" loco::fabric::FlowClock::Engine* loco_sim_flow_engine(const loco::fabric::Config& config) {
  return new loco::fabric::SimGridEngine(config);
}
