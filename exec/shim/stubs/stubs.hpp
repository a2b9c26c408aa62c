// Functions of other libraries that only report that they are not supported: programs that bind all symbols at start
// need their names. CMake makes one of each annotated name of a version script (*.map).
#pragma once

#include <cerrno>

namespace loco::shim::stub {
inline constexpr long error = EOPNOTSUPP, negative = -EOPNOTSUPP, null = 0, nothing = 0;
}

#define LOCO_STUB(name, kind)                                     \
  extern "C" __attribute__((visibility("default"))) long name() { \
    errno = EOPNOTSUPP;                                           \
    return loco::shim::stub::kind;                                \
  }
