// What has to wait follows from fi_endpoint(3) (msg_order, max_order_*_size) and from what a reliable connection keeps.
#include "loco_sim/libfabric/orders.hpp"

#include <limits>
#include <rdma/fi_endpoint.h>

#include "tests/catch.hpp"

using namespace loco::libfabric;

namespace {
constexpr std::uint64_t kAny = std::numeric_limits<std::uint64_t>::max();
}

TEST_CASE("a provider that promises every order waits for nothing") {
  const Orders orders(
      {.flags = FI_ORDER_RAR | FI_ORDER_RAW | FI_ORDER_WAW, .read_after_write = kAny, .write_after_write = kAny});
  CHECK(orders.missing().empty());
  CHECK(!orders.waits_for_puts());
}

TEST_CASE("one that promises none waits for all that a reliable connection keeps, and for nothing else") {
  const Orders orders({});
  CHECK(orders.missing() ==
        "put before put, put before get, put before atomic, get before get, atomic before get, atomic before atomic");
  CHECK(orders.waits_for_puts());
  CHECK(!orders.must_wait(Access::get, 8, Access::put, 8));  // only behind a fence
  CHECK(!orders.must_wait(Access::atomic, 8, Access::put, 8));
}

TEST_CASE("orders among puts alone and among atomics alone are none between the two") {
  const Orders orders({.flags = FI_ORDER_RMA_RAR | FI_ORDER_RMA_RAW | FI_ORDER_RMA_WAW | FI_ORDER_ATOMIC_RAR |
                                FI_ORDER_ATOMIC_RAW | FI_ORDER_ATOMIC_WAW,
                       .read_after_write = kAny,
                       .write_after_write = kAny});
  CHECK(orders.missing() == "put before atomic, atomic before get");
}

TEST_CASE("flags without a size promise nothing of what is in memory; a size bounds both operations") {
  CHECK(Orders({.flags = FI_ORDER_RAW | FI_ORDER_WAW}).must_wait(Access::put, 8, Access::put, 8));
  const Orders bounded({.flags = FI_ORDER_RAW | FI_ORDER_WAW, .read_after_write = 64, .write_after_write = 64});
  CHECK(!bounded.must_wait(Access::put, 64, Access::get, 64));
  CHECK(bounded.must_wait(Access::put, 65, Access::get, 8));
  CHECK(bounded.must_wait(Access::put, 8, Access::get, 65));
}
