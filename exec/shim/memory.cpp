// Registering memory: pages for a NIC become a shared mapping of a memfd, which the conductor maps, too.
//
// Pages that may not be remapped stay as they are, and the conductor accesses them through the kernel: shared mappings,
// read-only ones, the stacks. Which pages are shared already is asked of the kernel each time (/proc/self/maps),
// because the program may have unmapped them and got others at the same addresses.
#include "exec/shim/memory.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace loco::shim {

namespace {

constexpr std::uintptr_t kPage = 4096;
constexpr const char* kName = "loco-sim-mr";

struct Mapping {
  std::uintptr_t from, to;
  bool readable, writable, shared, ours, stack;
};

/// /proc/self/maps as text, read without the C library's file functions, which the program may have replaced.
char* mappings_text() {
  const int file = static_cast<int>(system_call(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC));
  if (file < 0) return nullptr;
  std::size_t room = 1U << 18U;
  std::size_t have = 0;
  auto* text = static_cast<char*>(mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  while (text != MAP_FAILED) {
    const auto got = system_call(SYS_read, file, text + have, room - have - 1);
    if (got <= 0) break;
    have += static_cast<std::size_t>(got);
    if (room - have > 4096) continue;
    text = static_cast<char*>(mremap(text, room, 2 * room, MREMAP_MAYMOVE));
    room *= 2;
  }
  system_call(SYS_close, file);
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

/// Copies the pages into a memfd and maps it over them. Returns its descriptor, or -1.
int share(std::uintptr_t from, std::size_t bytes) {
  const int file = static_cast<int>(system_call(SYS_memfd_create, kName, 1U /* MFD_CLOEXEC */));
  if (file < 0) return -1;
  bool copied = ftruncate(file, static_cast<off_t>(bytes)) == 0;
  for (std::size_t done = 0; copied && done < bytes;) {
    const auto wrote = system_call(SYS_write, file, from + done, bytes - done);
    if (wrote > 0) done += static_cast<std::size_t>(wrote);
    copied = wrote > 0;
  }
  if (copied &&
      mmap(reinterpret_cast<void*>(from), bytes, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_SHARED, file, 0) != MAP_FAILED)
    return file;
  system_call(SYS_close, file);
  return -1;
}

bool own_stack(const Mapping& m) {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  return m.stack || (here >= m.from && here < m.to);
}

/// Finds the runs that make up [from, to). Returns 0 if a part is not mapped.
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

Mr* regions = nullptr;

constexpr unsigned kRights =
    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

}  // namespace

bool is_registered(std::uintptr_t address, std::size_t bytes) {
  for (const Mr* r = regions; r != nullptr; r = r->next) {
    const auto from = reinterpret_cast<std::uintptr_t>(r->mr.addr);
    if (r->dm == nullptr && address < from + r->mr.length && address + bytes > from) return true;
  }
  return false;
}

/// Translates rights to the protocol's. Returns false, with errno, if a region may not have them.
bool rights_of(unsigned access, std::uint32_t& rights) {
  constexpr unsigned kKnown =
      kRights | IBV_ACCESS_ZERO_BASED | IBV_ACCESS_ON_DEMAND | IBV_ACCESS_OPTIONAL_RANGE | IBV_ACCESS_MW_BIND;
  if ((access & IBV_ACCESS_HUGETLB) != 0) {
    unsupported("ibv_reg_mr of huge pages");
    return false;
  }
  const bool remote_writes = (access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) != 0;
  if ((access & ~kKnown) != 0 || (remote_writes && (access & IBV_ACCESS_LOCAL_WRITE) == 0)) {
    errno = EINVAL;
    return false;
  }
  static_assert(kLocalWriteRight == IBV_ACCESS_LOCAL_WRITE && kRemoteAtomicRight == IBV_ACCESS_REMOTE_ATOMIC &&
                kRemoteWriteRight == IBV_ACCESS_REMOTE_WRITE && kRemoteReadRight == IBV_ACCESS_REMOTE_READ);
  rights = access & kRights;
  if ((access & IBV_ACCESS_RELAXED_ORDERING) != 0) rights |= kRelaxedRight;
  return true;
}

ibv_mr* make_mr(ibv_pd* pd, void* address, std::size_t bytes, unsigned access, std::uint32_t key) {
  auto* const made = make_object<Mr>();
  if (made == nullptr) return nullptr;
  made->mr.context = pd->context;
  made->mr.pd = pd;
  made->mr.addr = address;
  made->mr.length = bytes;
  made->access = access;
  made->mr.lkey = made->mr.rkey = made->mr.handle = key;
  made->next = regions;
  regions = made;
  ++of(pd)->users;
  return &made->mr;
}

namespace {

/// Shares the pages of [address, address + bytes) and reports them with the request that `ask` makes of their number.
/// Returns -1, with errno, if some are missing.
template <typename Ask>
std::int64_t with_pages(void* address, std::size_t bytes, Ask ask) {
  open_pages();
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  auto* const runs = reinterpret_cast<PageRun*>(channel()->data);
  const std::uint32_t count =
      bytes == 0 ? 0 : runs_of(begin & ~(kPage - 1), (begin + bytes + kPage - 1) & ~(kPage - 1), runs);
  if (count == 0) return failed(bytes == 0 ? EINVAL : EFAULT);
  static int files[kRunsMax];
  for (std::uint32_t i = 0; i < count; ++i) files[i] = static_cast<int>(runs[i].file);
  const std::int64_t reply = ask(count);
  for (std::uint32_t i = 0; i < count; ++i)
    if (files[i] >= 0) system_call(SYS_close, files[i]);
  if (reply < 0) errno = ENOMEM;
  return reply;
}

ibv_mr* register_memory(ibv_pd* pd, void* address, std::size_t bytes, std::uint64_t iova, unsigned access) {
  if (no_conductor()) return nullptr;
  std::uint32_t rights = 0;
  if (!rights_of(access, rights)) return nullptr;
  if ((access & IBV_ACCESS_ON_DEMAND) != 0) {
    if (address == nullptr && bytes == SIZE_MAX) return unsupported("ibv_reg_mr of all memory, on demand");
    approximated("regions on demand have their pages from the start: no page faults");
  }
  if ((access & IBV_ACCESS_ZERO_BASED) != 0) iova = 0;
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  const std::int64_t key = with_pages(address, bytes, [&](std::uint32_t count) {
    return call(Request::register_memory, begin, bytes, rights, iova - begin, count, pd->handle);
  });
  return key < 0 ? nullptr : make_mr(pd, address, bytes, access, static_cast<std::uint32_t>(key));
}

}  // namespace

/// All pages are present, so nothing has to be prefetched.
int advise_mr(ibv_pd*, ibv_advise_mr_advice advice, std::uint32_t flags, ibv_sge* list, std::uint32_t count) {
  const bool known = advice == IBV_ADVISE_MR_ADVICE_PREFETCH || advice == IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE ||
                     advice == IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT;
  if (!known || (flags & ~static_cast<std::uint32_t>(IBV_ADVISE_MR_FLAG_FLUSH)) != 0 || count == 0) return EINVAL;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Mr* region = regions;
    while (region != nullptr && region->mr.lkey != list[i].lkey) region = region->next;
    if (region == nullptr || (region->access & IBV_ACCESS_ON_DEMAND) == 0) return EINVAL;
  }
  return 0;
}

bool take_memory(ibv_pd* pd, std::size_t entries, QueueMemory& out) {
  constexpr std::size_t kEntryBytes = 64;
  constexpr std::size_t kAlignment = 4096;
  Pd* const mine = pd == nullptr ? nullptr : of(pd);
  if (mine == nullptr || mine->alloc == nullptr) return true;
  const std::size_t bytes = (entries * kEntryBytes + kAlignment - 1) / kAlignment * kAlignment;
  void* const memory = mine->alloc(pd, mine->allocator, bytes, kAlignment, 0);
  if (memory == nullptr) {
    errno = ENOMEM;
    return false;
  }
  if (memory != IBV_ALLOCATOR_USE_DEFAULT) out = {mine, memory};
  return true;
}

void give_back(QueueMemory& memory) {
  if (memory.memory != nullptr) memory.pd->free(&memory.pd->pd, memory.pd->allocator, memory.memory, 0);
  memory = {};
}

}  // namespace loco::shim

using namespace loco::shim;

LOCO_EXPORT ibv_pd* ibv_alloc_pd(ibv_context* context) {
  if (no_conductor()) return nullptr;
  static std::uint32_t handles = 0;
  auto* const pd = make_object<Pd>();
  if (pd == nullptr) return nullptr;
  pd->pd.context = context;
  pd->pd.handle = handles++;
  return &pd->pd;
}

LOCO_EXPORT int ibv_dealloc_pd(ibv_pd* pd) {
  Pd* const mine = of(pd);
  if (mine->users != 0) return EBUSY;
  if (mine->inner != nullptr) --mine->inner->users;
  std::free(mine);
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
  Mr* const mine = reinterpret_cast<Mr*>(mr);
  take_out(regions, mine);
  if (mr->pd != nullptr) --of(mr->pd)->users;
  if (mine->dm != nullptr) --mine->dm->users;
  if (channel() != nullptr && !mine->imported) call(Request::deregister_memory, mr->lkey);
  std::free(mr);
  return 0;
}

LOCO_EXPORT ibv_mr* ibv_reg_dmabuf_mr(ibv_pd*, std::uint64_t, std::size_t, std::uint64_t, int, int) {
  return unsupported("ibv_reg_dmabuf_mr");
}

/// The keys stay the same.
LOCO_EXPORT int ibv_rereg_mr(ibv_mr* mr, int flags, ibv_pd* pd, void* address, std::size_t bytes, int access) {
  const auto refuse = [](int error) {
    errno = error;
    return IBV_REREG_MR_ERR_INPUT;
  };
  Mr& mine = *reinterpret_cast<Mr*>(mr);
  if (channel() == nullptr || (flags & ~IBV_REREG_MR_FLAGS_SUPPORTED) != 0 || flags == 0) return refuse(EINVAL);
  const bool moves = (flags & IBV_REREG_MR_CHANGE_TRANSLATION) != 0;
  const bool other_rights = (flags & IBV_REREG_MR_CHANGE_ACCESS) != 0;
  const bool other_pd = (flags & IBV_REREG_MR_CHANGE_PD) != 0;
  if ((moves && (address == nullptr || bytes == 0)) || (other_pd && pd == nullptr) || mine.dm != nullptr)
    return refuse(EINVAL);
  void* const to = moves ? address : mr->addr;
  const std::size_t length = moves ? bytes : mr->length;
  const unsigned allowed = other_rights ? static_cast<unsigned>(access) : mine.access;
  std::uint32_t rights = 0;
  if (!rights_of(allowed, rights)) return IBV_REREG_MR_ERR_INPUT;
  const std::int64_t error = with_pages(to, length, [&](std::uint32_t count) {
    return call(Request::change_memory, mr->lkey, reinterpret_cast<std::uintptr_t>(to), length, rights, count,
                other_pd ? pd->handle : mr->pd->handle);
  });
  if (error != 0) return error < 0 ? IBV_REREG_MR_ERR_INPUT : refuse(static_cast<int>(error));
  mr->addr = to;
  mr->length = length;
  mine.access = allowed;
  if (other_pd) {
    --of(mr->pd)->users;
    ++of(pd)->users;
    mr->pd = pd;
  }
  return 0;
}

// --- importing: objects of this process by their handles
// ---------------------------------------------------------------

LOCO_EXPORT ibv_pd* ibv_import_pd(ibv_context* context, std::uint32_t handle) {
  ibv_pd* const pd = ibv_alloc_pd(context);
  if (pd != nullptr) pd->handle = handle;
  return pd;
}
LOCO_EXPORT void ibv_unimport_pd(ibv_pd* pd) { std::free(pd); }

LOCO_EXPORT ibv_mr* ibv_import_mr(ibv_pd* pd, std::uint32_t handle) {
  for (const Mr* region = regions; region != nullptr; region = region->next) {
    if (region->mr.handle != handle) continue;
    ibv_mr* const made = make_mr(pd, nullptr, region->mr.length, region->access, region->mr.lkey);
    if (made != nullptr) reinterpret_cast<Mr*>(made)->imported = true;
    return made;
  }
  return failed(EINVAL);
}
LOCO_EXPORT void ibv_unimport_mr(ibv_mr* mr) {
  take_out(regions, reinterpret_cast<Mr*>(mr));
  --of(mr->pd)->users;
  std::free(mr);
}

// Registered pages are shared mappings, which fork keeps shared.
LOCO_EXPORT int ibv_fork_init() { return 0; }
LOCO_EXPORT ibv_fork_status ibv_is_fork_initialized() { return IBV_FORK_UNNEEDED; }
LOCO_EXPORT int ibv_dontfork_range(void*, std::size_t) { return 0; }
LOCO_EXPORT int ibv_dofork_range(void*, std::size_t) { return 0; }
