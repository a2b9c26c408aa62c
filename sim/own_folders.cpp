#include "sim/own_folders.hpp"

#include <dlfcn.h>
#include <system_error>

namespace loco::sim {

OwnFolders own_folders() {
  OwnFolders folders;
  std::error_code error;
  if (const auto program = std::filesystem::read_symlink("/proc/self/exe", error); !error) {
    folders.program = program.parent_path();
  }
  Dl_info self{};
  if (dladdr(reinterpret_cast<const void*>(&own_folders), &self) != 0 && self.dli_fname != nullptr) {
    folders.code = std::filesystem::path(self.dli_fname).parent_path();
  }
#ifdef LOCO_SIM_PREFIX
  folders.prefix = LOCO_SIM_PREFIX;
#endif
  return folders;
}

}  // namespace loco::sim
