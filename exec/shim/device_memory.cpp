// Memory on the NIC (ibv_alloc_dm): the conductor holds it; programs copy to and from it, and register it.
#include <cstdlib>
#include <cstring>

#include "exec/shim/memory.hpp"

namespace loco::shim {

namespace {

Dm* device_memories = nullptr;

/// Copies in portions that fit into the channel.
int copy(Dm& m, std::uint64_t offset, void* host, std::size_t bytes, bool to_device) {
  if (channel() == nullptr) return EIO;
  if (offset % 4 != 0 || bytes % 4 != 0) return EFAULT;  // as mlx5
  if (offset > m.bytes || bytes > m.bytes - offset) return EFAULT;
  open_pages();
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t part = bytes - done < kDataBytes ? bytes - done : kDataBytes;
    if (to_device) std::memcpy(channel()->data, static_cast<char*>(host) + done, part);
    call(Request::copy_device, m.number, offset + done, part, to_device ? 1 : 0);
    if (!to_device) std::memcpy(static_cast<char*>(host) + done, channel()->data, part);
    done += part;
  }
  return 0;
}

Dm* make_dm(ibv_context* context, std::uint32_t number, std::uint64_t bytes) {
  auto* const made = make_object<Dm>();
  if (made == nullptr) return nullptr;
  made->number = number;
  made->bytes = bytes;
  made->dm.context = context;
  made->dm.handle = number;
  made->dm.memcpy_to_dm = [](ibv_dm* dm, std::uint64_t offset, const void* from, std::size_t length) {
    return copy(*reinterpret_cast<Dm*>(dm), offset, const_cast<void*>(from), length, true);
  };
  made->dm.memcpy_from_dm = [](void* to, ibv_dm* dm, std::uint64_t offset, std::size_t length) {
    return copy(*reinterpret_cast<Dm*>(dm), offset, to, length, false);
  };
  made->next = device_memories;
  device_memories = made;
  return made;
}

}  // namespace

ibv_dm* alloc_dm(ibv_context* context, ibv_alloc_dm_attr* wanted) {
  if (no_conductor()) return nullptr;
  if (wanted->comp_mask != 0 || wanted->length == 0) return failed(EINVAL);
  const std::int64_t number = call(Request::alloc_device, wanted->length);
  Dm* const made = number < 0 ? nullptr : make_dm(context, static_cast<std::uint32_t>(number), wanted->length);
  if (made == nullptr) return failed(ENOMEM);
  return &made->dm;
}

int free_dm(ibv_dm* dm) {
  Dm* const mine = reinterpret_cast<Dm*>(dm);
  if (mine->users != 0) return EBUSY;
  take_out(device_memories, mine);
  if (channel() != nullptr && !mine->imported) call(Request::free_device, mine->number);
  std::free(mine);
  return 0;
}

ibv_mr* reg_dm_mr(ibv_pd* pd, ibv_dm* dm, std::uint64_t offset, std::size_t bytes, unsigned access) {
  if (no_conductor()) return nullptr;
  Dm* const mine = reinterpret_cast<Dm*>(dm);
  std::uint32_t rights = 0;
  const bool fits = offset <= mine->bytes && bytes <= mine->bytes - offset && offset % 4 == 0;
  if (!fits || (access & IBV_ACCESS_ZERO_BASED) == 0) return failed(EINVAL);
  if (!rights_of(access, rights)) return nullptr;
  const std::int64_t key = call(Request::register_device, mine->number, offset, bytes, rights,
                                pd->handle | std::uint64_t{nic_of(pd->context)} << kNicBit);
  if (key < 0) return failed(ENOMEM);
  ibv_mr* const made = make_mr(pd, nullptr, bytes, access, static_cast<std::uint32_t>(key));
  if (made == nullptr) return nullptr;
  reinterpret_cast<Mr*>(made)->dm = mine;
  ++mine->users;
  return made;
}

}  // namespace loco::shim

using namespace loco::shim;

LOCO_EXPORT ibv_dm* ibv_import_dm(ibv_context* context, std::uint32_t handle) {
  for (const Dm* memory = device_memories; memory != nullptr; memory = memory->next) {
    if (memory->dm.handle != handle) continue;
    Dm* const made = make_dm(context, memory->number, memory->bytes);
    if (made != nullptr) made->imported = true;
    return made == nullptr ? nullptr : &made->dm;
  }
  return failed(EINVAL);
}
LOCO_EXPORT void ibv_unimport_dm(ibv_dm* dm) {
  take_out(device_memories, reinterpret_cast<Dm*>(dm));
  std::free(dm);
}
