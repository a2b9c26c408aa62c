#include "sim/host_memory.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace loco::sim {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kUnknown = std::uint64_t{1} << 62U;

/// The number in a file; nothing if the file does not exist or contains "max".
std::optional<std::uint64_t> number_in(const fs::path& file) {
  std::ifstream in(file);
  std::uint64_t value = 0;
  if (in >> value) return value;
  return std::nullopt;
}

std::uint64_t available() {
  std::ifstream in("/proc/meminfo");
  for (std::string word; in >> word;) {
    constexpr std::uint64_t kKibi = 1024;
    if (std::uint64_t kib = 0; word == "MemAvailable:" && in >> kib) return kib * kKibi;
  }
  return kUnknown;
}

/// What a control group of version 1 or 2 has left; its page cache counts as used.
std::uint64_t left_in(const fs::path& group) {
  auto most = number_in(group / "memory.max");
  auto taken = number_in(group / "memory.current");
  if (!most) {
    most = number_in(group / "memory.limit_in_bytes");
    taken = number_in(group / "memory.usage_in_bytes");
  }
  if (!most) return kUnknown;
  return *most - std::min(*most, taken.value_or(0));
}

/// The minimum over all groups of the process, listed one per line as `number:controllers:path`.
std::uint64_t left_in_groups() {
  std::uint64_t least = kUnknown;
  std::ifstream in("/proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (!controllers.empty() && controllers.find("memory") == std::string::npos) continue;
    const fs::path root = controllers.empty() ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    fs::path below = fs::path(line.substr(second + 1)).relative_path();
    for (; !below.empty(); below = below.parent_path()) least = std::min(least, left_in(root / below));
    least = std::min(least, left_in(root));
  }
  return least;
}

}  // namespace

std::uint64_t free_memory() { return std::min(available(), left_in_groups()); }

std::uint64_t used_memory() {
  std::ifstream in("/proc/self/statm");
  std::uint64_t size = 0;
  std::uint64_t resident = 0;
  if (!(in >> size >> resident)) return 0;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

void take_free_memory_only() {
  // Stacks of simulated threads are reserved but hardly used, so they fit on a machine with little memory.
  constexpr std::uint64_t kReserved = std::uint64_t{4} << 30U;
  std::ifstream in("/proc/self/statm");
  std::uint64_t skipped = 0;
  for (int field = 0; field < 5; ++field) in >> skipped;
  std::uint64_t data = 0;  // in pages, as counted by RLIMIT_DATA
  rlimit limit{};
  const std::uint64_t free = free_memory();
  if (!(in >> data) || free >= kUnknown || getrlimit(RLIMIT_DATA, &limit) != 0) return;
  const std::uint64_t most =
      data * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) + std::max(free - free / 16, kReserved);
  if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur <= most) return;
  limit.rlim_cur = most;
  setrlimit(RLIMIT_DATA, &limit);
}

namespace {
constexpr std::uintptr_t kLargePage = std::uintptr_t{2} << 20U;
constexpr int kCollapse = 25;  // MADV_COLLAPSE of madvise(2), missing from older headers

/// The end of the heap of the C library's first arena.
std::uintptr_t heap_end() { return reinterpret_cast<std::uintptr_t>(sbrk(0)); }
}  // namespace

HeapInLargePages::HeapInLargePages() : done_((heap_end() + kLargePage - 1) / kLargePage * kLargePage) {}

void HeapInLargePages::follow() {
  const std::uintptr_t end = heap_end();
  if (!possible_ || end < done_ + kStep) return;
  const std::uintptr_t size = (end - done_) / kLargePage * kLargePage;
  possible_ = madvise(reinterpret_cast<void*>(done_), size, kCollapse) == 0;  // NOLINT(performance-no-int-to-ptr)
  done_ += size;
}

}  // namespace loco::sim
