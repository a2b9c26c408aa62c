// What a verbs program calls: a core of a simulated host (hosts/thread.hpp) by the names of libibverbs, each call a
// step of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "hosts/fibers.hpp"
#include "nic_model/verbs.hpp"
#include "sim/time.hpp"

namespace loco::verbs {

/// What a program did that verbs refuse: a full queue, a request that the queue pair cannot take.
class VerbsError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A line of the program: where a call is made. What finds races tells of lines.
struct Where {
  const char* file = "";
  std::uint32_t line = 0;
  static constexpr Where here(const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE()) {
    return {file, line};
  }
};

/// ibv_async_event: what no completion can tell.
struct AsyncEvent {
  enum class Type : std::uint8_t {
    cq_err,    ///< IBV_EVENT_CQ_ERR: a completion queue has overrun, and takes no more
    qp_fatal,  ///< IBV_EVENT_QP_FATAL: so a queue pair has failed of which a completion is lost
  };
  Type type = Type::cq_err;
  std::uint32_t element = 0;  ///< the completion queue, or the queue pair
  auto operator<=>(const AsyncEvent&) const = default;
};
[[nodiscard]] std::string_view name(AsyncEvent::Type type);
/// Those that the threads of a host have taken.
using TakenEvents = std::set<AsyncEvent>;

/// A core of a simulated host, for the program that runs on it. All calls are made from inside that program.
class Thread {
 public:
  Thread(hosts::Fibers& fibers, nic::NodeId node, std::shared_ptr<TakenEvents> taken)
      : fibers_(fibers), node_(node), taken_(std::move(taken)) {}

  [[nodiscard]] nic::NodeId node() const { return node_; }
  [[nodiscard]] sim::SimTime now() const;

  /// ibv_post_send with one request: builds it, rings the doorbell. Throws VerbsError when the send queue is full or
  /// the queue pair does not take the request.
  void post_send(nic::QpId qp, const nic::Wqe& request, Where where = Where::here());
  /// The same with a list of requests and one doorbell. All are taken or none.
  void post_sends(nic::QpId qp, std::span<const nic::Wqe> requests, Where where = Where::here());
  /// ibv_post_recv, ibv_post_srq_recv. Throw VerbsError when the receive queue is full, or not the queue pair's own.
  void post_recv(nic::QpId qp, const nic::RecvWqe& request, Where where = Where::here());
  void post_recvs(nic::QpId qp, std::span<const nic::RecvWqe> requests, Where where = Where::here());
  void post_srq_recv(nic::SrqId srq, const nic::RecvWqe& request, Where where = Where::here());
  void post_srq_recvs(nic::SrqId srq, std::span<const nic::RecvWqe> requests, Where where = Where::here());
  /// IBV_EVENT_SRQ_LIMIT_REACHED: has the queue fallen below its limit (System::set_srq_limit)? Takes the event.
  [[nodiscard]] bool srq_limit_reached(nic::SrqId srq);
  /// ibv_get_async_event of a device whose file does not block: the next event of this host that no thread of it has
  /// taken, completion queues first.
  [[nodiscard]] std::optional<AsyncEvent> get_async_event();
  /// ibv_poll_cq for one completion.
  [[nodiscard]] std::optional<nic::Cqe> poll_cq(nic::CqId cq, Where where = Where::here());
  /// Polls until there is a completion. Its status is the caller's to look at.
  [[nodiscard]] nic::Cqe wait_cq(nic::CqId cq, Where where = Where::here());

  /// Aligned 8-byte words of the host's memory, x86-TSO.
  [[nodiscard]] std::uint64_t load(nic::Address address, Where where = Where::here());
  /// The same of a word by which others tell something (a volatile or atomic access).
  [[nodiscard]] std::uint64_t load_flag(nic::Address address, Where where = Where::here());
  void store(nic::Address address, std::uint64_t value, Where where = Where::here());
  /// Locked compare-and-swap; gives the old value.
  std::uint64_t compare_swap(nic::Address address, std::uint64_t expected, std::uint64_t desired,
                             Where where = Where::here());
  /// Loads until the word is another than `old`, and returns it.
  std::uint64_t wait_for_change(nic::Address address, std::uint64_t old, Where where = Where::here());
  void fence(Where where = Where::here());

  /// The core is busy with something of the program's own.
  void compute(sim::Duration time);

  /// ibv_modify_qp, and what is set up while the machine runs. Takes no simulated time, at the instant of the call.
  void modify_qp(nic::QpId qp, nic::QpState to, const nic::QpAttributes& attributes = {});

  /// Calls `f` on the stack of Machine::run()'s caller, in no simulated time: for code that must not run on a fiber.
  /// What it throws comes out here.
  void call_outside(const std::function<void()>& f) { fibers_.call_outside(f); }

 private:
  hosts::Thread& core(Where where = {});

  hosts::Fibers& fibers_;
  nic::NodeId node_;
  std::shared_ptr<TakenEvents> taken_;
};

}  // namespace loco::verbs
