#include "loco_sim/scenario/path_mtu.hpp"

#include <array>
#include <bit>
#include <fmt/format.h>
#include <string>
#include <vector>

#include "loco_sim/scenario/network_parts.hpp"
#include "loco_sim/scenario/settings.hpp"
#include "text/input_error.hpp"

namespace loco::scenario {

namespace {

constexpr std::uint64_t kLeast = 256;
constexpr std::uint64_t kMost = 4096;

/// The setting that does not allow queue pairs an MTU of their own; empty if they may have one.
std::string why_none(const Scenario& s) {
  if (s.network.model == fabric::Model::flow) return "fabric.model: flow";
  if (s.hardware.link_ideal) return fmt::format("{}, which has no network (link.ideal)", s.hardware_name);
  return {};
}

void read_host(const yaml::Node& item, const std::string& path, Scenario& out) {
  constexpr std::array kOptions = {rows::text("host", rows::kAny), rows::size("mtu", {kLeast, kMost})};
  const Settings s = read_item(item, path, kOptions);
  const auto mtu = s.find(path + ".mtu");
  const yaml::Node* host = item.find("host");
  if (host == nullptr || mtu == s.end()) refuse(item, path, "a map with the keys host and mtu");
  const auto bytes = static_cast<std::uint64_t>(mtu->second.number);
  if (!std::has_single_bit(bytes))
    throw text::InputError(mtu->second.place, path + ".mtu", "256, 512, 1024, 2048 or 4096 B",
                           fmt::format("{} B", bytes));
  if (bytes > out.hardware.link_mtu.count)
    throw text::InputError(
        mtu->second.place, path + ".mtu",
        fmt::format("at most the {} B of the links (hardware.link.mtu)", out.hardware.link_mtu.count),
        fmt::format("{} B", bytes));
  const fabric::topology::VertexId node = vertex(*host, path + ".host", out.nodes, 0);
  if (out.path_mtu[node] != 0) refuse(*host, path + ".host", "each host once");
  out.path_mtu[node] = static_cast<std::uint32_t>(bytes);
}

}  // namespace

void read_path_mtu(const yaml::Node& node, Scenario& out) {
  constexpr const char* kPath = "fabric.path_mtu";
  if (const std::string reason = why_none(out); !reason.empty())
    throw text::InputError(node.place, kPath, "fabric.model: packet and hardware with a network", reason);
  const std::vector<yaml::Node>& items = list(node, kPath, "hosts and their MTUs");
  out.path_mtu.assign(out.nodes, 0);
  for (std::size_t i = 0; i < items.size(); ++i) read_host(items[i], fmt::format("{}[{}]", kPath, i), out);
}

}  // namespace loco::scenario
