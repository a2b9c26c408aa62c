// A set of outcomes, packed: a word a value, no allocation an outcome. Searches put in what they find, in any order,
// each outcome once; readers see them as values of type Outcome, in order once they are sorted.
//
// An outcome takes its words, 5 to 11 bytes of a hash table while outcomes are found (of a small set up to 22), and 4
// bytes of order afterwards.
// Memory that is not there throws std::bad_alloc and leaves the set as it was.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "model/litmus/language/program.hpp"

namespace loco::model::litmus {

class Outcomes {
 public:
  using value_type = Outcome;
  class Iterator;
  using const_iterator = Iterator;

  Outcomes() = default;
  /// In the order given. Outcomes of one set have the same number of values.
  Outcomes(const std::vector<Outcome>& outcomes) {  // NOLINT(google-explicit-constructor): the same, packed
    for (const Outcome& o : outcomes) push_back(o);
  }
  Outcomes(std::initializer_list<Outcome> outcomes) : Outcomes(std::vector<Outcome>(outcomes)) {}
  Outcomes(const Outcomes& other);
  Outcomes& operator=(const Outcomes& other);
  Outcomes(Outcomes&& other) noexcept;
  Outcomes& operator=(Outcomes&& other) noexcept;
  ~Outcomes() = default;

  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] std::span<const Value> row(std::size_t i) const { return found(order_.empty() ? i : order_[i]); }
  [[nodiscard]] Outcome operator[](std::size_t i) const { return {row(i).begin(), row(i).end()}; }
  [[nodiscard]] Outcome front() const { return (*this)[0]; }
  [[nodiscard]] Iterator begin() const;
  [[nodiscard]] Iterator end() const;
  [[nodiscard]] std::vector<Outcome> all() const;
  operator std::vector<Outcome>() const { return all(); }  // NOLINT(google-explicit-constructor): for few

  /// Adds an outcome that is not in the set, behind all others. Not for sets that were sorted.
  void push_back(std::span<const Value> outcome);
  void push_back(const Outcome& outcome) { push_back(std::span<const Value>(outcome)); }
  /// Adds an outcome unless it is in the set; true if it was not.
  bool insert(std::span<const Value> outcome);
  [[nodiscard]] bool contains(std::span<const Value> outcome) const { return find(outcome) != count_; }
  /// Its place, or size().
  [[nodiscard]] std::size_t find(std::span<const Value> outcome) const;

  /// Sorts the outcomes, and frees the table that finding them took. `stop` is asked now and then: if it says yes,
  /// nothing is sorted, and false is returned.
  bool sort(const std::function<bool()>& stop = {});
  /// The places of the least ones, so many at most, in order. Takes one pass where they are not sorted.
  [[nodiscard]] std::vector<std::uint32_t> least(std::size_t most) const;

  /// The set's bytes, and the bytes it may take for a moment while the table grows for one more outcome.
  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] std::size_t bytes_with_one_more() const;

  friend bool operator==(const Outcomes& a, const Outcomes& b);

 private:
  static constexpr std::size_t kBlock = 4096;  ///< outcomes
  static constexpr std::size_t kScanned = 12;  ///< a set of so many has no table
  /// A table of more slots than these is parted, each part growing for itself: one table of millions would take a
  /// second to grow, in which nobody looks at the time.
  static constexpr std::size_t kOneTable = std::size_t{1} << 16U;
  static constexpr std::size_t kTables = 64;
  static constexpr std::size_t kFirstSlots = 32;
  static constexpr std::size_t kSmallTable = 4096;  ///< slots: smaller ones grow faster

  [[nodiscard]] std::span<const Value> found(std::size_t i) const {
    const Value* const first =
        i < kBlock ? first_.data() + i * width_ : blocks_[i / kBlock - 1].get() + (i % kBlock) * width_;
    return {first, width_};
  }
  /// Places + 1 by hash, 0 is free: open addressing in a power of two of slots.
  struct Table {
    std::vector<std::uint32_t> slots;
    std::size_t taken = 0;

    [[nodiscard]] bool full() const { return 4 * (taken + 1) > 3 * slots.size(); }
    /// One that is not in it, where there is room.
    void put(std::uint64_t hash, std::uint32_t place);
  };
  [[nodiscard]] Table& table_of(std::uint64_t hash) { return parts_.empty() ? table_ : parts_[part_of(hash)]; }
  [[nodiscard]] const Table& table_of(std::uint64_t hash) const {
    return parts_.empty() ? table_ : parts_[part_of(hash)];
  }
  /// The highest bits of a hash: a slot is told by the lowest.
  [[nodiscard]] static constexpr std::size_t part_of(std::uint64_t hash) {
    return hash >> (64 - std::countr_zero(kTables));
  }
  [[nodiscard]] std::size_t slot_of(const Table& table, std::uint64_t hash, std::span<const Value> outcome) const;
  /// The table of this hash gets twice the slots, or the only one is parted.
  void grow(std::uint64_t hash_of_one);
  /// All outcomes go into tables that were made for them.
  void fill_tables();

  std::size_t width_ = 0;
  std::size_t count_ = 0;
  bool ascending_ = true;                         ///< as they were found
  std::vector<Value> first_;                      ///< the first kBlock
  std::vector<std::unique_ptr<Value[]>> blocks_;  ///< the others
  Table table_;                                   ///< of a set that is not small
  std::vector<Table> parts_;                      ///< of a large one: kTables of them in its place
  std::size_t slots_ = 0;                         ///< of all tables
  std::vector<std::uint32_t> order_;              ///< empty: as found
};

/// Gives outcomes by value.
class Outcomes::Iterator {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = Outcome;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using reference = Outcome;

  Iterator() = default;
  Iterator(const Outcomes* set, std::size_t i) : set_(set), i_(i) {}
  Outcome operator*() const { return (*set_)[i_]; }
  Iterator& operator++() { return *this += 1; }
  Iterator operator++(int) { return std::exchange(*this, *this + 1); }
  Iterator& operator--() { return *this += -1; }
  Iterator& operator+=(difference_type n) {
    i_ = static_cast<std::size_t>(static_cast<difference_type>(i_) + n);
    return *this;
  }
  friend Iterator operator+(Iterator it, difference_type n) { return it += n; }
  friend Iterator operator-(Iterator it, difference_type n) { return it += -n; }
  friend difference_type operator-(Iterator a, Iterator b) {
    return static_cast<difference_type>(a.i_) - static_cast<difference_type>(b.i_);
  }
  friend auto operator<=>(Iterator a, Iterator b) { return a.i_ <=> b.i_; }
  friend bool operator==(Iterator a, Iterator b) { return a.i_ == b.i_; }

 private:
  const Outcomes* set_ = nullptr;
  std::size_t i_ = 0;
};

inline Outcomes::Iterator Outcomes::begin() const { return {this, 0}; }
inline Outcomes::Iterator Outcomes::end() const { return {this, count_}; }

}  // namespace loco::model::litmus
