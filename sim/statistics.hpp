// What a run counts and measures: a log-scaled latency histogram and counters with names.
//
// Histogram: buckets as in HdrHistogram (Tene, hdrhistogram.org): values below 256 are exact; above, each power of two
// is cut into 128 equal parts, so a value is known to within 1/128 of itself (0.8 %). Minimum, maximum, count and sum
// are exact. Values are picoseconds or any other non-negative count; memory grows to 8 bytes a bucket up to the
// greatest value seen, at most 57 KB. Both types are values; integers only, reports alone use double.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/time.hpp"

namespace loco::sim {

class Histogram {
 public:
  /// Adds a value `times` times. Negative values are a defect of the caller: std::invalid_argument.
  void record(std::int64_t value, std::uint64_t times = 1);
  void record(Duration d) { record(d.ps); }

  /// Adds all of `other`; the same as having recorded its values here.
  void merge(const Histogram& other);

  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  /// Exact; 0 when empty.
  [[nodiscard]] std::int64_t min() const { return empty() ? 0 : min_; }
  [[nodiscard]] std::int64_t max() const { return max_; }
  /// Exact as long as it is below 2^127.
  __extension__ using Sum = unsigned __int128;
  [[nodiscard]] Sum sum() const { return sum_; }
  [[nodiscard]] double mean() const;

  /// The smallest recorded value with at least `percent` % of all values at or below it (nearest rank), rounded up to
  /// the end of its bucket but not above max(). percentile(0) is min(), percentile(100) is max(). 0 when empty.
  /// Throws std::invalid_argument when percent is not in [0, 100].
  [[nodiscard]] std::int64_t percentile(double percent) const;

  struct Bucket {
    std::int64_t low;   ///< smallest value that falls here
    std::int64_t high;  ///< greatest value that falls here
    std::uint64_t count;
  };
  /// The buckets that hold values, in ascending order.
  [[nodiscard]] std::vector<Bucket> buckets() const;

  bool operator==(const Histogram&) const = default;

 private:
  static std::size_t bucket_of(std::int64_t value);
  static std::int64_t low_of(std::size_t bucket);

  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0;
  Sum sum_ = 0;
  std::int64_t min_ = 0;
  std::int64_t max_ = 0;
};

/// Names a counter of one Counters.
struct CounterId {
  std::uint32_t index = 0;
};

/// Counters by name. Registering costs a search, incrementing an addition.
class Counters {
 public:
  /// The counter of that name, made at 0 when it is new.
  CounterId id(std::string_view name);
  void add(CounterId id, std::uint64_t amount = 1) { values_[id.index] += amount; }
  [[nodiscard]] std::uint64_t value(CounterId id) const { return values_[id.index]; }
  /// 0 when there is no counter of that name.
  [[nodiscard]] std::uint64_t value(std::string_view name) const;
  /// Adds the values of `other` by name.
  void merge(const Counters& other);
  /// In the order of registration.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

  bool operator==(const Counters&) const = default;

 private:
  std::vector<std::string> names_;
  std::vector<std::uint64_t> values_;
};

}  // namespace loco::sim
