#include "loco_sim/libibverbs/ends.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

namespace loco::libibverbs {

namespace {

/// A message about an end.
struct WireMessage {
  EndKey key{};  ///< `peer` is the sender
  QueuePairAddress at{};
  bool ready = false;    ///< it can receive from the receiver's end
  bool refused = false;  ///< there will be none, because that connection has ended
};

}  // namespace

Ends::Ends(const Device& device, ibv_cq& cq, NodeId node, std::uint32_t nodes, std::uint32_t send_entries, Say say)
    : device_(device),
      cq_(cq),
      node_(node),
      send_entries_(send_entries),
      say_(std::move(say)),
      changes_(nodes),
      lost_(nodes) {}

void Ends::tell(const End& end, bool ready) {
  const WireMessage message{
      .key = {end.key.thread, node_, end.key.connection}, .at = device_.address_of(*end.qp), .ready = ready};
  std::string body(sizeof(message), '\0');
  std::memcpy(body.data(), &message, sizeof(message));
  say_(end.key.peer, body);
}

End& Ends::make(const EndKey& key) {
  auto made = std::make_unique<End>();
  End& end = *made;
  end.key = key;
  end.requests.resize(send_entries_);
  if (lost(key.peer) || key.connection < changes_[key.peer].ended) {
    end.dead = end.reset = true;
  } else {
    end.qp = device_.create_qp(cq_, send_entries_ + 1);  // includes room for kDrained
    by_number_[end.qp->qp_num] = &end;
    if (key.peer == node_) {
      end.other = device_.create_qp(cq_, 1);
      device_.connect(*end.other, device_.address_of(*end.qp));
      device_.connect(*end.qp, device_.address_of(*end.other));
      end.connected = end.peer_ready = true;
    }
  }
  ends_.emplace(key, std::move(made));
  return end;
}

End& Ends::ready_end(const EndKey& key, const std::function<void()>& check) {
  std::unique_lock lock(mutex_);
  const auto found = ends_.find(key);
  End& end = found != ends_.end() ? *found->second : make(key);
  if (found == ends_.end() && !end.dead && !end.connected) tell(end, false);
  while (!end.dead && !(end.connected && end.peer_ready)) {
    check();
    news_.wait_for(lock, std::chrono::milliseconds(100));
  }
  return end;
}

End* Ends::numbered(std::uint32_t qp_number) {
  const std::lock_guard lock(mutex_);
  const auto found = by_number_.find(qp_number);
  return found == by_number_.end() ? nullptr : found->second;
}

End* Ends::find(const EndKey& key) {
  const std::lock_guard lock(mutex_);
  const auto found = ends_.find(key);
  return found == ends_.end() ? nullptr : found->second.get();
}

void Ends::on_wire(NodeId from, const std::string& body) {
  WireMessage message;
  if (body.size() != sizeof(message)) return;
  std::memcpy(&message, body.data(), sizeof(message));
  {
    const std::lock_guard lock(mutex_);
    const EndKey key{message.key.thread, from, message.key.connection};
    const auto found = ends_.find(key);
    End& end = found != ends_.end() ? *found->second : make(key);
    if (message.refused) {
      set_dead(end);
    } else if (end.dead) {
      message.refused = true;
      message.key.peer = node_;
      std::string answer(sizeof(message), '\0');
      std::memcpy(answer.data(), &message, sizeof(message));
      say_(from, answer);
    } else {
      if (!end.connected) {
        device_.connect(*end.qp, message.at);
        end.connected = true;
      }
      end.peer_ready |= message.ready;
      if (!std::exchange(end.said_ready, true)) tell(end, true);
    }
  }
  news_.notify_all();
}

void Ends::set_dead(End& end) {
  const std::lock_guard lock(end.posting);
  if (end.dead.exchange(true) || !end.qp) return;
  device_.set_state(*end.qp, IBV_QPS_ERR);
  if (end.other) device_.set_state(*end.other, IBV_QPS_ERR);
  ibv_send_wr mark{};
  mark.wr_id = kDrained;
  mark.opcode = IBV_WR_RDMA_WRITE;
  mark.send_flags = IBV_SEND_SIGNALED;
  ibv_send_wr* refused = nullptr;
  if (const int error = ibv_post_send(end.qp.get(), &mark, &refused); error != 0)
    throw device_.failed("ibv_post_send", error);
}

void Ends::on_lost(NodeId peer) {
  {
    const std::lock_guard lock(mutex_);
    lost_[peer].store(true, std::memory_order_release);
    for (auto& [key, end] : ends_)
      if (key.peer == peer) set_dead(*end);
  }
  news_.notify_all();
}

void Ends::disconnect(NodeId peer) {
  {
    const std::lock_guard lock(mutex_);
    changes_[peer].ended = changes_[peer].present + 1;
    for (auto& [key, end] : ends_)
      if (key.peer == peer && key.connection < changes_[peer].ended) set_dead(*end);
  }
  news_.notify_all();
}

/// A destroyed queue pair writes nothing any more. Before it is destroyed, everything posted must have completed.
bool Ends::disconnected(NodeId peer) {
  const std::lock_guard lock(mutex_);
  bool all = true;
  for (auto& [key, end] : ends_) {
    if (key.peer != peer || key.connection >= changes_[peer].ended || end->reset) continue;
    if (!end->is_free()) {
      all = false;
      continue;
    }
    end->reset = true;
    by_number_.erase(end->qp->qp_num);
    end->qp.reset();
    end->other.reset();
  }
  return all;
}

void Ends::connect(NodeId peer, std::uint32_t number) {
  const std::lock_guard lock(mutex_);
  changes_[peer] = {.present = number, .ended = number};
}

std::vector<End*> Ends::ends_of(std::uint32_t thread, NodeId peer) {
  const std::lock_guard lock(mutex_);
  std::vector<End*> found;
  for (auto at = ends_.lower_bound({thread, peer, 0});
       at != ends_.end() && at->first.thread == thread && at->first.peer == peer; ++at)
    found.push_back(at->second.get());
  return found;
}

void Ends::clear() {
  const std::lock_guard lock(mutex_);
  by_number_.clear();
  ends_.clear();
}

}  // namespace loco::libibverbs
