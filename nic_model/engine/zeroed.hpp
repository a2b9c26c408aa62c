// Bytes that are zero when allocated and take memory of the simulating machine only once written.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#include <utility>
#include <vector>

namespace loco::nic {

/// Allocates with calloc(), whose pages are the kernel's zero page until written. Growing constructs no elements.
template <class T>
struct ZeroedAllocator {
  using value_type = T;

  ZeroedAllocator() = default;
  template <class U>
  explicit ZeroedAllocator(const ZeroedAllocator<U>& /*other*/) {}

  [[nodiscard]] T* allocate(std::size_t count) {
    if (void* const memory = std::calloc(count, sizeof(T)); memory != nullptr) return static_cast<T*>(memory);
    throw std::bad_alloc();
  }
  void deallocate(T* memory, std::size_t /*count*/) { std::free(memory); }

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
