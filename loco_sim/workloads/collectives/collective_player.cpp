#include "loco_sim/workloads/collectives/collective_player.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include "loco_sim/workloads/collectives/together.hpp"
#include "loco_sim/workloads/rounds.hpp"
#include "sim/time.hpp"

namespace loco::workloads::collectives {

namespace {

constexpr std::uint32_t kPutsOfMove = 2;  // the data and its word

/// The steps of each iteration that add, and those that do not.
std::vector<Rounds::Row> rows(const CollectivePlay& play, const CollectiveLayout& layout,
                              const nic::HardwareProfile& profile) {
  std::vector<Rounds::Row> rows;
  if (!steps_alike(play.schedule)) return rows;
  const std::uint32_t steps = steps_of(play.schedule);
  const Rounds::Round period = page_period(profile, layout.length(0));
  for (std::uint32_t i = 0; i < play.warmup + play.iterations; ++i)
    for (std::size_t m = 0; m < play.schedule.moves.size(); ++m) {
      const Move& move = play.schedule.moves[m];
      const Rounds::Round round = i * steps + move.step;
      if (m == 0 || move.add != play.schedule.moves[m - 1].add)
        rows.push_back({.first = round, .last = round + 1, .period = period});
      rows.back().last = round + 1;
    }
  return rows;
}

class CollectiveMember {
 public:
  CollectiveMember(Transport& node, const Setup& setup, Together& together, Rank rank, std::uint32_t channel)
      : node_(node),
        setup_(setup),
        all_(together),
        schedule_(together.play.schedule),
        layout_(together.layout),
        plan_(together.plans[rank]),
        rank_(rank),
        channel_(channel),
        base_(together.memory[rank][channel].base),
        own_(node) {}

  void run() {
    node_.set_waits_for([this] { return place(); });
    const std::uint32_t rounds = all_.play.warmup + all_.play.iterations;
    for (iteration_ = 0; iteration_ < rounds; ++iteration_) {
      fill();
      if (!meet()) return;
      begin();
      while (!finished()) {
        if (all_.failed) return;
        if (!turn()) node_.pause();
      }
      all_.ended_ps = std::max(all_.ended_ps, now_ps(round_of(steps_of(schedule_))));
      check();
    }
    static_cast<void>(meet());
  }

 private:
  using State = std::vector<std::uint8_t>;
  enum : std::uint8_t { kWaiting, kCome, kTaken };
  struct Stream {
    std::size_t next = 0;         // of its sends
    std::uint32_t under_way = 0;  // moves
  };

  void fill() {
    for (Slot slot = 0; slot < schedule_.slots; ++slot) {
      const Expected e = expected(all_.play.what, schedule_, rank_, slot);
      node_.store(base_ + layout_.offset(slot), e.begins ? all_.value(iteration_, channel_, rank_, e.part_then) : 0);
    }
    node_.store(base_ + layout_.now(), iteration_ + 1);
    node_.memory_fence();  // others write here as soon as all have met
  }

  /// Waits until all threads have arrived, which then begin the next iteration. Returns false if a message has failed.
  bool meet() {
    static_cast<void>(node_.flag_load(own_));  // a load, so that the thread is not ahead of the clock
    if (all_.gathering) return gather();
    const std::uint64_t round = all_.round;
    const std::uint32_t threads = schedule_.ranks * all_.play.channels;
    if (++all_.there == threads) {
      all_.there = 0;
      ++all_.round;
      const std::int64_t now = now_ps(round_of(0));
      if (round > all_.play.warmup) setup_.results.add(all_.play.name, all_.began_ps, all_.ended_ps);
      all_.began_ps = now;
      wake();
      return !all_.failed;
    }
    while (all_.round == round && !all_.failed) {
      node_.pause();
      static_cast<void>(node_.flag_load(own_));
    }
    return !all_.failed;
  }

  /// The same where some of them may be in other parts of the machine.
  bool gather() {
    const std::uint64_t turn = all_.gathering->come(node_, own_);
    while (node_.flag_load(own_) != turn && !all_.failed) node_.pause();
    return !all_.failed;
  }

  void begin() {
    all_.done[rank_][channel_].clear();
    waits_.clear();
    for (const RankPlan::Send& send : plan_.sends) waits_.push_back(send.waits);
    sent_.assign(plan_.sends.size(), 0);
    complete_.assign(plan_.sends.size(), 0);
    received_.assign(plan_.receives.size(), kWaiting);
    next_of_.clear();
    for (const std::vector<std::uint32_t>& receives : plan_.from) next_of_.emplace_back(&receives, 0);
    streams_.assign(plan_.to.size(), {});
    come_.clear();
    completed_ = taken_ = 0;
    first_unsent_ = under_way_ = steps_done_ = 0;
  }

  [[nodiscard]] Rounds::Round round_of(std::uint32_t step) const {
    return static_cast<Rounds::Round>(iteration_ * steps_of(schedule_) + step);
  }
  /// Simulated time, plus that of what was left out: parts of chunks, and rounds before `round`.
  [[nodiscard]] std::int64_t now_ps(Rounds::Round round) const {
    return now_in_steps_ps() + all_.rounds.left_out_ps(round);
  }
  [[nodiscard]] std::int64_t now_in_steps_ps() const { return node_.now_ps() + all_.leaps.left_out_ps(); }

  /// Ends the steps whose sends have left and whose receives are processed.
  bool end_steps() {
    if (!all_.rounds.any()) return false;
    bool any = false;
    while (first_unsent_ < plan_.sends.size() && sent_[first_unsent_] != 0) ++first_unsent_;
    while (steps_done_ < std::min<std::size_t>(taken_, first_unsent_)) {
      const Rounds::Round round = round_of(steps_done_++);
      all_.rounds.ended(rank_ * all_.play.channels + channel_, round, now_in_steps_ps());
      const std::optional<Rounds::Gap> gap = all_.rounds.gap_behind(round);
      if (!gap) continue;
      leave_out(*gap);
      any = true;
    }
    return any;
  }

  /// Skips these steps: writes to memory what they would have brought.
  void leave_out(const Rounds::Gap& gap) {
    if (rank_ == 0 && channel_ == 0) setup_.results.leave_out("rounds_left_out", gap.to - gap.from, gap.time_ps);
    nic::System& system = setup_.cluster.system();
    const NodeId me = node_.my_node();
    const std::uint32_t key = all_.memory[rank_][channel_].rkey;
    const std::uint32_t end = steps_done_ + (gap.to - gap.from);
    const std::vector<std::uint64_t>& words = all_.words_after(iteration_, channel_, end)[rank_];
    for (; steps_done_ < end; ++steps_done_) {
      const std::uint32_t step = steps_done_;
      const Move& sent = schedule_.moves[plan_.sends[step].move];
      const RankPlan::Receive& receive = plan_.receives[step];
      const Move& come = schedule_.moves[receive.move];
      const Slot slot = come.pieces.front().to;
      system.set_word(me, base_ + layout_.offset(slot), words[slot]);
      system.use_translations(me, key, base_ + layout_.offset(sent.pieces.front().from), 1);
      system.use_translations(me, key, base_ + (come.add ? layout_.landing(receive.move) : layout_.offset(slot)),
                              layout_.length(come));
      setup_.results.counters.add(bytes_, layout_.length(come));
      sent_[step] = complete_[step] = 1;
      received_[step] = kTaken;
      for (const std::uint32_t s : receive.frees) --waits_[s];
    }
    const std::uint32_t steps = gap.to - gap.from;
    completed_ += steps;
    taken_ += steps;
    next_of_.front().second += steps;  // in a ring everything comes from one rank
    first_unsent_ = end;
  }

  [[nodiscard]] bool finished() const { return taken_ == plan_.receives.size() && completed_ == plan_.sends.size(); }

  /// Returns false if nothing could be done.
  bool turn() {
    bool moved = take_completions();
    moved = look() || moved;
    moved = take_what_has_come() || moved;
    moved = end_steps() || moved;
    moved = send() || moved;
    return end_steps() || moved;
  }

  [[nodiscard]] std::vector<std::uint32_t>& done() { return all_.done[rank_][channel_]; }

  /// Any thread of the node may poll a completion, so it is stored where its own thread looks. Returns false if there
  /// is none.
  bool poll() {
    std::array<Completion, kCollectiveUnderWay> polled;
    const std::size_t n = setup_.hosts.poll(node_, polled);
    for (const Completion& c : std::span(polled).first(n)) {
      if (c.status != Status::success) fail(c);
      const auto of = static_cast<std::uint32_t>(c.token >> 32U);
      all_.done[rank_][of].push_back(static_cast<std::uint32_t>(c.token));
      if (of != channel_) node_.wake_all();
    }
    return n > 0;
  }

  bool take_completions() {
    poll();
    std::vector<std::uint32_t>& done = this->done();
    const bool any = !done.empty();
    for (const std::uint32_t s : done) {
      complete_[s] = 1;
      ++completed_;
      under_way_ -= kPutsOfMove;
      --streams_[plan_.sends[s].stream].under_way;
    }
    done.clear();
    return any;
  }

  /// Moves of a stream arrive in order.
  bool look() {
    bool any = false;
    for (auto& [receives, next] : next_of_)
      while (next < receives->size()) {
        const std::uint32_t r = (*receives)[next];
        if (node_.load(base_ + layout_.come(plan_.receives[r].move)) != iteration_ + 1) break;
        received_[r] = kCome;
        come_.push_back(r);
        ++next;
        any = true;
      }
    return any;
  }

  bool take_what_has_come() {
    bool any = false;
    for (std::size_t i = 0; i < come_.size();) {
      const RankPlan::Receive& receive = plan_.receives[come_[i]];
      if (std::ranges::any_of(receive.blockers, [this](std::uint32_t s) { return complete_[s] == 0; })) {
        ++i;
        continue;
      }
      take(schedule_.moves[receive.move], receive.move);
      received_[come_[i]] = kTaken;
      ++taken_;
      for (const std::uint32_t s : receive.frees) --waits_[s];
      come_.erase(come_.begin() + static_cast<std::ptrdiff_t>(i));
      any = true;
    }
    return any;
  }

  void take(const Move& move, std::uint32_t number) {
    const std::uint64_t bytes = layout_.length(move);
    setup_.results.counters.add(bytes_, bytes);
    if (!move.add && in_a_row(move)) return;  // it has landed in its place
    std::uint64_t landed = base_ + layout_.landing(number);
    for (const Piece& piece : move.pieces) {
      const Address own = base_ + layout_.offset(piece.to);
      node_.store(own, node_.load(landed) + (move.add ? node_.load(own) : 0));
      landed += layout_.length(piece.from);
    }
    if (!move.add || all_.play.reduce_rate.value == 0) return;
    if (all_.leaps.on()) all_.leaps.hold();
    node_.compute(sim::transmission_time({bytes}, all_.play.reduce_rate).ps);
    if (all_.leaps.on()) all_.leaps.let_go();
  }

  bool send() { return schedule_.pace == Pace::streams ? send_streams() : send_in_order(); }

  /// Whoever waits for data holds up its own stream only.
  bool send_streams() {
    bool any = false;
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      const std::vector<std::uint32_t>& sends = plan_.to[i];
      Stream& stream = streams_[i];
      while (stream.next < sends.size() && stream.under_way < schedule_.under_way && waits_[sends[stream.next]] == 0) {
        post(sends[stream.next++]);
        any = true;
      }
    }
    return any;
  }

  bool send_in_order() {
    bool any = false;
    const std::uint32_t most = std::min(kCollectiveUnderWay, schedule_.under_way * kPutsOfMove);
    while (first_unsent_ < plan_.sends.size() && sent_[first_unsent_] != 0) ++first_unsent_;
    for (std::uint32_t s = first_unsent_; s < plan_.sends.size() && under_way_ + kPutsOfMove <= most; ++s) {
      if (sent_[s] != 0) continue;
      if (all_.rounds.leaves_out(round_of(s))) return any;
      if (waits_[s] != 0) continue;
      if (schedule_.pace == Pace::complete && s > 0 && complete_[s - 1] == 0) return any;
      if (plan_.sends[s].behind != kNone && received_[plan_.sends[s].behind] == kWaiting) return any;
      all_.rounds.begins(round_of(s));
      post(s);
      any = true;
      if (schedule_.pace == Pace::complete) return any;
    }
    return any;
  }

  void post(std::uint32_t s) {
    const std::uint32_t number = plan_.sends[s].move;
    const Move& move = schedule_.moves[number];
    const Region& to = all_.memory[move.to][channel_];
    const bool row = in_a_row(move);
    std::uint64_t from = layout_.offset(move.pieces.front().from);
    if (!row) {
      from = layout_.staging(number);
      std::uint64_t packed = base_ + from;
      for (const Piece& piece : move.pieces) {
        node_.store(packed, node_.load(base_ + layout_.offset(piece.from)));
        packed += layout_.length(piece.from);
      }
    }
    const std::uint64_t there = move.add || !row ? layout_.landing(number) : layout_.offset(move.pieces.front().to);
    const std::uint64_t token = (std::uint64_t{channel_} << 32U) | s;
    sent_[s] = 1;
    under_way_ += kPutsOfMove;
    ++streams_[plan_.sends[s].stream].under_way;
    if (all_.leaps.on()) {
      Region place = to;
      place.base += there;
      posted_ = all_.leaps.post(node_.my_node(), channel_, layout_.length(move), place) - 1;
    }
    if (all_.ordered) {
      node_.put(base_ + from, to, there, layout_.length(move), tag({.work_id = ++posted_, .tell = Tell::with_next}));
    } else {  // a complete put has been placed, in whatever order its packets arrived
      node_.put(base_ + from, to, there, layout_.length(move), tag({.token = token | kNone, .work_id = ++posted_}));
      wait_for_data();
    }
    node_.put(base_ + layout_.now(), to, layout_.come(number), kWord, tag({.token = token, .work_id = ++posted_}));
  }

  /// Waits until data that was put without its word is complete.
  void wait_for_data() {
    while (!all_.failed) {
      const auto placed = std::ranges::find(done(), kNone);
      if (placed != done().end()) {
        done().erase(placed);
        return;
      }
      if (!poll()) node_.pause();
    }
  }

  [[nodiscard]] OperationTag tag(OperationTag own) const { return setup_.hosts.tag(own); }

  void fail(const Completion& failed) {
    setup_.results.promise("failed_messages", 1);
    setup_.results.note_failure("failed_messages", node_.my_node(), failed);
    all_.failed = true;
    wake();
  }

  void wake() {
    for (Rank r = 0; r < schedule_.ranks; ++r) setup_.hosts.transport(r).wake_all();
  }

  void check() {
    std::uint64_t wrong = 0;
    for (Slot slot = 0; slot < schedule_.slots; ++slot) {
      const Expected e = expected(all_.play.what, schedule_, rank_, slot);
      if (!e.ends) continue;
      const std::uint64_t right =
          e.sum ? all_.sum(iteration_, channel_, e.part) : all_.value(iteration_, channel_, e.of, e.part);
      if (node_.load(base_ + layout_.offset(slot)) != right) ++wrong;
    }
    setup_.results.promise("wrong", wrong);
  }

  /// What it waits for, for the report of a run that is stuck.
  [[nodiscard]] std::string place() const {
    return "iteration " + std::to_string(iteration_ + 1) + " of " + all_.play.name + ": " +
           std::to_string(plan_.receives.size() - taken_) + " of " + std::to_string(plan_.receives.size()) +
           " parts to come, " + std::to_string(plan_.sends.size() - completed_) + " of " +
           std::to_string(plan_.sends.size()) + " to be sent";
  }

  Transport& node_;
  const Setup& setup_;
  Together& all_;
  const Schedule& schedule_;
  const CollectiveLayout& layout_;
  const RankPlan& plan_;
  Rank rank_;
  std::uint32_t channel_;
  Address base_;
  owned_flag own_;
  std::uint64_t iteration_ = 0;
  std::vector<std::uint32_t> waits_;
  State sent_;
  State complete_;
  State received_;
  std::vector<std::pair<const std::vector<std::uint32_t>*, std::size_t>> next_of_;  // by stream to here: its next move
  std::vector<Stream> streams_;                                                     // from here
  std::vector<std::uint32_t> come_;  // receives that have arrived and are not processed
  std::uint32_t first_unsent_ = 0;
  std::uint32_t steps_done_ = 0;  // number of finished steps of those that may be left out
  std::size_t completed_ = 0;
  std::size_t taken_ = 0;
  std::uint32_t under_way_ = 0;
  std::uint64_t posted_ = 0;  // the last put's work id
  sim::CounterId bytes_ = setup_.results.counters.id("payload_bytes");
};

/// Threads gather across the parts of the machine, which have the same queue pairs.
void be_parted(const Setup& setup, Together& all) {
  const CollectivePlay& play = all.play;
  std::uint32_t here = 0;
  for (Rank r = 0; r < play.schedule.ranks; ++r)
    if (setup.cluster.system().has(setup.hosts.node(r))) here += play.channels;
  all.gathering =
      std::make_unique<Gathering>(setup.cluster, setup.hosts.part().number, here, [&setup, &all](sim::SimTime at) {
        if (++all.round > all.play.warmup + 1) setup.results.add(all.play.name, all.began_ps, all.ended_ps);
        all.began_ps = at.ps;
      });
  for (const Move& move : play.schedule.moves)
    for (std::uint32_t c = 0; c < play.channels; ++c) setup.hosts.connect_ahead(move.from, c, move.to);
}

}  // namespace

void start_collective(const Setup& setup, CollectivePlay play) {
  const std::uint32_t nodes = setup.hosts.count();
  const CollectiveLayout layout(play.schedule, play.size / play.channels);
  std::vector<RankPlan> plans = plan(play.schedule);
  const std::uint32_t channels = play.channels;
  const bool single = std::ranges::all_of(play.schedule.moves, [](const Move& m) { return m.pieces.size() == 1; });
  const ClusterConfig& config = setup.cluster.config();
  Rounds rounds(config.fast_forward, nodes * channels, rows(play, layout, config.profile),
                [&setup] { return disturbances(setup.cluster.system()); });
  const auto together =
      std::shared_ptr<Together>(new Together{.play = std::move(play),
                                             .layout = layout,
                                             .plans = std::move(plans),
                                             .memory = std::vector<std::vector<Region>>(nodes),
                                             .done = std::vector<std::vector<std::vector<std::uint32_t>>>(
                                                 nodes, std::vector<std::vector<std::uint32_t>>(channels)),
                                             .leaps = ChunkLeaps(setup, nodes * channels, single),
                                             .rounds = std::move(rounds),
                                             .behind = std::vector<Behind>(channels),
                                             .ordered = !setup.hosts.delivery().order.writes_early});
  for (Rank r = 0; r < nodes; ++r)
    for (std::uint32_t c = 0; c < channels; ++c)
      together->memory[r].push_back(setup.hosts.transport(r).allocate(layout.end()));
  if (together->leaps.on() && setup.at_end != nullptr)
    *setup.at_end = [&setup, together] { together->leaps.tell(setup.results); };
  setup.results.promise("failed_messages", 0);
  setup.results.promise("wrong", 0);
  for (Rank r = 0; r < nodes; ++r)
    for (std::uint32_t c = 0; c < channels; ++c)
      setup.hosts.spawn(
          r, channels == 1 ? "main" : "channel " + std::to_string(c),
          [&setup, together, r, c](Transport& node) { CollectiveMember(node, setup, *together, r, c).run(); });
  if (config.network.share.ranked) be_parted(setup, *together);
}

}  // namespace loco::workloads::collectives
