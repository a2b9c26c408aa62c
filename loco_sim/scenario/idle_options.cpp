#include "loco_sim/scenario/idle_options.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string_view>

#include "fabric/fabric_options.hpp"
#include "fabric/packet.hpp"
#include "text/input_error.hpp"
#include "text/words.hpp"

namespace loco::scenario {

namespace {

/// An option of the fabric, or with a final dot all options below it, and why the flow model does not use it.
struct PacketOption {
  std::string_view key;
  std::string_view reason;
};

constexpr std::array kPacketOptions = {
    PacketOption{"flow_control", "flows have no buffers"},
    PacketOption{"buffer.", "flows have no buffers"},
    PacketOption{"pfc.", "flows have no buffers"},
    PacketOption{"trim.", "flows have no buffers"},
    PacketOption{"ecn.", "flows have no queues that could be marked"},
    PacketOption{"dcqcn.", "flows have no queues that could be marked"},
    PacketOption{"congestion.", "flows have no queues and no answers to go by"},
    PacketOption{"loss", "flows lose nothing"},
    PacketOption{"ecmp_seed", "flows of two hosts take one path"},
    PacketOption{"order", "flows have no packets"},
    PacketOption{"variation", "flows share links evenly"},
    PacketOption{"clock_skew", "flows share links evenly"},
    PacketOption{"reroute", "flows meet no failures"},
    PacketOption{"reroute_delay", "flows meet no failures"},
};

/// What a platform file describes itself. The number of nodes may be given as well.
constexpr std::array<std::string_view, 4> kOfPlatforms = {"topology.", "fabric.link.", "fabric.routing",
                                                          "fabric.switching"};

const PacketOption* packet_option(std::string_view key) {
  const auto* const found = std::ranges::find_if(kPacketOptions, [&](const PacketOption& option) {
    return option.key.ends_with('.') ? key.starts_with(option.key) : key == option.key;
  });
  return found == kPacketOptions.end() ? nullptr : found;
}

}  // namespace

void refuse_idle_options(const Settings& settings, const Scenario& scenario) {
  const bool ideal = scenario.hardware.link_ideal;
  const auto without_network = [&](const std::string& path) {
    throw text::InputError(settings.find(path)->second.place, path, "hardware with a network",
                           fmt::format("{}, which has none (link.ideal)", scenario.hardware_name));
  };
  // A star or a cable says no more than the number of nodes.
  if (ideal && scenario.topology == fabric::Topology::shaped) without_network("topology.kind");
  const fabric::Options defaults;
  for (const Option& field : fabric::fabric_options()) {
    if (field.get(&scenario.network.options) == field.get(&defaults)) continue;
    const std::string path = fmt::format("fabric.{}", field.key);
    if (given(settings, path) == nullptr) continue;  // set as a consequence of another given option
    if (ideal) without_network(path);
    const PacketOption* option = scenario.network.model == fabric::Model::flow ? packet_option(field.key) : nullptr;
    if (option == nullptr) continue;
    throw text::InputError(settings.find(path)->second.place, path,
                           fmt::format("fabric.model: packet with it: {}", option->reason), "flow");
  }
}

void refuse_dropping_all(const Settings& settings, const Scenario& scenario) {
  const fabric::Options& options = scenario.network.options;
  if (options.flow_control != fabric::FlowControl::drop_tail || scenario.network.model == fabric::Model::flow) return;
  // All messages of traffic have the same size. Other workloads also send single words, which such a switch lets
  // through, and a user may want to know what becomes of a program if only these arrive.
  constexpr std::int64_t kShortest = 8;
  const auto size = settings.find("workload.size");
  const bool all_alike = scenario.workload == "traffic" && size != settings.end();
  const std::int64_t message = all_alike ? size->second.number : kShortest;
  const auto payload = std::min(static_cast<std::uint64_t>(message), scenario.hardware.link_mtu.count);
  const bool whole = payload == static_cast<std::uint64_t>(message);
  const std::uint64_t packet = payload + scenario.hardware.link_overhead.count +
                               fabric::extension_header_bytes(fabric::Opcode::write, true, whole);
  // A queue may take alpha thousandths of the empty buffer, but no more than the buffer has.
  __extension__ using Wide = unsigned __int128;
  const auto threshold = static_cast<std::uint64_t>(
      std::min(Wide{options.buffer_size.count} * options.buffer_alpha / 1000, Wide{options.buffer_size.count}));
  if (packet <= threshold) return;
  const Value& buffer = settings.find("fabric.buffer.size")->second;
  const Value& alpha = settings.find("fabric.buffer.alpha")->second;
  const bool by_size = buffer.given || !alpha.given;
  throw text::InputError((by_size ? buffer : alpha).place, by_size ? "fabric.buffer.size" : "fabric.buffer.alpha",
                         fmt::format("a queue that holds a packet of {} B (size * alpha / 1000)", packet),
                         fmt::format("one of {} B, which drops them all", threshold));
}

void refuse_beside_platform(const Settings& settings) {
  for_each(scenario_table(), [&](const std::string& path, const Option& option) {
    const bool of_platforms =
        std::ranges::any_of(kOfPlatforms, [&](std::string_view part) { return path.starts_with(part); });
    const auto setting = settings.find(path);
    if (!of_platforms || path == "topology.nodes" || setting == settings.end()) return;
    const Value& value = setting->second;
    if (!value.given || (option.type == Type::choice && value.text == options::default_text(option))) return;
    throw text::InputError(
        value.place, path, "nothing: the platform file says it",
        text::in_quotes(value.text.empty() ? options::format_number(value.number, option.type) : value.text));
  });
}

}  // namespace loco::scenario
