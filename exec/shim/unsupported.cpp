// Public names of libibverbs that the simulator has nothing for. Programs that bind all names at their start need them.
#include "exec/shim/objects.hpp"

using namespace loco::shim;

namespace {

void* none(const char* what) {
  unsupported(what);
  return nullptr;
}

}  // namespace

LOCO_EXPORT int ibv_attach_mcast(ibv_qp*, const ibv_gid*, std::uint16_t) { return unsupported("ibv_attach_mcast"); }
LOCO_EXPORT int ibv_detach_mcast(ibv_qp*, const ibv_gid*, std::uint16_t) { return unsupported("ibv_detach_mcast"); }
LOCO_EXPORT ibv_context* ibv_import_device(int) { return static_cast<ibv_context*>(none("ibv_import_device")); }
LOCO_EXPORT ibv_pd* ibv_import_pd(ibv_context*, std::uint32_t) { return static_cast<ibv_pd*>(none("ibv_import_pd")); }
LOCO_EXPORT void ibv_unimport_pd(ibv_pd*) { unsupported("ibv_unimport_pd"); }
LOCO_EXPORT ibv_mr* ibv_import_mr(ibv_pd*, std::uint32_t) { return static_cast<ibv_mr*>(none("ibv_import_mr")); }
LOCO_EXPORT void ibv_unimport_mr(ibv_mr*) { unsupported("ibv_unimport_mr"); }
LOCO_EXPORT ibv_dm* ibv_import_dm(ibv_context*, std::uint32_t) { return static_cast<ibv_dm*>(none("ibv_import_dm")); }
LOCO_EXPORT void ibv_unimport_dm(ibv_dm*) { unsupported("ibv_unimport_dm"); }

// The kernel's structures (rdma/ib_user_verbs.h, ib_user_sa.h), for connection managers that talk to the kernel: ours
// does not.
LOCO_EXPORT void ibv_copy_ah_attr_from_kern(void*, void*) { unsupported("ibv_copy_ah_attr_from_kern"); }
LOCO_EXPORT void ibv_copy_qp_attr_from_kern(void*, void*) { unsupported("ibv_copy_qp_attr_from_kern"); }
LOCO_EXPORT void ibv_copy_path_rec_from_kern(void*, void*) { unsupported("ibv_copy_path_rec_from_kern"); }
LOCO_EXPORT void ibv_copy_path_rec_to_kern(void*, void*) { unsupported("ibv_copy_path_rec_to_kern"); }
