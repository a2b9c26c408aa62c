// Memory windows (IBTA volume 1, 10.6.7): a bind goes into the send queue like any request, and the conductor carries
// it out when it is posted.
#include <cstdlib>

#include "exec/shim/objects.hpp"

namespace loco::shim {

ibv_mw* alloc_mw(ibv_pd* pd, ibv_mw_type type) {
  if (no_conductor()) return nullptr;
  if (type != IBV_MW_TYPE_1 && type != IBV_MW_TYPE_2) return failed(EINVAL);
  const std::int64_t key = call(Request::alloc_window, pd->handle);
  auto* const made = key < 0 ? nullptr : make_object<Mw>();
  if (made == nullptr) return failed(ENOMEM);
  made->mw.context = pd->context;
  made->mw.pd = pd;
  made->mw.type = type;
  made->key = made->mw.rkey = made->mw.handle = static_cast<std::uint32_t>(key);
  ++of(pd)->users;
  return &made->mw;
}

int dealloc_mw(ibv_mw* mw) {
  if (channel() != nullptr) call(Request::deregister_memory, reinterpret_cast<Mw*>(mw)->key);
  --of(mw->pd)->users;
  std::free(mw);
  return 0;
}

bool may_bind(const ibv_qp& qp, const ibv_mw* mw, const ibv_mw_bind_info& bind) {
  constexpr unsigned kKnown = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                              IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND | IBV_ACCESS_ZERO_BASED;
  if ((bind.mw_access_flags & ~kKnown) != 0 || qp.qp_type == IBV_QPT_UD) return false;
  if (mw->type == IBV_MW_TYPE_1 && (bind.mw_access_flags & IBV_ACCESS_ZERO_BASED) != 0) return false;
  if (bind.length == 0) return true;  // this unbinds it
  if (bind.mr == nullptr || bind.mr->pd != qp.pd || mw->pd != qp.pd) return false;
  const Mr& region = *reinterpret_cast<const Mr*>(bind.mr);
  if ((region.access & IBV_ACCESS_MW_BIND) == 0) return false;
  const bool writes = (bind.mw_access_flags & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) != 0;
  if (writes && (region.access & IBV_ACCESS_LOCAL_WRITE) == 0) return false;
  const auto begin = reinterpret_cast<std::uintptr_t>(bind.mr->addr);
  return bind.addr >= begin && bind.length <= bind.mr->length && bind.addr - begin <= bind.mr->length - bind.length;
}

void bind_record(ibv_mw* mw, std::uint32_t new_key, const ibv_mw_bind_info& bind, SendRecord& r, Element& element) {
  constexpr unsigned kRights = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
  Mw& mine = *reinterpret_cast<Mw*>(mw);
  r.remote_key = mine.key;
  r.imm = mine.key = mw->rkey = new_key;
  r.compare_add = bind.mw_access_flags & kRights;
  r.swap = (bind.mw_access_flags & IBV_ACCESS_ZERO_BASED) != 0 ? 1 : 0;
  r.elements = 1;
  element = {bind.addr, static_cast<std::uint32_t>(bind.length), bind.length == 0 ? 0 : bind.mr->lkey};
}

int bind_mw(ibv_qp* qp, ibv_mw* mw, ibv_mw_bind* bind) {
  if (mw->type != IBV_MW_TYPE_1) return EINVAL;
  ibv_send_wr wr{};
  wr.wr_id = bind->wr_id;
  wr.opcode = IBV_WR_BIND_MW;
  wr.send_flags = bind->send_flags;
  wr.bind_mw = {mw, ibv_inc_rkey(mw->rkey), bind->bind_info};
  ibv_send_wr* bad = nullptr;
  return post_send(qp, &wr, &bad);
}

}  // namespace loco::shim
