// Registering memory: pages that a NIC is to reach become a shared mapping of a memfd, which the conductor maps, too.
//
// What may not be remapped stays as it is, and the conductor goes through the kernel: mappings that are shared already,
// read-only ones, the stacks. Which pages are shared already is asked of the kernel each time (/proc/self/maps): the
// program may have unmapped them since, and got others at the same addresses.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "exec/shim/objects.hpp"

namespace loco::shim {

namespace {

constexpr std::uintptr_t kPage = 4096;
constexpr const char* kName = "loco-sim-mr";

struct Mapping {
  std::uintptr_t from, to;
  bool readable, writable, shared, ours, stack;
};

/// /proc/self/maps as text, without the C library's files, which the program may have replaced.
char* mappings_text() {
  const int file = static_cast<int>(syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC));
  if (file < 0) return nullptr;
  std::size_t room = 1U << 18U;
  std::size_t have = 0;
  auto* text = static_cast<char*>(mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  while (text != MAP_FAILED) {
    const auto got = syscall(SYS_read, file, text + have, room - have - 1);
    if (got <= 0) break;
    have += static_cast<std::size_t>(got);
    if (room - have > 4096) continue;
    text = static_cast<char*>(mremap(text, room, 2 * room, MREMAP_MAYMOVE));
    room *= 2;
  }
  syscall(SYS_close, file);
  return text == MAP_FAILED ? nullptr : text;
}

bool parse(const char* line, Mapping& out) {
  char rights[5] = {};
  unsigned long from = 0;
  unsigned long to = 0;
  if (std::sscanf(line, "%lx-%lx %4s", &from, &to, rights) != 3) return false;
  const char* const end = std::strchr(line, '\n');
  const auto has = [&](const char* name) {
    const char* const at = std::strstr(line, name);
    return at != nullptr && (end == nullptr || at < end);
  };
  out = {from, to, rights[0] == 'r', rights[1] == 'w', rights[3] == 's', has(kName), has("[stack") || has("[v")};
  return true;
}

/// Copies the pages into a memfd and maps it over them. Its descriptor, or -1.
int share(std::uintptr_t from, std::size_t bytes) {
  const int file = static_cast<int>(syscall(SYS_memfd_create, kName, 1U /* MFD_CLOEXEC */));
  if (file < 0) return -1;
  bool copied = ftruncate(file, static_cast<off_t>(bytes)) == 0;
  for (std::size_t done = 0; copied && done < bytes;) {
    const auto wrote = syscall(SYS_write, file, from + done, bytes - done);
    if (wrote > 0) done += static_cast<std::size_t>(wrote);
    copied = wrote > 0;
  }
  if (copied &&
      mmap(reinterpret_cast<void*>(from), bytes, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_SHARED, file, 0) != MAP_FAILED)
    return file;
  syscall(SYS_close, file);
  return -1;
}

bool own_stack(const Mapping& m) {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  return m.stack || (here >= m.from && here < m.to);
}

/// The runs that [from, to) consists of; 0 when a part is not mapped.
std::uint32_t runs_of(std::uintptr_t from, std::uintptr_t to, PageRun* runs) {
  char* const text = mappings_text();
  if (text == nullptr) return 0;
  std::uint32_t count = 0;
  std::uintptr_t at = from;
  for (const char* line = text; line != nullptr && *line != 0 && at < to && count < kRunsMax;) {
    Mapping m{};
    const char* const next_line = std::strchr(line, '\n');
    if (parse(line, m) && m.to > at) {
      if (m.from > at || !m.readable) break;
      const std::uintptr_t end = m.to < to ? m.to : to;
      PageRun& run = runs[count++];
      run = {at, end - at, -1, 0};
      if (m.ours) {
        run.known = 1;
      } else if (!m.shared && m.writable && !own_stack(m)) {
        run.file = share(at, end - at);
        if (run.file >= 0) watch_pages(at, end);
      }
      at = end;
    }
    line = next_line == nullptr ? nullptr : next_line + 1;
  }
  munmap(text, std::strlen(text) + 1);
  return at >= to ? count : 0;
}

ibv_mr* register_memory(ibv_pd* pd, void* address, std::size_t bytes, std::uint64_t iova, unsigned access) {
  if (no_conductor()) return nullptr;
  constexpr unsigned kOptional = IBV_ACCESS_OPTIONAL_RANGE;
  constexpr unsigned kKnown = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                              IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_ZERO_BASED | kOptional;
  const bool remote_writes = (access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) != 0;
  if ((access & (IBV_ACCESS_ON_DEMAND | IBV_ACCESS_MW_BIND | IBV_ACCESS_HUGETLB)) != 0) {
    unsupported("ibv_reg_mr with memory windows, on demand or of huge pages");
    return nullptr;
  }
  if ((access & ~kKnown) != 0 || (remote_writes && (access & IBV_ACCESS_LOCAL_WRITE) == 0)) {
    errno = EINVAL;
    return nullptr;
  }
  open_pages();
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  auto* const runs = reinterpret_cast<PageRun*>(channel()->data);
  const std::uint32_t count =
      bytes == 0 ? 0 : runs_of(begin & ~(kPage - 1), (begin + bytes + kPage - 1) & ~(kPage - 1), runs);
  if (count == 0) {
    errno = bytes == 0 ? EINVAL : EFAULT;
    return nullptr;
  }
  int files[kRunsMax];
  for (std::uint32_t i = 0; i < count; ++i) files[i] = static_cast<int>(runs[i].file);
  std::uint32_t rights = 0;
  if ((access & IBV_ACCESS_LOCAL_WRITE) != 0) rights |= kLocalWriteRight;
  if ((access & IBV_ACCESS_REMOTE_WRITE) != 0) rights |= kRemoteWriteRight;
  if ((access & IBV_ACCESS_REMOTE_READ) != 0) rights |= kRemoteReadRight;
  if ((access & IBV_ACCESS_REMOTE_ATOMIC) != 0) rights |= kRemoteAtomicRight;
  if ((access & IBV_ACCESS_RELAXED_ORDERING) != 0) rights |= kRelaxedRight;
  if ((access & IBV_ACCESS_ZERO_BASED) != 0) iova = 0;
  const std::int64_t key = call(Request::register_memory, begin, bytes, rights, iova - begin, count);
  for (std::uint32_t i = 0; i < count; ++i)
    if (files[i] >= 0) syscall(SYS_close, files[i]);
  if (key < 0) {
    errno = ENOMEM;
    return nullptr;
  }
  auto* const made = make_object<Mr>();
  if (made == nullptr) return nullptr;
  made->mr.context = pd->context;
  made->mr.pd = pd;
  made->mr.addr = address;
  made->mr.length = bytes;
  made->access = access;
  made->mr.lkey = made->mr.rkey = made->mr.handle = static_cast<std::uint32_t>(key);
  return &made->mr;
}

}  // namespace
}  // namespace loco::shim

using namespace loco::shim;

LOCO_EXPORT ibv_pd* ibv_alloc_pd(ibv_context* context) {
  if (no_conductor()) return nullptr;
  auto* const pd = make_object<ibv_pd>();
  if (pd != nullptr) pd->context = context;
  return pd;
}

LOCO_EXPORT int ibv_dealloc_pd(ibv_pd* pd) {
  std::free(pd);
  return 0;
}

LOCO_EXPORT ibv_mr* ibv_reg_mr(ibv_pd* pd, void* address, std::size_t bytes, int access) {
  return register_memory(pd, address, bytes, reinterpret_cast<std::uintptr_t>(address), static_cast<unsigned>(access));
}

LOCO_EXPORT ibv_mr* ibv_reg_mr_iova(ibv_pd* pd, void* address, std::size_t bytes, std::uint64_t iova, int access) {
  return register_memory(pd, address, bytes, iova, static_cast<unsigned>(access));
}

LOCO_EXPORT ibv_mr* ibv_reg_mr_iova2(ibv_pd* pd, void* address, std::size_t bytes, std::uint64_t iova,
                                     unsigned access) {
  return register_memory(pd, address, bytes, iova, access);
}

LOCO_EXPORT int ibv_dereg_mr(ibv_mr* mr) {
  if (channel() != nullptr) call(Request::deregister_memory, mr->lkey);
  std::free(mr);
  return 0;
}

LOCO_EXPORT ibv_mr* ibv_reg_dmabuf_mr(ibv_pd*, std::uint64_t, std::size_t, std::uint64_t, int, int) {
  unsupported("ibv_reg_dmabuf_mr");
  return nullptr;
}

/// A new region in place of the old one; its keys change, as they may.
LOCO_EXPORT int ibv_rereg_mr(ibv_mr* mr, int flags, ibv_pd* pd, void* address, std::size_t bytes, int access) {
  if (channel() == nullptr || (flags & ~IBV_REREG_MR_FLAGS_SUPPORTED) != 0 || flags == 0) {
    errno = EINVAL;
    return IBV_REREG_MR_ERR_INPUT;
  }
  Mr& mine = *reinterpret_cast<Mr*>(mr);
  const bool moves = (flags & IBV_REREG_MR_CHANGE_TRANSLATION) != 0;
  const bool other_rights = (flags & IBV_REREG_MR_CHANGE_ACCESS) != 0;
  const bool other_pd = (flags & IBV_REREG_MR_CHANGE_PD) != 0;
  if ((moves && (address == nullptr || bytes == 0)) || (other_pd && pd == nullptr)) {
    errno = EINVAL;
    return IBV_REREG_MR_ERR_INPUT;
  }
  void* const to = moves ? address : mr->addr;
  ibv_mr* const made =
      register_memory(other_pd ? pd : mr->pd, to, moves ? bytes : mr->length, reinterpret_cast<std::uintptr_t>(to),
                      other_rights ? static_cast<unsigned>(access) : mine.access);
  if (made == nullptr) return IBV_REREG_MR_ERR_INPUT;
  call(Request::deregister_memory, mr->lkey);
  mine = *reinterpret_cast<Mr*>(made);
  std::free(made);
  return 0;
}

// Registered pages are shared mappings, which fork leaves shared.
LOCO_EXPORT int ibv_fork_init() { return 0; }
LOCO_EXPORT ibv_fork_status ibv_is_fork_initialized() { return IBV_FORK_UNNEEDED; }
LOCO_EXPORT int ibv_dontfork_range(void*, std::size_t) { return 0; }
LOCO_EXPORT int ibv_dofork_range(void*, std::size_t) { return 0; }
