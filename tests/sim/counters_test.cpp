// Shows: counters add up by name.
#include "sim/counters.hpp"

#include <string>
#include <vector>

#include "tests/catch.hpp"

using namespace loco::sim;

TEST_CASE("Counters are found by name and merged by name") {
  Counters counters;
  const CounterId sent = counters.id("packets sent");
  const CounterId lost = counters.id("packets lost");
  counters.add(sent);
  counters.add(sent, 4);
  counters.add(lost);
  CHECK(counters.id("packets sent").index == sent.index);
  CHECK(counters.value("packets sent") == 5);
  CHECK(counters.value("unknown") == 0);
  Counters other;
  other.add(other.id("acks"), 2);
  other.add(other.id("packets lost"), 10);
  counters.merge(other);
  CHECK(counters.value(lost) == 11);
  CHECK(counters.value("acks") == 2);
  CHECK(counters.names() == std::vector<std::string>{"packets sent", "packets lost", "acks"});
}
