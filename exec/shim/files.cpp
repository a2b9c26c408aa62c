// Virtual files: those that do not exist here, or that describe this machine.
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "exec/shim/shim.hpp"

namespace loco::shim {

namespace {

struct VirtualFile {
  const char* path;
  const char* text;
};
constexpr VirtualFile kFiles[] = {
    {"/proc/cpuinfo",
     "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\nmodel name\t: Simulated CPU @ "
     "2.40GHz\n"
     "cpu MHz\t\t: 2400.000\nflags\t\t: fpu tsc constant_tsc nonstop_tsc rdtscp\n\n"},
    {"/sys/class/infiniband/loco0/ports/1/gid_attrs/types/0", "RoCE v2\n"},
    {"/sys/class/infiniband/loco0/ports/1/gid_attrs/ndevs/0", "eth0\n"},
    {"/sys/class/infiniband/loco0/device/numa_node", "0\n"},
    {"/sys/class/infiniband/loco0/device/local_cpus", "1\n"},
    {"/sys/class/infiniband/loco0/device/vendor", "0x15b3\n"},
    {"/sys/class/infiniband/loco0/device/device", "0x1017\n"},
    {"/sys/class/infiniband/loco0/ports/1/pkeys/0", "0xffff\n"},
    {"/proc/net/if_inet6", ""},  // of IPv6 there is none
    {"/proc/meminfo",
     "MemTotal:       16777216 kB\nMemFree:        12582912 kB\nMemAvailable:   12582912 kB\n"
     "Buffers:               0 kB\nCached:                0 kB\nSwapTotal:             0 kB\n"
     "SwapFree:              0 kB\nHugePages_Total:       0\nHugePages_Free:        0\n"
     "Hugepagesize:       2048 kB\n"},
};

/// Files that differ each time: clocks, or activity of the machine.
constexpr const char* kChanging[] = {"/proc/uptime",
                                     "/proc/loadavg",
                                     "/proc/vmstat",
                                     "/proc/interrupts",
                                     "/proc/softirqs",
                                     "/proc/diskstats",
                                     "/proc/schedstat",
                                     "/proc/timer_list",
                                     "/proc/net/dev",
                                     "/proc/pressure/",
                                     "/proc/self/stat",
                                     "/proc/self/io",
                                     "/proc/self/sched",
                                     "/proc/thread-self/",
                                     "/proc/driver/rtc",
                                     "/sys/class/rtc/",
                                     "/sys/class/net/lo/statistics/"};

/// Puts it into the report, and what was read into a recording.
void note_changing(const char* path) {
  bool changing = false;
  for (const char* name : kChanging) {
    const std::size_t length = std::strlen(name);
    changing =
        changing || (name[length - 1] == '/' ? std::strncmp(path, name, length) == 0 : std::strcmp(path, name) == 0);
  }
  if (!changing) return;
  constexpr std::uint64_t kPrime = 0x100000001b3ULL;  // FNV-1a (Fowler, Noll, Vo)
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  const int file = static_cast<int>(system_call(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC));
  char bytes[4096];
  for (long got = 1; file >= 0 && got > 0;) {
    got = system_call(SYS_read, file, bytes, sizeof(bytes));
    for (long i = 0; i < got; ++i) hash = (hash ^ static_cast<unsigned char>(bytes[i])) * kPrime;
  }
  system_call(SYS_close, file);
  char text[512];
  std::snprintf(text, sizeof(text), "reads %s", path);
  not_deterministic(text, hash);
}

/// The processor has worked during all of simulated time, and was idle before.
const char* processor_times() {
  static char text[256];
  const std::int64_t worked = program_time() / (kSecond / 100);
  constexpr long kIdle = 100'000;
  std::snprintf(text, sizeof(text),
                "cpu  %ld 0 0 %ld 0 0 0 0 0 0\ncpu0 %ld 0 0 %ld 0 0 0 0 0 0\nctxt 0\nbtime 1699999000\nprocesses 1\n",
                static_cast<long>(worked), kIdle, static_cast<long>(worked), kIdle);
  return text;
}

/// The virtual file of that path; all NICs share the first one's.
const VirtualFile* find_file(const char* path) {
  constexpr const char* kDevices = "/sys/class/infiniband/loco";
  const std::size_t prefix = std::strlen(kDevices);
  char first[256];
  if (std::strncmp(path, kDevices, prefix) == 0) {
    const char* rest = path + prefix;
    std::uint32_t nic = 0;
    for (; *rest >= '0' && *rest <= '9'; ++rest) nic = nic * 10 + static_cast<std::uint32_t>(*rest - '0');
    if (nic >= channel()->facts.nics) return nullptr;
    std::snprintf(first, sizeof(first), "%s0%s", kDevices, rest);
    path = first;
  }
  for (const VirtualFile& file : kFiles)
    if (std::strcmp(file.path, path) == 0) return &file;
  return nullptr;
}

/// A descriptor that reads a virtual file; -1 if the path is an ordinary one.
int open_virtual(const char* path) {
  if (channel() == nullptr || path == nullptr || path[0] != '/') return -1;
  const bool random = std::strcmp(path, "/dev/urandom") == 0 || std::strcmp(path, "/dev/random") == 0;
  const VirtualFile* found = find_file(path);
  const VirtualFile times{"/proc/stat", nullptr};
  if (std::strcmp(path, times.path) == 0) found = &times;
  if (found == nullptr && !random) {
    note_changing(path);
    return -1;
  }
  const int file = static_cast<int>(system_call(SYS_memfd_create, "loco-sim-file", 0));
  if (file < 0) return -1;
  if (random) {
    char bytes[4096];
    fill_random(bytes, sizeof(bytes));
    system_call(SYS_write, file, bytes, sizeof(bytes));
  } else {
    const char* const text = found->text == nullptr ? processor_times() : found->text;
    system_call(SYS_write, file, text, std::strlen(text));
  }
  system_call(SYS_lseek, file, 0, SEEK_SET);
  return file;
}

bool device_node(const char* path) {
  return channel() != nullptr && path != nullptr && std::strncmp(path, "/dev/infiniband/", 16) == 0;
}

bool device_folder(const char* path) {
  unsigned nic = 0;
  char more = 0;
  return std::sscanf(path, "/sys/class/infiniband/loco%u%c", &nic, &more) == 1 && nic < channel()->facts.nics;
}

bool there(const char* path) {
  if (channel() == nullptr || path == nullptr) return false;
  if (device_node(path)) return true;
  return find_file(path) != nullptr || device_folder(path);
}

void describe(const char* path, struct stat& s) {
  s = {};
  s.st_mode = device_node(path) ? S_IFCHR | 0666 : S_IFREG | 0444;
  if (device_folder(path)) s.st_mode = S_IFDIR | 0555;
  s.st_rdev = 231U << 8U | 192U;
  s.st_nlink = 1;
}

}  // namespace
}  // namespace loco::shim

using namespace loco::shim;

LOCO_EXPORT int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  LOCO_NEXT(open);
  const int file = open_virtual(path);
  return file >= 0 ? file : next_open(path, flags, mode);
}

// On 64 bits the functions of these names are the same.
LOCO_EXPORT int open64(const char* path, int flags, ...) __attribute__((alias("open")));

LOCO_EXPORT int openat(int folder, const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  LOCO_NEXT(openat);
  const int file = open_virtual(path);
  return file >= 0 ? file : next_openat(folder, path, flags, mode);
}

LOCO_EXPORT int openat64(int folder, const char* path, int flags, ...) __attribute__((alias("openat")));

LOCO_EXPORT int __open_2(const char* path, int flags) { return open(path, flags); }
LOCO_EXPORT int __open64_2(const char* path, int flags) { return open(path, flags); }

LOCO_EXPORT FILE* fopen(const char* __restrict path, const char* __restrict mode) {
  LOCO_NEXT(fopen);
  const int file = open_virtual(path);
  return file >= 0 ? fdopen(file, "r") : next_fopen(path, mode);
}

LOCO_EXPORT FILE* fopen64(const char* __restrict path, const char* __restrict mode) { return fopen(path, mode); }

LOCO_EXPORT int access(const char* path, int mode) noexcept {
  LOCO_NEXT(access);
  return there(path) ? 0 : next_access(path, mode);
}

LOCO_EXPORT int stat(const char* __restrict path, struct stat* __restrict out) noexcept {
  LOCO_NEXT(stat);
  if (!there(path)) return next_stat(path, out);
  describe(path, *out);
  return 0;
}

LOCO_EXPORT int stat64(const char* __restrict path, struct stat64* __restrict out) noexcept {
  return stat(path, reinterpret_cast<struct stat*>(out));  // the same on 64 bits
}

// Programs that behave otherwise when nobody has started them by hand (UCX's perftest calls MPI_Init then).
LOCO_EXPORT int isatty(int file) noexcept {
  LOCO_NEXT(isatty);
  if (file == 0 && channel() != nullptr && channel()->facts.terminal != 0) return 1;
  return next_isatty(file);
}
