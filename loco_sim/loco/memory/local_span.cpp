#include "loco_sim/loco/memory/local_span.hpp"

#include <stdexcept>
#include <string>

namespace loco {

void refuse_element(std::size_t i, std::size_t size) {
  throw std::out_of_range("element " + std::to_string(i) + " of a local_span of " + std::to_string(size));
}

}  // namespace loco
