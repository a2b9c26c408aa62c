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
#include "loco_sim/loco/services.hpp"

namespace loco {

namespace {
/// What a thread has posted through an endpoint towards a node, as one number.
constexpr std::uint64_t use_key(std::uint32_t life, NodeId node) { return std::uint64_t{life} << 32U | node; }
constexpr std::uint32_t used_life(std::uint64_t use) { return static_cast<std::uint32_t>(use >> 32U); }
constexpr NodeId used_node(std::uint64_t use) { return static_cast<NodeId>(use); }
}  // namespace

manager::manager(Transport& transport, std::uint64_t memory_chunk_bytes)
    : transport_(transport),
      only_one_(transport),
      services_(services_of(transport)),
      can_fence_(transport.lacks(Capability::reads_push_puts).empty()) {
  services_->begin(memory_chunk_bytes);
  const bool asks = transport.keep_alive_ps() != 0;
  const auto note = [services = services_.get()](const Region& location) { services->note_connected(location); };
  fence_ = std::make_unique<fence_channel>(*this, asks ? fence_channel::Told(note) : nullptr);
  services_->set_own(fence_.get());
  if (asks) services_->note_failures_in(fence_->notes());
  Services::start(services_, "poller", &Services::serve);
  if (asks) Services::start(services_, "keep-alive", &Services::ask_peers);
}

std::shared_ptr<manager::Services> manager::services_of(Transport& transport) {
  if (!transport.services_) transport.services_ = std::make_shared<Services>(transport);
  return std::static_pointer_cast<Services>(transport.services_);
}

manager::OnlyOne::OnlyOne(Transport& t) : transport(t) {
  if (std::exchange(transport.has_manager_, true))
    throw setup_error("node " + std::to_string(transport.my_node()) +
                      " has a manager already: all channels and threads of a node use the same one");
}

manager::OnlyOne::~OnlyOne() { transport.has_manager_ = false; }

manager::~manager() {
  services_->set_own(nullptr);
  services_->end();
}

network_memory& manager::memory() { return services_->memory; }
setup& manager::setup_service() { return services_->channels; }
std::shared_ptr<completions> manager::completion_service() { return {services_, &services_->acks}; }

void manager::wait_for_ready() { services_->channels.wait_for_ready(); }

Region manager::fence_location(NodeId node) const { return fence_->location(node); }

manager::PerThread& manager::mine() {
  const std::lock_guard lock(services_->threads_mutex);
  return services_->threads[transport_.my_thread()];
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
    const std::lock_guard lock(services_->threads_mutex);
    PerThread& thread = services_->threads[transport_.my_thread()];
    for (const NodeId node : nodes) thread.blocks->note_fenced(node);
    std::vector<std::uint64_t>& unfenced = thread.unfenced;
    if (nodes.size() == num_nodes())
      unfenced.clear();
    else
      std::erase_if(unfenced,
                    [&](std::uint64_t use) { return std::ranges::find(nodes, used_node(use)) != nodes.end(); });
  }
  const std::vector<std::uint32_t> over = services_->channels.note_fenced(nodes);
  if (over.empty()) return;
  const std::lock_guard lock(services_->threads_mutex);
  for (auto& [index, thread] : services_->threads)
    std::erase_if(thread.unfenced,
                  [&](std::uint64_t use) { return std::ranges::find(over, used_life(use)) != over.end(); });
}

std::vector<departures::use> manager::uses_of(std::uint32_t life) {
  const std::lock_guard lock(services_->threads_mutex);
  std::vector<departures::use> uses;
  for (const auto& [index, thread] : services_->threads)
    for (auto at = std::ranges::lower_bound(thread.unfenced, use_key(life, 0));
         at != thread.unfenced.end() && used_life(*at) == life; ++at)
      uses.push_back({index, used_node(*at)});
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

OperationTag manager::tag(Address local, const Region& remote, Posting posting, ack_key* key) {
  {
    const std::lock_guard lock(services_->threads_mutex);
    PerThread& thread = services_->threads[transport_.my_thread()];
    thread.blocks->require_none_too_early();
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
  const OperationTag tag = posting.more ? key->begin_listed() : key->begin_operation();
  key->note_use(local, remote.node, tag.token);
  return tag;
}

void manager::put(Address local, const Region& remote, std::uint64_t offset, std::uint64_t size, ack_key* key,
                  Posting posting) {
  require_words("a put", local, remote, offset, size);
  transport_.put(local, remote, offset, size, tag(local, remote, posting, key));
}

void manager::get(Address local, const Region& remote, std::uint64_t offset, std::uint64_t size, ack_key* key,
                  Posting posting) {
  require_words("a get", local, remote, offset, size);
  posting.fenced = false;  // it writes nothing there
  transport_.get(local, remote, offset, size, tag(local, remote, posting, key));
}

void manager::fetch_add(Address local, const Region& remote, std::uint64_t offset, std::uint64_t add, ack_key* key,
                        Posting posting) {
  require_words("a fetch-and-add", local, remote, offset, kWord);
  transport_.fetch_add(local, remote, offset, add, tag(local, remote, posting, key));
}

void manager::compare_swap(Address local, const Region& remote, std::uint64_t offset, std::uint64_t expected,
                           std::uint64_t desired, ack_key* key, Posting posting) {
  require_words("a compare-and-swap", local, remote, offset, kWord);
  transport_.compare_swap(local, remote, offset, expected, desired, tag(local, remote, posting, key));
}

void manager::require_network(std::string_view who, Capability what) const {
  constexpr std::array<std::string_view, 5> kNeeds = {
      "ordered puts (a put is in memory before a later one to the same node)",
      "gets that push puts (a get reads behind earlier puts to the same node)", "remote atomics",
      "remote atomics that are atomic with CPUs", "the words of a put or get in the order of addresses"};
  const std::string why = transport_.lacks(what);
  if (!why.empty())
    throw setup_error("node " + std::to_string(my_node()) + ": " + std::string(who) + " needs " +
                      std::string(kNeeds.at(static_cast<std::size_t>(what))) + ", which this network lacks: " + why);
}

void manager::check() {
  mine().blocks->require_none_too_early();
  services_->acks.check();
}
void manager::tell_later(const operation_error& error) { services_->acks.tell_later(error); }

bool manager::failed(NodeId node) const { return services_->acks.failed(node); }
bool manager::any_failed() const { return services_->acks.any_failed(); }
std::optional<NodeId> manager::suspect() const { return services_->acks.suspect(); }

std::string_view manager::why_failed(NodeId node) const {
  return services_->acks.gave_up_this_one(node) ? "which has given up this node" : "which does not answer";
}

void manager::reconnect(NodeId node, std::optional<std::int64_t> limit_ps) {
  services_->again.reconnect([this](NodeId peer) { return fence_->location(peer); }, node, limit_ps);
}

bool manager::asked_back(NodeId node) const { return services_->again.asked_back(node); }

std::uint32_t manager::connection_of(std::uint32_t life, NodeId node) const {
  return services_->present.of(life, node);
}
bool manager::outdated(std::uint32_t life, NodeId node) const { return services_->present.outdated(life, node); }
bool manager::outdated(std::uint32_t life) const { return services_->present.outdated(life); }

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
