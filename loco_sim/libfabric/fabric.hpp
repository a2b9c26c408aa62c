// An opened provider of libfabric: reliable datagram endpoints with remote memory access and atomics (fi_rma(3),
// fi_atomic(3)), an address vector, and one completion queue for all endpoints of the node.
//
// Errors: setup_error if the provider is missing or lacks what LOCO needs; std::runtime_error with the name of the call
// and libfabric's reason for everything else.
#pragma once

#include <cstdint>
#include <memory>
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>
#include <stdexcept>
#include <string>
#include <vector>

#include "loco_sim/libfabric/library.hpp"
#include "loco_sim/libfabric/orders.hpp"

namespace loco::libfabric {

template <typename T>
struct Close {
  void operator()(T* object) const { fi_close(&object->fid); }
};
template <typename T>
using Owned = std::unique_ptr<T, Close<T>>;
struct FreeInfo {
  void operator()(fi_info* info) const { library().freeinfo(info); }
};
using Info = std::unique_ptr<fi_info, FreeInfo>;

[[nodiscard]] std::runtime_error failed(const std::string& call, std::int64_t error);

class Fabric {
 public:
  /// `address`: of this node, as in the host list; its endpoints are there.
  Fabric(const std::string& provider, const std::string& address);

  [[nodiscard]] std::string provider() const { return info_->fabric_attr->prov_name; }
  [[nodiscard]] Promises promises() const;
  /// True if a completion can mean that a put is in memory.
  [[nodiscard]] bool can_deliver() const { return can_deliver_; }
  /// True if 64-bit fetch-and-add and compare-and-swap are available and reliable.
  [[nodiscard]] bool has_atomics() const { return has_atomics_; }
  [[nodiscard]] bool addresses_are_virtual() const { return (info_->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0; }
  /// True if the provider accesses memory only during its calls, and not with threads or hardware of its own.
  [[nodiscard]] bool progress_is_manual() const { return info_->domain_attr->data_progress == FI_PROGRESS_MANUAL; }
  /// A file descriptor that is readable when a call of the provider would make progress on an operation of this node,
  /// or of another node on this node's memory. -1: there is none, for example because hardware accesses memory.
  [[nodiscard]] int descriptor() const { return descriptor_; }
  /// To call after a call of the provider: makes the descriptor report news again. Returns false if there are some
  /// already.
  [[nodiscard]] bool rearm() const;
  [[nodiscard]] Owned<fid_ep> create_endpoint();
  [[nodiscard]] static std::vector<char> name_of(fid_ep& endpoint);
  [[nodiscard]] fi_addr_t insert(const std::vector<char>& name) const;
  [[nodiscard]] Owned<fid_mr> register_memory(void* memory, std::uint64_t size, std::uint64_t key) const;
  [[nodiscard]] fid_cq& cq() const { return *cq_; }

 private:
  void open_cq();
  /// Returns false if the provider has no such object to wait for, or does not give its descriptor.
  bool open_cq(fi_wait_obj waited_for);
  [[nodiscard]] Owned<fid_ep> make_endpoint() const;

  Info info_;
  Owned<fid_fabric> fabric_;
  Owned<fid_domain> domain_;
  Owned<fid_av> av_;
  Owned<fid_wait> wait_set_;
  Owned<fid_cq> cq_;
  int descriptor_ = -1;
  Owned<fid_ep> first_;  ///< the one that the provider was queried with; given to the first caller
  bool can_deliver_ = false;
  bool has_atomics_ = false;
};

}  // namespace loco::libfabric
