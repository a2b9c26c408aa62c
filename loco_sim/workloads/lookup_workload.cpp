// One-sided lookups of objects that their owner keeps rewriting, as in key-value stores on RDMA. They show the benefit
// of ordering the READs of one queue pair (pcie.read_ordering; Efficient Remote Memory Ordering, ASPLOS 2026).
//
// An object is a version and a value. Node 0 owns the objects and rewrites them: version odd, value, version even. A
// lookup READs version, value and version again, and starts over unless both versions are equal and even. That is
// correct only if the three READs take effect in order, because the client waits for each answer or because the
// hardware keeps them in order. `torn` counts lookups that were accepted although the value was torn.
#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/workloads/kinds.hpp"
#include "loco_sim/workloads/payload.hpp"

namespace loco::workloads {

namespace {

constexpr std::uint64_t kLine = 64;
constexpr std::uint64_t kWord = 8;
constexpr std::uint32_t kReads = 3;  // version, value, version

/// True if a client waits for each answer before the next READ.
bool waits(const Params& params) { return params.get("reads") != 0; }
std::uint64_t value_size(const Setup& setup) { return setup.params.amount("size"); }
std::uint64_t object_size(const Setup& setup) { return kLine + round_up(value_size(setup), kLine); }

/// Number of failed attempts of all clients since the last successful one. Kept outside the simulated machine, where it
/// costs nothing.
struct Luck {
  std::uint64_t under_way;  ///< limit on attempts in flight
  bool timed;
  std::uint64_t failed = 0;

  /// Without times the owner can be too fast for every client, so it then waits for a lookup to succeed.
  [[nodiscard]] bool owner_waits() const { return !timed && failed > 4 * under_way; }
  /// With times an owner that is too fast stays too fast.
  [[nodiscard]] bool hopeless() const { return timed && failed > std::max<std::uint64_t>(1000, 100 * under_way); }
};

/// Rewrites the objects in turn until no client is left, because all have ended or their nodes have stopped.
void owner(Transport& node, const Setup& setup, const Region& objects, const Luck& luck) {
  const std::uint64_t count = setup.params.count("objects");
  const std::int64_t pause_ps = setup.params.get("update_pause_ns") * 1000;
  std::vector<std::uint64_t> value(value_size(setup) / kWord);
  for (std::uint64_t update = 0; setup.cluster.unfinished() > 1; ++update) {
    const Address object = objects.base + update % count * object_size(setup);
    const std::uint64_t version = update / count * 2;
    node.store(object, version + 1);
    value.assign(value.size(), version + 2);
    node.store_bytes(object + kLine, std::as_bytes(std::span(value)));
    node.store(object, version + 2);
    do {
      node.compute(pause_ps);
    } while (luck.owner_waits() && setup.cluster.unfinished() > 1);
  }
}

/// A lookup in flight.
struct Slot {
  Region buffer{};  // version, value, version again
  std::uint64_t object = 0;
  std::uint32_t answers = 0;
  std::int64_t start_ps = 0;
  bool idle = true;
};

class Client {
 public:
  Client(Transport& node, const Setup& setup, const Region& objects, Luck& luck)
      : node_(node),
        setup_(setup),
        objects_(objects),
        luck_(luck),
        waited_(waits(setup.params)),
        slots_(setup.params.count("outstanding")) {
    for (Slot& slot : slots_) slot.buffer = node.allocate(2 * kLine + object_size(setup));
  }

  void run() {
    const std::uint32_t lookups = setup_.params.count("iterations");
    std::uint32_t started = 0;
    std::array<Completion, 16> done;
    while (finished_ < lookups) {
      for (std::size_t i = 0; i < slots_.size() && started < lookups; ++i) {
        if (!slots_[i].idle) continue;
        slots_[i].idle = false;
        slots_[i].start_ps = node_.now_ps();
        slots_[i].object = (node_.my_node() + started++) % setup_.params.count("objects");
        begin(i);
      }
      const std::size_t n = node_.poll(done);
      if (n == 0) node_.pause();
      for (const Completion& c : std::span(done).first(n)) {
        if (c.status != Status::success) throw failure(node_.my_node(), name(c.operation), c.peer, c.status);
        answered(c.token);
      }
    }
  }

 private:
  void begin(std::size_t i) {
    slots_[i].answers = 0;
    for (std::uint32_t k = 0; k < (waited_ ? 1 : kReads); ++k) read(i, k);
  }

  void read(std::size_t i, std::uint32_t which) {
    const Slot& slot = slots_[i];
    const bool value = which == 1;
    const std::uint64_t at = slot.object * object_size(setup_) + (value ? kLine : 0);
    const Address into = slot.buffer.base + (which == 0 ? 0 : (value ? kLine : object_size(setup_)));
    node_.get(into, objects_, at, value ? value_size(setup_) : kWord, {.token = i, .work_id = ++posted_});
  }

  void answered(std::size_t i) {
    Slot& slot = slots_[i];
    if (++slot.answers < kReads) {
      if (waited_) read(i, slot.answers);
      return;
    }
    const std::uint64_t version = node_.load(slot.buffer.base);
    const std::uint64_t again = node_.load(slot.buffer.base + object_size(setup_));
    if (version != again || version % 2 != 0) {
      setup_.results.counters.add(retries_);
      ++luck_.failed;
      if (luck_.hopeless())
        throw std::runtime_error(std::to_string(luck_.failed) +
                                 " lookups in a row have met an update: the owner rewrites objects faster than three "
                                 "READs take (workload.update_pause_ns, workload.objects)");
      return begin(i);
    }
    luck_.failed = 0;
    if (torn(slot, version)) setup_.results.counters.add(torn_);
    setup_.results.add("lookup", slot.start_ps, node_.now_ps());
    slot.idle = true;
    ++finished_;
  }

  /// Checked outside the simulated machine, at no cost. Every word is compared, because the owner may overtake the READ
  /// of a value; then its first and last words have the same version and those between them another one.
  [[nodiscard]] bool torn(const Slot& slot, std::uint64_t version) const {
    Payload value(setup_.params.get("size"));
    setup_.cluster.system().read_memory(node_.my_node(), slot.buffer.base + kLine,
                                        std::as_writable_bytes(std::span(value.words)));
    return !value.whole() || value.words.front() != version;
  }

  Transport& node_;
  const Setup& setup_;
  Region objects_;
  Luck& luck_;
  bool waited_;
  std::vector<Slot> slots_;
  std::uint32_t finished_ = 0;
  std::uint64_t posted_ = 0;
  sim::CounterId retries_ = setup_.results.counters.id("retries");
  sim::CounterId torn_ = setup_.results.counters.id("torn");
};

}  // namespace

std::uint32_t lookup_send_queue(const Params& params) {
  return params.count("outstanding") * (waits(params) ? 1 : kReads);
}

void start_lookup(const Setup& setup) {
  const Region objects = setup.cluster.node(0).allocate(setup.params.count("objects") * object_size(setup));
  const ClusterConfig& config = setup.cluster.config();
  const std::uint64_t under_way = std::uint64_t{config.nodes - 1} * setup.params.count("outstanding");
  const auto luck = std::make_shared<Luck>(Luck{under_way, config.schedule == Schedule::timed});
  setup.cluster.spawn(0, "owner", [&setup, objects, luck](Transport& node) { owner(node, setup, objects, *luck); });
  for (NodeId n = 1; n < config.nodes; ++n) {
    setup.cluster.spawn(n, "client",
                        [&setup, objects, luck](Transport& node) { Client(node, setup, objects, *luck).run(); });
  }
}

}  // namespace loco::workloads
