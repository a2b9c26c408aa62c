#include "fabric/config.hpp"

#include <algorithm>

namespace loco::fabric {

std::string_view Config::validate() const {
  if (nodes < 1 || nodes > 65536) return "a fabric has 1 to 65536 nodes";
  if (topology == Topology::back_to_back && nodes != 2) return "back_to_back connects exactly 2 nodes";
  if (options.ecn && options.ecn_kmin > options.ecn_kmax) return "ecn.kmin may not be greater than ecn.kmax";
  const CongestionAlgorithm algorithm = options.algorithm();
  const CongestionAlgorithm other = options.congestion.algorithm;
  if (options.dcqcn.enabled && other != CongestionAlgorithm::none && other != CongestionAlgorithm::dcqcn)
    return "dcqcn.enabled and another congestion.algorithm: a queue pair has one";
  const bool marks = options.ecn || std::ranges::any_of(classes, &TrafficClass::ecn);
  if (algorithm == CongestionAlgorithm::dcqcn && !marks) return "dcqcn needs ecn: it reacts to marks";
  if (algorithm == CongestionAlgorithm::nscc && !marks) return "nscc needs ecn: it reacts to marks";
  if (options.trim && !has(FlowControl::drop_tail))
    return "trim needs flow_control: drop_tail: other buffers have room for every packet";
  std::uint32_t seen = 0;
  for (const TrafficClass& c : classes) {
    if (c.id >= 8) return "a traffic class has a number from 0 to 7";
    if ((seen >> c.id & 1U) != 0) return "a traffic class is described once";
    if (c.weight < 1 || c.weight > 1'000) return "a traffic class has a weight from 1 to 1000";
    if (c.ecn && c.ecn_kmin > c.ecn_kmax) return "a traffic class's ecn.kmin may not be greater than its ecn.kmax";
    seen |= 1U << c.id;
  }
  if (classed() && topology == Topology::ideal) return "traffic classes need hardware with a network";
  if (options.watchdog.enabled && !has(FlowControl::pfc)) return "pfc.watchdog needs flow_control: pfc";
  if (!classes.empty() && model == Model::flow) return "the flow model has no queues: no traffic classes";
  if (options.congestion.swift.least > options.congestion.swift.most)
    return "congestion.swift.least may not be greater than congestion.swift.most";
  if (options.congestion.timely.low > options.congestion.timely.high)
    return "congestion.timely.low may not be greater than congestion.timely.high";
  if (model == Model::flow) {
    if (topology == Topology::ideal) return "the flow model needs hardware with a network";
    const bool one_path = options.routing == Routing::deterministic || options.routing == Routing::ecmp;
    if (!one_path) return "the flow model routes by destination or by ecmp: adaptive and spray choose for each packet";
    if (options.flow_control != FlowControl::unlimited)
      return "the flow model has no buffers: flow_control must be unlimited";
    if (options.ecn || algorithm != CongestionAlgorithm::none)
      return "the flow model has no queues that could be marked or measured: no ecn, no congestion control";
    if (!changes.empty() || !losses.empty() || options.loss != 0)
      return "the flow model loses nothing: no loss, no failures";
    for (const CrossFlow& cross : flow.cross_traffic) {
      if (cross.from >= nodes || cross.to >= nodes) return "cross traffic of a host that is not there";
      if (cross.from == cross.to) return "cross traffic from a host to itself";
    }
  } else if (!flow.cross_traffic.empty() || !flow.platform.empty()) {
    return "platforms and cross traffic need the flow model";
  }
  if (topology == Topology::ideal && needs_answers(algorithm))
    return "congestion control needs hardware with a network";
  if (topology == Topology::ideal && (!changes.empty() || !losses.empty() || options.loss != 0)) {
    return "an ideal network has no links that could fail";
  }
  return {};
}

bool Config::varies() const {
  if (model == Model::flow || topology == Topology::ideal) return false;
  if (options.variation != Variation::automatic) return options.variation == Variation::natural;
  return has(FlowControl::drop_tail);
}

std::array<TrafficClass, kClasses> Config::all_classes() const {
  const Options& o = options;
  const ClassBuffers buffers{.flow_control = o.flow_control,
                             .alpha = o.buffer_alpha,
                             .xoff = o.pfc_xoff,
                             .reserved = o.pfc_reserved,
                             .xon_gap = o.pfc_xon_gap,
                             .headroom = o.pfc_headroom};
  std::array<TrafficClass, kClasses> all;
  for (std::uint32_t c = 0; c < kClasses; ++c)
    all.at(c) = {.id = c,
                 .buffers = buffers,
                 .ecn = o.ecn,
                 .ecn_kmin = o.ecn_kmin,
                 .ecn_kmax = o.ecn_kmax,
                 .ecn_pmax = o.ecn_pmax};
  for (const TrafficClass& c : classes) {
    all.at(c.id) = c;
    if (!c.buffers) all.at(c.id).buffers = buffers;
  }
  return all;
}

std::vector<TrafficClass> Config::used_classes() const {
  std::vector<TrafficClass> used;
  for (const TrafficClass& c : all_classes())
    if (c.id == 0 || std::ranges::find(classes, c.id, &TrafficClass::id) != classes.end()) used.push_back(c);
  return used;
}

bool Config::has(FlowControl flow_control) const {
  if (classes.empty()) return options.flow_control == flow_control;
  return std::ranges::any_of(used_classes(),
                             [flow_control](const TrafficClass& c) { return c.buffers->flow_control == flow_control; });
}

bool Config::buffers_overflow() const {
  const auto overflows = [this](FlowControl flow_control, sim::Bytes headroom) {
    if (flow_control == FlowControl::drop_tail) return true;
    return flow_control == FlowControl::pfc && (headroom.count != 0 || !changes.empty() || options.watchdog.enabled);
  };
  if (classes.empty()) return overflows(options.flow_control, options.pfc_headroom);
  return std::ranges::any_of(
      used_classes(), [&](const TrafficClass& c) { return overflows(c.buffers->flow_control, c.buffers->headroom); });
}

}  // namespace loco::fabric
