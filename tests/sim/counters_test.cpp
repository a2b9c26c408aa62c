// Shows: counters add up by name.
#include "sim/counters.hpp"

#include <string>
#include <vector>

#include "tests/catch.hpp"

using namespace loco::sim;

TEST_CASE("Counters are found by name") {
  Counters counters;
  const CounterId sent = counters.id("packets sent");
  const CounterId lost = counters.id("packets lost");
  counters.add(sent);
  counters.add(sent, 4);
  counters.add(lost);
  CHECK(counters.id("packets sent").index == sent.index);
  CHECK(counters.value("packets sent") == 5);
  CHECK(counters.value("unknown") == 0);
  CHECK(counters.value(lost) == 1);
  CHECK(counters.names() == std::vector<std::string>{"packets sent", "packets lost"});
}
