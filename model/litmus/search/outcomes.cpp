#include "model/litmus/search/outcomes.hpp"

#include <algorithm>
#include <limits>
#include <new>
#include <numeric>
#include <utility>

namespace loco::model::litmus {
namespace {

constexpr std::size_t kSortedAtOnce = std::size_t{1} << 14U;  ///< outcomes that are sorted between two questions

bool less(std::span<const Value> a, std::span<const Value> b) {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
}

std::uint64_t hash(std::span<const Value> outcome) {
  std::uint64_t h = 0x9e3779b97f4a7c15;
  for (const Value v : outcome) {
    h = (h ^ static_cast<std::uint64_t>(v)) * 0xff51afd7ed558ccd;
    h ^= h >> 32U;
  }
  return h;
}

}  // namespace

Outcomes::Outcomes(const Outcomes& other) : width_(other.width_) {
  for (std::size_t i = 0; i < other.size(); ++i) push_back(other.row(i));
}

Outcomes& Outcomes::operator=(const Outcomes& other) {
  if (this != &other) *this = Outcomes(other);
  return *this;
}

Outcomes::Outcomes(Outcomes&& other) noexcept { *this = std::move(other); }

Outcomes& Outcomes::operator=(Outcomes&& other) noexcept {
  width_ = std::exchange(other.width_, 0);
  count_ = std::exchange(other.count_, 0);
  ascending_ = std::exchange(other.ascending_, true);
  first_ = std::exchange(other.first_, {});
  blocks_ = std::exchange(other.blocks_, {});
  table_ = std::exchange(other.table_, {});
  parts_ = std::exchange(other.parts_, {});
  slots_ = std::exchange(other.slots_, 0);
  order_ = std::exchange(other.order_, {});
  return *this;
}

std::vector<Outcome> Outcomes::all() const { return {begin(), end()}; }

void Outcomes::push_back(std::span<const Value> outcome) {
  if (count_ == 0) width_ = outcome.size();
  if (count_ == std::numeric_limits<std::uint32_t>::max() - 1) throw std::bad_alloc();  // places have 32 bits
  if (count_ < kBlock) {
    first_.insert(first_.end(), outcome.begin(), outcome.end());
  } else {
    if (count_ % kBlock == 0) blocks_.push_back(std::make_unique_for_overwrite<Value[]>(kBlock * width_));
    std::copy(outcome.begin(), outcome.end(), blocks_[count_ / kBlock - 1].get() + (count_ % kBlock) * width_);
  }
  ascending_ = ascending_ && (count_ == 0 || less(found(count_ - 1), outcome));
  ++count_;
}

bool Outcomes::insert(std::span<const Value> outcome) {
  if (count_ < kScanned) {
    if (find(outcome) != count_) return false;
    push_back(outcome);
    return true;
  }
  const std::uint64_t h = hash(outcome);
  if (table_of(h).full()) grow(h);
  Table& table = table_of(h);
  std::uint32_t& slot = table.slots[slot_of(table, h, outcome)];
  if (slot != 0) return false;
  push_back(outcome);
  slot = static_cast<std::uint32_t>(count_);
  ++table.taken;
  return true;
}

std::size_t Outcomes::slot_of(const Table& table, std::uint64_t hash, std::span<const Value> outcome) const {
  const std::vector<std::uint32_t>& slots = table.slots;
  const std::size_t mask = slots.size() - 1;
  for (std::size_t slot = hash & mask;; slot = (slot + 1) & mask)
    if (slots[slot] == 0 || std::ranges::equal(found(slots[slot] - 1), outcome)) return slot;
}

void Outcomes::Table::put(std::uint64_t hash, std::uint32_t place) {
  const std::size_t mask = slots.size() - 1;
  std::size_t slot = hash & mask;
  while (slots[slot] != 0) slot = (slot + 1) & mask;  // the others differ from it
  slots[slot] = place;
  ++taken;
}

void Outcomes::grow(std::uint64_t hash_of_one) {
  if (parts_.empty() && table_.slots.size() < kOneTable) {
    const std::size_t slots = table_.slots.size(), times = slots < kSmallTable ? 4 : 2;
    table_ = {.slots = std::vector<std::uint32_t>(std::max(kFirstSlots, times * slots))};
    slots_ = table_.slots.size();
    return fill_tables();  // in the order in which they lie
  }
  if (parts_.empty()) {
    std::vector<Table> parts(kTables);
    for (Table& part : parts) part.slots.resize(2 * kOneTable / kTables);
    parts_.swap(parts);
    table_ = {};
    slots_ = 2 * kOneTable;
    return fill_tables();
  }
  Table& part = table_of(hash_of_one);
  Table larger{.slots = std::vector<std::uint32_t>(2 * part.slots.size())};
  for (const std::uint32_t place : part.slots)
    if (place != 0) larger.put(hash(found(place - 1)), place);
  slots_ += part.slots.size();
  part = std::move(larger);
}

void Outcomes::fill_tables() {
  for (std::uint32_t i = 0; i < count_; ++i) {
    const std::uint64_t h = hash(found(i));
    if (table_of(h).full()) grow(h);
    table_of(h).put(h, i + 1);
  }
}

std::size_t Outcomes::find(std::span<const Value> outcome) const {
  if (slots_ != 0) {
    const std::uint64_t h = hash(outcome);
    const Table& table = table_of(h);
    const std::uint32_t place = table.slots[slot_of(table, h, outcome)];
    return place == 0 ? count_ : place - 1;
  }
  if (count_ > kScanned && (ascending_ || !order_.empty())) {
    std::size_t low = 0, high = count_;
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if (less(row(middle), outcome))
        low = middle + 1;
      else
        high = middle;
    }
    return low < count_ && std::ranges::equal(row(low), outcome) ? low : count_;
  }
  for (std::size_t i = 0; i < count_; ++i)
    if (std::ranges::equal(row(i), outcome)) return i;
  return count_;
}

bool Outcomes::sort(const std::function<bool()>& stop) {
  table_ = {};
  parts_ = {};
  slots_ = 0;
  if (ascending_ || !order_.empty()) return true;
  const auto before = [this](std::uint32_t a, std::uint32_t b) { return less(found(a), found(b)); };
  std::vector<std::uint32_t> sorted(count_);
  std::iota(sorted.begin(), sorted.end(), 0U);
  for (std::size_t i = 0; i < count_; i += kSortedAtOnce) {
    if (i != 0 && stop && stop()) return false;
    const auto from = sorted.begin() + static_cast<std::ptrdiff_t>(i);
    std::sort(from, sorted.begin() + static_cast<std::ptrdiff_t>(std::min(count_, i + kSortedAtOnce)), before);
  }
  std::vector<std::uint32_t> merged(count_ > kSortedAtOnce ? count_ : 0);
  for (std::size_t run = kSortedAtOnce; run < count_; run *= 2) {
    std::size_t a = 0, b = 0, a_end = 0, b_end = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      if (i % kSortedAtOnce == 0 && stop && stop()) return false;
      if (a == a_end && b == b_end) {
        a = i;
        b = a_end = std::min(count_, i + run);
        b_end = std::min(count_, i + 2 * run);
      }
      merged[i] = a == a_end || (b != b_end && before(sorted[b], sorted[a])) ? sorted[b++] : sorted[a++];
    }
    sorted.swap(merged);
  }
  order_ = std::move(sorted);
  return true;
}

std::vector<std::uint32_t> Outcomes::least(std::size_t most) const {
  std::vector<std::uint32_t> places(std::min(most, count_));
  std::iota(places.begin(), places.end(), 0U);
  if (ascending_ || !order_.empty() || places.empty()) return places;
  const auto before = [this](std::uint32_t a, std::uint32_t b) { return less(found(a), found(b)); };
  std::make_heap(places.begin(), places.end(), before);
  for (auto i = static_cast<std::uint32_t>(places.size()); i < count_; ++i) {
    if (!before(i, places.front())) continue;
    std::pop_heap(places.begin(), places.end(), before);
    places.back() = i;
    std::push_heap(places.begin(), places.end(), before);
  }
  std::sort_heap(places.begin(), places.end(), before);
  return places;
}

std::size_t Outcomes::bytes() const {
  return first_.capacity() * sizeof(Value) + blocks_.size() * (kBlock * width_ * sizeof(Value) + sizeof(Value*)) +
         (slots_ + order_.size()) * sizeof(std::uint32_t);
}

std::size_t Outcomes::bytes_with_one_more() const {
  std::size_t more = 0;
  if (count_ < kBlock)
    more = first_.capacity() * sizeof(Value);
  else if (count_ % kBlock == 0)
    more = kBlock * width_ * sizeof(Value) + sizeof(Value*);
  // a table, all of which are of like size, beside the one of twice as many slots that takes its place
  const std::size_t slots = slots_ == 0 ? kFirstSlots : 4 * (slots_ / std::max<std::size_t>(1, parts_.size()));
  if (count_ >= kScanned) more += slots * sizeof(std::uint32_t);
  // sorting takes twice the size of the order in its place
  const std::size_t order = 2 * count_ * sizeof(std::uint32_t), table = slots_ * sizeof(std::uint32_t);
  return bytes() + std::max(more, order > table ? order - table : 0);
}

bool operator==(const Outcomes& a, const Outcomes& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!std::ranges::equal(a.row(i), b.row(i))) return false;
  return true;
}

}  // namespace loco::model::litmus
