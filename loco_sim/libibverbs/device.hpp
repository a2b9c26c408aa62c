// An opened device of libibverbs: its port, a protection domain, and the node's completion queue.
//
// Every call that can fail throws std::runtime_error with the call's name, the device and the system's reason.
#pragma once

#include <cstdint>
#include <functional>
#include <infiniband/verbs.h>
#include <memory>
#include <string>

#include "loco_sim/process/process_transport.hpp"

namespace loco::libibverbs {

struct DeviceOptions {
  std::string name = {};  ///< empty: the first one with an active port
  std::uint8_t port = 1;
  int gid_index = -1;  ///< -1: the first RoCE v2 GID with an IPv4 address, otherwise 0; ignored on InfiniBand
};

/// An object of libibverbs with the call that destroys it.
template <typename T, int (*destroy)(T*)>
struct Destroy {
  void operator()(T* object) const { destroy(object); }
};
using Context = std::unique_ptr<ibv_context, Destroy<ibv_context, &ibv_close_device>>;
using ProtectionDomain = std::unique_ptr<ibv_pd, Destroy<ibv_pd, &ibv_dealloc_pd>>;
using CompletionQueue = std::unique_ptr<ibv_cq, Destroy<ibv_cq, &ibv_destroy_cq>>;
using QueuePair = std::unique_ptr<ibv_qp, Destroy<ibv_qp, &ibv_destroy_qp>>;
using MemoryRegion = std::unique_ptr<ibv_mr, Destroy<ibv_mr, &ibv_dereg_mr>>;

/// The address of a queue pair, as the peer needs it.
struct QueuePairAddress {
  std::uint32_t number = 0;
  std::uint32_t first_psn = 0;
  std::uint16_t lid = 0;
  std::uint8_t reads_taken = 0;  ///< READs and atomics that it accepts at once
  std::uint8_t mtu = 0;          ///< ibv_mtu
  ibv_gid gid{};
};

class Device {
 public:
  explicit Device(const DeviceOptions& options);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] ibv_context& context() const { return *context_; }
  [[nodiscard]] ibv_pd& domain() const { return *domain_; }
  [[nodiscard]] const ibv_device_attr& attributes() const { return attributes_; }
  [[nodiscard]] CompletionQueue create_cq(int entries) const;
  /// One end of a reliable connection, in INIT.
  [[nodiscard]] QueuePair create_qp(ibv_cq& cq, std::uint32_t send_entries) const;
  [[nodiscard]] QueuePairAddress address_of(const ibv_qp& qp) const;
  /// Moves it from INIT to RTS.
  void connect(ibv_qp& qp, const QueuePairAddress& peer) const;
  void set_state(ibv_qp& qp, ibv_qp_state state) const;
  [[nodiscard]] MemoryRegion register_memory(void* memory, std::uint64_t size) const;
  [[nodiscard]] std::runtime_error failed(const std::string& call, int error) const;
  /// The time after which a request that is not answered fails: all repetitions.
  [[nodiscard]] static std::int64_t retries_ps();

 private:
  void open(const std::string& wanted, std::uint8_t port);
  [[nodiscard]] int choose_gid() const;

  std::string name_;
  std::uint8_t port_;
  Context context_;
  ibv_device_attr attributes_{};
  ibv_port_attr port_attributes_{};
  int gid_index_ = 0;
  ibv_gid gid_{};
  ProtectionDomain domain_;
};

}  // namespace loco::libibverbs
