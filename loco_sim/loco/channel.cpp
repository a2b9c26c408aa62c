#include "loco_sim/loco/channel.hpp"

#include <algorithm>

#include "loco_sim/loco/ack_key.hpp"
#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/fence.hpp"
#include "loco_sim/loco/manager.hpp"
#include "loco_sim/loco/mem_ref.hpp"
#include "loco_sim/loco/network_memory.hpp"
#include "loco_sim/loco/node_list.hpp"
#include "loco_sim/loco/setup.hpp"

namespace loco {

namespace {
void require_simple(std::string_view name) {
  if (name.find_first_of("/. \n") != std::string_view::npos)
    throw setup_error("name '" + std::string(name) + "': '/' and '.' separate the parts of a full name");
}
}  // namespace

within::within(channel& parent) : manager_(parent.manager_), parent_(&parent) {}

std::uint32_t within::num_nodes() const { return manager_.num_nodes(); }

channel::channel(within where, std::string_view name, expect_num expected)
    : manager_(where.manager_),
      transport_(where.manager_.transport()),
      name_(
          without_spare(where.parent_ == nullptr ? std::string(name) : where.parent_->name_ + "/" + std::string(name))),
      expected_(expected),
      peers_(places()) {
  require_simple(name);
  enter();
}

void channel::enter() {
  manager_.setup_service().add(*this);
  transport_.object_begins(name_);
}

channel::~channel() {
  transport_.object_ends(name_);
  leave();
  manager_.setup_service().destroyed(life_, pieces(), manager_.uses_of(life_));
}

void channel::leave() { manager_.setup_service().remove(*this); }

void channel::join() {
  require_peers();
  regions_.shrink_to_fit();
  manager_.setup_service().join(*this);
}

void channel::require_network(std::initializer_list<Capability> needs) const {
  for (const Capability what : needs) manager_.require_network("'" + name_ + "'", what);
}

void channel::require_peers() const {
  std::uint32_t most = num_nodes() - 1;
  if (expected_.only) {
    require_node(*expected_.only, "the only one that it is joined with");
    most = joins(*expected_.only) ? 1 : 0;
  }
  if (expected_.peers > most)
    throw setup_error("'" + name_ + "' expects " + std::to_string(expected_.peers) + " peer(s) and can have " +
                      std::to_string(most) + " on node " + std::to_string(my_node()));
}

bool channel::met_all_providers() const {
  return std::ranges::all_of(regions_, [this](const NamedRegion& region) {
    return !region.expected || !region.only_from || !joins(*region.only_from) ||
           peers_[place_of(*region.only_from)].met();
  });
}

bool channel::ready() const { return manager_.setup_service().ready(*this); }

void channel::wait_for_ready() { manager_.setup_service().wait_for_ready(*this); }

bool channel::wait_for_ready(Flag stop) { return manager_.setup_service().wait_for_ready(*this, stop); }

std::string channel::missing() const {
  std::vector<NodeId> nodes;
  for (NodeId node = 0; node < num_nodes(); ++node)
    if (joins(node) && !peers_[place_of(node)].met()) nodes.push_back(node);
  return "'" + name_ + "' has " + std::to_string(expected_.peers) + " peer(s); not joined by node(s) " + list_of(nodes);
}

void channel::require_node(NodeId node, std::string_view role) const {
  if (node >= num_nodes())
    throw setup_error("'" + name_ + "': node " + std::to_string(node) + " is " + std::string(role) + ", there are " +
                      std::to_string(num_nodes()) + " nodes");
}

channel::RegionIndex channel::region_named(std::string_view name, std::uint64_t size) {
  require_simple(name);
  const auto found = std::ranges::find(regions_, name, &NamedRegion::name);
  if (found == regions_.end()) {
    regions_.push_back({.name = std::string(name), .size = size, .remote = std::vector<Copy>(places())});
    return regions_.size() - 1;
  }
  if (found->size != size)
    throw setup_error("region '" + name_ + "." + std::string(name) + "' has two sizes on one node");
  return static_cast<RegionIndex>(found - regions_.begin());
}

channel::RegionIndex channel::create_region(std::string_view name, std::uint64_t size, Where where) {
  const RegionIndex index = region_named(name, size);
  if (regions_[index].local) throw setup_error("region '" + name_ + "." + std::string(name) + "' is created twice");
  Region region = where == Where::device ? zeroed_on_device(size) : manager_.memory().allocate(size);
  region.size = size;
  region.life = life_;
  regions_[index].local = region;
  regions_[index].device = where == Where::device;
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

std::vector<departures::piece> channel::pieces() const {
  std::vector<departures::piece> result;
  for (const NamedRegion& r : regions_)
    if (r.local) result.push_back({*r.local, r.device});
  return result;
}

channel::RegionIndex channel::expect_region(std::string_view name, std::uint64_t size) {
  const RegionIndex index = region_named(name, size);
  regions_[index].expected = true;
  return index;
}

channel::RegionIndex channel::expect_region(NodeId peer, std::string_view name, std::uint64_t size) {
  require_node(peer, "to provide region '" + std::string(name) + "'");
  const RegionIndex index = expect_region(name, size);
  regions_[index].only_from = peer;
  return index;
}

channel::RegionIndex channel::symmetric_region(std::string_view name, std::uint64_t size, Where where) {
  create_region(name, size, where);
  return expect_region(name, size);
}

Region channel::local(RegionIndex region) const { return regions_[region].local.value(); }

std::optional<Region> channel::copy_of(const NamedRegion& region, NodeId node) const {
  if (node == my_node()) return region.local;
  if (!joins(node)) return std::nullopt;
  const Copy& copy = region.remote[place_of(node)];
  if (!copy.known) return std::nullopt;
  return Region{.node = node,
                .connection = manager_.connection_of(life_, node),
                .base = copy.base,
                .size = region.size,
                .rkey = copy.rkey,
                .life = life_};
}

bool channel::reaches(RegionIndex region, NodeId node) const { return copy_of(regions_[region], node).has_value(); }

std::vector<NodeId> channel::all_peers(RegionIndex region) const {
  if (!ready()) throw setup_error("'" + name_ + "' is pushed to all before it is ready (wait_for_ready)");
  std::vector<NodeId> nodes;
  const auto lock = manager_.setup_service().holding();  // somebody may be joining
  for (NodeId node = 0; node < num_nodes(); ++node)
    if (node != my_node() && reaches(region, node)) nodes.push_back(node);
  return nodes;
}

Region channel::remote(RegionIndex region, NodeId node) const {
  const std::optional<Region> copy = copy_of(regions_[region], node);
  if (!copy)
    throw ownership_error("node " + std::to_string(my_node()) + " has no access to region '" + name_ + "." +
                          regions_[region].name + "' of node " + std::to_string(node) +
                          ": it takes no part, or has not joined yet (wait_for_ready)");
  return *copy;
}

std::vector<region_request> channel::requests_to(NodeId peer) const {
  std::vector<region_request> requests;
  for (const auto& r : regions_)
    if (r.expected && r.only_from.value_or(peer) == peer) requests.push_back({r.name, r.size});
  return requests;
}

std::string channel::mismatch(NodeId peer, const setup_message& join) const {
  if (join.terms != terms_) {
    const auto says = [](const std::string& terms) {
      return terms.empty() ? std::string("of another kind of object") : "'" + terms + "'";
    };
    return "channel '" + name_ + "': node " + std::to_string(peer) + " says " + says(join.terms) + ", node " +
           std::to_string(my_node()) + " " + says(terms_);
  }
  for (const auto& wanted : join.requests) {
    const auto found = std::ranges::find(regions_, wanted.name, &NamedRegion::name);
    const bool provided = found != regions_.end() && found->local.has_value();
    if (provided && found->local->size == wanted.size) continue;
    const std::string have = provided ? std::to_string(found->local->size) + " bytes" : "no such region";
    return "channel '" + name_ + "': node " + std::to_string(peer) + " expects region '" + name_ + "." + wanted.name +
           "' of " + std::to_string(wanted.size) + " bytes, node " + std::to_string(my_node()) + " provides " + have;
  }
  return {};
}

std::vector<region_offer> channel::offers(const std::vector<region_request>& requests) const {
  std::vector<region_offer> result;
  for (const auto& wanted : requests)
    result.push_back({wanted.name, *std::ranges::find(regions_, wanted.name, &NamedRegion::name)->local});
  return result;
}

std::vector<region_offer> channel::offers() const {
  std::vector<region_offer> result;
  for (const NamedRegion& r : regions_)
    if (r.local) result.push_back({r.name, *r.local});
  return result;
}

bool channel::lost(NodeId node) const { return manager_.failed(node) || manager_.outdated(life_, node); }
bool channel::any_lost() const { return manager_.any_failed() || manager_.outdated(life_); }

void channel::pause_for(std::span<const NodeId> nodes) const {
  if (any_lost()) require_answers(nodes);
  manager_.pause_for(name_, nodes);
}

void channel::require_answers(std::span<const NodeId> nodes) const {
  manager_.require_answers(name_, nodes);
  for (const NodeId node : nodes)
    if (manager_.outdated(life_, node))
      throw operation_error(Status::wr_flush_err,
                            "node " + std::to_string(my_node()) + ": '" + name_ + "' waits for node " +
                                std::to_string(node) +
                                ", which has been taken back since (reconnect): what was made before does not reach it",
                            node);
}

void channel::accept(NodeId from, const setup_message& connect) {
  if (!connect.offers.empty()) peer(from).life = connect.by;
  for (const auto& offer : connect.offers) {
    const auto found = std::ranges::find(regions_, offer.name, &NamedRegion::name);
    if (found == regions_.end()) continue;
    const Copy copy{offer.region.base, offer.region.rkey, true};
    Copy& known = found->remote[place_of(from)];
    if (known != copy) known = copy;  // what is known already may be in use
  }
  peer(from).connected = true;
  connections_.fetch_add(1, std::memory_order_release);
}

}  // namespace loco
