// Numbers of things of one kind, which do not mix with the numbers of another kind, and tables that they index.
//
// A number is made from an integer, and gives one back (index()), only where the code says so; two kinds never convert
// into each other. So a table of one kind's values cannot be indexed by another kind's number.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <utility>
#include <vector>

namespace loco::sim {

/// The number of a thing; `Kind` is a type that says which kind, and is never defined.
template <class Kind>
class Id {
 public:
  constexpr Id() = default;  ///< the first one
  constexpr explicit Id(std::uint32_t index) : index_(index) {}
  /// Of no thing; greater than all others.
  [[nodiscard]] static constexpr Id none() { return Id(0xffffffffU); }

  [[nodiscard]] constexpr std::uint32_t index() const { return index_; }
  constexpr Id& operator++() {
    ++index_;
    return *this;
  }
  constexpr auto operator<=>(const Id&) const = default;

 private:
  std::uint32_t index_ = 0;
};

/// The first `count` numbers of a kind, in order: for (const NicId nic : IdRange<NicId>(count)).
template <class Id>
class IdRange {
 public:
  class iterator {
   public:
    constexpr explicit iterator(Id at) : at_(at) {}
    constexpr Id operator*() const { return at_; }
    constexpr iterator& operator++() {
      ++at_;
      return *this;
    }
    constexpr bool operator==(const iterator&) const = default;

   private:
    Id at_;
  };

  constexpr explicit IdRange(std::uint32_t count) : count_(count) {}
  [[nodiscard]] constexpr iterator begin() const { return iterator(Id()); }
  [[nodiscard]] constexpr iterator end() const { return iterator(Id(count_)); }

 private:
  std::uint32_t count_;
};

/// A vector with an element for each thing of a kind.
template <class Id, class T>
class IdVector {
 public:
  IdVector() = default;
  explicit IdVector(std::size_t size) : values_(size) {}
  IdVector(std::initializer_list<T> values) : values_(values) {}

  [[nodiscard]] T& operator[](Id id) { return values_[id.index()]; }
  [[nodiscard]] const T& operator[](Id id) const { return values_[id.index()]; }
  [[nodiscard]] T& at(Id id) { return values_.at(id.index()); }
  [[nodiscard]] const T& at(Id id) const { return values_.at(id.index()); }

  template <class... Arguments>
  T& emplace_back(Arguments&&... arguments) {
    return values_.emplace_back(std::forward<Arguments>(arguments)...);
  }
  void resize(std::size_t size) { values_.resize(size); }
  void assign(std::size_t size, const T& value) { values_.assign(size, value); }

  [[nodiscard]] std::size_t size() const { return values_.size(); }
  [[nodiscard]] bool empty() const { return values_.empty(); }
  [[nodiscard]] bool has(Id id) const { return id.index() < values_.size(); }
  [[nodiscard]] IdRange<Id> ids() const { return IdRange<Id>(static_cast<std::uint32_t>(values_.size())); }
  [[nodiscard]] auto begin() { return values_.begin(); }
  [[nodiscard]] auto end() { return values_.end(); }
  [[nodiscard]] auto begin() const { return values_.begin(); }
  [[nodiscard]] auto end() const { return values_.end(); }

  bool operator==(const IdVector&) const = default;

 private:
  std::vector<T> values_{};
};

}  // namespace loco::sim

template <class Kind>
struct std::hash<loco::sim::Id<Kind>> {
  std::size_t operator()(loco::sim::Id<Kind> id) const noexcept { return std::hash<std::uint32_t>()(id.index()); }
};
