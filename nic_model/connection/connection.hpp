// What requester and responder of a queue pair share: its type, its state in the diagram of IBTA volume 1, 10.3.1, its
// peer and its attributes. They only read it; verbs/queue_pair.hpp changes it as the diagram allows. Private to
// nic_model/.
#pragma once

#include <cstdint>
#include <vector>

#include "nic_model/engine/engine.hpp"
#include "nic_model/verbs.hpp"
#include "sim/prefetch.hpp"
#include "sim/time.hpp"

namespace loco::nic {

/// The attributes (QpAttributes) that are read for each packet. Many queue pairs have the same: they are in a table
/// (Units::settings), and a connection has the number of its own.
struct QpSettings {
  sim::Duration timeout{};
  sim::Duration min_rnr_timer{};
  std::uint16_t max_rd_atomic = 0;
  std::uint16_t max_dest_rd_atomic = 0;
  std::uint16_t path_mtu = 0;  // 0: the network's MTU
  std::uint8_t retry_count = 7;
  std::uint8_t rnr_retry = 7;
  std::uint8_t access = kAllAccess;  // rights of remote requests (verbs qp_access_flags)
  std::uint16_t domain = 0;          // protection domain
  bool xrc = false;                  // its SENDs name the shared receive queue to use, and complete in that queue's CQ

  bool operator==(const QpSettings&) const = default;
};

class alignas(sim::kCacheLine / 2) Connection {
 public:
  Connection(NicId node, const QpConfig& config, std::uint8_t policy)
      : node_(node),
        thread_(config.thread),
        type_(config.type),
        policy_(policy),
        traffic_class_(config.traffic_class),
        ack_class_(config.ack_class == kOwnClass ? config.traffic_class : config.ack_class),
        congestion_(config.congestion),
        port_(config.port) {}

  /// Its NIC.
  [[nodiscard]] NicId node() const { return node_; }
  /// Which of its NIC's ports it is bound to, and its peer of the peer's.
  [[nodiscard]] std::uint8_t port() const { return port_; }
  [[nodiscard]] std::uint8_t peer_port() const { return peer_port_; }
  [[nodiscard]] QpId peer() const { return peer_; }
  [[nodiscard]] NicId peer_node() const { return peer_node_; }
  [[nodiscard]] ThreadId thread() const { return thread_; }  ///< thread of its requests' subevents
  [[nodiscard]] QpType type() const { return type_; }
  [[nodiscard]] std::uint8_t policy() const { return policy_; }
  [[nodiscard]] QpState state() const { return state_; }
  [[nodiscard]] std::uint32_t qkey() const { return qkey_; }
  /// Traffic class of everything it sends; fixed at creation.
  [[nodiscard]] std::uint8_t traffic_class() const { return traffic_class_; }
  /// Traffic class of its answers without payload.
  [[nodiscard]] std::uint8_t ack_class() const { return ack_class_; }
  /// Index of its congestion control among the system's (Kernel::congestion()).
  [[nodiscard]] std::uint8_t congestion() const { return congestion_; }
  /// Their number in Units::settings: qp_settings().
  [[nodiscard]] std::uint32_t settings() const { return settings_; }

  /// True if its send work requests complete as flushed.
  [[nodiscard]] bool flushes_sends() const { return state_ == QpState::error || state_ == QpState::sqe; }
  [[nodiscard]] bool takes_sends() const { return state_ >= QpState::rts; }
  [[nodiscard]] bool takes_requests() const { return state_ >= QpState::rtr && state_ != QpState::error; }

  // for set-up and the state machine
  void set_thread(ThreadId thread) { thread_ = thread; }
  void set_peer(QpId peer, const Connection& of) {
    peer_ = peer;
    peer_node_ = of.node();
    peer_port_ = of.port();
  }
  void set_qkey(std::uint32_t qkey) { qkey_ = qkey; }
  void set_settings(std::uint32_t number) { settings_ = number; }
  void enter(QpState state) { state_ = state; }

  /// Throws sim::BrokenInvariant.
  void check(QpId id, const QpSettings& settings, sim::SimTime now) const;

  bool operator==(const Connection&) const = default;

 private:
  NicId node_;
  QpId peer_ = kNone;
  NicId peer_node_ = NicId::none();
  ThreadId thread_;
  QpType type_;
  std::uint8_t policy_;  // Kernel::policy
  QpState state_ = QpState::reset;
  std::uint8_t traffic_class_ = 0;
  std::uint8_t ack_class_ = 0;
  std::uint8_t congestion_ = 0;
  std::uint8_t port_ = 0;
  std::uint8_t peer_port_ = 0;
  std::uint32_t qkey_ = 0;  // used by UD only
  std::uint32_t settings_ = 0;
};

[[nodiscard]] inline const QpSettings& qp_settings(const Engine& engine, const Connection& qp) {
  return engine.settings[qp.settings()];
}
[[nodiscard]] inline const QpSettings& qp_settings(const Engine& engine, QpId id) {
  return qp_settings(engine, engine.connections[id]);
}
/// Their number in the table, where they are from now on. Queue pairs' settings are of few kinds, or seldom set.
[[nodiscard]] std::uint32_t number_of(std::vector<QpSettings>& all, const QpSettings& settings);
/// The port that it is bound to, on the network, and that of its peer. Precondition of the latter: it has one.
[[nodiscard]] inline PortId port_of(const Engine& engine, const Connection& qp) {
  return engine.kernel.port_of(qp.node(), qp.port());
}
[[nodiscard]] inline PortId peer_port_of(const Engine& engine, const Connection& qp) {
  return engine.kernel.port_of(qp.peer_node(), qp.peer_port());
}

/// The delivery policy of a queue pair.
[[nodiscard]] inline const DeliveryPolicy& policy_of(const Engine& engine, const Connection& qp) {
  return engine.kernel.policy(qp.policy());
}
[[nodiscard]] inline const DeliveryPolicy& policy_of(const Engine& engine, QpId id) {
  return policy_of(engine, engine.connections[id]);
}

/// True if the queue pair and the region of that key are in the same protection domain.
[[nodiscard]] inline bool in_domain(const Engine& engine, const Connection& qp, std::uint32_t key) {
  const MemoryRegion* region = engine.region(key);
  return region == nullptr || region->kind.domain == qp_settings(engine, qp).domain ||
         qp_settings(engine, qp).domain == kAnyDomain;
}

/// True if a remote request may access this range. Both the region and the queue pair must grant the right.
[[nodiscard]] inline bool may_serve(const Engine& engine, const Connection& qp, std::uint32_t key, Address address,
                                    std::uint64_t size, std::uint8_t access) {
  return (qp_settings(engine, qp).access & access) == access && engine.allowed(key, qp.node(), address, size, access);
}

/// True if a message of `total` bytes travels word by word, in any order. A thread that sees one of its words can then
/// change another before that is read, as the models allow. Longer messages are not split, because no search uses them.
[[nodiscard]] inline bool travels_by_words(const Engine& engine, QpType type, std::uint64_t total) {
  constexpr std::uint64_t kMost = 256;
  return engine.kernel.words_travel_alone() && type != QpType::ud && total > 8 && total <= kMost && total % 8 == 0;
}
/// Payload bytes of a packet of this queue pair at most.
[[nodiscard]] inline std::uint64_t mtu_of(const Engine& engine, const Connection& qp) {
  const std::uint16_t path = qp_settings(engine, qp).path_mtu;
  return path == 0 ? engine.mtu(qp.node(), qp.peer_node()) : path;
}
/// Payload bytes at most of a packet of a message of `total` bytes: one word if the message travels word by word.
[[nodiscard]] inline std::uint64_t mtu_of(const Engine& engine, const Connection& qp, std::uint64_t total) {
  return travels_by_words(engine, qp.type(), total) ? 8 : mtu_of(engine, qp);
}
/// True if a packet has a valid length. All packets of a message but the last are full (IBTA volume 1, 9.7.4.1: packet
/// length validation).
[[nodiscard]] inline bool fits_path(const Engine& engine, const Connection& qp, std::uint64_t length, bool last,
                                    std::uint64_t total) {
  const std::uint64_t mtu = mtu_of(engine, qp, total);
  return last ? length <= mtu : length == mtu;
}
/// Number of packets, and of PSNs, that a message of `length` bytes takes; at least one.
[[nodiscard]] inline std::uint32_t packets_of(const Engine& engine, const Connection& qp, std::uint64_t length) {
  const std::uint64_t bytes = mtu_of(engine, qp, length);
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(1, (length + bytes - 1) / bytes));
}

static_assert(sizeof(Connection) == sim::kCacheLine / 2, "there can be millions");

}  // namespace loco::nic
