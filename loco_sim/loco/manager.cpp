#include "loco_sim/loco/manager.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#include "loco_sim/loco/ack_key.hpp"
#include "loco_sim/loco/bounds.hpp"
#include "loco_sim/loco/channel.hpp"
#include "loco_sim/loco/errors.hpp"

namespace loco {

namespace {
/// What a node notes for each peer, where that peer looks.
enum Note : std::uint64_t {
  kGivenUp = 0,       ///< not 0: the node has given up that peer
  kSuspect = kWord,   ///< a node that it knows to be given up by some node, + 1
  kNote = 2 * kWord,  ///< bytes
};

/// What a thread has posted through an endpoint towards a node, as one number.
constexpr std::uint64_t use_key(std::uint32_t life, NodeId node) { return std::uint64_t{life} << 32U | node; }
constexpr std::uint32_t life_of(std::uint64_t use) { return static_cast<std::uint32_t>(use >> 32U); }
constexpr NodeId node_of(std::uint64_t use) { return static_cast<NodeId>(use); }
}  // namespace

/// The manager's own channel: a dummy location a node, which global fences read, and the notes of whom it has given up,
/// which keep-alive threads read.
class fence_channel : public channel {
 public:
  using Told = std::function<void(const Region& notes)>;

  /// Tells of each peer's notes when that is connected, if anybody wants to know; else there are none.
  fence_channel(manager& mgr, Told connected)
      : channel(mgr, "loco", expect_num{mgr.num_nodes() - 1}),
        region_(symmetric_region("fence", sizeof(std::uint64_t))) {
    if (connected) {
      notes_ = symmetric_region("notes", mgr.num_nodes() * kNote);
      on_connect([this, told = std::move(connected)](NodeId peer) { told(remote(notes_, peer)); });
    }
    join();
  }
  ~fence_channel() override { leave(); }
  [[nodiscard]] Region location(NodeId node) const { return remote(region_, node); }
  /// This node's, if there are any.
  [[nodiscard]] Region notes() const { return local(notes_); }

 private:
  RegionIndex region_;
  RegionIndex notes_ = 0;
};

struct manager::Services {
  Services(Transport& t, std::uint64_t memory_chunk_bytes, std::uint32_t& lives)
      : transport(t), memory(t, memory_chunk_bytes), channels(t, memory, lives), acks(t), stop(t.make_flag()) {}

  /// The polling thread.
  void serve() {
    std::array<Completion, 16> batch;
    while (true) {
      const std::size_t finished = transport.poll(batch);
      for (std::size_t i = 0; i < finished; ++i) acks.finish(batch[i]);
      if (finished != 0) continue;
      if (channels.handle_next()) continue;
      if (transport.flag_peek(stop) != 0) return;
      transport.pause();
    }
  }

  /// The keep-alive thread: reads the notes of every peer again and again. Whoever does not answer is known as failed
  /// once the queue pair has given up. Ends when no other node can stop: it would hide that a program waits for ever.
  void ask_peers() {
    const Region landing = memory.allocate(transport.num_nodes() * kNote);
    const std::uint64_t mine = transport.my_node() * kNote;
    std::vector<Flag> asked;
    for (NodeId node = 0; node < transport.num_nodes(); ++node) asked.push_back(acks.acquire_word());
    for (bool again = true; again && transport.flag_load(stop) == 0;) {
      again = transport.another_may_stop();
      for (const Region& location : connected_peers()) {
        const NodeId node = location.node;
        if (acks.failed(node)) continue;
        if ((transport.flag_load(asked[node]) & ack_word::kInFlight) != 0) {
          again = true;  // the answer may be from before the node stopped
          continue;
        }
        hear(node, landing.base + node * kNote);
        transport.flag_add_early(asked[node], 1);
        transport.get(landing.base + node * kNote, location, mine, kNote,
                      {.token = ack_word::token(asked[node], 0), .work_id = 0});
      }
      if (again) transport.compute(transport.keep_alive_ps());
    }
  }

  /// What a peer has answered.
  void hear(NodeId node, Address answer) {
    if (transport.load(answer + kGivenUp) != 0) acks.give_up(node, true);
    if (const std::uint64_t suspect = transport.load(answer + kSuspect); suspect != 0 && !acks.suspect())
      acks.note_suspect(static_cast<NodeId>(suspect - 1));
  }

  /// Notes are written where the peers look before anybody here acts on them.
  void note_failures_in(const Region& notes) {
    acks.set_announcements({.given_up =
                                [this, notes](NodeId node) {
                                  transport.store(notes.base + node * kNote + kGivenUp, 1);
                                  transport.memory_fence();
                                },
                            .suspect =
                                [this, notes](NodeId suspect) {
                                  for (NodeId node = 0; node < transport.num_nodes(); ++node)
                                    transport.store(notes.base + node * kNote + kSuspect, suspect + 1);
                                  transport.memory_fence();
                                }});
  }

  /// A peer is connected; its notes.
  void note_connected(const Region& location) {
    const std::lock_guard lock(mutex);
    locations.push_back(location);
  }
  [[nodiscard]] std::vector<Region> connected_peers() {
    const std::lock_guard lock(mutex);
    return locations;
  }

  Transport& transport;
  network_memory memory;
  setup channels;
  completions acks;
  Flag stop;
  std::mutex mutex;
  std::vector<Region> locations;  ///< the notes of the peers that are connected
};

manager::manager(Transport& transport, std::uint64_t memory_chunk_bytes)
    : transport_(transport),
      only_one_(transport),
      services_(std::make_shared<Services>(transport, memory_chunk_bytes, transport.lives_)),
      can_fence_(transport.lacks(Capability::reads_push_puts).empty()) {
  const bool asks = transport.keep_alive_ps() != 0;
  const auto note = [services = services_.get()](const Region& location) { services->note_connected(location); };
  fence_ = std::make_unique<fence_channel>(*this, asks ? fence_channel::Told(note) : nullptr);
  if (asks) services_->note_failures_in(fence_->notes());
  transport.spawn(
      "poller", [services = services_] { services->serve(); }, true);
  if (asks)
    transport.spawn(
        "keep-alive", [services = services_] { services->ask_peers(); }, true);
}

manager::OnlyOne::OnlyOne(Transport& t) : transport(t) {
  if (std::exchange(transport.has_manager_, true))
    throw setup_error("node " + std::to_string(transport.my_node()) +
                      " has a manager already: all channels and threads of a node use the same one");
}

manager::OnlyOne::~OnlyOne() { transport.has_manager_ = false; }

manager::~manager() {
  try {
    transport_.flag_fetch_or(services_->stop, 1);
  } catch (...) {  // a transport that is being torn down refuses: then the polling thread ends with it
  }
}

network_memory& manager::memory() { return services_->memory; }
setup& manager::setup_service() { return services_->channels; }
std::shared_ptr<completions> manager::completion_service() { return {services_, &services_->acks}; }

void manager::wait_for_ready() { services_->channels.wait_for_ready(); }

Region manager::fence_location(NodeId node) const { return fence_->location(node); }

manager::PerThread& manager::mine() {
  const std::lock_guard lock(mutex_);
  return threads_[transport_.my_thread()];
}

Address manager::fence_landing(NodeId node) {
  PerThread& thread = mine();
  if (thread.landing.size == 0) thread.landing = memory().allocate(num_nodes() * sizeof(std::uint64_t));
  return thread.landing.base + node * sizeof(std::uint64_t);
}

bool& manager::used_loopback() { return mine().used_loopback; }

std::vector<NodeId> manager::unplaced() {
  const std::vector<bool>& marks = mine().unplaced;
  std::vector<NodeId> nodes;
  for (NodeId n = 0; n < marks.size(); ++n)
    if (marks[n]) nodes.push_back(n);
  return nodes;
}

void manager::note_placed(NodeId node) {
  std::vector<bool>& marks = mine().unplaced;
  if (node < marks.size()) marks[node] = false;
}

/// Mostly what was noted last, or what comes behind it: a broadcast goes to one node after the other.
void manager::note_use(PerThread& thread, const Region& remote) {
  const std::uint64_t use = use_key(remote.life, remote.node);
  std::vector<std::uint64_t>& noted = thread.unfenced;
  if (remote.life == 0 || (!noted.empty() && noted.back() == use)) return;
  if (noted.empty() || noted.back() < use) return noted.push_back(use);
  const auto at = std::ranges::lower_bound(noted, use);
  if (*at != use) noted.insert(at, use);
}

void manager::note_fenced(std::span<const NodeId> nodes) {
  {
    const std::lock_guard lock(mutex_);
    std::vector<std::uint64_t>& unfenced = threads_[transport_.my_thread()].unfenced;
    if (nodes.size() == num_nodes())
      unfenced.clear();
    else
      std::erase_if(unfenced, [&](std::uint64_t use) { return std::ranges::find(nodes, node_of(use)) != nodes.end(); });
  }
  const std::vector<std::uint32_t> over = services_->channels.note_fenced(nodes);
  if (over.empty()) return;
  const std::lock_guard lock(mutex_);
  for (auto& [index, thread] : threads_)
    std::erase_if(thread.unfenced,
                  [&](std::uint64_t use) { return std::ranges::find(over, life_of(use)) != over.end(); });
}

std::vector<departures::use> manager::uses_of(std::uint32_t life) {
  const std::lock_guard lock(mutex_);
  std::vector<departures::use> uses;
  for (const auto& [index, thread] : threads_)
    for (auto at = std::ranges::lower_bound(thread.unfenced, use_key(life, 0));
         at != thread.unfenced.end() && life_of(*at) == life; ++at)
      uses.push_back({index, node_of(*at)});
  return uses;
}

void manager::require_words(std::string_view what, Address local, const Region& remote, std::uint64_t offset,
                            std::uint64_t size) {
#ifndef NDEBUG
  if (mine().blocks->is_free(local))
    throw std::logic_error("node " + std::to_string(my_node()) + ": " + std::string(what) +
                           " with the memory of a mem_ref that has been given back");
#endif
  if (local % kWord != 0)
    throw size_error("node " + std::to_string(my_node()) + ": " + std::string(what) + " at local address " +
                     std::to_string(local) + ": expected whole words, from a multiple of " + std::to_string(kWord));
  if (whole_words_inside(offset, size, remote.size)) return;
  throw size_error("node " + std::to_string(my_node()) + ": " + std::string(what) + " of " + std::to_string(size) +
                   " bytes at offset " + std::to_string(offset) + " of a region of " + std::to_string(remote.size) +
                   " bytes on node " + std::to_string(remote.node) + ": expected whole words inside of it");
}

OperationTag manager::tag(const Region& remote, Posting posting, ack_key* key) {
  {
    const std::lock_guard lock(mutex_);
    PerThread& thread = threads_[transport_.my_thread()];
    note_use(thread, remote);
    if (remote.node == my_node()) thread.used_loopback = true;
    if (posting.fenced) {
      thread.unplaced.resize(num_nodes());
      thread.unplaced[remote.node] = true;
    }
  }
  if (key == nullptr)
    return {.token = posting.quiet ? ack_word::kQuietToken : 0,
            .tell = posting.more ? Tell::with_next : Tell::if_failed};
  return posting.more ? key->begin_listed() : key->begin_operation();
}

void manager::put(Address local, const Region& remote, std::uint64_t offset, std::uint64_t size, ack_key* key,
                  Posting posting) {
  require_words("a put", local, remote, offset, size);
  transport_.put(local, remote, offset, size, tag(remote, posting, key));
}

void manager::get(Address local, const Region& remote, std::uint64_t offset, std::uint64_t size, ack_key* key,
                  Posting posting) {
  require_words("a get", local, remote, offset, size);
  posting.fenced = false;  // it writes nothing there
  transport_.get(local, remote, offset, size, tag(remote, posting, key));
}

void manager::fetch_add(Address local, const Region& remote, std::uint64_t offset, std::uint64_t add, ack_key* key,
                        Posting posting) {
  require_words("a fetch-and-add", local, remote, offset, kWord);
  transport_.fetch_add(local, remote, offset, add, tag(remote, posting, key));
}

void manager::compare_swap(Address local, const Region& remote, std::uint64_t offset, std::uint64_t expected,
                           std::uint64_t desired, ack_key* key, Posting posting) {
  require_words("a compare-and-swap", local, remote, offset, kWord);
  transport_.compare_swap(local, remote, offset, expected, desired, tag(remote, posting, key));
}

void manager::require_network(std::string_view who, Capability what) const {
  constexpr std::array<std::string_view, 4> kNeeds = {
      "ordered puts (a put is in memory before a later one to the same node)",
      "gets that push puts (a get reads behind earlier puts to the same node)", "remote atomics",
      "remote atomics that are atomic with CPUs"};
  const std::string why = transport_.lacks(what);
  if (!why.empty())
    throw setup_error("node " + std::to_string(my_node()) + ": " + std::string(who) + " needs " +
                      std::string(kNeeds.at(static_cast<std::size_t>(what))) + ", which this network lacks: " + why);
}

void manager::check() { services_->acks.check(); }
void manager::tell_later(const operation_error& error) { services_->acks.tell_later(error); }

bool manager::failed(NodeId node) const { return services_->acks.failed(node); }
bool manager::any_failed() const { return services_->acks.any_failed(); }
std::optional<NodeId> manager::suspect() const { return services_->acks.suspect(); }

std::string_view manager::why_failed(NodeId node) const {
  return services_->acks.gave_up_this_one(node) ? "which has given up this node" : "which does not answer";
}

void manager::require_answers(std::string_view object, std::span<const NodeId> nodes) const {
  for (const NodeId node : nodes)
    if (failed(node))
      throw operation_error(Status::retry_exc_err,
                            "node " + std::to_string(my_node()) + ": '" + std::string(object) + "' waits for node " +
                                std::to_string(node) + ", " + std::string(why_failed(node)),
                            node);
}

void manager::pause_for(std::string_view object, std::span<const NodeId> nodes) {
  if (any_failed()) require_answers(object, nodes);
  const waiting_for note(transport_, [object] { return "'" + std::string(object) + "' lets it go on"; });
  transport_.pause();
}

}  // namespace loco
