#include "verify/integer.hpp"

#include <boost/multiprecision/cpp_int.hpp>
#include <limits>
#include <utility>

namespace loco::verify {

struct Integer::Large {
  boost::multiprecision::number<boost::multiprecision::cpp_int_backend<>, boost::multiprecision::et_off> value;
};

Integer::Integer(const std::string& digits) : Integer(Large{decltype(Large::value)(digits)}) {}

Integer::Integer(Large large) {
  if (large.value >= std::numeric_limits<std::int64_t>::min() &&
      large.value <= std::numeric_limits<std::int64_t>::max()) {
    word_ = static_cast<std::int64_t>(large.value);
  } else {
    large_ = std::make_shared<const Large>(std::move(large));
  }
}

Integer::Large Integer::large() const { return is_word() ? Large{word_} : *large_; }

std::size_t Integer::bits() const {
  return *this == 0 ? 0 : boost::multiprecision::msb(boost::multiprecision::abs(large().value)) + 1;
}

std::string Integer::str() const { return is_word() ? std::to_string(word_) : large_->value.str(); }

Integer Integer::add(const Integer& a, const Integer& b) { return Integer(Large{a.large().value + b.large().value}); }
Integer Integer::subtract(const Integer& a, const Integer& b) {
  return Integer(Large{a.large().value - b.large().value});
}
Integer Integer::multiply(const Integer& a, const Integer& b) {
  return Integer(Large{a.large().value * b.large().value});
}
std::strong_ordering Integer::compare(const Integer& a, const Integer& b) {
  return a.large().value.compare(b.large().value) <=> 0;
}

}  // namespace loco::verify
