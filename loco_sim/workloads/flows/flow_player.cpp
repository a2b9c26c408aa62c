#include "loco_sim/workloads/flows/flow_player.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <span>
#include <utility>

#include "loco_sim/transport/message_follower.hpp"
#include "loco_sim/transport/virtual_transport.hpp"
#include "loco_sim/workloads/flows/leaps.hpp"

namespace loco::workloads::flows {

class Player final : public MessageFollower, public std::enable_shared_from_this<Player> {
 public:
  Player(WorkloadHosts place, FlowList list, Play how)
      : place_(std::move(place)),
        cluster_(place_.cluster()),
        list_(std::move(list)),
        how_(how),
        states_(list_.flows.size()),
        leaps_(cluster_, {.possible = how_.means != Means::read && place_.part().name.empty(), .fault = how.leap_fault},
               [this](std::uint32_t f, std::uint32_t bytes, std::uint32_t packets) {
                 states_[f].left -= bytes;
                 states_[f].sent += packets;
               }),
        hosts_(cluster_.config().nodes) {
    for (std::uint32_t f = 0; f < list_.flows.size(); ++f) lay_out(f);
    if (!list_.triggers.empty()) leaps_.are_chained();
    if (how_.means == Means::send) inbox_ = place_.take_sends();
    for (std::uint8_t c = 0; c < services_.size(); ++c)
      if (std::ranges::find(list_.flows, c, &Flow::traffic_class) != list_.flows.end())
        services_.at(c) = place_.service_of(c);
    std::vector<std::uint64_t> most(hosts_.size(), 0);
    for (const Flow& flow : list_.flows) {
      most[flow.source] = std::max(most[flow.source], flow.bytes);
      most[flow.destination] = std::max(most[flow.destination], flow.bytes);
    }
    for (NodeId n = 0; n < hosts_.size(); ++n) {
      Host& host = hosts_[n];
      std::ranges::stable_sort(host.timed, {}, [this](std::uint32_t f) { return list_.flows[f].start_ps; });
      if (most[n] > 0) host.memory = cluster_.node(n).allocate(round_up(most[n], kWord));
      if (host.to_take) end_of(n).open_inbox(inbox_, host.memory);
    }
  }

  void spawn() {
    place_.follow(this);
    for (NodeId n = 0; n < hosts_.size(); ++n) {
      const Host& host = hosts_[n];
      if (host.to_take)  // a service thread, which the end of the run does not wait for
        end_of(n).spawn(
            "receives", [this, n] { take(n); }, true);
      if (host.to_post == 0 && host.to_receive == 0) continue;
      if (host.to_post > 0) {
        const bool waits = host.triggered;
        place_.spawn_now(n, "flows", [this, waits](Transport& t) { waits ? post_ready(t) : post_timed(t); });
        place_.spawn_now(n, "completions", [this](Transport& t) { complete(t); });
        if (waits && !host.timed.empty()) place_.spawn_now(n, "clock", [this](Transport& t) { keep_time(t); });
      }
      if (host.to_receive > 0) place_.spawn_now(n, "received", [this](Transport& t) { see_received(t); });
    }
    if (cluster_.config().network.share.ranked) connect_ahead();
  }

  void on_placed(std::uint64_t work_id, std::uint32_t bytes, sim::SimTime at) override {
    const auto f = static_cast<std::uint32_t>(work_id - 1);
    State& state = states_[f];
    if (leaps_.on()) leaps_.placed(f, bytes);
    state.left -= std::min(state.left, bytes);  // repeated data may be placed again
    if (state.left != 0 || state.received_ps != kNever || state.gone) return;
    state.received_ps = at.ps + leaps_.left_out_ps();
    if (!fires(f, End::received)) return;
    const NodeId n = list_.flows[f].destination;
    hosts_[n].received.push_back(f);
    cluster_.node(n).wake_all();
  }

  void on_request_packet(std::uint64_t work_id, nic::PacketStep step, const fabric::Packet& packet) override {
    State& state = states_[work_id - 1];
    if (step == nic::PacketStep::received) {
      state.marked += packet.marked ? 1 : 0;
      if (leaps_.on()) leaps_.arrived(static_cast<std::uint32_t>(work_id - 1), packet);
      return;
    }
    if (leaps_.on()) leaps_.sent(static_cast<std::uint32_t>(work_id - 1), packet);
    ++state.sent;
    if (packet.offset < state.sent_to) ++state.repeated;
    state.sent_to = std::max(state.sent_to, packet.offset + std::max(packet.length, 1U));
  }

  [[nodiscard]] std::vector<FlowRecord> records() const {
    std::vector<FlowRecord> all;
    all.reserve(list_.flows.size());
    for (std::size_t f = 0; f < list_.flows.size(); ++f) {
      const Flow& flow = list_.flows[f];
      const State& state = states_[f];
      const bool ended = !state.gone;
      all.push_back({.source = flow.source,
                     .destination = flow.destination,
                     .bytes = flow.bytes,
                     .id = flow.id,
                     .start_ps = state.due_ps,
                     .received_ps = ended ? state.received_ps : kNever,
                     .completed_ps = state.completed_ps,
                     .packets_sent = state.sent,
                     .marked_packets = state.marked,
                     .retransmitted_packets = state.repeated,
                     .traffic_class = class_of(flow)});
    }
    return all;
  }

  [[nodiscard]] const Leaps& leaps() const { return leaps_; }
  [[nodiscard]] const std::vector<std::pair<NodeId, Completion>>& failures() const { return failures_; }
  [[nodiscard]] std::uint64_t failed() const {
    return static_cast<std::uint64_t>(std::ranges::count(states_, true, &State::gone));
  }

 private:
  /// The state of a flow while it is played.
  struct State {
    std::int64_t due_ps = kNever;
    std::int64_t received_ps = kNever;
    std::int64_t completed_ps = kNever;
    std::uint32_t left = 0;     // bytes that are not in memory yet
    std::uint32_t sent_to = 0;  // end of the bytes sent so far
    std::uint32_t sent = 0;
    std::uint32_t marked = 0;
    std::uint32_t repeated = 0;
    std::uint32_t slot = 0;
    bool gone = false;  // it has failed, or will never begin
  };

  /// The thread of a queue pair, which posts one flow after the other.
  struct Slot {
    Flag flag = 0;
    std::uint32_t number = 0;  // among the slots of its host
    std::uint32_t flow = 0;
    std::uint64_t assigned = 0;  // number of flows assigned so far
  };

  /// What the threads of a host share.
  struct Host {
    Region memory{};
    std::vector<std::uint32_t> timed{};    // flows to post at a given time, in order
    std::deque<std::uint32_t> ready{};     // flows that are due
    std::deque<std::uint32_t> received{};  // flows that fire triggers and whose last byte has arrived
    std::uint32_t to_post = 0;             // flows that are neither posted nor gone
    std::uint32_t to_complete = 0;         // flows that are neither complete nor gone
    std::uint32_t to_receive = 0;          // flows that fire triggers and are neither received nor gone
    bool triggered = false;                // some of its flows are started by a trigger
    bool to_take = false;                  // some flows to it are SENDs and consume a receive
    std::vector<std::unique_ptr<Slot>> slots{};
    std::vector<Slot*> idle{};
  };

  [[nodiscard]] std::uint32_t class_of(const Flow& flow) const {
    return flow.traffic_class == kWorkloadClass ? place_.part().service.traffic_class : flow.traffic_class;
  }

  /// All parts of a machine make the same queue pairs before anything else. Posting threads are the first ones
  /// of the workload on their hosts.
  void connect_ahead() {
    for (std::uint32_t f = 0; f < list_.flows.size(); ++f) {
      const Flow& flow = list_.flows[f];
      const NodeId n = poster(f);
      const NodeId peer = n == flow.source ? flow.destination : flow.source;
      end_of(n).connect_ahead(place_.first_thread(n), peer, tag_of(f).service);
    }
  }

  [[nodiscard]] OperationTag tag_of(std::uint32_t f) const {
    OperationTag tag = place_.tag({.token = f, .work_id = std::uint64_t{f} + 1});
    const std::uint8_t own = list_.flows[f].traffic_class;
    if (own != kWorkloadClass) tag.service = services_.at(own);
    return tag;
  }

  [[nodiscard]] NodeId poster(std::uint32_t f) const {
    return how_.means != Means::read ? list_.flows[f].source : list_.flows[f].destination;
  }

  [[nodiscard]] VirtualTransport& end_of(NodeId n) { return *cluster_.context().nodes[n]; }

  /// Posts receives again as they are consumed.
  void take(NodeId n) {
    VirtualTransport& node = end_of(n);
    for (;;)
      if (node.empty_inbox(inbox_) == 0) node.pause();
  }

  [[nodiscard]] std::span<const Fire> fires_of(std::uint32_t f) const {
    const auto [first, last] = std::ranges::equal_range(list_.fires, f, {}, &Fire::flow);
    return {first, last};
  }
  [[nodiscard]] bool fires(std::uint32_t f, End end) const {
    return std::ranges::any_of(fires_of(f), [end](const Fire& fire) { return fire.end == end; });
  }

  void lay_out(std::uint32_t f) {
    const Flow& flow = list_.flows[f];
    State& state = states_[f];
    state.left = static_cast<std::uint32_t>(flow.bytes);
    Host& host = hosts_[poster(f)];
    ++host.to_post;
    ++host.to_complete;
    hosts_[flow.destination].to_take = how_.means == Means::send;
    if (flow.start_ps == kTriggered) {
      host.triggered = true;
    } else {
      state.due_ps = flow.start_ps;
      host.timed.push_back(f);
      if (leaps_.on()) leaps_.expect(flow.start_ps);
    }
    if (fires(f, End::received)) ++hosts_[flow.destination].to_receive;
  }

  // --- the threads of a host ---

  /// `instant` is a time of the flows, from which the machine's differs by what is left out.
  void wait_until(Transport& t, std::int64_t instant) {
    for (std::int64_t left = instant - time_of(t); left > 0; left = instant - time_of(t))
      t.compute(leaps_.on() ? std::min(left, Leaps::kTurnPs) : left);
  }
  [[nodiscard]] std::int64_t time_of(Transport& t) const { return t.now_ps() + leaps_.left_out_ps(); }
  /// A flow that starts by itself has begun.
  void begins(std::uint32_t f) {
    if (leaps_.on()) leaps_.begins(list_.flows[f].start_ps);
  }

  /// Posts flows at their times, if nothing else starts any.
  void post_timed(Transport& t) {
    Host& host = hosts_[t.my_node()];
    for (const std::uint32_t f : host.timed) {
      wait_until(t, list_.flows[f].start_ps);
      begins(f);
      post(t, f);
    }
    dismiss(t);
  }

  /// Marks flows as due at their times.
  void keep_time(Transport& t) {
    for (const std::uint32_t f : hosts_[t.my_node()].timed) {
      wait_until(t, list_.flows[f].start_ps);
      begins(f);
      due(f);
    }
  }

  void post_ready(Transport& t) {
    Host& host = hosts_[t.my_node()];
    const owned_flag own(t);
    while (host.to_post > 0) {
      static_cast<void>(t.flag_load(own));  // a load, so that the thread is not ahead of the clock
      if (host.ready.empty()) {
        t.pause();
        continue;
      }
      const std::uint32_t f = host.ready.front();
      host.ready.pop_front();
      post(t, f);
    }
    dismiss(t);
  }

  /// Posts through the calling thread's own queue pair or through an idle one.
  void post(Transport& t, std::uint32_t f) {
    Host& host = hosts_[t.my_node()];
    --host.to_post;
    if (how_.queue_pairs == QueuePairs::pair) return request(t, f);
    if (host.idle.empty()) add_slot(t);
    Slot& slot = *host.idle.back();
    host.idle.pop_back();
    slot.flow = f;
    ++slot.assigned;
    states_[f].slot = slot.number;
    t.flag_fetch_add(slot.flag, 1);
  }

  void request(Transport& t, std::uint32_t f) {
    const Flow& flow = list_.flows[f];
    const OperationTag tag = tag_of(f);
    if (leaps_.on()) leaps_.posted(f, flow.bytes, hosts_[flow.destination].memory, queue_pair_of(f));
    const Address own = hosts_[t.my_node()].memory.base;
    if (how_.means == Means::send) {
      end_of(t.my_node()).send(own, flow.destination, flow.bytes, tag);
    } else if (how_.means == Means::write) {
      t.put(own, hosts_[flow.destination].memory, 0, flow.bytes, tag);
    } else {
      t.get(own, hosts_[flow.source].memory, 0, flow.bytes, tag);
    }
  }

  /// What tells the queue pair of a flow from others.
  [[nodiscard]] Leaps::QueuePair queue_pair_of(std::uint32_t f) const {
    const Flow& flow = list_.flows[f];
    if (how_.queue_pairs == QueuePairs::pair) return {flow.source, flow.destination, class_of(flow)};
    return {flow.source, flow.destination, f};
  }

  void add_slot(Transport& t) {
    Host& host = hosts_[t.my_node()];
    host.slots.push_back(std::make_unique<Slot>());
    Slot* const slot = host.slots.back().get();
    slot->number = static_cast<std::uint32_t>(host.slots.size() - 1);
    slot->flag = t.make_flag();
    host.idle.push_back(slot);
    t.spawn("queue pair " + std::to_string(host.slots.size()), [this, &t, slot] {
      for (std::uint64_t turn = 1;; ++turn) {
        while (t.flag_load(slot->flag) < turn) t.pause();
        if (turn > slot->assigned) return;
        request(t, slot->flow);
      }
    });
  }

  /// Tells the threads that nothing will be posted any more.
  void dismiss(Transport& t) {
    for (const auto& slot : hosts_[t.my_node()].slots) t.flag_fetch_add(slot->flag, 1);
  }

  void complete(Transport& t) {
    Host& host = hosts_[t.my_node()];
    std::array<Completion, 16> done;
    while (host.to_complete > 0) {
      const std::size_t n = place_.poll(t, done);
      if (n == 0) t.pause();
      for (const Completion& c : std::span(done).first(n)) {
        const auto f = static_cast<std::uint32_t>(c.token);
        --host.to_complete;
        if (leaps_.on()) leaps_.ended(f);
        if (!host.slots.empty()) host.idle.push_back(host.slots[states_[f].slot].get());
        if (c.status != Status::success) {
          failures_.emplace_back(t.my_node(), c);
          fail(f);
          continue;
        }
        states_[f].completed_ps = time_of(t);
        fire(f, End::completed);
      }
    }
  }

  void see_received(Transport& t) {
    Host& host = hosts_[t.my_node()];
    const owned_flag own(t);
    while (host.to_receive > 0) {
      static_cast<void>(t.flag_load(own));
      if (host.received.empty()) {
        t.pause();
        continue;
      }
      const std::uint32_t f = host.received.front();
      host.received.pop_front();
      --host.to_receive;
      fire(f, End::received);
    }
  }

  // --- triggers ---

  void fire(std::uint32_t f, End end) {
    for (const Fire& fire : fires_of(f))
      if (fire.end == end) fire_trigger(fire.trigger);
  }

  void fire_trigger(std::uint32_t which) {
    if (fired_.empty()) fired_.resize(list_.triggers.size());
    for (const std::uint32_t f : list_.triggers[which].starts_when_fired(++fired_[which])) begin(f);
  }

  void begin(std::uint32_t f) {
    const Flow& flow = list_.flows[f];
    if (states_[f].gone) return;
    states_[f].due_ps = cluster_.context().now_ps() + leaps_.left_out_ps() + flow.delay_ps;
    if (leaps_.on()) leaps_.begins(std::nullopt);
    if (flow.delay_ps == 0) return due(f);
    place_.spawn_now(poster(f), "delay", [this, f](Transport& t) {
      wait_until(t, states_[f].due_ps);
      due(f);
    });
  }

  void due(std::uint32_t f) {
    hosts_[poster(f)].ready.push_back(f);
    cluster_.node(poster(f)).wake_all();
  }

  /// A flow has failed. Its triggers are not fired, and nobody waits for flows that now never begin.
  void fail(std::uint32_t f) {
    states_[f].gone = true;
    if (fires(f, End::received) && states_[f].received_ps == kNever) --hosts_[list_.flows[f].destination].to_receive;
    if (!list_.triggers.empty()) {
      FlowList rest = list_;
      std::erase_if(rest.fires, [this](const Fire& fire) { return states_[fire.flow].gone; });
      const std::vector<bool> begins = will_begin(rest);
      for (std::uint32_t g = 0; g < begins.size(); ++g)
        if (!begins[g] && !states_[g].gone && states_[g].due_ps == kNever) give_up(g);
    }
    for (NodeId n = 0; n < hosts_.size(); ++n) cluster_.node(n).wake_all();
  }

  void give_up(std::uint32_t f) {
    states_[f].gone = true;
    --hosts_[poster(f)].to_post;
    --hosts_[poster(f)].to_complete;
    if (fires(f, End::received)) --hosts_[list_.flows[f].destination].to_receive;
  }

  WorkloadHosts place_;
  SimulatedCluster& cluster_;
  FlowList list_;
  Play how_;
  std::vector<State> states_;
  std::vector<std::pair<NodeId, Completion>> failures_;
  Leaps leaps_;
  std::vector<Host> hosts_;
  std::vector<std::uint32_t> fired_;
  std::array<std::uint8_t, 8> services_{};  // for the traffic classes of flows
  std::uint8_t inbox_ = 0;                  // for SENDs
};

std::shared_ptr<Player> start(const WorkloadHosts& hosts, FlowList list, Play how) {
  const auto player = std::make_shared<Player>(hosts, std::move(list), how);
  player->spawn();
  return player;
}

std::vector<FlowRecord> records(const Player& player) { return player.records(); }

std::uint64_t failed(const Player& player) { return player.failed(); }

std::uint64_t packets_left_out(const Player& player) { return player.leaps().packets_left_out(); }
std::int64_t time_left_out_ps(const Player& player) { return player.leaps().left_out_ps(); }

std::vector<std::pair<NodeId, Completion>> failures(const Player& player) { return player.failures(); }

}  // namespace loco::workloads::flows
