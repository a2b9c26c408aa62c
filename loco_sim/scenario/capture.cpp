// Scenarios: `capture`, which writes packets to a file.
#include <algorithm>
#include <fmt/format.h>

#include "loco_sim/scenario/network_parts.hpp"
#include "loco_sim/scenario/scenario.hpp"
#include "text/input_error.hpp"
#include "text/words.hpp"
#include "yaml/node.hpp"

namespace loco::scenario {

namespace {

/// A name such as `s0-h1` for each direction of each cable.
std::vector<std::string> names_of(const fabric::topology::Topology& graph) {
  std::vector<std::string> names;
  for (fabric::topology::LinkId id = 0; id < 2 * graph.cables(); ++id) {
    const fabric::topology::Link& link = graph.link(id);
    names.push_back(fmt::format("{}-{}", graph.name(link.from), graph.name(link.to)));
  }
  return names;
}

void require_links(const Value& path, const Scenario& scenario) {
  const auto refuse_run = [&](const char* expected, const std::string& found) {
    throw text::InputError(path.place, "capture.path", expected, found);
  };
  if (scenario.hardware.link_ideal)
    refuse_run("hardware with a network", scenario.hardware_name + ", which has none (link.ideal)");
  if (scenario.network.model == fabric::Model::flow)
    refuse_run("fabric.model: packet with it: flows have no packets", "flow");
  if (scenario.schedule != Schedule::timed)
    refuse_run("schedule: timed with it: other schedules have no times", "another");
}

}  // namespace

void read_capture(const yaml::Node& root, const Settings& settings, const fabric::topology::Topology& graph,
                  Scenario& out) {
  if (const Value* const path = given(settings, "capture.path")) {
    out.capture.path = path->text;
    require_links(*path, out);
  }
  out.capture.payload = static_cast<std::uint32_t>(settings.find("capture.payload")->second.number);
  out.capture.nanoseconds = settings.find("capture.resolution")->second.text == "ns";
  const yaml::Node* links = yaml::find_at(root, "capture.links");
  if (links == nullptr) return;
  const std::vector<std::string> names = names_of(graph);
  for (const yaml::Node& item : list(*links, "capture.links", "links")) {
    if (std::ranges::find(names, item.text) == names.end() || item.kind != yaml::Node::Kind::scalar) {
      throw text::InputError(item.place, "capture.links",
                             "a direction of a cable of this network, as s0-h1 (loco-sim list topologies)",
                             item.description(), text::suggestion(item.text, names));
    }
    out.capture.links.push_back(item.text);
  }
}

}  // namespace loco::scenario
