#include "loco_sim/baselines/rpc_store.hpp"

#include <array>
#include <string_view>

#include "loco_sim/loco/operations/call_scope.hpp"
#include "loco_sim/loco/store/city_hash.hpp"

namespace loco::baselines {

namespace {
constexpr std::string_view kObject = "store";
constexpr unsigned kKindBits = 8;
constexpr std::size_t kLooksPerRequest = 2;
}  // namespace

PortId RpcLayout::server_of(std::uint64_t key) const {
  const std::uint64_t i = city_hash(key) % (std::uint64_t{nodes} * servers);
  return server(static_cast<NodeId>(i / servers), static_cast<std::uint32_t>(i % servers));
}

// --- server ----------------------------------------------------------------------------------------------------------

rpc_server::rpc_server(Transport& node, MessageNetwork& network, const RpcLayout& layout, std::uint32_t number,
                       RpcCosts costs)
    : node_(node), layout_(layout), port_(network.port(layout.server(node.my_node(), number))), costs_(costs) {
  port_.open();
}

void rpc_server::load(std::uint64_t count, const std::function<kvstore::Entry(std::uint64_t)>& entry) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto [key, value] = entry(i);
    if (layout_.server_of(key) != port_.id()) continue;
    call_scope call(node_, kv_operation::call_of(kv_operation::Kind::insert, kObject, key, value));
    table_.emplace(key, value);
    call.set_result(1);
  }
}

std::uint64_t rpc_server::result_of(kv_operation::Kind kind, std::uint64_t key, std::uint64_t value) {
  port_.charge_looks(kLooksPerRequest);
  const auto found = table_.find(key);
  const bool there = found != table_.end();
  switch (kind) {
    case kv_operation::Kind::lookup:
      return there ? found->second : 0;
    case kv_operation::Kind::insert:
      if (!there) table_.emplace(key, value);
      return there ? 0 : 1;
    case kv_operation::Kind::update:
      if (there) found->second = value;
      return there ? 1 : 0;
    case kv_operation::Kind::erase:
      if (there) table_.erase(found);
      return there ? 1 : 0;
  }
  return 0;
}

void rpc_server::serve() {
  while (true) {
    const bool served = port_.poll([this](PortId from, std::span<const std::uint64_t> request) {
      port_.charge(costs_.serve_ps);
      const auto kind = static_cast<kv_operation::Kind>(request[0] & ((1U << kKindBits) - 1));
      const std::array answer = {request[0] >> kKindBits, result_of(kind, request[1], request[2])};
      port_.send(from, answer);
    });
    if (!served) node_.pause();
  }
}

// --- client ----------------------------------------------------------------------------------------------------------

rpc_window::rpc_window(Transport& node, MessageNetwork& network, const RpcLayout& layout, std::uint32_t number,
                       std::uint32_t size, RpcCosts costs)
    : node_(node),
      layout_(layout),
      port_(network.port(layout.client(node.my_node(), number))),
      costs_(costs),
      lanes_(size) {
  port_.open();
}

void rpc_window::start(std::size_t i, kv_operation::Kind kind, std::uint64_t key, std::uint64_t value) {
  node_.begin_call(kv_operation::call_of(kind, kObject, key, value, static_cast<std::uint32_t>(i + 1)));
  const PortId server = layout_.server_of(key);
  lanes_[i] = {.under_way = true, .kind = kind, .server = server, .number = ++requests_};
  port_.charge(costs_.ask_ps);
  const std::array request = {static_cast<std::uint64_t>(i) << kKindBits | static_cast<std::uint64_t>(kind), key,
                              value};
  port_.send(server, request);
}

std::optional<std::size_t> rpc_window::answered(PortId from, std::uint64_t named) {
  if (named < lanes_.size() && waits_for(named, from)) return named;
  ++wrong_answers_;
  std::optional<std::size_t> oldest;
  for (std::size_t i = 0; i < lanes_.size(); ++i)
    if (waits_for(i, from) && (!oldest || lanes_[i].number < lanes_[*oldest].number)) oldest = i;
  return oldest;
}

void rpc_window::finish(std::size_t i, std::uint64_t result) {
  lanes_[i].under_way = false;
  node_.end_call(result, static_cast<std::uint32_t>(i + 1));
}

}  // namespace loco::baselines
