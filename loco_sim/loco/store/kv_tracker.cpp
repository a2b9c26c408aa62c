#include "loco_sim/loco/store/kv_tracker.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/operations/networked_node.hpp"
#include "probe/probe.hpp"

namespace loco {

namespace {
using Message = std::array<std::uint64_t, 5>;

Message encoded(const kv_change& c) {
  return {static_cast<std::uint64_t>(c.kind), c.key, c.where.node, c.where.slot, c.where.counter};
}

kv_change decoded(std::span<const std::byte> text) {
  Message m{};
  std::memcpy(m.data(), text.data(), std::min(text.size(), sizeof m));
  return {static_cast<kv_change::Kind>(m[0]), m[1], {static_cast<NodeId>(m[2]), m[3], m[4]}};
}
}  // namespace

kv_tracker::kv_tracker(channel& parent, std::string_view name, std::uint64_t ring_bytes, kv_index& index, Told told)
    : channel(parent, name, expect_num{parent.num_nodes() - 1}),
      index_(index),
      told_(std::move(told)),
      asked_(transport()),
      stop_(transport()),
      stopped_(transport()),
      asks_(transport().keep_alive_ps() > 0 && parent.num_nodes() > 1),
      expels_(parent.num_nodes()),
      to_expel_(parent.num_nodes()) {
  constexpr std::uint64_t kAnnouncement = kWord + sizeof(Message);  // its length, then its words
  if (ring_bytes < kAnnouncement)
    throw setup_error("key-value store '" + parent.full_name() + "' with rings of " + std::to_string(ring_bytes) +
                      " bytes: expected at least " + std::to_string(kAnnouncement) + ", an announcement");
  if (num_nodes() > 1)
    for (NodeId writer = 0; writer < num_nodes(); ++writer)
      rings_.emplace_back(*this, "ring" + std::to_string(writer), writer,
                          ring_options{.bytes = ring_bytes, .leave_out_failed = true});
  if (asks_) expelled_ = symmetric_region("expelled", num_nodes() * kWord);
  join();
  transport().spawn(
      "tracker", [this] { serve(); }, true);
}

kv_tracker::~kv_tracker() {
  try {
    transport().flag_fetch_or(stop_, 1);
    while (transport().flag_load(stopped_) == 0) transport().pause();
  } catch (...) {  // a transport that is being torn down throws, and ends the tracker thread itself
  }
}

void kv_tracker::announce(const kv_change& change, Flag done) {
  {
    const std::lock_guard lock(mutex_);
    requests_.push_back({change, done});
  }
  transport().flag_fetch_add(asked_, 1);
}

void kv_tracker::serve() {
  if (rings_are_ready()) track();
  transport().flag_fetch_or(stopped_, 1);
}

/// Waits for this channel only, because the program may need the store to make the others ready.
bool kv_tracker::rings_are_ready() {
  try {
    return wait_for_ready(stop_);
  } catch (const setup_error&) {  // the program's own wait throws it too
    return false;
  } catch (const operation_error&) {  // a node ended before it joined: that is thrown there, too
    return false;
  }
}

void kv_tracker::track() {
  while (true) {
    transport().flag_load(asked_);
    const bool expelled = any_lost() && expel_failed();
    const bool received = receive();
    const bool sent = send();
    const bool finished = finish();
    const bool refused = out_ && refuse_all();
    if (expelled || received || sent || finished || refused) continue;
    if (transport().flag_load(stop_) != 0) return;
    transport().pause();
  }
}

void kv_tracker::apply(const kv_change& change) {
  switch (change.kind) {
    case kv_change::Kind::inserted:
      index_.insert(change.key, change.where);
      break;
    case kv_change::Kind::erased:
      index_.erase(change.key);
      break;
    case kv_change::Kind::expelled:
    case kv_change::Kind::noted:
      break;
  }
  told_(change);
}

bool kv_tracker::receive() {
  bool any = false;
  for (NodeId writer = 0; writer < rings_.size(); ++writer)
    if (writer != my_node())
      while (receive_from(rings_[writer])) any = true;
  return any;
}

bool kv_tracker::receive_from(ring_buffer& ring) {
  kv_change change;
  const bool any = ring.receive_if_there([&](std::span<const std::byte> text) {
    change = decoded(text);
    apply(change);
  });
  if (any) expel(change);
  return any;
}

bool kv_tracker::send() {
  bool any = false;
  while (true) {
    Request request;
    {
      const std::lock_guard lock(mutex_);
      if (requests_.empty()) return any;
      request = requests_.front();
    }
    if (!rings_.empty()) {
      const Message text = encoded(request.change);
      if (!mine().try_send(std::as_bytes(std::span(text)))) {
        LOCO_PROBE(kv_announcement_waits_for_room);
        return any;
      }
      request.until = mine().sent();
    }
    apply(request.change);
    expel(request.change);
    if (request.change.of_key())
      sent_.push_back(request);
    else if (request.change.kind == kv_change::Kind::noted)
      expels_[request.change.key] = request.until;
    const std::lock_guard lock(mutex_);
    requests_.pop_front();
    any = true;
  }
}

bool kv_tracker::finish() {
  bool any = false;
  while (!sent_.empty() && (rings_.empty() || known_to_all(sent_.front().until))) {
    transport().flag_fetch_or(sent_.front().done, kDone);
    sent_.pop_front();
    any = true;
  }
  return any;
}

// --- nodes that do not answer ----------------------------------------------------------------------------------------

bool kv_tracker::known_to_all(std::uint64_t until) {
  if (!mine().received_by_all(until)) return false;  // by all that are not given up
  if (!any_lost()) return true;
  for (NodeId node = 0; node < num_nodes(); ++node)
    if (node != my_node() && lost(node) && !mine().received_by(node, until) && !is_expelled(node)) return false;
  return true;
}

bool kv_tracker::is_expelled(NodeId node) {
  if (!expels_[node]) return false;
  std::uint32_t noted = 1;  // this node's own note
  for (NodeId other = 0; other < num_nodes(); ++other)
    if (other != my_node() && other != node && mine().received_by(other, *expels_[node])) ++noted;
  return noted > num_nodes() / 2;
}

bool kv_tracker::expel_failed() {
  std::uint32_t answering = num_nodes();
  NodeId silent = my_node();
  bool any = false;
  for (NodeId node = 0; node < num_nodes(); ++node) {
    if (!lost(node)) continue;
    --answering;
    silent = node;
    if (!asks_ || to_expel_[node]) continue;
    to_expel_[node] = true;
    LOCO_PROBE(kv_node_expelled);
    any = true;
    const std::lock_guard lock(mutex_);
    requests_.push_back({{kv_change::Kind::expelled, node, {}}, asked_});
    requests_.push_back({{kv_change::Kind::noted, node, {}}, asked_});
  }
  if (silent != my_node() && (!asks_ || answering <= num_nodes() / 2)) {
    LOCO_PROBE(kv_node_leaves_the_store);
    leave_store(silent, false);
  }
  return any;
}

/// Puts the note in memory, where the expelled node looks, before this node handles the next message.
void kv_tracker::expel(const kv_change& change) {
  if (change.kind != kv_change::Kind::expelled || !asks_ || change.key >= num_nodes()) return;
  transport().store(local(expelled_).base + change.key * kWord, 1);
  transport().memory_fence();
}

std::vector<Region> kv_tracker::to_ask() const {
  std::vector<Region> result;
  NodeId silent = my_node();
  for (NodeId i = 1; i < num_nodes() && result.size() < others_asked(); ++i) {
    const NodeId node = (my_node() + i) % num_nodes();
    if (lost(node))
      silent = node;
    else
      result.push_back(remote(expelled_, node));
  }
  if (result.size() == others_asked()) return result;
  throw operation_error(Status::retry_exc_err,
                        "node " + std::to_string(my_node()) + ": '" + store_name() + "' needs a majority of " +
                            std::to_string(num_nodes()) + " nodes; among those that do not answer is node " +
                            std::to_string(silent),
                        silent);
}

void kv_tracker::leave_store(NodeId node, bool expelled) {
  {
    const std::lock_guard lock(mutex_);
    if (out_) return;
    why_out_ = "node " + std::to_string(my_node()) + " is out of '" + store_name() + "': " +
               (expelled ? "the others go on without it, says node " + std::to_string(node)
                         : std::string("too few nodes answer; node ") + std::to_string(node) + " does not");
    out_because_of_ = node;
    out_ = true;
  }
  transport().flag_fetch_add(asked_, 1);
}

void kv_tracker::require_member() const {
  if (!out_) return;
  const std::lock_guard lock(mutex_);
  throw operation_error(Status::retry_exc_err, why_out_, out_because_of_);
}

bool kv_tracker::refuse_all() {
  std::deque<Request> refused = std::exchange(sent_, {});
  {
    const std::lock_guard lock(mutex_);
    refused.insert(refused.end(), requests_.begin(), requests_.end());
    requests_.clear();
  }
  for (const Request& request : refused)
    if (request.change.of_key()) transport().flag_fetch_or(request.done, kRefused);
  return !refused.empty();
}

}  // namespace loco
