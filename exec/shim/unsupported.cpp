// Public functions of libibverbs that the simulator does not support. Programs that bind all symbols at start need the
// names.
#include "exec/shim/objects.hpp"

using namespace loco::shim;

// Kernel structures (rdma/ib_user_verbs.h, ib_user_sa.h) for connection managers that talk to the kernel; ours does
// not.
LOCO_EXPORT void ibv_copy_ah_attr_from_kern(void*, void*) { unsupported("ibv_copy_ah_attr_from_kern"); }
LOCO_EXPORT void ibv_copy_qp_attr_from_kern(void*, void*) { unsupported("ibv_copy_qp_attr_from_kern"); }
LOCO_EXPORT void ibv_copy_path_rec_from_kern(void*, void*) { unsupported("ibv_copy_path_rec_from_kern"); }
LOCO_EXPORT void ibv_copy_path_rec_to_kern(void*, void*) { unsupported("ibv_copy_path_rec_to_kern"); }
