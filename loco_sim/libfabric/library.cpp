#include "loco_sim/libfabric/library.hpp"

#include <dlfcn.h>
#include <string>

#include "loco_sim/loco/errors.hpp"

namespace loco::libfabric {

namespace {

constexpr const char* kFile = "libfabric.so.1";

template <typename Function>
void find(void* file, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(file, name));
  if (function == nullptr) throw setup_error(std::string(kFile) + " has no " + name);
}

Library load() {
  void* const file = ::dlopen(kFile, RTLD_NOW | RTLD_LOCAL);
  if (file == nullptr) throw setup_error(std::string("libfabric cannot be loaded: ") + ::dlerror());
  Library found;
  find(file, "fi_getinfo", found.getinfo);
  find(file, "fi_freeinfo", found.freeinfo);
  find(file, "fi_dupinfo", found.dupinfo);
  find(file, "fi_fabric", found.fabric);
  find(file, "fi_strerror", found.strerror);
  return found;
}

}  // namespace

const Library& library() {
  static const Library kLibrary = load();
  return kLibrary;
}

}  // namespace loco::libfabric
