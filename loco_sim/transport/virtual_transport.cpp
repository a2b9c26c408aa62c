#include "loco_sim/transport/virtual_transport.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>
#include <stdexcept>
#include <string>

#include "loco_sim/loco/errors.hpp"

namespace loco {

namespace {
/// Keys of the transport's own in watch sets.
constexpr std::uint64_t kControlKey = std::uint64_t{1} << 40U;
constexpr std::uint64_t kWakeKey = std::uint64_t{3} << 40U;

/// A turn that looks at more than this many things pays in between.
constexpr std::uint32_t kLooksPerStep = 64;
}  // namespace

static_assert(static_cast<int>(nic::Status::rnr_retry_exc_err) == static_cast<int>(Status::rnr_retry_exc_err));

VirtualTransport::VirtualTransport(SimulatedCluster& cluster, NodeId node)
    : cluster_(cluster),
      node_(node),
      completion_queue_(cluster.system_.create_cq(node, cluster.config_.completion_entries)) {}

std::uint32_t VirtualTransport::my_thread() const { return cluster_.current().index; }

void VirtualTransport::spawn(std::string name, std::function<void()> body, bool service) {
  cluster_.add_thread(node_, std::move(name), std::move(body), service);
}

std::int64_t VirtualTransport::now_ps() const {
  const SimThread& thread = cluster_.current();
  return (cluster_.system_.now() + thread.ahead + thread.owed).ps;
}

void VirtualTransport::compute(std::int64_t ps) {
  // Half of the time that there is: what is under way then ends before the other half has passed.
  constexpr sim::SimTime kEnd{std::int64_t{1} << 62};
  // Where times mean nothing, who waits in proportion to what has been measured would wait longer each time.
  constexpr std::int64_t kLongest = 1'000'000'000;
  if (ps < 0) throw std::out_of_range("compute: expected at least 0 ps, found " + std::to_string(ps) + " ps");
  SimThread& thread = cluster_.current();
  const bool timed = cluster_.config_.schedule == Schedule::timed;
  if (timed && ps > kEnd.ps - now_ps())
    throw std::out_of_range("compute: expected to end within " + std::to_string(kEnd.ps) +
                            " ps of simulated time, found " + std::to_string(ps) + " ps at " +
                            std::to_string(now_ps()));
  thread.owed += sim::Duration{timed ? ps : std::min(ps, kLongest)};
  spend(thread);
}

// --- steps -----------------------------------------------------------------------------------------------------------

void VirtualTransport::spend(SimThread& thread) {
  cpu().resume_after(thread.ahead + thread.owed);
  cluster_.suspend();
}

void VirtualTransport::run_ahead(SimThread& thread) {
  thread.ahead += thread.owed;
  thread.owed = {};
  thread.looks = 0;
}

void VirtualTransport::catch_up(SimThread& thread) {
  const sim::Duration owed = thread.owed;
  const std::uint32_t looks = thread.looks;
  cpu().resume_after(thread.ahead);
  cluster_.suspend();
  thread.owed = owed;
  thread.looks = looks;
}

SimThread& VirtualTransport::look(Look::What what, std::uint64_t where) {
  SimThread& thread = cluster_.current();
  const bool together = cluster_.config_.schedule == Schedule::timed && !thread.acted && thread.looks < kLooksPerStep;
  if ((thread.looks > 0 || thread.acted) && !together)
    spend(thread);
  else if (thread.ahead.ps > 0)
    catch_up(thread);
  ++thread.looks;
  thread.note({what, where, 0});
  return thread;
}

SimThread& VirtualTransport::look_ahead(Look::What what, std::uint64_t where) {
  SimThread& thread = cluster_.current();
  if (cluster_.config_.schedule != Schedule::timed || thread.looks >= kLooksPerStep) return look(what, where);
  if (thread.acted) {
    // What has changed already would be looked for again at once.
    if (thread.owed.ps == 0 || cpu().noticed()) return look(what, where);
    run_ahead(thread);
    thread.acted = false;
  }
  ++thread.looks;
  thread.note({what, where, 0});
  return thread;
}

SimThread& VirtualTransport::look_after_poll() {
  if (cluster_.config_.schedule != Schedule::timed) return look(Look::What::completions, 0);
  SimThread& thread = cluster_.current();
  thread.owed += profile().cpu_poll_cqe - thread.polling;
  thread.polling = {};
  if ((thread.ahead + thread.owed).ps > 0) spend(thread);
  ++thread.looks;
  thread.note({Look::What::completions, 0, 0});
  return thread;
}

SimThread& VirtualTransport::act() {
  SimThread& thread = cluster_.current();
  const bool separate = cluster_.config_.schedule != Schedule::timed;
  if (thread.ahead.ps + thread.owed.ps > 0 || (separate && (thread.looks > 0 || thread.acted))) spend(thread);
  thread.acted = true;
  thread.looked_count = 0;  // what it looked at before is not what it will wait for
  return thread;
}

SimThread& VirtualTransport::act_ahead() {
  // A doorbell that does not wait for the store buffer is seen at once.
  if (cluster_.config_.schedule != Schedule::timed || profile().faults.has(nic::Fault::doorbell_before_stores) ||
      cpu().store_buffer_full()) {
    return act();
  }
  SimThread& thread = cluster_.current();
  run_ahead(thread);
  thread.acted = true;
  thread.looked_count = 0;
  return thread;
}

void VirtualTransport::pause() {
  SimThread& thread = cluster_.current();
  if (thread.acted && thread.ahead.ps > 0) spend(thread);
  if (thread.must_turn) {
    thread.must_turn = false;
    spend(thread);
  } else {
    cpu().watch(kWakeKey);
    const bool takes = thread.polled && cluster_.config_.schedule == Schedule::timed;
    cpu().pause_from(thread.ahead, thread.owed, takes ? profile().cpu_poll_cqe : sim::Duration{});
    cluster_.suspend();
    thread.polling = cpu().taken();
  }
  thread.polled = false;
  thread.looked_count = 0;
}

void VirtualTransport::wake_all() { cluster_.system_.notify(node_, kWakeKey); }

std::int64_t VirtualTransport::keep_alive_ps() const {
  return cluster_.config_.stops.empty() ? 0 : cluster_.config_.keep_alive.ps;
}

bool VirtualTransport::another_may_stop() const { return cluster_.stopped_ < cluster_.config_.stops.size(); }

std::int64_t VirtualTransport::retries_ps() const {
  return (profile().nic_ack_timeout * (profile().nic_retry_count + 1)).ps;
}

void VirtualTransport::drain(SimThread& thread) {
  while (!cpu().store_buffer_empty()) {
    cpu().resume_when_drained();
    cluster_.suspend();
  }
  thread.acted = true;
}

void VirtualTransport::make_room(SimThread& thread) {
  while (cpu().store_buffer_full()) {
    cpu().resume_when_room();
    cluster_.suspend();
  }
  thread.acted = true;
}

// --- calls -----------------------------------------------------------------------------------------------------------

model::CallId VirtualTransport::begin_operation(model::Method method, std::uint64_t argument, std::uint64_t work_id) {
  if (!cluster_.recorder_) return 0;
  return cluster_.recorder_->begin_operation(cluster_.current_, method, argument, work_id, cluster_.system_.seq(),
                                             now_ps());
}

void VirtualTransport::finish_operation(model::CallId call, std::uint64_t result) {
  if (call != 0 && cluster_.recorder_) cluster_.recorder_->finish(call, result, cluster_.system_.seq(), now_ps());
}

void VirtualTransport::set_waits_for(std::function<std::string()> what) {
  if (!cluster_.closing_) cluster_.current().waits_for = std::move(what);
}

void VirtualTransport::begin_call(const CallInfo& call) {
  SimThread& thread = cluster_.current();
  if (call.lane == 0) thread.calls.push_back(call);
  if (cluster_.recorder_) cluster_.recorder_->begin(cluster_.current_, call, cluster_.system_.seq(), now_ps());
}

void VirtualTransport::end_call(std::uint64_t result, std::uint32_t lane) {
  if (cluster_.closing_) return;  // a program is being unwound: nobody will read its trace
  if (lane == 0) cluster_.current().calls.pop_back();
  if (cluster_.recorder_) cluster_.recorder_->end(cluster_.current_, lane, result, cluster_.system_.seq(), now_ps());
}

void VirtualTransport::abandon_call(std::uint32_t lane) {
  if (cluster_.closing_) return;
  if (lane == 0) cluster_.current().calls.pop_back();
  if (cluster_.recorder_) cluster_.recorder_->abandon(cluster_.current_, lane, now_ps());
}

void VirtualTransport::note_waited(std::uint64_t) {
  cluster_.current();
  if (cluster_.recorder_) cpu().record(nic::Stamp::aWT, cluster_.recorder_->open_call(cluster_.current_));
}

void VirtualTransport::object_begins(std::string_view name) {
  if (cluster_.recorder_) cluster_.recorder_->object_begins(name);
}

void VirtualTransport::object_ends(std::string_view name) {
  if (cluster_.recorder_) cluster_.recorder_->object_ends(name);
}

// --- local memory ----------------------------------------------------------------------------------------------------

Region VirtualTransport::allocate(std::uint64_t size) { return registered(size, {}); }
Region VirtualTransport::allocate_on_device(std::uint64_t size) { return registered(size, {.device = true}); }

Region VirtualTransport::registered(std::uint64_t size, nic::RegionKind kind) {
  const Address base = cluster_.system_.allocate(node_, size);
  const nic::MemoryRegion region = cluster_.system_.register_memory(node_, base, size, nic::kAllAccess, kind);
  memory_.emplace(base, region);
  if (kind.device) {  // addresses grow from one registration to the next
    if (device_span_ == 0) device_low_ = base;
    device_span_ = base + size - device_low_;
  }
  return {node_, base, size, region.rkey};
}

void VirtualTransport::require_no_device(Address address) const {
  const auto after = memory_.upper_bound(address);
  if (after == memory_.begin() || !std::prev(after)->second.kind.device) return;
  throw ownership_error(fmt::format(
      "node {}: a CPU's access to address {:#x}, which is in the NIC's memory: only NICs have access", node_, address));
}

std::uint64_t VirtualTransport::load(Address address) {
  require_host(address);
  SimThread& thread = look(Look::What::word, address);
  const model::CallId call = begin_operation(model::Method::read);
  const std::uint64_t value = cpu().load(address, call);
  finish_operation(call, value);
  thread.owed += profile().cpu_load;
  thread.saw(value);
  return value;
}

void VirtualTransport::store(Address address, std::uint64_t value) {
  require_host(address);
  SimThread& thread = act_ahead();
  make_room(thread);
  const model::CallId call = begin_operation(model::Method::write, value);
  cpu().store(address, value, call, thread.ahead);
  finish_operation(call, 0);
  thread.owed += profile().cpu_store;
}

void VirtualTransport::load_bytes(Address address, std::span<std::byte> out) {
  if (out.size() % 8 != 0) throw std::invalid_argument("wide loads are of whole words");
  for (std::size_t i = 0; i < out.size(); i += 8) {
    const std::uint64_t value = load(address + i);
    std::memcpy(out.data() + i, &value, 8);
  }
}

void VirtualTransport::store_bytes(Address address, std::span<const std::byte> in) {
  if (in.size() % 8 != 0) throw std::invalid_argument("wide stores are of whole words");
  for (std::size_t i = 0; i < in.size(); i += 8) {
    std::uint64_t value = 0;
    std::memcpy(&value, in.data() + i, 8);
    store(address + i, value);
  }
}

std::uint64_t VirtualTransport::compare_swap_local(Address address, std::uint64_t expected, std::uint64_t desired) {
  require_host(address);
  SimThread& thread = act();
  drain(thread);
  const model::CallId call = begin_operation(model::Method::cas, desired);
  const std::uint64_t old = cpu().compare_swap(address, expected, desired, call);
  finish_operation(call, old);
  thread.owed += profile().cpu_atomic;
  return old;
}

void VirtualTransport::memory_fence() {
  SimThread& thread = act();
  drain(thread);
  const model::CallId call = begin_operation(model::Method::mfence);
  cpu().fence(call);
  finish_operation(call, 0);
  thread.owed += profile().cpu_fence;
}

// --- flags -----------------------------------------------------------------------------------------------------------

Flag VirtualTransport::make_flag(std::uint64_t initial) { return cluster_.system_.create_flag(node_, initial); }

std::uint64_t VirtualTransport::flag_load(Flag flag) { return flag_value(look(Look::What::flag, flag), flag); }

std::uint64_t VirtualTransport::flag_peek(Flag flag) { return flag_value(look_ahead(Look::What::flag, flag), flag); }

std::uint64_t VirtualTransport::flag_value(SimThread& thread, Flag flag) {
  const std::uint64_t value = cpu().flag_load(flag);
  thread.owed += profile().cpu_load;
  thread.saw(value);
  return value;
}

std::uint64_t VirtualTransport::flag_fetch_or(Flag flag, std::uint64_t bits) {
  SimThread& thread = act();
  thread.owed += profile().cpu_atomic;
  return cpu().flag_fetch_or(flag, bits);
}

std::uint64_t VirtualTransport::flag_fetch_and(Flag flag, std::uint64_t bits) {
  SimThread& thread = act();
  thread.owed += profile().cpu_atomic;
  return cpu().flag_fetch_and(flag, bits);
}

std::uint64_t VirtualTransport::flag_fetch_add(Flag flag, std::uint64_t value) {
  SimThread& thread = act();
  thread.owed += profile().cpu_atomic;
  return cpu().flag_fetch_add(flag, value);
}

std::uint64_t VirtualTransport::flag_add_early(Flag flag, std::uint64_t value) {
  if (cluster_.config_.schedule != Schedule::timed) return flag_fetch_add(flag, value);
  cluster_.current().owed += profile().cpu_atomic;
  return cpu().flag_add_for_others(flag, value);
}

// --- set-up ----------------------------------------------------------------------------------------------------------

void VirtualTransport::send_control(NodeId to, std::string body) {
  cluster_.nodes_.at(to)->inbox_.push_back({node_, std::move(body)});
  cluster_.system_.notify(to, kControlKey);
}

std::optional<ControlMessage> VirtualTransport::receive_control() {
  SimThread& thread = cluster_.current();
  cpu().watch(kControlKey);
  if (inbox_.empty()) return std::nullopt;
  run_ahead(thread);  // a turn that finds a message is not one of those that the thread waits in
  ControlMessage message = std::move(inbox_.front());
  inbox_.pop_front();
  return message;
}

}  // namespace loco
