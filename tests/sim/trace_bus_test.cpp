// Shows: subscribers get every event in order of subscription; without any, events are not even built.
#include "sim/trace_bus.hpp"

#include <string>

#include "tests/catch.hpp"

TEST_CASE("Subscribers are called in the order in which they subscribed") {
  loco::sim::Bus<int> bus;
  std::string log;
  bus.emit(1);
  const auto first = bus.subscribe([&](int v) { log += "a" + std::to_string(v); });
  bus.subscribe([&](int v) { log += "b" + std::to_string(v); });
  bus.emit(2);
  CHECK(log == "a2b2");
  CHECK(bus.unsubscribe(first));
  CHECK_FALSE(bus.unsubscribe(first));
  bus.emit(3);
  CHECK(log == "a2b2b3");
}

TEST_CASE("An event is built only when somebody listens") {
  loco::sim::Bus<int> bus;
  int built = 0;
  const auto make = [&] { return ++built; };
  bus.emit_with(make);
  CHECK(built == 0);
  CHECK_FALSE(bus.listened());
  int received = 0;
  bus.subscribe([&](int v) { received = v; });
  bus.emit_with(make);
  CHECK(received == 1);
}
