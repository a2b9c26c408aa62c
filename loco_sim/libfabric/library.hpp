// libfabric, loaded when it is needed. A program linked with it starts all its providers before main(), some of which
// look for hardware, print, and measure clocks for a second; loading it on demand avoids that. These are the functions
// that are not inline in its headers.
#pragma once

#include <rdma/fabric.h>

namespace loco::libfabric {

struct Library {
  decltype(&fi_getinfo) getinfo = nullptr;
  decltype(&fi_freeinfo) freeinfo = nullptr;
  decltype(&fi_dupinfo) dupinfo = nullptr;
  decltype(&fi_fabric) fabric = nullptr;
  decltype(&fi_strerror) strerror = nullptr;
};

/// Throws setup_error if it is not installed. It stays loaded.
[[nodiscard]] const Library& library();

}  // namespace loco::libfabric
