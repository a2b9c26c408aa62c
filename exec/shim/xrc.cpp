// Extended reliable connections (IBTA volume 1, annex A14): domains, target queue pairs, numbers of receive queues.
//
// A SEND names its shared receive queue. All objects belong to one process.
#include <cstdlib>

#include "exec/shim/objects.hpp"

namespace loco::shim {

ibv_xrcd* open_xrcd(ibv_context* context, ibv_xrcd_init_attr* wanted) {
  if (no_conductor()) return nullptr;
  constexpr std::uint32_t kNeeded = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
  if (wanted->comp_mask != kNeeded) return failed(EINVAL);
  auto* const domain = make_object<ibv_xrcd>();
  if (domain != nullptr) domain->context = context;
  return domain;
}

int close_xrcd(ibv_xrcd* domain) {
  std::free(domain);
  return 0;
}

ibv_qp* open_qp(ibv_context*, ibv_qp_open_attr* wanted) {
  Qp* const qp = qp_numbered(wanted->qp_num - kFirstQpn);
  if (qp == nullptr || qp->qp.qp_base.qp_type != IBV_QPT_XRC_RECV) return failed(EINVAL);
  ++qp->opened;
  return &qp->qp.qp_base;
}

int get_srq_num(ibv_srq* srq, std::uint32_t* number) {
  if (of(srq)->cq == nullptr) return EINVAL;
  *number = of(srq)->number;
  return 0;
}

}  // namespace loco::shim
