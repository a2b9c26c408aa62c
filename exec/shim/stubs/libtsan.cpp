// Replaces ThreadSanitizer's runtime, to learn the loads and stores of a program compiled with -fsanitize=thread.
//
// Plain accesses go to the check of buffers that requests work on (check.hpp), and all to the trace. Volatile and
// atomic ones are how programs wait for data: no mistakes, and flags to the trace. The names and their arguments are
// the compilers' (gcc/sanitizer.def).
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>

#define LOCO_EXPORT extern "C" __attribute__((visibility("default")))
#define LOCO_WHERE reinterpret_cast<std::uintptr_t>(__builtin_return_address(0))

extern "C" {
void loco_sim_access(std::uintptr_t address, std::size_t bytes, int writes, int flag, std::uintptr_t where);
void loco_sim_accesses_are_told();
}

namespace {

void access(const volatile void* address, std::size_t bytes, bool writes, std::uintptr_t where) {
  loco_sim_access(reinterpret_cast<std::uintptr_t>(address), bytes, writes ? 1 : 0, 0, where);
}
void flag(const volatile void* address, std::size_t bytes, bool writes, std::uintptr_t where) {
  loco_sim_access(reinterpret_cast<std::uintptr_t>(address), bytes, writes ? 1 : 0, 1, where);
}

[[gnu::constructor]] void begin() { loco_sim_accesses_are_told(); }

}  // namespace

LOCO_EXPORT void __tsan_init() {}
LOCO_EXPORT void __tsan_func_entry(void*) {}
LOCO_EXPORT void __tsan_func_exit() {}

#define LOCO_ACCESSES(bytes)                                                                             \
  LOCO_EXPORT void __tsan_read##bytes(void* a) { access(a, bytes, false, LOCO_WHERE); }                  \
  LOCO_EXPORT void __tsan_write##bytes(void* a) { access(a, bytes, true, LOCO_WHERE); }                  \
  LOCO_EXPORT void __tsan_read_write##bytes(void* a) { access(a, bytes, true, LOCO_WHERE); }             \
  LOCO_EXPORT void __tsan_unaligned_read##bytes(void* a) { access(a, bytes, false, LOCO_WHERE); }        \
  LOCO_EXPORT void __tsan_unaligned_write##bytes(void* a) { access(a, bytes, true, LOCO_WHERE); }        \
  LOCO_EXPORT void __tsan_unaligned_read_write##bytes(void* a) { access(a, bytes, true, LOCO_WHERE); }   \
  LOCO_EXPORT void __tsan_volatile_read##bytes(void* a) { flag(a, bytes, false, LOCO_WHERE); }           \
  LOCO_EXPORT void __tsan_volatile_write##bytes(void* a) { flag(a, bytes, true, LOCO_WHERE); }           \
  LOCO_EXPORT void __tsan_unaligned_volatile_read##bytes(void* a) { flag(a, bytes, false, LOCO_WHERE); } \
  LOCO_EXPORT void __tsan_unaligned_volatile_write##bytes(void* a) { flag(a, bytes, true, LOCO_WHERE); }
LOCO_ACCESSES(1)
LOCO_ACCESSES(2)
LOCO_ACCESSES(4)
LOCO_ACCESSES(8)
LOCO_ACCESSES(16)

LOCO_EXPORT void __tsan_read_range(void* a, std::size_t bytes) { access(a, bytes, false, LOCO_WHERE); }
LOCO_EXPORT void __tsan_write_range(void* a, std::size_t bytes) { access(a, bytes, true, LOCO_WHERE); }
LOCO_EXPORT void __tsan_vptr_update(void** at, void* value) {
  static_cast<void>(at);
  static_cast<void>(value);
}
LOCO_EXPORT void __tsan_vptr_read(void**) {}

// The program carries out its atomics through these, all sequentially consistent.
#define LOCO_CHANGES(bits, T, name, builtin)                            \
  LOCO_EXPORT T __tsan_atomic##bits##_##name(volatile T* a, T v, int) { \
    flag(a, sizeof(T), true, LOCO_WHERE);                               \
    return __atomic_##builtin(a, v, __ATOMIC_SEQ_CST);                  \
  }
#define LOCO_EXCHANGES_IF(bits, T, kind)                                                              \
  LOCO_EXPORT int __tsan_atomic##bits##_compare_exchange_##kind(volatile T* a, T* c, T v, int, int) { \
    flag(a, sizeof(T), true, LOCO_WHERE);                                                             \
    return __atomic_compare_exchange_n(a, c, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) ? 1 : 0;   \
  }
#define LOCO_ATOMICS(bits, T)                                                                   \
  LOCO_EXPORT T __tsan_atomic##bits##_load(const volatile T* a, int) {                          \
    flag(a, sizeof(T), false, LOCO_WHERE);                                                      \
    return __atomic_load_n(a, __ATOMIC_SEQ_CST);                                                \
  }                                                                                             \
  LOCO_EXPORT void __tsan_atomic##bits##_store(volatile T* a, T v, int) {                       \
    flag(a, sizeof(T), true, LOCO_WHERE);                                                       \
    __atomic_store_n(a, v, __ATOMIC_SEQ_CST);                                                   \
  }                                                                                             \
  LOCO_CHANGES(bits, T, exchange, exchange_n)                                                   \
  LOCO_CHANGES(bits, T, fetch_add, fetch_add)                                                   \
  LOCO_CHANGES(bits, T, fetch_sub, fetch_sub)                                                   \
  LOCO_CHANGES(bits, T, fetch_and, fetch_and)                                                   \
  LOCO_CHANGES(bits, T, fetch_or, fetch_or)                                                     \
  LOCO_CHANGES(bits, T, fetch_xor, fetch_xor)                                                   \
  LOCO_CHANGES(bits, T, fetch_nand, fetch_nand)                                                 \
  LOCO_EXCHANGES_IF(bits, T, strong)                                                            \
  LOCO_EXCHANGES_IF(bits, T, weak)                                                              \
  LOCO_EXPORT T __tsan_atomic##bits##_compare_exchange_val(volatile T* a, T c, T v, int, int) { \
    flag(a, sizeof(T), true, LOCO_WHERE);                                                       \
    __atomic_compare_exchange_n(a, &c, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);           \
    return c;                                                                                   \
  }
LOCO_ATOMICS(8, std::uint8_t)
LOCO_ATOMICS(16, std::uint16_t)
LOCO_ATOMICS(32, std::uint32_t)
LOCO_ATOMICS(64, std::uint64_t)

LOCO_EXPORT void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
LOCO_EXPORT void __tsan_atomic_signal_fence(int) {}

// Functions that the compilers leave to the C library, without reporting their accesses.
LOCO_EXPORT void* memcpy(void* to, const void* from, std::size_t bytes) noexcept {
  static auto* const next = reinterpret_cast<void* (*)(void*, const void*, std::size_t)>(dlsym(RTLD_NEXT, "memcpy"));
  access(from, bytes, false, LOCO_WHERE);
  access(to, bytes, true, LOCO_WHERE);
  return next(to, from, bytes);
}
LOCO_EXPORT void* memmove(void* to, const void* from, std::size_t bytes) noexcept {
  static auto* const next = reinterpret_cast<void* (*)(void*, const void*, std::size_t)>(dlsym(RTLD_NEXT, "memmove"));
  access(from, bytes, false, LOCO_WHERE);
  access(to, bytes, true, LOCO_WHERE);
  return next(to, from, bytes);
}
LOCO_EXPORT void* memset(void* to, int value, std::size_t bytes) noexcept {
  static auto* const next = reinterpret_cast<void* (*)(void*, int, std::size_t)>(dlsym(RTLD_NEXT, "memset"));
  access(to, bytes, true, LOCO_WHERE);
  return next(to, value, bytes);
}
