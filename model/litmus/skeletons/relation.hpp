// Relation algebra over the subevents of one small execution: bit sets and bit matrices of fixed capacity.
//
// The operators are those of the papers: | & - on sets and relations, r.from(A).to(B) for [A];r;[B], seq(r, s)
// for r;s, inverse() and closure() for r^-1 and r^+. Rows beyond size() are never read. Values; no allocation.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>

namespace loco::model::litmus {

inline constexpr int kSubeventsMax = 128;

class Set {
 public:
  static constexpr std::size_t kWords = kSubeventsMax / 64;

  constexpr Set() = default;
  /// {0, .., n-1}
  static constexpr Set first(int n) {
    Set s;
    for (int i = 0; i < n; ++i) s.insert(i);
    return s;
  }
  static constexpr Set single(int i) {
    Set s;
    s.insert(i);
    return s;
  }

  constexpr void insert(int i) { words_[word(i)] |= bit(i); }
  constexpr void erase(int i) { words_[word(i)] &= ~bit(i); }
  [[nodiscard]] constexpr bool contains(int i) const { return (words_[word(i)] & bit(i)) != 0; }
  [[nodiscard]] constexpr bool empty() const { return (words_[0] | words_[1]) == 0; }
  [[nodiscard]] constexpr int count() const { return std::popcount(words_[0]) + std::popcount(words_[1]); }

  constexpr Set& operator|=(const Set& o) {
    for (std::size_t w = 0; w < kWords; ++w) words_[w] |= o.words_[w];
    return *this;
  }
  constexpr Set& operator&=(const Set& o) {
    for (std::size_t w = 0; w < kWords; ++w) words_[w] &= o.words_[w];
    return *this;
  }
  constexpr Set& operator-=(const Set& o) {
    for (std::size_t w = 0; w < kWords; ++w) words_[w] &= ~o.words_[w];
    return *this;
  }
  friend constexpr Set operator|(Set a, const Set& b) { return a |= b; }
  friend constexpr Set operator&(Set a, const Set& b) { return a &= b; }
  friend constexpr Set operator-(Set a, const Set& b) { return a -= b; }
  friend constexpr bool operator==(const Set&, const Set&) = default;

  /// Calls f(i) for each element, ascending.
  template <class F>
  constexpr void for_each(F&& f) const {
    for (std::size_t w = 0; w < kWords; ++w)
      for (std::uint64_t rest = words_[w]; rest != 0; rest &= rest - 1)
        f(static_cast<int>(w * 64) + std::countr_zero(rest));
  }

 private:
  static constexpr std::size_t word(int i) { return static_cast<std::size_t>(i) / 64; }
  static constexpr std::uint64_t bit(int i) { return std::uint64_t{1} << (static_cast<unsigned>(i) % 64); }
  std::array<std::uint64_t, kWords> words_{};

  static_assert(kSubeventsMax == 128, "empty() and count() name two words");
};

class Relation {
 public:
  explicit Relation(int n = 0) : n_(n) {
    for (int i = 0; i < n; ++i) row(i) = Set{};
  }
  Relation(const Relation& o) : n_(o.n_) { copy(o); }
  Relation& operator=(const Relation& o) {
    n_ = o.n_;
    copy(o);
    return *this;
  }

  [[nodiscard]] int size() const { return n_; }
  [[nodiscard]] Set& row(int i) { return rows()[static_cast<std::size_t>(i)]; }
  [[nodiscard]] const Set& row(int i) const { return rows()[static_cast<std::size_t>(i)]; }
  void add(int a, int b) { row(a).insert(b); }
  [[nodiscard]] bool contains(int a, int b) const { return row(a).contains(b); }

  Relation& operator|=(const Relation& o) {
    for (int i = 0; i < n_; ++i) row(i) |= o.row(i);
    return *this;
  }
  Relation& operator&=(const Relation& o) {
    for (int i = 0; i < n_; ++i) row(i) &= o.row(i);
    return *this;
  }
  Relation& operator-=(const Relation& o) {
    for (int i = 0; i < n_; ++i) row(i) -= o.row(i);
    return *this;
  }
  friend Relation operator|(const Relation& a, const Relation& b) {
    Relation r = a;
    r |= b;
    return r;
  }
  friend Relation operator&(const Relation& a, const Relation& b) {
    Relation r = a;
    r &= b;
    return r;
  }
  friend Relation operator-(const Relation& a, const Relation& b) {
    Relation r = a;
    r -= b;
    return r;
  }

  /// [A];r
  [[nodiscard]] Relation from(const Set& a) const {
    Relation r(n_);
    a.for_each([&](int i) { r.row(i) = row(i); });
    return r;
  }
  /// r;[B]
  [[nodiscard]] Relation to(const Set& b) const {
    Relation r = *this;
    for (int i = 0; i < n_; ++i) r.row(i) &= b;
    return r;
  }
  [[nodiscard]] Relation inverse() const {
    Relation r(n_);
    for (int i = 0; i < n_; ++i) row(i).for_each([&](int j) { r.add(j, i); });
    return r;
  }
  /// r^+, by Warshall's algorithm.
  [[nodiscard]] Relation closure() const {
    Relation r = *this;
    for (int k = 0; k < n_; ++k)
      for (int i = 0; i < n_; ++i)
        if (r.contains(i, k)) r.row(i) |= r.row(k);
    return r;
  }
  [[nodiscard]] bool empty() const {
    for (int i = 0; i < n_; ++i)
      if (!row(i).empty()) return false;
    return true;
  }
  [[nodiscard]] bool irreflexive() const {
    for (int i = 0; i < n_; ++i)
      if (contains(i, i)) return false;
    return true;
  }
  [[nodiscard]] bool acyclic() const { return closure().irreflexive(); }

  /// Calls f(a, b) for each pair, in order.
  template <class F>
  void for_each(F&& f) const {
    for (int i = 0; i < n_; ++i) row(i).for_each([&](int j) { f(i, j); });
  }

 private:
  void copy(const Relation& o) {
    for (int i = 0; i < n_; ++i) row(i) = o.row(i);
  }
  [[nodiscard]] Set* rows() { return std::launder(reinterpret_cast<Set*>(rows_.data())); }
  [[nodiscard]] const Set* rows() const { return std::launder(reinterpret_cast<const Set*>(rows_.data())); }

  int n_;
  // Bytes, not sets: a relation over ten subevents would clear all 128 rows first.
  alignas(Set) std::array<std::byte, kSubeventsMax * sizeof(Set)> rows_;
};

/// r;s
[[nodiscard]] inline Relation seq(const Relation& r, const Relation& s) {
  Relation result(r.size());
  r.for_each([&](int i, int j) { result.row(i) |= s.row(j); });
  return result;
}

/// A x B
[[nodiscard]] inline Relation cross(const Set& a, const Set& b, int n) {
  Relation r(n);
  a.for_each([&](int i) { r.row(i) = b; });
  return r;
}

}  // namespace loco::model::litmus
