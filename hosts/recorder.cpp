#include "hosts/recorder.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "sim/invariant.hpp"

namespace loco::hosts {

namespace {

struct KnownCall {
  std::string_view library;
  std::string_view method;
  trace::Library library_id;
  trace::Method method_id;
};

/// Every library call that LOCO brackets, and its name in the trace.
constexpr std::array kKnownCalls = {
    KnownCall{"sv", "read", trace::Library::sv, trace::Method::sv_read},
    KnownCall{"sv", "write", trace::Library::sv, trace::Method::sv_write},
    KnownCall{"sv", "bcast", trace::Library::sv, trace::Method::bcast},
    KnownCall{"sv", "wait", trace::Library::sv, trace::Method::sv_wait},
    KnownCall{"sv", "gf", trace::Library::sv, trace::Method::gf},
    KnownCall{"rdmawait", "wait", trace::Library::rdmawait, trace::Method::wait},
    KnownCall{"bal", "barrier", trace::Library::bal, trace::Method::barrier},
    KnownCall{"rbl", "submit", trace::Library::rbl, trace::Method::submit},
    KnownCall{"rbl", "receive", trace::Library::rbl, trace::Method::receive},
    KnownCall{"msw", "write", trace::Library::msw, trace::Method::msw_write},
    KnownCall{"msw", "tryread", trace::Library::msw, trace::Method::msw_tryread},
    KnownCall{"msw", "get", trace::Library::msw, trace::Method::msw_get},
    KnownCall{"msw", "put", trace::Library::msw, trace::Method::msw_put},
    KnownCall{"msw", "wait", trace::Library::msw, trace::Method::msw_wait},
    KnownCall{"lock", "acquire", trace::Library::lock, trace::Method::acquire},
    KnownCall{"lock", "release", trace::Library::lock, trace::Method::release},
    KnownCall{"kvstore", "lookup", trace::Library::kvstore, trace::Method::kv_lookup},
    KnownCall{"kvstore", "insert", trace::Library::kvstore, trace::Method::kv_insert},
    KnownCall{"kvstore", "update", trace::Library::kvstore, trace::Method::kv_update},
    KnownCall{"kvstore", "delete", trace::Library::kvstore, trace::Method::kv_delete},
};

const KnownCall& known(const trace::CallInfo& call) {
  for (const auto& k : kKnownCalls)
    if (k.library == call.library && k.method == call.method) return k;
  throw std::invalid_argument("the trace knows no call " + std::string(call.library) + "." + std::string(call.method));
}

}  // namespace

void Recorder::add_thread(nic::NodeId node, std::string name) {
  threads_.push_back(static_cast<std::uint32_t>(trace_.threads.size()));
  trace_.threads.push_back({node, std::move(name)});
  open_.emplace_back();
}

void Recorder::restart_thread(std::uint32_t thread, std::string name) {
  const nic::NodeId node = trace_.threads[threads_[thread]].node;
  threads_[thread] = static_cast<std::uint32_t>(trace_.threads.size());
  trace_.threads.push_back({node, std::move(name)});
  open_.emplace_back();
  std::erase_if(lanes_, [thread](const auto& lane) { return lane.first.first == thread; });
}

namespace {
constexpr std::uint32_t kMessageLanes = std::uint32_t{1} << 31U;

std::string lane_name(std::uint32_t lane) {
  return lane < kMessageLanes ? ", lane " + std::to_string(lane)
                              : ", messages of qp " + std::to_string(lane - kMessageLanes);
}
}  // namespace

std::uint32_t Recorder::lane(std::uint32_t thread, std::uint32_t lane) {
  const std::uint32_t own = threads_[thread];
  if (lane == 0) return own;
  const auto [found, fresh] = lanes_.try_emplace({thread, lane}, static_cast<std::uint32_t>(trace_.threads.size()));
  if (fresh) {
    const trace::Thread of = trace_.threads[own];
    trace_.threads.push_back({of.node, of.name + lane_name(lane)});
    open_.emplace_back();
  }
  return found->second;
}

std::uint32_t Recorder::object(std::string_view name) {
  if (name.empty()) return 0;
  const auto found = objects_.find(name);
  if (found != objects_.end()) return found->second;
  const auto index = static_cast<std::uint32_t>(trace_.objects.size());
  trace_.objects.push_back({.name = name_in_trace(name), .participants = {}, .transitive = false});
  objects_.emplace(name, index);
  return index;
}

/// Adds the incarnation of the innermost object that the name belongs to.
std::string Recorder::name_in_trace(std::string_view name) const {
  for (std::size_t end = name.size(); end != std::string_view::npos && end != 0; end = name.rfind('/', end - 1)) {
    const auto found = lives_.find(name.substr(0, end));
    if (found == lives_.end() || found->second.number == 1) continue;
    return found->first + "#" + std::to_string(found->second.number) + std::string(name.substr(end));
  }
  return std::string(name);
}

void Recorder::object_begins(std::string_view name) {
  Life& life = lives_[std::string(name)];
  if (!life.ends) return;
  life = {.number = life.number + 1};
  const std::string below = std::string(name) + "/";
  objects_.erase(std::string(name));
  auto at = objects_.lower_bound(below);
  while (at != objects_.end() && at->first.starts_with(below)) at = objects_.erase(at);
}

void Recorder::object_ends(std::string_view name) {
  if (const auto found = lives_.find(name); found != lives_.end()) found->second.ends = true;
}

std::uint32_t Recorder::node_set(std::span<const nic::NodeId> nodes) {
  if (nodes.empty()) return 0;
  const std::vector<std::uint32_t> key(nodes.begin(), nodes.end());
  const auto [found, fresh] = node_sets_.try_emplace(key, static_cast<std::uint32_t>(trace_.node_sets.size()));
  if (fresh) trace_.node_sets.push_back(key);
  return found->second;
}

trace::CallId Recorder::begin(std::uint32_t machine_thread, const trace::CallInfo& call, trace::Seq seq,
                              std::int64_t ps) {
  const KnownCall& what = known(call);
  const std::uint32_t thread = lane(machine_thread, call.lane);
  const std::uint32_t object_index = call.element == trace::kWholeObject
                                         ? object(call.object)
                                         : object(trace::element_name(call.object, call.element));
  if (what.method_id == trace::Method::barrier) {
    trace::Object& barrier = trace_.objects[object_index];
    const auto at = std::ranges::lower_bound(barrier.participants, thread);
    if (at == barrier.participants.end() || *at != thread) barrier.participants.insert(at, thread);
    barrier.transitive = call.nodes.size() == trace_.nodes;
  }
  const trace::CallId parent = open_[thread].empty() ? 0 : open_[thread].back();
  trace_.calls.push_back({.parent = parent,
                          .thread = thread,
                          .library = what.library_id,
                          .method = what.method_id,
                          .object = object_index,
                          .node_set = node_set(call.nodes),
                          .work_id = call.work_id,
                          .argument = call.argument,
                          .begin = seq,
                          .begin_ps = ps});
  const auto id = static_cast<trace::CallId>(trace_.calls.size());
  open_[thread].push_back(id);
  return id;
}

void Recorder::end(std::uint32_t thread, std::uint32_t in_lane, std::uint64_t result, trace::Seq seq, std::int64_t ps) {
  finish(close(thread, in_lane, sim::SimTime{ps}), result, seq, ps);
}

void Recorder::abandon(std::uint32_t thread, std::uint32_t in_lane, std::int64_t ps) {
  static_cast<void>(close(thread, in_lane, sim::SimTime{ps}));
}

trace::CallId Recorder::close(std::uint32_t thread, std::uint32_t in_lane, sim::SimTime now) {
  std::vector<trace::CallId>& open = open_[lane(thread, in_lane)];
  LOCO_INVARIANT(!open.empty(), now, "recorder", "a call ends that has not begun");
  const trace::CallId call = open.back();
  open.pop_back();
  return call;
}

trace::CallId Recorder::begin_operation(std::uint32_t thread, trace::Method method, std::uint64_t argument,
                                        std::uint64_t work_id, trace::Seq seq, std::int64_t ps) {
  trace_.calls.push_back({.parent = open_call(thread),
                          .thread = threads_[thread],
                          .library = trace::Library::rdmawait,
                          .method = method,
                          .work_id = work_id,
                          .argument = argument,
                          .begin = seq,
                          .begin_ps = ps});
  return static_cast<trace::CallId>(trace_.calls.size());
}

trace::CallId Recorder::begin_message(std::uint32_t thread, std::uint32_t queue_pair, trace::Seq seq, std::int64_t ps) {
  trace_.calls.push_back({.thread = lane(thread, kMessageLanes | queue_pair),
                          .library = trace::Library::rdmawait,
                          .method = trace::Method::put,
                          .begin = seq,
                          .begin_ps = ps});
  return static_cast<trace::CallId>(trace_.calls.size());
}

void Recorder::finish(trace::CallId call, std::uint64_t result, trace::Seq seq, std::int64_t ps) {
  trace::Call& c = trace_.calls[call - 1];
  c.returned = true;
  c.result = result;
  c.end = seq;
  c.end_ps = ps;
}

trace::CallId Recorder::open_call(std::uint32_t thread) const {
  const std::vector<trace::CallId>& open = open_[threads_[thread]];
  return open.empty() ? 0 : open.back();
}

void Recorder::posted(trace::CallId call, const PostedOperation& operation) {
  PostedOperation named = operation;
  named.local = memory_.name(trace_.threads[trace_.calls[call - 1].thread].node, operation.local);
  named.remote = memory_.name(operation.peer, operation.remote);
  posted_.add(call, named);
}

void Recorder::on_subevent(const nic::Subevent& s) {
  const std::uint64_t address = memory_.name(s.home, s.address);
  trace_.subevents.push_back({.call = s.op,
                              .stamp = s.stamp,
                              .peer = static_cast<std::uint16_t>(s.peer),
                              .node = static_cast<std::uint16_t>(s.home),
                              .address = address,
                              .value = s.value,
                              .value_read = s.value_read,
                              .source = of_same_use(s.source, address),
                              .overwrote = of_same_use(s.overwrote, address),
                              .start = s.seq,
                              .finish = s.finished ? s.seq : trace::kNever,
                              .start_ps = s.at.ps,
                              .finish_ps = s.at.ps});
  if (trace_.subevents.size() != s.id) throw std::logic_error("a subevent was not recorded");
}

void Recorder::on_subevent_repeated(const nic::Subevent& s) {
  trace::Subevent& before = trace_.subevents[s.id - 1];
  before.value = s.value;
  before.source = of_same_use(s.source, before.address);
  before.start = before.finish = s.seq;
  before.start_ps = before.finish_ps = s.at.ps;
}

void Recorder::on_subevent_finish(const nic::SubeventFinish& f) {
  trace::Subevent& s = trace_.subevents[f.id - 1];
  s.overwrote = of_same_use(f.overwrote, s.address);
  s.value = f.value;
  s.finish = f.seq;
  s.finish_ps = f.at.ps;
}

void Recorder::on_packet(nic::PacketStep step, const fabric::Packet& packet, sim::SimTime at) {
  if (!with_activities_) return;
  if (step == nic::PacketStep::sent) {
    under_way_[packet.serial] = trace_.activities.size();
    trace_.activities.push_back({.kind = trace::Activity::Kind::packet,
                                 .opcode = static_cast<std::uint8_t>(packet.opcode),
                                 .node = static_cast<std::uint16_t>(packet.source.index()),
                                 .peer = static_cast<std::uint16_t>(packet.destination.index()),
                                 .qp = packet.source_qp,
                                 .number = packet.psn.value(),
                                 .bytes = packet.wire,
                                 .start_ps = at.ps,
                                 .finish_ps = -1});
    return;
  }
  trace_.activities[under_way_.at(packet.serial)].finish_ps = at.ps;
  under_way_.erase(packet.serial);
}

void Recorder::on_tlp(const nic::TlpEvent& tlp) {
  if (!with_activities_) return;
  constexpr std::array kKinds = {trace::Activity::Kind::tlp_write, trace::Activity::Kind::tlp_read,
                                 trace::Activity::Kind::completion, trace::Activity::Kind::doorbell};
  trace_.activities.push_back({.kind = kKinds.at(static_cast<std::size_t>(tlp.kind)),
                               .node = static_cast<std::uint16_t>(tlp.node),
                               .peer = static_cast<std::uint16_t>(tlp.node),
                               .qp = tlp.qp,
                               .bytes = tlp.bytes,
                               .start_ps = tlp.at.ps,
                               .finish_ps = tlp.at.ps});
}

void Recorder::record_verbs(const nic::System& system) {
  trace_.verbs.emplace();
  verbs_.emplace(*trace_.verbs);
  verbs_->begin(system);
}

void Recorder::on_cqe(nic::NodeId node, nic::CqId cq, const nic::Cqe& cqe, sim::SimTime at) {
  if (verbs_) verbs_->on_cqe(cq, cqe);
  if (!with_activities_) return;
  trace_.activities.push_back({.kind = trace::Activity::Kind::cqe,
                               .node = static_cast<std::uint16_t>(node),
                               .peer = static_cast<std::uint16_t>(node),
                               .qp = cqe.qp,
                               .start_ps = at.ps,
                               .finish_ps = at.ps});
}

}  // namespace loco::hosts
