#include "loco_sim/scenario/transports.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "fabric/topology/topology.hpp"
#include "loco_sim/scenario/hardware.hpp"
#include "nic_model/delivery/transports.hpp"
#include "text/input_error.hpp"

namespace loco::scenario {

namespace {

/// The fields of a transport go together, and with the network.
void require_fitting(const nic::HardwareProfile& hardware, const yaml::Node& node, const std::string& path,
                     bool choice_given, const Scenario& out) {
  if (const std::string wrong = hardware.validate(); !wrong.empty())
    throw text::InputError(node.place, path, "fields that fit together", wrong);
  if (hardware.link_ideal && nic::reliable_policy(hardware).paths.sprays() && choice_given)
    throw text::InputError(node.place, path + ".paths", "hardware with a network",
                           fmt::format("{}, which has none (link.ideal)", out.hardware_name));
}

/// A NIC with several ports gives packets to whichever is free, or each queue pair's to one: all of them alike.
void require_ports_alike(const nic::HardwareProfile& own, const yaml::Node& node, const std::string& path,
                         const Scenario& out) {
  const nic::DeliveryPolicy mine = nic::reliable_policy(own), others = nic::reliable_policy(out.hardware);
  if (mine.order.writes_early == others.order.writes_early && mine.paths.sprays() == others.paths.sprays()) return;
  const fabric::topology::Topology graph = fabric::topology::build(out.network.shape);
  for (fabric::topology::VertexId host = 0; host < graph.hosts(); ++host) {
    if (graph.ports(host).size() < 2) continue;
    throw text::InputError(node.place, path, "a transport that takes ports as the run's does, where NICs have several",
                           fmt::format("{} beside {}", nic::reliable_name(own), nic::reliable_name(out.hardware)));
  }
}

}  // namespace

void spell_out_transport(yaml::Node& map) {
  yaml::Node* const transport = map.kind == yaml::Node::Kind::map ? map.find("transport") : nullptr;
  if (transport == nullptr || transport->kind != yaml::Node::Kind::scalar) return;
  yaml::Node spelled;
  spelled.kind = yaml::Node::Kind::map;
  spelled.place = transport->place;
  spelled.entries.push_back({"kind", transport->place, *transport});
  *transport = std::move(spelled);
}

void read_transport(const yaml::Node& root, const Settings& settings, Scenario& out) {
  const yaml::Node* const node = root.find("transport");
  if (node == nullptr) return;
  set_transport(out.hardware, settings, "transport.");
  require_fitting(out.hardware, *node, "transport", given(settings, "transport.paths.choice") != nullptr, out);
}

std::uint8_t read_own_transport(const yaml::Node& node, const std::string& path, Scenario& out) {
  const std::string prefix = path + ".";
  const Settings settings = read_settings(node, prefix, {{prefix, nic::transport_options()}}, Fill::given_only);
  if (out.network.model == fabric::Model::flow)
    throw text::InputError(node.place, path, "fabric.model: packet with it: flows have one transport", "flow");
  nic::HardwareProfile own = out.hardware;
  const Value* const kind = given(settings, prefix + "kind");
  if (kind != nullptr && kind->number != static_cast<std::int64_t>(own.transport.kind)) own.transport = {};
  set_transport(own, settings, prefix);
  if (own.transport == out.hardware.transport) return 0;
  require_fitting(own, node, path, given(settings, prefix + "paths.choice") != nullptr, out);
  require_ports_alike(own, node, path, out);
  const auto known = std::ranges::find(out.transports, own.transport);
  const auto number = static_cast<std::uint8_t>(known - out.transports.begin() + 1);
  if (known == out.transports.end()) out.transports.push_back(own.transport);
  return number;
}

std::vector<nic::HardwareProfile> hardware_in_use(const Scenario& scenario) {
  const auto has_runs = [](const PartWorkload& p) { return p.part.service.transport == 0; };
  std::vector<nic::HardwareProfile> all;
  if (scenario.parts.empty() || std::ranges::any_of(scenario.parts, has_runs)) all.push_back(scenario.hardware);
  for (const nic::TransportOptions& own : scenario.transports)
    all.push_back(nic::with_transport(scenario.hardware, own));
  return all;
}

}  // namespace loco::scenario
