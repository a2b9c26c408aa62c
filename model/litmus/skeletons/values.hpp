// Values follow from rf: computes the value of each read and write from the source of each read.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "model/litmus/skeletons/skeleton.hpp"

namespace loco::model::litmus {

/// Where a read reads from: a subevent, or one of these.
inline constexpr int kInitial = -1;
inline constexpr int kUndecided = -2;
inline constexpr int kConflict = -3;  ///< coreRMA: the read's value is undefined

class Sources {
 public:
  Sources() { rf_.fill(kUndecided); }
  [[nodiscard]] int operator[](int read) const { return rf_[static_cast<std::size_t>(read)]; }
  void set(int read, int source) { rf_[static_cast<std::size_t>(read)] = static_cast<std::int16_t>(source); }

 private:
  std::array<std::int16_t, kSubeventsMax> rf_;
};

/// Nothing while it depends on an undecided read, and for values out of thin air.
[[nodiscard]] std::optional<Value> value_of(const Skeleton& x, const Sources& rf, int thread, int symbol);
[[nodiscard]] std::optional<Value> value_read(const Skeleton& x, const Sources& rf, int read);
[[nodiscard]] std::optional<Value> value_written(const Skeleton& x, const Sources& rf, int write);

}  // namespace loco::model::litmus
