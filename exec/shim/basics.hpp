// What both libraries, that of verbs and that of connection managers, are written with.
#pragma once

#include <cerrno>

#define LOCO_EXPORT extern "C" __attribute__((visibility("default")))

namespace loco::shim {

/// The result of a call that fails, with errno set: a null pointer or, as the C library has it, -1.
struct Failed {
  operator int() const { return -1; }
  template <typename T>
  operator T*() const {
    return nullptr;
  }
};
inline Failed failed(int error) {
  errno = error;
  return {};
}
/// A zeroed object on the program's heap; null with ENOMEM if there is no room.
template <typename T>
[[nodiscard]] T* make_object() {
  return static_cast<T*>(__builtin_calloc(1, sizeof(T)));
}

/// Removes an object from a list.
template <typename T>
void take_out(T*& first, T* object) {
  for (T** at = &first; *at != nullptr; at = &(*at)->next) {
    if (*at != object) continue;
    *at = object->next;
    return;
  }
}

}  // namespace loco::shim
