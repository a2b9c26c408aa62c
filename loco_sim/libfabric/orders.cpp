#include "loco_sim/libfabric/orders.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <rdma/fi_endpoint.h>

namespace loco::libfabric {

namespace {

constexpr std::uint64_t kAny = std::numeric_limits<std::uint64_t>::max();
constexpr std::array<Access, 3> kAll = {Access::put, Access::get, Access::atomic};
constexpr std::array<const char*, 3> kNames = {"put", "get", "atomic"};

constexpr bool asked(Access earlier, Access next) {
  switch (earlier) {
    case Access::put:
      return true;
    case Access::get:
      return next == Access::get;
    case Access::atomic:
      return next != Access::put;
  }
  return true;
}

}  // namespace

Orders::Orders(const Promises& promises) : promises_(promises) {}

std::uint64_t Orders::limit(Access earlier, Access next) const {
  if (promises_.atomics_apart && (earlier == Access::atomic || next == Access::atomic)) return 0;
  const auto has = [this](std::uint64_t flag) { return (promises_.flags & flag) != 0; };
  const bool puts = earlier == Access::put && next != Access::atomic;
  const bool atomics = earlier == Access::atomic && next == Access::atomic;
  const bool waw = has(FI_ORDER_WAW) || (puts && has(FI_ORDER_RMA_WAW)) || (atomics && has(FI_ORDER_ATOMIC_WAW));
  const bool raw = has(FI_ORDER_RAW) || (puts && has(FI_ORDER_RMA_RAW)) || (atomics && has(FI_ORDER_ATOMIC_RAW));
  if (earlier == Access::get) return has(FI_ORDER_RAR) || has(FI_ORDER_RMA_RAR) ? kAny : 0;
  const std::uint64_t write = waw ? promises_.write_after_write : 0;
  const std::uint64_t read = raw ? promises_.read_after_write : 0;
  if (next == Access::put) return write;
  return next == Access::get ? read : std::min(write, read);
}

bool Orders::must_wait(Access earlier, std::uint64_t earlier_bytes, Access next, std::uint64_t bytes) const {
  return asked(earlier, next) && std::max(earlier_bytes, bytes) > limit(earlier, next);
}

bool Orders::waits_for_puts() const {
  return std::ranges::any_of(kAll, [this](Access next) { return limit(Access::put, next) != kAny; });
}

std::string Orders::missing() const {
  std::string text;
  for (const Access earlier : kAll)
    for (const Access next : kAll)
      if (must_wait(earlier, kWord, next, kWord))
        text += std::string(text.empty() ? "" : ", ") + kNames[static_cast<std::size_t>(earlier)] + " before " +
                kNames[static_cast<std::size_t>(next)];
  return text;
}

}  // namespace loco::libfabric
