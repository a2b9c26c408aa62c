// An all-reduce on a ring: every node ends with the sum of all nodes' vectors (Patarasuk and Yuan, "Bandwidth optimal
// all-reduce algorithms for clusters of workstations", JPDC 2009).
//
// The vector is divided into one chunk for each of the n nodes. In step s node r writes chunk r - s to node r + 1, then
// a word that announces it, and goes on when the word of node r - 1 has arrived. In the first n - 1 steps
// (reduce-scatter) it adds the arrived chunk to its own, which is the one that it sends next. In the following n - 1
// steps (all-gather) chunks are complete sums, and an arrived chunk replaces its own.
//
// Nothing that a node still has to read is overwritten, because of the way in which each word goes round the ring:
// - Chunks to be added land in a place of their own, and each step has its own word. Node r writes there again in its
//   next all-reduce, which it begins when the last word has arrived. That word follows from the word of step n - 1 of
//   node r + 1, so that node had added everything.
// - Complete sums land in the vector. Node r writes chunk r + 1 - k there in step n - 1 + k, when a word has arrived
//   that follows from step k of node r + 1: what that node sent of the chunk has reached node r + 2, and it will not
//   add to it again.
// - A node refills its own vector when all its puts are complete, which is the end of an all-reduce.
//
// Only the first word of a chunk is summed, so that megabytes are moved by NICs and not by simulated loads. At the end
// every node compares all these words with the known sums. `reduce_rate` gives the time that adding the rest would
// take.
#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "loco_sim/workloads/collectives/chunk_leaps.hpp"
#include "loco_sim/workloads/kinds.hpp"
#include "loco_sim/workloads/rounds.hpp"
#include "nic_model/delivery/transports.hpp"
#include "sim/rng.hpp"
#include "sim/time.hpp"

namespace loco::workloads {

namespace {

/// Limit on a node's puts in flight. When answers are late, the node waits for them.
constexpr std::uint32_t kUnderWayMax = 16;
/// A chunk and its word.
constexpr std::uint32_t kPutsOfStep = 2;

/// The layout of each node's memory: the vector, chunks to be added, the words of the steps that have arrived and those
/// that are sent.
class Layout {
 public:
  Layout(std::uint64_t size, std::uint32_t nodes) : size_(size), nodes_(nodes) {}

  [[nodiscard]] std::uint32_t steps() const { return 2 * (nodes_ - 1); }
  [[nodiscard]] bool reduces(std::uint32_t step) const { return step + 1 < nodes_; }
  /// The chunk that a node writes to the next one in a step.
  [[nodiscard]] std::uint32_t chunk(NodeId sender, std::uint32_t step) const {
    return (sender + 2 * nodes_ - step) % nodes_;
  }
  /// Chunks are whole words; some have one word more than others.
  [[nodiscard]] std::uint64_t begin(std::uint32_t chunk) const { return size_ / kWord * chunk / nodes_ * kWord; }
  [[nodiscard]] std::uint64_t bytes(std::uint32_t chunk) const { return begin(chunk + 1) - begin(chunk); }
  [[nodiscard]] std::uint64_t landing(std::uint32_t chunk) const { return size_ + begin(chunk); }
  /// Where a chunk lands in a step.
  [[nodiscard]] std::uint64_t place(std::uint32_t chunk, std::uint32_t step) const {
    return reduces(step) ? landing(chunk) : begin(chunk);
  }
  [[nodiscard]] std::uint64_t come(std::uint32_t step) const { return 2 * size_ + step * kWord; }
  [[nodiscard]] std::uint64_t gone(std::uint32_t step) const { return come(steps() + step); }
  [[nodiscard]] std::uint64_t end() const { return gone(steps()); }

 private:
  std::uint64_t size_;
  std::uint32_t nodes_;
};

using collectives::ChunkLeaps;

std::uint64_t scattered(std::uint64_t number) { return sim::splitmix64(number); }

/// What all nodes share outside the simulated machine.
struct Ring {
  Layout layout;
  ChunkLeaps leaps;            // within a step
  Rounds rounds;               // one for each step of all nodes
  std::vector<Region> memory;  // of each node
  std::uint64_t factors = 0;   // of all nodes together
  bool ordered = true;         // true if the hardware places the word after the chunk by itself
  bool failed = false;         // a message has failed, so nobody waits any longer

  [[nodiscard]] std::uint64_t value(std::uint64_t iteration, std::uint32_t chunk, std::uint64_t factor) const {
    return (scattered(iteration * memory.size() + chunk) | 1U) * factor;
  }
};

class Member {
 public:
  Member(Transport& node, const Setup& setup, Ring& ring)
      : node_(node),
        setup_(setup),
        ring_(ring),
        layout_(ring.layout),
        nodes_(node.num_nodes()),
        next_(ring.memory[(node.my_node() + 1) % nodes_]),
        base_(ring.memory[node.my_node()].base) {}

  void run() {
    node_.set_waits_for([this] { return place(); });
    const std::uint32_t iterations = setup_.params.count("iterations");
    for (iteration_ = 0; iteration_ < iterations; ++iteration_) {
      step_ = 0;
      fill();
      const std::int64_t start = now_ps();
      if (!all_reduce()) return;
      setup_.results.add("all_reduce", start, now_ps(), nodes_);
      check();
    }
  }

 private:
  /// Fills this node's own vector with words that differ from those of all others.
  void fill() {
    for (std::uint32_t c = 0; c < nodes_; ++c)
      node_.store(base_ + layout_.begin(c), ring_.value(iteration_, c, scattered(node_.my_node())));
  }

  /// Returns false if a message of any node has failed.
  bool all_reduce() {
    for (; step_ < layout_.steps(); ++step_) {
      if (!send(step_)) return false;
      if (!wait([this] { return node_.load(base_ + layout_.come(step_)) == iteration_ + 1; })) return false;
      const std::uint32_t chunk = layout_.chunk(previous(), step_);
      setup_.results.counters.add(bytes_, layout_.bytes(chunk));
      if (layout_.reduces(step_)) add(chunk);
      leave_out_behind();
    }
    return wait([this] { return under_way_ == 0; });
  }

  [[nodiscard]] Rounds::Round round_of(std::uint32_t step) const {
    return static_cast<Rounds::Round>(iteration_ * layout_.steps() + step);
  }

  /// Simulated time, plus that of what was left out: parts of chunks, and steps.
  [[nodiscard]] std::int64_t now_ps() const { return now_in_steps_ps() + ring_.rounds.left_out_ps(round_of(step_)); }
  [[nodiscard]] std::int64_t now_in_steps_ps() const { return node_.now_ps() + ring_.leaps.left_out_ps(); }

  /// To call when a step has ended. Writes to memory what steps that need not be simulated would have brought.
  void leave_out_behind() {
    ring_.rounds.ended(node_.my_node(), round_of(step_), now_in_steps_ps());
    const std::optional<Rounds::Gap> gap = ring_.rounds.gap_behind(round_of(step_));
    if (!gap) return;
    if (node_.my_node() == 0) setup_.results.leave_out("rounds_left_out", gap->to - gap->from, gap->time_ps);
    for (Rounds::Round n = gap->to - gap->from; n > 0; --n) take_unsimulated(++step_);
  }

  /// The sum of a chunk over this node and those that it has passed by the end of a step; over all nodes in the second
  /// half.
  [[nodiscard]] std::uint64_t sum_after(std::uint32_t step, std::uint32_t chunk) const {
    if (!layout_.reduces(step)) return ring_.value(iteration_, chunk, ring_.factors);
    std::uint64_t factors = 0;
    for (std::uint32_t back = 0; back <= step + 1; ++back)
      factors += scattered((node_.my_node() + nodes_ - back) % nodes_);
    return ring_.value(iteration_, chunk, factors);
  }

  void take_unsimulated(std::uint32_t step) {
    nic::System& system = setup_.cluster.system();
    const NodeId me = node_.my_node();
    const Region& own = ring_.memory[me];
    const std::uint32_t sent = layout_.chunk(me, step), chunk = layout_.chunk(previous(), step);
    system.set_word(me, base_ + layout_.begin(chunk), sum_after(step, chunk));
    setup_.results.counters.add(bytes_, layout_.bytes(chunk));
    system.use_translations(me, own.rkey, base_ + layout_.begin(sent), 1);
    system.use_translations(me, own.rkey, base_ + layout_.place(chunk, step), layout_.bytes(chunk));
  }

  bool send(std::uint32_t step) {
    const std::uint32_t chunk = layout_.chunk(node_.my_node(), step);
    ring_.rounds.begins(round_of(step));
    if (!wait([this] { return under_way_ + kPutsOfStep <= kUnderWayMax; })) return false;
    node_.store(base_ + layout_.gone(step), iteration_ + 1);
    if (ring_.leaps.on()) {
      Region there = next_;
      there.base += layout_.place(chunk, step);
      posted_ = ring_.leaps.post(node_.my_node(), 0, layout_.bytes(chunk), there) - 1;
    }
    put(layout_.begin(chunk), layout_.place(chunk, step), layout_.bytes(chunk),
        ring_.ordered ? Tell::with_next : Tell::always);
    // A complete put has been placed, in whatever order its packets arrived.
    if (!ring_.ordered && !wait([this] { return under_way_ == 0; })) return false;
    put(layout_.gone(step), layout_.come(step), kWord, Tell::always);
    return true;
  }

  void put(std::uint64_t from, std::uint64_t to, std::uint64_t size, Tell tell) {
    node_.put(base_ + from, next_, to, size, {.work_id = ++posted_, .tell = tell});
    if (tell == Tell::always) ++under_way_;
  }

  void add(std::uint32_t chunk) {
    const Address own = base_ + layout_.begin(chunk);
    node_.store(own, node_.load(own) + node_.load(base_ + layout_.landing(chunk)));
    const auto rate = setup_.params.amount("reduce_rate");
    if (rate == 0) return;
    if (ring_.leaps.on()) ring_.leaps.hold();
    node_.compute(sim::transmission_time({layout_.bytes(chunk)}, {rate}).ps);
    if (ring_.leaps.on()) ring_.leaps.let_go();
  }

  /// Waits for a condition and polls completions meanwhile. Returns false if a message of any node has failed.
  template <typename Condition>
  bool wait(const Condition& holds) {
    while (!ring_.failed) {
      if (holds()) return true;
      if (!take_completions()) node_.pause();
    }
    return false;
  }

  bool take_completions() {
    std::array<Completion, kUnderWayMax> done;
    const std::size_t n = node_.poll(done);
    for (const Completion& c : std::span(done).first(n)) {
      if (c.status != Status::success)
        fail(c);
      else
        --under_way_;
    }
    return n > 0;
  }

  /// The sum can no longer be computed, and nodes that need this node's part of it would wait forever.
  void fail(const Completion& failed) {
    setup_.results.promise("failed_messages", 1);
    setup_.results.note_failure("failed_messages", node_.my_node(), failed);
    ring_.failed = true;
    for (NodeId n = 0; n < nodes_; ++n) setup_.cluster.node(n).wake_all();
  }

  [[nodiscard]] NodeId previous() const { return (node_.my_node() + nodes_ - 1) % nodes_; }

  /// What it waits for, for the report of a run that is stuck.
  [[nodiscard]] std::string place() const {
    const std::string all_reduce = " of all-reduce " + std::to_string(iteration_ + 1);
    if (step_ == layout_.steps()) return "its puts" + all_reduce + " are complete";
    return "step " + std::to_string(step_ + 1) + " of " + std::to_string(layout_.steps()) + all_reduce +
           " is done, from node " + std::to_string(previous()) + " and to node " + std::to_string(next_.node);
  }

  void check() {
    std::uint64_t wrong = 0;
    for (std::uint32_t c = 0; c < nodes_; ++c)
      if (node_.load(base_ + layout_.begin(c)) != ring_.value(iteration_, c, ring_.factors)) ++wrong;
    setup_.results.promise("wrong_sums", wrong);
  }

  Transport& node_;
  const Setup& setup_;
  Ring& ring_;
  const Layout& layout_;
  std::uint32_t nodes_;
  Region next_;
  Address base_;
  std::uint64_t iteration_ = 0;
  std::uint32_t step_ = 0;
  std::uint64_t posted_ = 0;     // the last put's work id
  std::uint32_t under_way_ = 0;  // puts that have not completed
  sim::CounterId bytes_ = setup_.results.counters.id("payload_bytes");
};

/// Reduce-scatter and all-gather of each iteration. If a chunk is no whole number of pages, only every few steps use
/// the same place in a page.
std::vector<Rounds::Row> repeated_rows(const Layout& layout, const Setup& setup) {
  const Rounds::Round period = page_period(setup.cluster.config().profile, layout.bytes(0));
  std::vector<Rounds::Row> rows;
  const std::uint32_t half = layout.steps() / 2;
  for (std::uint32_t i = 0; i < 2 * setup.params.count("iterations"); ++i)
    rows.push_back({.first = i * half, .last = (i + 1) * half, .period = period});
  return rows;
}

}  // namespace

std::optional<Misfit> all_reduce_misfit(const Params& params, std::uint32_t nodes) {
  if (plays_schedule(params)) return schedule_misfit<collectives::Collective::all_reduce>(params, nodes);
  const std::uint64_t least = nodes * kWord;
  if (params.amount("size") < least)
    return Misfit{"size",
                  "at least " + std::to_string(least) + "B, a word for each of " + std::to_string(nodes) + " nodes"};
  const std::int64_t rate = params.get("reduce_rate");
  if (rate != 0 && rate < kReduceRateLeast) return Misfit{"reduce_rate", "0bps, or 1Mbps and more"};
  return std::nullopt;
}

std::uint32_t all_reduce_send_queue(const Params& /*params*/) { return kUnderWayMax; }

void start_all_reduce(const Setup& setup) {
  const Part& part = setup.hosts.part();  // the ring below consists of all nodes in their order
  if (plays_schedule(setup.params) || !part.name.empty() || !part.nodes.empty())
    return start_schedule<collectives::Collective::all_reduce>(setup);
  const ClusterConfig& config = setup.cluster.config();
  const Layout layout(setup.params.amount("size"), config.nodes);
  const auto ring =
      std::shared_ptr<Ring>(new Ring{.layout = layout,
                                     .leaps = ChunkLeaps(setup, config.nodes, true),
                                     .rounds = {config.fast_forward, config.nodes, repeated_rows(layout, setup),
                                                [&setup] { return disturbances(setup.cluster.system()); }},
                                     .memory = {},
                                     .ordered = !nic::reliable_order(config.profile).writes_early});
  if (ring->leaps.on() && setup.at_end != nullptr) *setup.at_end = [&setup, ring] { ring->leaps.tell(setup.results); };
  for (NodeId n = 0; n < config.nodes; ++n) {
    ring->memory.push_back(setup.cluster.node(n).allocate(ring->layout.end()));
    ring->factors += scattered(n);
  }
  setup.results.bus = {setup.params.amount("size"), 2 * (std::uint64_t{config.nodes} - 1), config.nodes};
  setup.results.promise("failed_messages", 0);
  setup.results.promise("wrong_sums", 0);
  setup.cluster.spawn_everywhere([&setup, ring](Transport& node) { Member(node, setup, *ring).run(); });
  for (NodeId n = 0; n < config.nodes; ++n) setup.hosts.connect_ahead(n, 0, (n + 1) % config.nodes);
}

}  // namespace loco::workloads
