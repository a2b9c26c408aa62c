// Tables of keys: every kind of mistake gives its place, what was expected, what was found.
#include "loco_sim/scenario/settings.hpp"

#include <array>
#include <string>
#include <string_view>

#include "tests/catch.hpp"

using namespace loco::scenario;
using loco::test::contains_text;

namespace {

constexpr std::array<std::string_view, 2> kRoutings = {"deterministic", "ecmp"};
constexpr std::array<std::string_view, 3> kChecks = {"rdmawait", "sv", "bal"};
constexpr auto kRun = std::to_array<Option>({
    {.key = "name", .least = 1, .most = 8, .doc = "a name"},
    {.key = "topology.nodes", .type = Type::integer, .fallback = 2, .least = 2, .most = 1024},
});
constexpr auto kFabric = std::to_array<Option>({
    {.key = "link.delay", .type = Type::duration, .fallback = 50'000, .most = 1'000'000},
    {.key = "link.rate", .type = Type::rate},
    {.key = "routing", .type = Type::choice, .fallback = "deterministic", .choices = kRoutings},
});
constexpr auto kRest = std::to_array<Option>({
    {.key = "check", .type = Type::choices, .fallback = "[]", .choices = kChecks},
    {.key = "strict", .type = Type::boolean, .fallback = 1},
});
const Table kTable = {{"", kRun}, {"fabric.", kFabric}, {"", kRest}};

Settings read(const std::string& text) { return read_settings(loco::yaml::parse_document(text, "f.yaml"), "", kTable); }

}  // namespace

TEST_CASE("values are read and defaults filled in", "[scenario]") {
  const Settings s = read("topology:\n  nodes: 8\ncheck: [sv, bal]\nfabric: {link: {rate: 10Gbps}}\n");
  CHECK(s.at("topology.nodes").number == 8);
  CHECK(s.at("topology.nodes").given);
  CHECK(s.at("fabric.link.delay").number == 50'000);
  CHECK_FALSE(s.at("fabric.link.delay").given);
  CHECK(s.at("fabric.link.rate").number == 10'000'000'000);
  CHECK(s.at("fabric.routing").text == "deterministic");
  CHECK(s.at("check").words == std::vector<std::string>{"sv", "bal"});
  CHECK(s.at("strict").number == 1);
  CHECK_FALSE(s.contains("name"));
  CHECK(read("check: sv").at("check").words == std::vector<std::string>{"sv"});
  CHECK(read("").at("topology.nodes").number == 2);
}

TEST_CASE("JSON is YAML: quantities may be in quotes, numbers may not", "[scenario]") {
  const Settings s = read(R"({"topology": {"nodes": 8}, "fabric": {"link": {"delay": "1us", "rate": "10Gbps"}}})");
  CHECK(s.at("fabric.link.delay").number == 1'000'000);
  CHECK(s.at("fabric.link.rate").number == 10'000'000'000);
  CHECK_THROWS(read(R"({"fabric": {"link": {"delay": "0"}}})"));
  CHECK_THROWS(read(R"({"strict": "true"})"));
}

TEST_CASE("each mistake is told where it is", "[scenario]") {
  struct Mistake {
    std::string text;
    std::string message;
  };
  const auto m = GENERATE(
      Mistake{"topolgy: {nodes: 4}\n",
              "f.yaml:1:1: expected a known key (name, topology, fabric, check, strict), found \"topolgy\"; did you "
              "mean \"topology\"?"},
      Mistake{"name: a\ntopology:\n  ndoes: 4\n",
              "f.yaml:3:3: topology: expected a known key (nodes), found \"ndoes\"; did you mean \"nodes\"?"},
      Mistake{"topology: {nodes: many}\n",
              "f.yaml:1:19: topology.nodes: expected an integer from 2 to 1024, found \"many\""},
      Mistake{"topology: {nodes: '4'}\n",
              "f.yaml:1:19: topology.nodes: expected an integer from 2 to 1024, found the text \"4\""},
      Mistake{"topology: {nodes: 010}\n",
              "f.yaml:1:19: topology.nodes: expected an integer from 2 to 1024, found \"010\""},
      Mistake{"TOPOLOGY: {nodes: 4}\n",
              "f.yaml:1:1: expected a known key (name, topology, fabric, check, strict), found \"TOPOLOGY\"; did you "
              "mean \"topology\"?"},
      Mistake{"topology: {nodes: 4.5}\n",
              "f.yaml:1:19: topology.nodes: expected an integer from 2 to 1024, found \"4.5\""},
      Mistake{"topology: {nodes: 1000000000000}\n",
              "f.yaml:1:19: topology.nodes: expected an integer from 2 to 1024, found \"1000000000000\""},
      Mistake{"topology: {nodes: }\n",
              "f.yaml:1:19: topology.nodes: expected an integer from 2 to 1024, found nothing"},
      Mistake{"topology: 4\n", "f.yaml:1:11: topology: expected a map of nodes, found \"4\""},
      Mistake{"fabric: {link: {delay: 50}}\n",
              "f.yaml:1:24: fabric.link.delay: expected a time such as 50ns (ps, ns, us, ms, s) from 0ps to 1us, found "
              "\"50\""},
      Mistake{"fabric: {link: {delay: 2us}}\n",
              "f.yaml:1:24: fabric.link.delay: expected a time such as 50ns (ps, ns, us, ms, s) from 0ps to 1us, found "
              "\"2us\""},
      Mistake{"fabric: {routing: ecpm}\n",
              "f.yaml:1:19: fabric.routing: expected deterministic or ecmp, found \"ecpm\"; did you mean \"ecmp\"?"},
      Mistake{"check: [sv, vs]\n",
              "f.yaml:1:13: check: expected a list of rdmawait, sv, bal, found \"vs\"; did you mean \"sv\"?"},
      Mistake{"check: [sv, sv]\n", "f.yaml:1:13: check: expected each entry once, found \"sv\" again"},
      Mistake{"check: {sv: 1}\n", "f.yaml:1:8: check: expected a list of rdmawait, sv, bal, found {sv: 1}"},
      Mistake{"name: [a]\n", "f.yaml:1:7: name: expected text of 1 to 8 characters, found [a]"},
      Mistake{"name: much-too-long\n", "f.yaml:1:7: name: expected text of 1 to 8 characters, found \"much-too-long\""},
      Mistake{"strict: yes\n", "f.yaml:1:9: strict: expected true or false, found \"yes\""},
      Mistake{"[a, b]\n", "f.yaml:1:1: expected a map of name, topology, fabric, check, strict, found [a, b]"});
  CHECK_THROWS_WITH(read(m.text), m.message);
}

TEST_CASE("nothing is suggested for a word that is like no key", "[scenario]") {
  CHECK_THROWS_WITH(read("zebra: 1\n"),
                    "f.yaml:1:1: expected a known key (name, topology, fabric, check, strict), found \"zebra\"");
}
