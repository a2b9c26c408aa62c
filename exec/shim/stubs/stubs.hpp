// Functions of other libraries that report, by errno, by null or by doing nothing, that they are not supported.
#pragma once

#include <cerrno>

#define LOCO_STUB(name, value)                                    \
  extern "C" __attribute__((visibility("default"))) long name() { \
    errno = EOPNOTSUPP;                                           \
    return value;                                                 \
  }
#define LOCO_ERROR_OF(name) LOCO_STUB(name, EOPNOTSUPP)
#define LOCO_NEGATIVE_OF(name) LOCO_STUB(name, -EOPNOTSUPP)
#define LOCO_NULL_OF(name) LOCO_STUB(name, 0)
#define LOCO_NOTHING_OF(name) LOCO_STUB(name, 0)
