#include "loco_sim/loco/objects/shared_region.hpp"

#include <string>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/membership/setup.hpp"
#include "loco_sim/loco/memory/bounds.hpp"
#include "loco_sim/loco/operations/ack_key.hpp"
#include "loco_sim/loco/operations/call_scope.hpp"
#include "loco_sim/loco/operations/networked_node.hpp"

namespace loco {

shared_region::shared_region(channel& endpoint, std::string_view name, std::string_view region, std::uint64_t size)
    : endpoint_(endpoint),
      name_(name),
      region_(endpoint.symmetric_region(region, size)),
      base_(endpoint.local(region_).base),
      direct_(endpoint.transport().direct(base_, round_up(size, kWord))),
      size_(size) {}

/// An access beyond the end would reach another region.
void shared_region::require_inside(const part& of, std::uint64_t bytes) const {
  if (whole_words_inside(of.offset, bytes, size_)) return;
  throw size_error("'" + trace::element_name(of.name, of.element) + "': an access of " + std::to_string(bytes) +
                   " bytes at offset " + std::to_string(of.offset) + " of " + std::to_string(size_) +
                   " bytes: expected whole words inside of it");
}

void shared_region::load_bytes(const part& of, std::span<std::byte> out) {
  require_inside(of, out.size());
  if (direct_ != nullptr) return direct::load_bytes(direct_ + of.offset / kWord, out);
  const call_scope call(endpoint_.transport(),
                        {.library = "sv", .method = "read", .object = of.name, .element = of.element});
  endpoint_.transport().load_bytes(base_ + of.offset, out);
}

void shared_region::store_bytes(const part& of, std::span<const std::byte> in) {
  require_inside(of, in.size());
  if (direct_ != nullptr) return direct::store_bytes(direct_ + of.offset / kWord, in);
  const call_scope call(endpoint_.transport(),
                        {.library = "sv", .method = "write", .object = of.name, .element = of.element});
  endpoint_.transport().store_bytes(base_ + of.offset, in);
}

std::uint64_t shared_region::traced_load(const part& of) {
  call_scope call(endpoint_.transport(), {.library = "sv", .method = "read", .object = of.name, .element = of.element});
  const std::uint64_t value = endpoint_.transport().load(base_ + of.offset);
  call.set_result(value);
  return value;
}

void shared_region::traced_store(const part& of, std::uint64_t value) {
  const call_scope call(
      endpoint_.transport(),
      {.library = "sv", .method = "write", .object = of.name, .argument = value, .element = of.element});
  endpoint_.transport().store(base_ + of.offset, value);
}

void shared_region::push(const part& of, std::span<const NodeId> nodes, ack_key* key) {
  require_inside(of, of.bytes);
  for (const NodeId node : nodes) static_cast<void>(copy(node));  // throws before anything is posted
  const call_scope call(endpoint_.transport(), {.library = "sv",
                                                .method = "bcast",
                                                .object = of.name,
                                                .work_id = key == nullptr ? 0 : key->work_id(),
                                                .nodes = nodes,
                                                .element = of.element});
  for (const NodeId node : nodes) endpoint_.here().put(base_ + of.offset, copy(node), of.offset, of.bytes, key);
}

void shared_region::pull(const part& of, NodeId node, ack_key& key) {
  endpoint_.here().get(base_ + of.offset, copy(node), of.offset, of.bytes, &key);
}

void shared_region::load_part(std::uint64_t offset, std::span<std::byte> out) {
  load_bytes({name_, offset, out.size()}, out);
}

void shared_region::store_part(std::uint64_t offset, std::span<const std::byte> in) {
  store_bytes({name_, offset, in.size()}, in);
}

void shared_region::load_bytes(std::span<std::byte> out) { load_bytes(whole(), out); }
void shared_region::store_bytes(std::span<const std::byte> in) { store_bytes(whole(), in); }
std::uint64_t shared_region::load_word() { return load_word(whole()); }
void shared_region::store_word(std::uint64_t value) { store_word(whole(), value); }

void shared_region::push(std::span<const NodeId> nodes, ack_key* key) { push(whole(), nodes, key); }

void shared_region::push_part(std::uint64_t offset, std::uint64_t bytes, std::span<const NodeId> nodes, ack_key* key) {
  push({name_, offset, bytes}, nodes, key);
}

const std::vector<NodeId>& shared_region::peers() {
  const known_peers* known = known_.load(std::memory_order_acquire);
  if (known != nullptr && known->connections == endpoint_.connections()) return known->nodes;
  const auto lock = endpoint_.here().setup_service().holding();  // threads of a node may call this together
  const std::uint32_t connections = endpoint_.connections();
  if (!latest_ || latest_->connections != connections) {
    auto next = std::make_unique<known_peers>();
    next->nodes = endpoint_.all_peers(region_);
    next->connections = connections;
    next->former = std::move(latest_);
    latest_ = std::move(next);
    known_.store(latest_.get(), std::memory_order_release);
  }
  return latest_->nodes;
}

void shared_region::push_broadcast() { push(peers()); }

void shared_region::push_broadcast(ack_key& key) { push(peers(), &key); }

void shared_region::pull(NodeId node, ack_key& key) { pull(whole(), node, key); }

}  // namespace loco
