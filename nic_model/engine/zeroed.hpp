// Bytes that are zero when allocated and take memory of the simulating machine only once written.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#include <sys/mman.h>
#include <utility>
#include <vector>

namespace loco::nic {

/// Allocates pages that are the kernel's zero page until written. From kMapped bytes on they are asked for directly:
/// calloc() would write the zeros of what the heap has used before, a message's whole length for each host. Growing
/// constructs no elements.
template <class T>
struct ZeroedAllocator {
  using value_type = T;
  static constexpr std::size_t kMapped = std::size_t{64} << 10U;  // bytes

  ZeroedAllocator() = default;
  template <class U>
  explicit ZeroedAllocator(const ZeroedAllocator<U>& /*other*/) {}

  [[nodiscard]] T* allocate(std::size_t count) {
    if (count >= kMapped / sizeof(T)) {
      void* const memory = ::mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (memory == MAP_FAILED) throw std::bad_alloc();
      return static_cast<T*>(memory);
    }
    if (void* const memory = std::calloc(count, sizeof(T)); memory != nullptr) return static_cast<T*>(memory);
    throw std::bad_alloc();
  }
  void deallocate(T* memory, std::size_t count) {
    if (count >= kMapped / sizeof(T))
      ::munmap(memory, count * sizeof(T));
    else
      std::free(memory);
  }

  template <class U>
  void construct(U* /*place*/) {}
  template <class U, class... Args>
  void construct(U* place, Args&&... args) {
    ::new (static_cast<void*>(place)) U(std::forward<Args>(args)...);
  }
  bool operator==(const ZeroedAllocator&) const = default;
};

/// After resize(), bytes that were never written are zero and bytes of an earlier use are unchanged.
using ZeroedBytes = std::vector<std::byte, ZeroedAllocator<std::byte>>;

}  // namespace loco::nic
