// The calls of a verbs program: a core of a simulated host (hosts/thread.hpp) with the names of libibverbs. Each call
// is a step of its own.
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

/// The program did something that verbs refuse: a full queue, or a request that the queue pair does not support.
class VerbsError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The line of the program where a call is made, for reports of races.
struct Where {
  const char* file = "";
  std::uint32_t line = 0;
  static constexpr Where here(const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE()) {
    return {file, line};
  }
};

/// ibv_async_event: what no completion can report.
struct AsyncEvent {
  enum class Type : std::uint8_t {
    cq_err,    ///< IBV_EVENT_CQ_ERR: a completion queue has overrun and accepts no more
    qp_fatal,  ///< IBV_EVENT_QP_FATAL: a queue pair has failed because one of its completions was lost
  };
  Type type = Type::cq_err;
  std::uint32_t element = 0;  ///< the completion queue, or the queue pair
  auto operator<=>(const AsyncEvent&) const = default;
};
[[nodiscard]] std::string_view name(AsyncEvent::Type type);
/// The events that the threads of a host have taken.
using TakenEvents = std::set<AsyncEvent>;

/// A core of a simulated host, for the program that runs on it. To be called only from that program.
class Thread {
 public:
  Thread(hosts::Fibers& fibers, nic::NodeId node, std::shared_ptr<TakenEvents> taken)
      : fibers_(fibers), node_(node), taken_(std::move(taken)) {}

  [[nodiscard]] nic::NodeId node() const { return node_; }
  [[nodiscard]] sim::SimTime now() const;

  /// ibv_post_send with one request: builds it and rings the doorbell. Throws VerbsError if the send queue is full or
  /// the queue pair does not support the request.
  void post_send(nic::QpId qp, const nic::Wqe& request, Where where = Where::here());
  /// The same for a list of requests with one doorbell. All or none are posted.
  void post_sends(nic::QpId qp, std::span<const nic::Wqe> requests, Where where = Where::here());
  /// ibv_post_recv, ibv_post_srq_recv. Throw VerbsError if the receive queue is full, or not the queue pair's own.
  void post_recv(nic::QpId qp, const nic::RecvWqe& request, Where where = Where::here());
  void post_recvs(nic::QpId qp, std::span<const nic::RecvWqe> requests, Where where = Where::here());
  void post_srq_recv(nic::SrqId srq, const nic::RecvWqe& request, Where where = Where::here());
  void post_srq_recvs(nic::SrqId srq, std::span<const nic::RecvWqe> requests, Where where = Where::here());
  /// IBV_EVENT_SRQ_LIMIT_REACHED: true if the queue has fallen below its limit (System::set_srq_limit). Consumes the
  /// event.
  [[nodiscard]] bool srq_limit_reached(nic::SrqId srq);
  /// ibv_get_async_event of a device with a non-blocking file: the next event of this host that none of its threads has
  /// taken, completion queues first.
  [[nodiscard]] std::optional<AsyncEvent> get_async_event();
  /// ibv_poll_cq for one completion.
  [[nodiscard]] std::optional<nic::Cqe> poll_cq(nic::CqId cq, Where where = Where::here());
  /// Polls until there is a completion. The caller must check its status.
  [[nodiscard]] nic::Cqe wait_cq(nic::CqId cq, Where where = Where::here());

  /// Aligned 8-byte words of the host's memory, x86-TSO.
  [[nodiscard]] std::uint64_t load(nic::Address address, Where where = Where::here());
  /// The same for a word that others signal with (a volatile or atomic access).
  [[nodiscard]] std::uint64_t load_flag(nic::Address address, Where where = Where::here());
  void store(nic::Address address, std::uint64_t value, Where where = Where::here());
  /// Locked compare-and-swap. Returns the old value.
  std::uint64_t compare_swap(nic::Address address, std::uint64_t expected, std::uint64_t desired,
                             Where where = Where::here());
  /// Loads until the word differs from `old`, and returns it.
  std::uint64_t wait_for_change(nic::Address address, std::uint64_t old, Where where = Where::here());
  void fence(Where where = Where::here());

  /// The core is busy with the program's own computation.
  void compute(sim::Duration time);

  /// ibv_modify_qp, and other set-up during the run. Takes no simulated time; takes effect at the time of the call.
  void modify_qp(nic::QpId qp, nic::QpState to, const nic::QpAttributes& attributes = {});

  /// Calls `f` on the stack of Machine::run()'s caller, in no simulated time, for code that must not run on a fiber.
  /// Throws what `f` throws.
  void call_outside(const std::function<void()>& f) { fibers_.call_outside(f); }

 private:
  hosts::Thread& core(Where where = {});

  hosts::Fibers& fibers_;
  nic::NodeId node_;
  std::shared_ptr<TakenEvents> taken_;
};

}  // namespace loco::verbs
