#include "loco_sim/loco/membership/channel.hpp"

#include <algorithm>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/membership/node_list.hpp"
#include "loco_sim/loco/membership/setup.hpp"
#include "loco_sim/loco/memory/network_memory.hpp"
#include "loco_sim/loco/operations/ack_key.hpp"
#include "loco_sim/loco/operations/fence.hpp"
#include "loco_sim/loco/operations/mem_ref.hpp"
#include "loco_sim/loco/operations/networked_node.hpp"

namespace loco {

within::within(channel& parent) : manager_(parent.manager_), parent_(&parent) {}

NodeId within::my_node() const { return manager_.my_node(); }
std::uint32_t within::num_nodes() const { return manager_.num_nodes(); }

channel::channel(within where, std::string_view name, expect_num expected)
    : manager_(where.manager_),
      transport_(where.manager_.transport()),
      endpoint_(transport_, where.parent_ == nullptr ? std::string_view() : where.parent_->full_name(), name,
                expected) {
  manager_.setup_service().add(endpoint_);
  transport_.object_begins(full_name());
}

channel::~channel() {
  transport_.object_ends(full_name());
  leave();
  manager_.setup_service().destroyed(endpoint_.life(), endpoint_.pieces(), manager_.uses_of(endpoint_.life()));
}

void channel::leave() { manager_.setup_service().remove(endpoint_); }

void channel::join() {
  endpoint_.require_peers();
  endpoint_.shrink_to_fit();
  manager_.setup_service().join(endpoint_);
}

void channel::require_network(std::initializer_list<Capability> needs) const {
  for (const Capability what : needs) manager_.require_network("'" + full_name() + "'", what);
}

bool channel::ready() const { return manager_.setup_service().ready(endpoint_); }

void channel::wait_for_ready() { manager_.setup_service().wait_for_ready(endpoint_); }

bool channel::wait_for_ready(Flag stop) { return manager_.setup_service().wait_for_ready(endpoint_, stop); }

channel::RegionIndex channel::create_region(std::string_view name, std::uint64_t size, Where where) {
  const RegionIndex index = endpoint_.new_region(name, size);
  const bool on_device = where == Where::device;
  endpoint_.provide(index, on_device ? zeroed_on_device(size) : manager_.memory().allocate(size), on_device);
  return index;
}

Region channel::zeroed_on_device(std::uint64_t size) {
  const auto [region, used_before] = manager_.memory().allocate_on_device(size);
  if (!used_before) return region;
  const mem_ref zeros(manager_, region.size);
  transport_.clear(zeros.address(), region.size);
  ack_key key(manager_);
  manager_.put(zeros.address(), region, 0, region.size, &key);
  key.wait();
  global_fence(manager_, my_node());
  return region;
}

channel::RegionIndex channel::symmetric_region(std::string_view name, std::uint64_t size, Where where) {
  create_region(name, size, where);
  return expect_region(name, size);
}

std::optional<Region> channel::copy_of(RegionIndex region, NodeId node) const {
  std::optional<Region> copy = endpoint_.copy_of(region, node);
  if (copy && node != my_node()) copy->connection = manager_.connection_of(endpoint_.life(), node);
  return copy;
}

bool channel::reaches(RegionIndex region, NodeId node) const { return copy_of(region, node).has_value(); }

std::vector<NodeId> channel::all_peers(RegionIndex region) const {
  if (!ready()) throw setup_error("'" + full_name() + "' is pushed to all before it is ready (wait_for_ready)");
  std::vector<NodeId> nodes;
  const auto lock = manager_.setup_service().holding();  // another node may be joining
  for (NodeId node = 0; node < num_nodes(); ++node)
    if (node != my_node() && reaches(region, node)) nodes.push_back(node);
  return nodes;
}

Region channel::remote(RegionIndex region, NodeId node) const {
  const std::optional<Region> copy = copy_of(region, node);
  if (!copy)
    throw ownership_error("node " + std::to_string(my_node()) + " has no access to region '" + full_name() + "." +
                          endpoint_.name_of(region) + "' of node " + std::to_string(node) +
                          ": it takes no part, or has not joined yet (wait_for_ready)");
  return *copy;
}

bool channel::lost(NodeId node) const { return manager_.failed(node) || manager_.outdated(endpoint_.life(), node); }
bool channel::any_lost() const { return manager_.any_failed() || manager_.outdated(endpoint_.life()); }

void channel::pause_for(std::span<const NodeId> nodes) const {
  if (any_lost()) require_answers(nodes);
  manager_.pause_for(full_name(), nodes);
}

void channel::require_answers(std::span<const NodeId> nodes) const {
  manager_.require_answers(full_name(), nodes);
  for (const NodeId node : nodes)
    if (manager_.outdated(endpoint_.life(), node))
      throw operation_error(Status::wr_flush_err,
                            "node " + std::to_string(my_node()) + ": '" + full_name() + "' waits for node " +
                                std::to_string(node) +
                                ", which has been taken back since (reconnect): what was made before does not reach it",
                            node);
}

}  // namespace loco
