#include "loco_sim/scenario/classes.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string_view>
#include <vector>

#include "fabric/fabric_options.hpp"
#include "loco_sim/scenario/network_parts.hpp"
#include "loco_sim/workloads/kinds.hpp"
#include "options/rows.hpp"
#include "text/input_error.hpp"
#include "yaml/node.hpp"

namespace loco::scenario {

namespace {

using options::member;

constexpr std::int64_t kMostBytes = std::int64_t{1} << 40U;
constexpr std::array<std::string_view, 3> kFlowControlNames = {"unlimited", "pfc", "drop_tail"};

/// A traffic class as a document describes it.
struct WrittenClass {
  fabric::TrafficClass of{};
  fabric::ClassBuffers buffers{};
};
using Of = fabric::TrafficClass;
using Buffers = fabric::ClassBuffers;

constexpr auto kClassOptions = std::to_array<Option>({
    member<&WrittenClass::of, &Of::id>("id", {0, fabric::kClasses - 1}, "Its number."),
    member<&WrittenClass::buffers, &Buffers::flow_control>("flow_control", kFlowControlNames,
                                                           "As fabric.flow_control, of this class."),
    member<&WrittenClass::buffers, &Buffers::alpha>("buffer.alpha", {1, 1'000'000}, "As fabric.buffer.alpha."),
    member<&WrittenClass::buffers, &Buffers::xoff>("pfc.xoff", {0, kMostBytes}, "As fabric.pfc.xoff."),
    member<&WrittenClass::buffers, &Buffers::reserved>("pfc.reserved", {0, kMostBytes}, "As fabric.pfc.reserved."),
    member<&WrittenClass::buffers, &Buffers::xon_gap>("pfc.xon_gap", {0, kMostBytes}, "As fabric.pfc.xon_gap."),
    member<&WrittenClass::buffers, &Buffers::headroom>("pfc.headroom", {0, kMostBytes}, "As fabric.pfc.headroom."),
    member<&WrittenClass::of, &Of::ecn>("ecn.enabled", "As fabric.ecn.enabled; on when another key of ecn is given."),
    member<&WrittenClass::of, &Of::ecn_kmin>("ecn.kmin", {0, kMostBytes}, "As fabric.ecn.kmin."),
    member<&WrittenClass::of, &Of::ecn_kmax>("ecn.kmax", {0, kMostBytes}, "As fabric.ecn.kmax."),
    member<&WrittenClass::of, &Of::ecn_pmax>("ecn.pmax", {0, 1'000}, "As fabric.ecn.pmax."),
    rows::map("schedule",
              "strict: before all classes with weights, and strict ones of lower numbers; or {weight: 3}, its share "
              "among the others, 1 when left out."),
});

constexpr std::array kScheduleOptions = {
    Option{.key = "weight", .type = Type::integer, .fallback = 1, .least = 1, .most = 1'000}};

constexpr auto kServiceOptions = std::to_array<Option>({
    rows::integer("class", {0, fabric::kClasses - 1},
                  "traffic class of its queue pairs: 0, or one of fabric.classes; 0 when left out"),
    rows::integer("ack_class", {0, fabric::kClasses - 1},
                  "traffic class of answers without payload (ACK, NAK, CNP); `class` when left out"),
    rows::map("congestion",
              "congestion control of its queue pairs, with the keys of fabric.congestion and of fabric.dcqcn as "
              "`dcqcn`; the fabric's when left out"),
});

/// Sets the members of `owner` for the options that the document gives. Returns true if any such key begins with
/// `part`.
bool set_given(const Settings& settings, const std::string& prefix, std::span<const Option> all, void* owner,
               std::string_view part) {
  bool some = false;
  for (const Option& option : all) {
    const Value* const value = given(settings, prefix + std::string(option.key));
    if (value == nullptr || option.set == nullptr) continue;
    option.set(owner, value->number);
    some = some || option.key.starts_with(part);
  }
  return some;
}

void read_schedule(const yaml::Node& node, const std::string& path, fabric::TrafficClass& out) {
  if (node.kind == yaml::Node::Kind::scalar && node.text == "strict") {
    out.strict = true;
    return;
  }
  if (node.kind != yaml::Node::Kind::map) refuse(node, path, "strict, or {weight: 3}");
  out.weight = static_cast<std::uint32_t>(read_item(node, path, kScheduleOptions).at(path + ".weight").number);
}

fabric::TrafficClass read_class(const yaml::Node& item, const std::string& path, const Scenario& out) {
  const std::string prefix = path + ".";
  const Settings settings = read_settings(item, prefix, {{prefix, kClassOptions}}, Fill::given_only);
  const Value* const id = given(settings, prefix + "id");
  if (id == nullptr) refuse(item, path, "a map with the key id");
  fabric::Config plain = out.network;  // starts from the options of the whole fabric
  plain.classes.clear();
  WrittenClass written{.of = plain.all_classes().at(static_cast<std::size_t>(id->number))};
  written.buffers = *written.of.buffers;
  const bool ecn = set_given(settings, prefix, kClassOptions, &written, "ecn.");
  if (ecn && given(settings, prefix + "ecn.enabled") == nullptr) written.of.ecn = true;
  if (const yaml::Node* const schedule = item.find("schedule"))
    read_schedule(*schedule, prefix + "schedule", written.of);
  written.of.buffers = written.buffers;
  if (std::ranges::find(out.network.classes, written.of.id, &Of::id) != out.network.classes.end())
    throw text::InputError(id->place, prefix + "id", "each class once", fmt::format("{} again", written.of.id));
  if (written.of.ecn && written.of.ecn_kmin > written.of.ecn_kmax)
    refuse(item, prefix + "ecn", fmt::format("kmin of at most kmax ({}B)", written.of.ecn_kmax.count));
  return written.of;
}

/// The key of an option of the fabric as a key of a workload's congestion control; empty if it has none.
std::string_view as_congestion(std::string_view key) {
  constexpr std::string_view kCongestion = "congestion.";
  if (key.starts_with(kCongestion)) return key.substr(kCongestion.size());
  return key.starts_with("dcqcn.") && key != "dcqcn.enabled" ? key : std::string_view();
}

std::uint8_t read_congestion(const yaml::Node& node, const std::string& path, Scenario& out) {
  const std::string prefix = path + ".";
  const Settings settings = read_settings(node, prefix, {{prefix, congestion_options()}}, Fill::given_only);
  if (given(settings, prefix + "algorithm") == nullptr) refuse(node, path, "a map with the key algorithm");
  fabric::Config network = out.network;
  fabric::Options& o = network.options;
  if (const Value* const profile = given(settings, prefix + "dcqcn.profile");
      profile != nullptr && profile->text == "mlx5")
    o.dcqcn = fabric::mlx5_dcqcn();
  set_given(settings, prefix, congestion_options(), &o, "");
  o.dcqcn.enabled = o.congestion.algorithm == fabric::CongestionAlgorithm::dcqcn;
  if (const std::string_view error = network.validate(); !error.empty())
    throw text::InputError(node.place, path, "congestion control for this network", std::string(error));
  if (needs_answers(o.congestion.algorithm) && out.hardware.nic_ack_coalescing > 1)
    throw text::InputError(node.place, path,
                           "nic.ack_coalescing 1, or 0 to have it set: the algorithm needs an answer a packet",
                           fmt::format("{}", out.hardware.nic_ack_coalescing));
  out.congestion.push_back({o.congestion.algorithm, o.dcqcn, o.congestion});
  return static_cast<std::uint8_t>(out.congestion.size());
}

}  // namespace

std::span<const Option> class_options() { return kClassOptions; }

std::span<const Option> service_options() { return kServiceOptions; }

std::span<const Option> congestion_options() {
  static const std::vector<Option> kOptions = [] {
    std::vector<Option> all;
    for (Option option : fabric::fabric_options()) {
      option.key = as_congestion(option.key);
      if (!option.key.empty()) all.push_back(option);
    }
    return all;
  }();
  return kOptions;
}

void read_classes(const yaml::Node& node, Scenario& out) {
  const std::string path = "fabric.classes";
  const std::vector<yaml::Node>& items = list(node, path, "classes");
  if (items.empty()) return;
  if (out.network.model == fabric::Model::flow)
    throw text::InputError(node.place, path, "fabric.model: packet with it: flows have no queues", "flow");
  if (out.hardware.link_ideal)
    throw text::InputError(node.place, path, "hardware with a network",
                           fmt::format("{}, which has none (link.ideal)", out.hardware_name));
  for (std::size_t i = 0; i < items.size(); ++i)
    out.network.classes.push_back(read_class(items[i], fmt::format("{}[{}]", path, i), out));
}

void require_class(const Value& value, const std::string& path, const Scenario& out) {
  std::vector<std::uint32_t> all;
  for (const fabric::TrafficClass& c : out.network.used_classes()) all.push_back(c.id);
  if (std::ranges::find(all, value.number) != all.end()) return;
  throw text::InputError(value.place, path, fmt::format("a class that fabric.classes has: {}", fmt::join(all, ", ")),
                         fmt::format("{}", value.number));
}

Service read_service(const yaml::Node& node, const Settings& settings, const std::string& prefix, Scenario& out) {
  Service service;
  if (const Value* const value = given(settings, prefix + "class")) {
    require_class(*value, prefix + "class", out);
    service.traffic_class = static_cast<std::uint8_t>(value->number);
  }
  if (const Value* const value = given(settings, prefix + "ack_class")) {
    require_class(*value, prefix + "ack_class", out);
    service.ack_class = static_cast<std::uint8_t>(value->number);
  }
  if (const yaml::Node* const congestion = node.find("congestion"))
    service.congestion = read_congestion(*congestion, prefix + "congestion", out);
  return service;
}

void require_classes_of_flows(const Settings& settings, const std::string& prefix, const std::string& kind,
                              const workloads::Params& parameters, std::uint32_t nodes, const Scenario& out) {
  if (kind != "flows" || parameters.file("flows") == nullptr) return;
  Value value = settings.find(prefix + "flows")->second;
  for (const std::uint8_t c : workloads::classes_of_flows(parameters, nodes)) {
    value.number = c;
    require_class(value, prefix + "flows", out);
  }
}

}  // namespace loco::scenario
