// The integers of RMA programs: unbounded, as in mathematics. Engines that need speed give them short names of their
// own.
//
// Almost all of them fit in 64 bits and are kept so; what does not is Boost.Multiprecision's, behind a pointer, so that
// only integer.cpp has to be compiled with that library.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace loco::verify {

class Integer {
 public:
  Integer(std::int64_t word = 0) : word_(word) {}  // implicit: every std::int64_t is one
  /// From decimal digits. Throws std::runtime_error when there are others.
  explicit Integer(const std::string& digits);

  /// Does it fit in 64 bits?
  [[nodiscard]] bool is_word() const { return large_ == nullptr; }
  /// Precondition: is_word().
  explicit operator std::int64_t() const { return word_; }
  /// Of its magnitude, 0 for 0.
  [[nodiscard]] std::size_t bits() const;
  [[nodiscard]] std::string str() const;

  Integer operator-() const { return Integer(0) - *this; }
  friend Integer operator+(const Integer& a, const Integer& b) {
    std::int64_t sum = 0;
    if (a.is_word() && b.is_word() && !__builtin_add_overflow(a.word_, b.word_, &sum)) return sum;
    return add(a, b);
  }
  friend Integer operator-(const Integer& a, const Integer& b) {
    std::int64_t difference = 0;
    if (a.is_word() && b.is_word() && !__builtin_sub_overflow(a.word_, b.word_, &difference)) return difference;
    return subtract(a, b);
  }
  friend Integer operator*(const Integer& a, const Integer& b) {
    std::int64_t product = 0;
    if (a.is_word() && b.is_word() && !__builtin_mul_overflow(a.word_, b.word_, &product)) return product;
    return multiply(a, b);
  }
  Integer& operator+=(const Integer& other) { return *this = *this + other; }

  friend bool operator==(const Integer& a, const Integer& b) { return (a <=> b) == 0; }
  friend std::strong_ordering operator<=>(const Integer& a, const Integer& b) {
    return a.is_word() && b.is_word() ? a.word_ <=> b.word_ : compare(a, b);
  }

 private:
  struct Large;
  explicit Integer(Large large);
  [[nodiscard]] Large large() const;

  static Integer add(const Integer& a, const Integer& b);
  static Integer subtract(const Integer& a, const Integer& b);
  static Integer multiply(const Integer& a, const Integer& b);
  static std::strong_ordering compare(const Integer& a, const Integer& b);

  std::int64_t word_ = 0;
  std::shared_ptr<const Large> large_{};  // only when it does not fit in a word
};

}  // namespace loco::verify
