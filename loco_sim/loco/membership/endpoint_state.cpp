#include "loco_sim/loco/membership/endpoint_state.hpp"

#include <algorithm>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/membership/node_list.hpp"

namespace loco {

namespace {
void require_simple(std::string_view name) {
  if (name.find_first_of("/. \n") != std::string_view::npos)
    throw setup_error("name '" + std::string(name) + "': '/' and '.' separate the parts of a full name");
}
}  // namespace

endpoint_state::endpoint_state(Transport& transport, std::string_view parent, std::string_view name,
                               expect_num expected)
    : transport_(transport),
      name_(without_spare(parent.empty() ? std::string(name) : std::string(parent) + "/" + std::string(name))),
      expected_(expected),
      peers_(places()) {
  require_simple(name);
}

void endpoint_state::require_peers() const {
  std::uint32_t most = num_nodes() - 1;
  if (expected_.only) {
    require_node(*expected_.only, "the only one that it is joined with");
    most = joins(*expected_.only) ? 1 : 0;
  }
  if (expected_.peers > most)
    throw setup_error("'" + name_ + "' expects " + std::to_string(expected_.peers) + " peer(s) and can have " +
                      std::to_string(most) + " on node " + std::to_string(my_node()));
}

void endpoint_state::require_node(NodeId node, std::string_view role) const {
  if (node >= num_nodes())
    throw setup_error("'" + name_ + "': node " + std::to_string(node) + " is " + std::string(role) + ", there are " +
                      std::to_string(num_nodes()) + " nodes");
}

bool endpoint_state::met_all_providers() const {
  return std::ranges::all_of(regions_, [this](const NamedRegion& region) {
    return !region.expected || !region.only_from || !joins(*region.only_from) ||
           peers_[place_of(*region.only_from)].met();
  });
}

std::string endpoint_state::missing() const {
  std::vector<NodeId> nodes;
  for (NodeId node = 0; node < num_nodes(); ++node)
    if (joins(node) && !peers_[place_of(node)].met()) nodes.push_back(node);
  return "'" + name_ + "' has " + std::to_string(expected_.peers) + " peer(s); not joined by node(s) " + list_of(nodes);
}

std::optional<NodeId> endpoint_state::lost_joiner() const {
  std::optional<NodeId> lost;
  std::uint32_t others = 0;  // that have joined or still can
  const auto [first, end] = peers_joined();
  for (NodeId node = first; node < end; ++node) {
    if (!joins(node)) continue;
    if (peers_[place_of(node)].met() || !transport_.has_ended(node))
      ++others;
    else if (!lost || std::ranges::any_of(regions_, [&](const auto& r) { return r.expected && r.only_from == node; }))
      lost = node;
  }
  if (!lost || others < expected_.peers) return lost;
  const bool provides =
      std::ranges::any_of(regions_, [&](const auto& r) { return r.expected && r.only_from == *lost; });
  return provides && expected_.peers != 0 ? lost : std::nullopt;
}

// ---- regions ------------------------------------------------------------------------------------------------------

endpoint_state::RegionIndex endpoint_state::region_named(std::string_view name, std::uint64_t size) {
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

endpoint_state::RegionIndex endpoint_state::new_region(std::string_view name, std::uint64_t size) {
  const RegionIndex index = region_named(name, size);
  if (regions_[index].local) throw setup_error("region '" + name_ + "." + std::string(name) + "' is created twice");
  return index;
}

void endpoint_state::provide(RegionIndex index, Region region, bool on_device) {
  region.size = regions_[index].size;
  region.life = life_;
  regions_[index].local = region;
  regions_[index].device = on_device;
}

endpoint_state::RegionIndex endpoint_state::expect_region(std::string_view name, std::uint64_t size) {
  const RegionIndex index = region_named(name, size);
  regions_[index].expected = true;
  return index;
}

endpoint_state::RegionIndex endpoint_state::expect_region(NodeId peer, std::string_view name, std::uint64_t size) {
  require_node(peer, "to provide region '" + std::string(name) + "'");
  const RegionIndex index = expect_region(name, size);
  regions_[index].only_from = peer;
  return index;
}

std::optional<Region> endpoint_state::copy_of(RegionIndex index, NodeId node) const {
  const NamedRegion& region = regions_[index];
  if (node == my_node()) return region.local;
  if (!joins(node)) return std::nullopt;
  const Copy& copy = region.remote[place_of(node)];
  if (!copy.known) return std::nullopt;
  return Region{.node = node, .base = copy.base, .size = region.size, .rkey = copy.rkey, .life = life_};
}

std::vector<departures::piece> endpoint_state::pieces() const {
  std::vector<departures::piece> result;
  for (const NamedRegion& r : regions_)
    if (r.local) result.push_back({*r.local, r.device});
  return result;
}

// ---- joining ------------------------------------------------------------------------------------------------------

std::vector<departures::reached> endpoint_state::reached() const {
  std::vector<departures::reached> result;
  const auto [first, end] = peers_joined();
  for (NodeId node = first; node < end; ++node)
    if (joins(node) && peers_[place_of(node)].life != 0) result.push_back({node, peers_[place_of(node)].life});
  return result;
}

std::vector<region_request> endpoint_state::requests_to(NodeId peer) const {
  std::vector<region_request> requests;
  for (const auto& r : regions_)
    if (r.expected && r.only_from.value_or(peer) == peer) requests.push_back({r.name, r.size});
  return requests;
}

std::string endpoint_state::mismatch(NodeId peer, const setup_message& join) const {
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

std::vector<region_offer> endpoint_state::offers(const std::vector<region_request>& requests) const {
  std::vector<region_offer> result;
  for (const auto& wanted : requests)
    result.push_back({wanted.name, *std::ranges::find(regions_, wanted.name, &NamedRegion::name)->local});
  return result;
}

std::vector<region_offer> endpoint_state::offers() const {
  std::vector<region_offer> result;
  for (const NamedRegion& r : regions_)
    if (r.local) result.push_back({r.name, *r.local});
  return result;
}

void endpoint_state::accept(NodeId from, const setup_message& connect) {
  if (!connect.offers.empty()) peer(from).life = connect.by;
  for (const auto& offer : connect.offers) {
    const auto found = std::ranges::find(regions_, offer.name, &NamedRegion::name);
    if (found == regions_.end()) continue;
    const Copy copy{offer.region.base, offer.region.rkey, true};
    Copy& known = found->remote[place_of(from)];
    if (known != copy) known = copy;  // an unchanged copy may be in use by another thread, so it is not written
  }
  peer(from).connected = true;
  connections_.fetch_add(1, std::memory_order_release);
}

bool endpoint_state::meet_again(NodeId from, const setup_message& again) {
  const bool met_before = peer(from).met();
  if (peer(from).life != again.by) ++offered_;
  accept(from, again);
  peer(from).answered = true;
  return met_before;
}

bool endpoint_state::note_answered(NodeId node) { return joins(node) && !std::exchange(peer(node).answered, true); }

bool endpoint_state::note_met(NodeId node) {
  if (!peer(node).met()) return false;
  ++met_;
  if (!callbacks_ || !callbacks_->join) return false;
  callbacks_->join(node);
  return true;
}

bool endpoint_state::tell_connected(NodeId node) {
  if (!callbacks_ || !callbacks_->connect) return false;
  callbacks_->connect(node);
  return true;
}

}  // namespace loco
