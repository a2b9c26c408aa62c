#include "loco_sim/process/host_list.hpp"

#include "loco_sim/loco/errors.hpp"
#include "tests/catch.hpp"

using namespace loco::process;

TEST_CASE("a host list gives each node a name and a port") {
  const auto hosts = parse_host_list("a,10.0.0.2:7000,c");
  REQUIRE(hosts.size() == 3);
  CHECK(hosts[0].text() == "a:" + std::to_string(kFirstPort));
  CHECK(hosts[1].text() == "10.0.0.2:7000");
  CHECK(hosts[2].text() == "c:" + std::to_string(kFirstPort + 2));  // its own, so that all may be on one machine
}

TEST_CASE("what is no host list is refused, and the entry is named") {
  const auto refusal = [](const char* text) {
    try {
      static_cast<void>(parse_host_list(text));
    } catch (const loco::setup_error& error) {
      return std::string(error.what());
    }
    return std::string("taken");
  };
  CHECK(refusal("") == "host list: node 0 is '': expected a host's name or address, such as node0 or 10.0.0.1:18600");
  CHECK(refusal("a,,b").starts_with("host list: node 1 is ''"));
  CHECK(refusal("a:x").starts_with("host list: node 0 is 'a:x': expected a port"));
  CHECK(refusal("a:0").starts_with("host list: node 0 is 'a:0': expected a port"));
  CHECK(refusal("a:65536").starts_with("host list: node 0 is 'a:65536': expected a port"));
  CHECK(refusal("a:7000,b,a:7000") ==
        "host list: node 2 is 'a:7000': expected another address or port than those before");
}
