#include "fabric/topology/topology.hpp"

#include <charconv>
#include <utility>

namespace loco::fabric::topology {

Topology::Topology(Parameters parameters, std::uint32_t hosts, std::uint32_t switches, std::span<const Cable> cables)
    : parameters_(std::move(parameters)),
      hosts_(hosts),
      switches_(switches),
      first_port_(std::size_t{hosts} + switches + 1),
      out_(cables.size() * 2) {
  links_.reserve(cables.size() * 2);
  for (const Cable& c : cables) {
    links_.push_back({c.a, c.b, c.a_port, c.b_port, c.spec});
    links_.push_back({c.b, c.a, c.b_port, c.a_port, c.spec});
    ++first_port_[c.a + 1];
    ++first_port_[c.b + 1];
  }
  for (std::size_t v = 1; v < first_port_.size(); ++v) first_port_[v] += first_port_[v - 1];
  for (LinkId id = 0; id < links_.size(); ++id) out_[first_port_[links_[id].from] + links_[id].from_port] = id;
}

void Topology::set_cable(CableId cable, const LinkSpec& spec) {
  links_.at(std::size_t{cable} * 2).spec = spec;
  links_.at(std::size_t{cable} * 2 + 1).spec = spec;
}

std::string Topology::name(VertexId v) const {
  if (is_host(v) && !host_names_.empty()) return host_names_[v];
  return is_host(v) ? "h" + std::to_string(v) : "s" + std::to_string(v - hosts_);
}

std::optional<VertexId> vertex_of(std::string_view name, std::uint32_t hosts, std::uint32_t switches) {
  if (name.size() < 2 || (name[0] != 'h' && name[0] != 's')) return {};
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), number);
  if (error != std::errc{} || end != name.data() + name.size()) return {};
  if (name[0] == 'h') return number < hosts ? std::optional(number) : std::nullopt;
  return number < switches ? std::optional(hosts + number) : std::nullopt;
}

}  // namespace loco::fabric::topology
