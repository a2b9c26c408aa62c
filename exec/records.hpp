// Access to records of the channel, which may be unaligned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "exec/protocol.hpp"
#include "nic_model/verbs.hpp"

namespace loco::exec {

constexpr std::size_t padded(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

template <typename T>
T record_at(const char* at) {
  T record;
  std::memcpy(&record, at, sizeof(record));
  return record;
}

/// The machine's access rights for those of the protocol.
inline std::uint8_t rights_of(std::uint64_t asked) {
  std::uint8_t access = 0;
  if ((asked & kLocalWriteRight) != 0) access |= nic::kLocalWrite;
  if ((asked & kRemoteWriteRight) != 0) access |= nic::kRemoteWrite;
  if ((asked & kRemoteReadRight) != 0) access |= nic::kRemoteRead;
  if ((asked & kRemoteAtomicRight) != 0) access |= nic::kRemoteAtomic;
  return access;
}

}  // namespace loco::exec
