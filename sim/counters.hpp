// The counters of a run, registered once by name and incremented by index. A value; integers only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace loco::sim {

/// Identifies a counter of one Counters object.
struct CounterId {
  std::uint32_t index = 0;
};

/// Counters by name. Registering costs a search, incrementing an addition.
class Counters {
 public:
  /// The counter of that name; a new one starts at 0.
  CounterId id(std::string_view name);
  void add(CounterId id, std::uint64_t amount = 1) { values_[id.index] += amount; }
  [[nodiscard]] std::uint64_t value(CounterId id) const { return values_[id.index]; }
  /// 0 when there is no counter of that name.
  [[nodiscard]] std::uint64_t value(std::string_view name) const;
  /// In the order of registration.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

  bool operator==(const Counters&) const = default;

 private:
  std::vector<std::string> names_;
  std::vector<std::uint64_t> values_;
};

}  // namespace loco::sim
