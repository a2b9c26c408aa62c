#include "loco_sim/loco/membership/manager.hpp"

#include <string>
#include <utility>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/membership/services.hpp"

namespace loco {

manager::manager(Transport& transport, std::uint64_t memory_chunk_bytes)
    : networked_node(services_of(transport)), only_one_(transport), services_(services_of(transport)) {
  services_->begin(memory_chunk_bytes);
  const bool asks = transport.keep_alive_ps() != 0;
  const auto note = [services = services_.get()](const Region& location) { services->note_connected(location); };
  fence_ = std::make_unique<fence_channel>(*this, asks ? fence_channel::Told(note) : nullptr);
  services_->set_own(fence_.get());
  if (asks) services_->note_failures_in(fence_->notes());
  node_services::start(services_, "poller", &node_services::serve);
  if (asks) node_services::start(services_, "keep-alive", &node_services::ask_peers);
}

std::shared_ptr<node_services> manager::services_of(Transport& transport) {
  if (!transport.services_) transport.services_ = std::make_shared<node_services>(transport);
  return std::static_pointer_cast<node_services>(transport.services_);
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

void manager::wait_for_ready() { services_->channels.wait_for_ready(); }

setup& manager::setup_service() { return services_->channels; }

std::vector<std::uint32_t> manager::settled_by_fence(std::span<const NodeId> nodes) {
  return services_->channels.note_fenced(nodes);
}

Region manager::fence_location(NodeId node) const { return fence_->location(node); }

void manager::reconnect(NodeId node, std::optional<std::int64_t> limit_ps) {
  services_->again.reconnect([this](NodeId peer) { return fence_->location(peer); }, node, limit_ps);
}

bool manager::asked_back(NodeId node) const { return services_->again.asked_back(node); }

}  // namespace loco
