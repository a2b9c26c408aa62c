#include "loco_sim/loco/kv_tracker.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/manager.hpp"

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
      asked_(transport().make_flag()),
      stop_(transport().make_flag()),
      stopped_(transport().make_flag()) {
  constexpr std::uint64_t kAnnouncement = kWord + sizeof(Message);  // its length, then its words
  if (ring_bytes < kAnnouncement)
    throw setup_error("key-value store '" + parent.full_name() + "' with rings of " + std::to_string(ring_bytes) +
                      " bytes: expected at least " + std::to_string(kAnnouncement) + ", an announcement");
  if (num_nodes() > 1)
    for (NodeId writer = 0; writer < num_nodes(); ++writer)
      rings_.emplace_back(*this, "ring" + std::to_string(writer), writer,
                          ring_options{.bytes = ring_bytes, .leave_out_failed = true});
  join();
  transport().spawn(
      "tracker", [this] { serve(); }, true);
}

kv_tracker::~kv_tracker() {
  try {
    transport().flag_fetch_or(stop_, 1);
    while (transport().flag_load(stopped_) == 0) transport().pause();
  } catch (...) {  // a transport that is being torn down refuses: then the tracker thread ends with it
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

/// No other channel: the program may need the store to make those ready.
bool kv_tracker::rings_are_ready() {
  try {
    return wait_for_ready(stop_);
  } catch (const setup_error&) {  // the program's own wait throws it too
    return false;
  }
}

void kv_tracker::track() {
  while (true) {
    transport().flag_load(asked_);
    const bool received = receive();
    const bool sent = send();
    const bool finished = finish();
    if (received || sent || finished) continue;
    if (transport().flag_load(stop_) != 0) return;
    transport().pause();
  }
}

void kv_tracker::apply(const kv_change& change) {
  if (change.kind == kv_change::Kind::inserted)
    index_.insert(change.key, change.where);
  else
    index_.erase(change.key);
  told_(change);
}

bool kv_tracker::receive() {
  bool any = false;
  for (NodeId writer = 0; writer < rings_.size(); ++writer)
    if (writer != my_node())
      while (rings_[writer].try_receive([this](std::span<const std::byte> text) { apply(decoded(text)); })) any = true;
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
      if (!rings_[my_node()].try_send(std::as_bytes(std::span(text)))) return any;
      request.until = rings_[my_node()].sent();
    }
    apply(request.change);
    sent_.push_back(request);
    const std::lock_guard lock(mutex_);
    requests_.pop_front();
    any = true;
  }
}

bool kv_tracker::finish() {
  bool any = false;
  while (!sent_.empty() && (rings_.empty() || rings_[my_node()].received_by_all(sent_.front().until))) {
    transport().flag_fetch_or(sent_.front().done, 1);
    sent_.pop_front();
    any = true;
  }
  return any;
}

}  // namespace loco
