// The integers of RMA programs: unbounded, as in mathematics. Engines that need speed give them short names of their
// own.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>

namespace loco::verify {

using Integer = boost::multiprecision::number<boost::multiprecision::cpp_int_backend<>, boost::multiprecision::et_off>;

}  // namespace loco::verify
