#include "sim/statistics.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

namespace loco::sim {
namespace {

constexpr unsigned kPartBits = 7;  // 128 parts a power of two
constexpr std::size_t kParts = std::size_t{1} << kPartBits;

}  // namespace

// Values below 2 * kParts are their own bucket; beyond, the exponent picks a run of kParts buckets and the kPartBits
// bits below the leading one pick the bucket in it. The two rules meet without a gap.
std::size_t Histogram::bucket_of(std::int64_t value) {
  const auto v = static_cast<std::uint64_t>(value);
  if (v < 2 * kParts) return static_cast<std::size_t>(v);
  const auto shift = static_cast<unsigned>(std::bit_width(v)) - 1 - kPartBits;
  return shift * kParts + static_cast<std::size_t>(v >> shift);
}

std::int64_t Histogram::low_of(std::size_t bucket) {
  if (bucket < 2 * kParts) return static_cast<std::int64_t>(bucket);
  const std::size_t shift = bucket / kParts - 1;
  const std::uint64_t low = static_cast<std::uint64_t>(bucket - shift * kParts) << shift;
  return static_cast<std::int64_t>(low);
}

void Histogram::record(std::int64_t value, std::uint64_t times) {
  if (value < 0) throw std::invalid_argument("Histogram::record: negative value " + std::to_string(value));
  if (times == 0) return;
  const std::size_t bucket = bucket_of(value);
  if (bucket >= counts_.size()) counts_.resize(bucket + 1);
  counts_[bucket] += times;
  min_ = empty() ? value : std::min(min_, value);
  max_ = std::max(max_, value);
  count_ += times;
  sum_ += static_cast<Sum>(value) * times;
}

void Histogram::merge(const Histogram& other) {
  if (other.empty()) return;
  counts_.resize(std::max(counts_.size(), other.counts_.size()));
  for (std::size_t i = 0; i < other.counts_.size(); ++i) counts_[i] += other.counts_[i];
  min_ = empty() ? other.min_ : std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  count_ += other.count_;
  sum_ += other.sum_;
}

double Histogram::mean() const { return empty() ? 0.0 : static_cast<double>(sum_) / static_cast<double>(count_); }

std::int64_t Histogram::percentile(double percent) const {
  if (!(percent >= 0 && percent <= 100)) throw std::invalid_argument("Histogram::percentile: not in [0, 100]");
  if (empty()) return 0;
  const auto rank = static_cast<std::uint64_t>(std::ceil(percent * static_cast<double>(count_) / 100));
  if (rank == 0) return min();
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    seen += counts_[i];
    if (seen >= rank) return i + 1 == counts_.size() ? max_ : low_of(i + 1) - 1;
  }
  return max_;
}

std::vector<Histogram::Bucket> Histogram::buckets() const {
  std::vector<Bucket> result;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] == 0) continue;
    const auto end = static_cast<std::uint64_t>(low_of(i + 1));  // 2^63 for the last bucket there can be
    result.push_back({low_of(i), static_cast<std::int64_t>(end - 1), counts_[i]});
  }
  return result;
}

CounterId Counters::id(std::string_view name) {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found == names_.end()) {
    names_.emplace_back(name);
    values_.push_back(0);
    return {static_cast<std::uint32_t>(names_.size() - 1)};
  }
  return {static_cast<std::uint32_t>(found - names_.begin())};
}

std::uint64_t Counters::value(std::string_view name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  return found == names_.end() ? 0 : values_[static_cast<std::size_t>(found - names_.begin())];
}

void Counters::merge(const Counters& other) {
  for (std::size_t i = 0; i < other.names_.size(); ++i) add(id(other.names_[i]), other.values_[i]);
}

}  // namespace loco::sim
