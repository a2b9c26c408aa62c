#include "loco_sim/loco/shared_bytes.hpp"

#include "loco_sim/loco/call_scope.hpp"
#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/manager.hpp"

namespace loco {

shared_bytes::shared_bytes(manager& mgr, std::string_view name, std::uint64_t size, std::string terms)
    : shared_bytes(mgr, name, size, expect_num{mgr.num_nodes() - 1}, std::move(terms)) {}

shared_bytes::shared_bytes(manager& mgr, std::string_view name, std::uint64_t size, expect_num expected,
                           std::string terms)
    : channel(mgr, name, expected), size_(size) {
  create(std::move(terms));
}

shared_bytes::shared_bytes(channel& parent, std::string_view name, std::uint64_t size, expect_num expected,
                           std::string terms)
    : channel(parent, name, expected), size_(size) {
  create(std::move(terms));
}

void shared_bytes::create(std::string terms) {
  set_terms(std::move(terms));
  region_ = symmetric_region("val", size_);
  local_ = local(region_);
  join();
}

void shared_bytes::load_bytes(const part& of, std::span<std::byte> out) {
  const call_scope call(transport(), {.library = "sv", .method = "read", .object = of.name});
  transport().load_bytes(local_.base + of.offset, out);
}

void shared_bytes::store_bytes(const part& of, std::span<const std::byte> in) {
  const call_scope call(transport(), {.library = "sv", .method = "write", .object = of.name});
  transport().store_bytes(local_.base + of.offset, in);
}

std::uint64_t shared_bytes::load_word(const part& of) {
  call_scope call(transport(), {.library = "sv", .method = "read", .object = of.name});
  const std::uint64_t value = transport().load(local_.base + of.offset);
  call.set_result(value);
  return value;
}

void shared_bytes::store_word(const part& of, std::uint64_t value) {
  const call_scope call(transport(), {.library = "sv", .method = "write", .object = of.name, .argument = value});
  transport().store(local_.base + of.offset, value);
}

void shared_bytes::push(const part& of, std::span<const NodeId> nodes, ack_key* key) {
  const call_scope call(transport(), {.library = "sv",
                                      .method = "bcast",
                                      .object = of.name,
                                      .work_id = key == nullptr ? 0 : key->work_id(),
                                      .nodes = nodes});
  for (const NodeId node : nodes) mgr().put(local_.base + of.offset, copy(node), of.offset, of.bytes, key);
}

void shared_bytes::pull(const part& of, NodeId node, ack_key& key) {
  mgr().get(local_.base + of.offset, copy(node), of.offset, of.bytes, &key);
}

void shared_bytes::load_part(std::uint64_t offset, std::span<std::byte> out) {
  load_bytes({full_name(), offset, out.size()}, out);
}

void shared_bytes::store_part(std::uint64_t offset, std::span<const std::byte> in) {
  store_bytes({full_name(), offset, in.size()}, in);
}

void shared_bytes::load_bytes(std::span<std::byte> out) { load_bytes(whole(), out); }
void shared_bytes::store_bytes(std::span<const std::byte> in) { store_bytes(whole(), in); }
std::uint64_t shared_bytes::load_word() { return load_word(whole()); }
void shared_bytes::store_word(std::uint64_t value) { store_word(whole(), value); }

void shared_bytes::push(std::span<const NodeId> nodes, ack_key* key) { push(whole(), nodes, key); }

void shared_bytes::push_part(std::uint64_t offset, std::uint64_t bytes, std::span<const NodeId> nodes, ack_key* key) {
  push({full_name(), offset, bytes}, nodes, key);
}

const std::vector<NodeId>& shared_bytes::peers() {
  std::call_once(peers_known_, [this] { peers_ = all_peers(region_); });  // threads of a node may come here together
  return peers_;
}

void shared_bytes::push_broadcast() { push(peers()); }

void shared_bytes::push_broadcast(ack_key& key) { push(peers(), &key); }

void shared_bytes::pull(NodeId node, ack_key& key) { pull(whole(), node, key); }

}  // namespace loco
