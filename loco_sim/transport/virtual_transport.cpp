#include "loco_sim/transport/virtual_transport.hpp"

#include <fmt/format.h>
#include <stdexcept>
#include <string>

#include "loco_sim/loco/errors.hpp"

namespace loco {

namespace {
/// The transport's own keys in watch sets.
constexpr std::uint64_t kControlKey = std::uint64_t{1} << 40U;
constexpr std::uint64_t kWakeKey = std::uint64_t{3} << 40U;
}  // namespace

VirtualTransport::VirtualTransport(ClusterContext& cluster, NodeId node)
    : cluster_(cluster),
      node_(node),
      completion_queue_(cluster.system.create_cq(node, cluster.config.completion_entries)) {}

std::uint32_t VirtualTransport::my_thread() const { return cluster_.threads.current().index; }

void VirtualTransport::spawn(std::string name, std::function<void()> body, bool service) {
  std::uint32_t index = 0;
  while (index < threads_.size() && !is_free(index)) ++index;
  if (index < threads_.size()) {
    if (cluster_.recorder) cluster_.recorder->restart_thread(threads_[index], name);
    return cluster_.threads.start_again(threads_[index], std::move(name), std::move(body), service);
  }
  if (cluster_.recorder) cluster_.recorder->add_thread(node_, name);
  adopt(cluster_.threads.add(node_, index, std::move(name), std::move(body), service));
}

bool VirtualTransport::is_free(std::uint32_t index) const {
  if (!cluster_.threads.has_ended(threads_[index])) return false;
  const bool flushed = std::ranges::all_of(
      other_ends_, [&](const auto& other) { return other.first.first != index || has_come_back(other.second); });
  if (!flushed) return false;
  bool settled = true;
  if (index < ends_.size())
    ends_[index].for_each(
        [&](const End& end) { settled = settled && (end.qp == nic::kNone || cluster_.system.qp_settled(end.qp)); });
  return settled;
}

bool VirtualTransport::settled(std::uint32_t thread, NodeId node) {
  if (!cluster_.threads.has_ended(threads_.at(thread))) return false;
  const End* const end = thread < ends_.size() ? ends_[thread].find(node) : nullptr;
  return end == nullptr || end->qp == nic::kNone || cluster_.system.qp_settled(end->qp);
}

std::int64_t VirtualTransport::now_ps() const { return cluster_.now_ps(); }

void VirtualTransport::compute(std::int64_t ps) { current().time.compute(ps); }

void VirtualTransport::pause() {
  hosts::Thread& thread = current();
  thread.time.pause(kWakeKey);
  thread.looked_count = 0;
}

void VirtualTransport::wake_all() { cluster_.system.notify(node_, kWakeKey); }

std::int64_t VirtualTransport::keep_alive_ps() const {
  const bool all_stay = cluster_.config.stops.empty() && cluster_.config.network.changes.empty();
  return (all_stay && !may_give_up_peers()) || !cluster_.threads.timed() ? 0 : cluster_.config.keep_alive.ps;
}

bool VirtualTransport::may_give_up_peers() const {
  const fabric::Config& network = cluster_.config.network;
  const bool loses = network.options.loss != 0 || !network.losses.empty() || network.buffers_overflow();
  return loses && cluster_.threads.timed();
}

std::uint8_t ClusterContext::service(const Service& service) {
  const auto known = std::ranges::find(services, service);
  const auto number = static_cast<std::size_t>(known - services.begin());
  if (number > 0xff) throw std::length_error("a run has at most 256 kinds of queue pairs");
  if (known == services.end()) services.push_back(service);
  return static_cast<std::uint8_t>(number);
}

void ClusterContext::hear_of_failure() {
  failed_ps = now_ps();
  for (const auto& node : nodes)
    if (node->may_give_up_peers()) node->wake_all();
}

bool VirtualTransport::another_may_stop() const {
  if (cluster_.runtime.stopped() < cluster_.config.stops.size()) return true;
  const std::int64_t settling = 2 * retries_ps() + 4 * keep_alive_ps();
  if (cluster_.failed_ps && may_give_up_peers() && cluster_.now_ps() <= *cluster_.failed_ps + settling) return true;
  const std::vector<fabric::LinkChange>& changes = cluster_.config.network.changes;
  if (changes.empty()) return false;
  // Packets lost by a cable that was down fail after their retransmissions, and news of the nodes given up then has to
  // spread.
  const auto last = std::ranges::max_element(changes, {}, &fabric::LinkChange::at);
  return cluster_.now_ps() <= last->at.ps + settling;
}

std::int64_t VirtualTransport::retries_ps() const {
  return (profile().nic_ack_timeout * (profile().nic_retry_count + 1)).ps;
}

// --- calls -----------------------------------------------------------------------------------------------------------

void VirtualTransport::set_waits_for(std::function<std::string()> what) {
  if (!cluster_.threads.closing()) current().waits_for = std::move(what);
}

void VirtualTransport::begin_call(const CallInfo& call) {
  hosts::Thread& thread = current();
  if (call.lane == 0) {
    thread.calls.push_back(call);
    cluster_.locks.call_begins(call);
  }
  if (cluster_.recorder) cluster_.recorder->begin(cluster_.threads.current_id(), call, cluster_.system.seq(), now_ps());
}

void VirtualTransport::end_call(std::uint64_t result, std::uint32_t lane) {
  if (cluster_.threads.closing()) return;  // a program is being unwound, so nobody reads its trace
  if (lane == 0) {
    std::vector<CallInfo>& calls = current().calls;
    cluster_.locks.call_ends(calls.back(), cluster_.threads.current_id());
    calls.pop_back();
  }
  if (cluster_.recorder)
    cluster_.recorder->end(cluster_.threads.current_id(), lane, result, cluster_.system.seq(), now_ps());
}

void VirtualTransport::abandon_call(std::uint32_t lane) {
  if (cluster_.threads.closing()) return;
  if (lane == 0) current().calls.pop_back();
  if (cluster_.recorder) cluster_.recorder->abandon(cluster_.threads.current_id(), lane, now_ps());
}

void VirtualTransport::note_waited(std::uint64_t) {
  current();
  if (cluster_.recorder) cpu().record(nic::Stamp::aWT, cluster_.recorder->open_call(cluster_.threads.current_id()));
}

void VirtualTransport::object_begins(std::string_view name) {
  cluster_.locks.object_begins(name, node_);
  if (cluster_.recorder) cluster_.recorder->object_begins(name);
}

void VirtualTransport::object_ends(std::string_view name) {
  cluster_.locks.object_ends(name, node_);
  if (cluster_.recorder) cluster_.recorder->object_ends(name);
}

// --- local memory ----------------------------------------------------------------------------------------------------

Region VirtualTransport::allocate(std::uint64_t size) { return registered(size, {}); }
Region VirtualTransport::allocate_on_device(std::uint64_t size) { return registered(size, {.device = true}); }
Region VirtualTransport::allocate_in(std::uint64_t size, const nic::RegionKind& kind) { return registered(size, kind); }

/// Words that are zero already are skipped, which the machine knows at no cost.
void VirtualTransport::clear(Address base, std::uint64_t size) {
  if (cluster_.recorder) cluster_.recorder->renewed(node_, base, size);
  bool changed = false;
  for (std::uint64_t at = 0; at < size; at += kWord) {
    if (cluster_.system.word(node_, base + at) == 0) continue;
    store(base + at, 0);
    changed = true;
  }
  if (changed) memory_fence();
}

bool VirtualTransport::stored(Address base, std::uint64_t size) {
  return !cluster_.system.stores_pending(node_, base, size);
}

Region VirtualTransport::registered(std::uint64_t size, nic::RegionKind kind) {
  const Address base = cluster_.system.allocate(node_, size);
  const nic::MemoryRegion region = cluster_.system.register_memory(node_, base, size, nic::kAllAccess, kind);
  memory_.emplace(base, region);
  if (kind.device) {  // addresses grow with each registration
    if (device_span_ == 0) device_low_ = base;
    device_span_ = base + size - device_low_;
  }
  return {.node = node_, .base = base, .size = size, .rkey = region.rkey};
}

void VirtualTransport::require_no_device(Address address) const {
  const auto after = memory_.upper_bound(address);
  if (after == memory_.begin() || !std::prev(after)->second.kind.device) return;
  throw ownership_error(fmt::format(
      "node {}: a CPU's access to address {:#x}, which is in the NIC's memory: only NICs have access", node_, address));
}

std::uint64_t VirtualTransport::load(Address address) {
  require_host(address);
  return current().load(address);
}

void VirtualTransport::store(Address address, std::uint64_t value) {
  require_host(address);
  current().store(address, value);
}

std::uint64_t VirtualTransport::compare_swap_local(Address address, std::uint64_t expected, std::uint64_t desired) {
  require_host(address);
  return current().compare_swap(address, expected, desired);
}

void VirtualTransport::memory_fence() { current().fence(); }

// --- flags -----------------------------------------------------------------------------------------------------------

Flag VirtualTransport::make_flag(std::uint64_t initial) {
  if (free_flags_.empty()) return cluster_.system.create_flag(node_, initial);
  const Flag flag = free_flags_.back();
  free_flags_.pop_back();
  cluster_.system.set_flag(node_, flag, initial);
  return flag;
}

std::uint64_t VirtualTransport::flag_load(Flag flag) { return current().flag_value(Access::look, flag); }

std::uint64_t VirtualTransport::flag_peek(Flag flag) { return current().flag_value(Access::early_look, flag); }

std::uint64_t VirtualTransport::flag_fetch_or(Flag flag, std::uint64_t bits) {
  hosts::Thread& thread = current();
  thread.change(Access::change);
  thread.time.advance(profile().cpu_atomic);
  return cpu().flag_fetch_or(flag, bits);
}

std::uint64_t VirtualTransport::flag_fetch_and(Flag flag, std::uint64_t bits) {
  hosts::Thread& thread = current();
  thread.change(Access::change);
  thread.time.advance(profile().cpu_atomic);
  return cpu().flag_fetch_and(flag, bits);
}

std::uint64_t VirtualTransport::flag_fetch_add(Flag flag, std::uint64_t value) {
  hosts::Thread& thread = current();
  thread.change(Access::change);
  thread.time.advance(profile().cpu_atomic);
  return cpu().flag_fetch_add(flag, value);
}

bool VirtualTransport::flag_compare_exchange(Flag flag, std::uint64_t expected, std::uint64_t desired) {
  hosts::Thread& thread = current();
  thread.change(Access::change);
  thread.time.advance(profile().cpu_atomic);
  if (cpu().flag_load(flag) != expected) return false;
  cpu().flag_fetch_add(flag, desired - expected);
  return true;
}

std::uint64_t VirtualTransport::flag_add_early(Flag flag, std::uint64_t value) {
  hosts::Thread& thread = current();
  if (!thread.time.may_join_latest_access()) return flag_fetch_add(flag, value);
  thread.time.advance(profile().cpu_atomic);
  return cpu().flag_add_for_others(flag, value);
}

// --- set-up ----------------------------------------------------------------------------------------------------------

void VirtualTransport::send_control(NodeId to, std::string body) {
  cluster_.nodes.at(to)->inbox_.push_back({node_, std::move(body)});
  cluster_.system.notify(to, kControlKey);
}

std::optional<ControlMessage> VirtualTransport::receive_control() {
  hosts::Thread& thread = current();
  cpu().watch(kControlKey);
  if (inbox_.empty()) return std::nullopt;
  thread.time.defer();  // a turn that finds a message is not a turn of waiting
  return take_control();
}

std::optional<ControlMessage> VirtualTransport::take_control() {
  if (inbox_.empty() || cluster_.threads.closing()) return std::nullopt;  // a thread that is being unwound handles none
  ControlMessage message = std::move(inbox_.front());
  inbox_.pop_front();
  return message;
}

}  // namespace loco
