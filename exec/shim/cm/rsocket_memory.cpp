// The calls of rdma/rsocket.h for memory that the peer writes to: riomap, riounmap, riowrite.
#include <cerrno>
#include <cstdlib>
#include <rdma/rsocket.h>
#include <sys/mman.h>

#include "exec/shim/cm/rsocket.hpp"

using namespace loco::cm;

namespace {

int tell_mapping(RSocket& s, const Control& control) {
  if (!wait_until(s, [&s] { return s.peer_receives > 1 && s.requests + 1 < s.options.send_entries; }))
    return failed(ECONNRESET);
  return tell(s, control) ? 0 : failed(ECONNRESET);
}

}  // namespace

LOCO_EXPORT off_t riomap(int file, void* memory, std::size_t bytes, int protection, int, off_t offset) {
  RSocket* const s = connected_rsocket(file);
  if (s == nullptr) return -1;
  const unsigned rights = (protection & PROT_WRITE) != 0 ? IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE : 0U;
  ibv_mr* const region = ibv_reg_mr(s->id->pd, memory, bytes, rights);
  if (region == nullptr) return -1;
  const std::uint64_t at = offset >= 0 ? static_cast<std::uint64_t>(offset) : region->rkey;
  auto* const made = make_object<Mapping>();
  if (made == nullptr) return failed(ENOMEM);
  *made = {at, reinterpret_cast<std::uint64_t>(memory), bytes, region->rkey, region, s->mine};
  s->mine = made;
  Control control{};
  control.what = Tells::map;
  control.key = region->rkey;
  control.offset = at;
  control.address = made->address;
  control.extent = bytes;
  return tell_mapping(*s, control) == 0 ? static_cast<off_t>(at) : -1;
}

LOCO_EXPORT int riounmap(int file, void* memory, std::size_t) {
  RSocket* const s = connected_rsocket(file);
  if (s == nullptr) return -1;
  for (Mapping** at = &s->mine; *at != nullptr; at = &(*at)->next) {
    if ((*at)->address != reinterpret_cast<std::uint64_t>(memory)) continue;
    Mapping* const gone = *at;
    Control control{};
    control.what = Tells::unmap;
    control.offset = gone->offset;
    if (!s->peer_ended) tell_mapping(*s, control);
    *at = gone->next;
    ibv_dereg_mr(gone->region);
    std::free(gone);
    return 0;
  }
  return failed(EINVAL);
}

LOCO_EXPORT std::size_t riowrite(int file, const void* data, std::size_t bytes, off_t offset, int flags) {
  RSocket* const s = connected_rsocket(file);
  if (s == nullptr) return static_cast<std::size_t>(-1);
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t part = write_mapped(*s, static_cast<const char*>(data) + done, bytes - done,
                                      static_cast<std::uint64_t>(offset) + done);
    if (part < 0 || s->broken) return done != 0 ? done : static_cast<std::size_t>(-1);
    if (part == 0) progress(*s);
    if (part == 0 && !blocks(*s, flags)) break;
    done += static_cast<std::size_t>(part);
  }
  if (done == 0 && bytes != 0) return static_cast<std::size_t>(failed(EAGAIN));
  return done;
}
