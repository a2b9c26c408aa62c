// The YAML tree: places, duplicate keys, bounds.
#include "loco_sim/scenario/document.hpp"

#include <string>

#include "tests/catch.hpp"

using namespace loco::scenario;
using loco::test::contains_text;

TEST_CASE("values know their line and column", "[scenario]") {
  const DocumentNode root = parse_document("a: 1\nb:\n  c: [x, 'y']\n", "f.yaml");
  const DocumentNode* list = root.find("b")->find("c");
  REQUIRE(list->items.size() == 2);
  CHECK(list->items[0].place.text() == "f.yaml:3:7");
  CHECK(list->items[1].place.text() == "f.yaml:3:10");
  CHECK_FALSE(list->items[0].quoted);
  CHECK(list->items[1].quoted);
}

TEST_CASE("a key given twice is refused where it is repeated", "[scenario]") {
  CHECK_THROWS_WITH(parse_document("a: 1\nb: 2\na: 3\n", "f.yaml"),
                    "f.yaml:3:1: expected each key once, found \"a\" again (first in line 1, column 1)");
  CHECK_THROWS_WITH(parse_document("s: {x: 1, x: 1}\n", "f.yaml"),
                    contains_text("f.yaml:1:11: expected each key once"));
}

TEST_CASE("text that is not YAML is refused with its place", "[scenario]") {
  CHECK_THROWS_WITH(parse_document("a: [1, 2\nb: 3\n", "f.yaml"), contains_text("f.yaml:2:"));
  CHECK_THROWS_WITH(parse_document("a: 1\n\tb: 2\n", "f.yaml"), contains_text("f.yaml:2:"));
  CHECK_THROWS_WITH(parse_document("a: 1\n---\nb: 2\n", "f.yaml"), contains_text("expected one YAML document"));
  CHECK_THROWS_WITH(parse_document("? [a]\n: 1\n", "f.yaml"),
                    contains_text("f.yaml:1:3: expected a key, found a list"));
  CHECK_THROWS_WITH(parse_document("a: !!python/object x\n", "f.yaml"), contains_text("expected a plain value"));
}

TEST_CASE("messages are one line of UTF-8, whatever the file holds", "[scenario]") {
  CHECK(printable("a\nb\xff\xc3\xa4\x7f") == "a\\x0ab\\xff\xc3\xa4\\x7f");
  CHECK(in_quotes(std::string(100, 'a')) == "\"" + std::string(60, 'a') + "...\"");
  CHECK_THROWS_WITH(parse_document(std::string("\0\xff\n", 3), "f.yaml"), contains_text("f.yaml:1:"));
}

TEST_CASE("documents that would fill the memory are refused", "[scenario]") {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string p = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) bomb += p + (k < 9 ? ", " : "]\n");
  }
  CHECK_THROWS_WITH(parse_document(bomb, "f.yaml"), contains_text("expected at most 100000 values, found more"));
  CHECK_THROWS_WITH(parse_document("a: &a [*a]\n", "f.yaml"), contains_text("an alias inside the value that it names"));
  std::string deep;
  for (int i = 0; i < 40; ++i) deep += "- ";
  CHECK_THROWS_WITH(parse_document(deep + "x\n", "f.yaml"), contains_text("expected at most 32 levels"));
  CHECK_THROWS_WITH(parse_document(std::string(100'000, '['), "f.yaml"), contains_text("f.yaml:1:"));
  CHECK_THROWS_WITH(parse_document(std::string(kFileBytesMax + 1, ' '), "f.yaml"),
                    contains_text("at most 1048576 bytes"));
}

TEST_CASE("a file that is not there is refused", "[scenario]") {
  CHECK_THROWS_WITH(load_document("/nonexistent/s.yaml"),
                    "/nonexistent/s.yaml:1:1: expected a readable file, found none");
  CHECK_THROWS_AS(load_document("/"), InputError);
}

TEST_CASE("overrides reach into the tree by dotted path", "[scenario]") {
  DocumentNode root = parse_document("topology: {nodes: 4}\nhardware: cx5\nname: n\n", "f.yaml");
  const auto set = [&](const std::string& path, const std::string& text) {
    set_at(root, path, parse_override(text, "--set " + path + "=" + text));
  };
  set("topology.nodes", "8");
  set("fabric.link.rate", "10Gbps");
  set("hardware.nic.mtu", "1KiB");
  CHECK(root.find("topology")->find("nodes")->text == "8");
  CHECK(root.find("topology")->find("nodes")->place.text() == "--set topology.nodes=8");
  CHECK(root.find("fabric")->find("link")->find("rate")->text == "10Gbps");
  CHECK(root.find("hardware")->find("base")->text == "cx5");
  CHECK(root.find("hardware")->find("nic")->find("mtu")->text == "1KiB");
  CHECK_THROWS_WITH(set("name.first", "x"), "--set name.first=x: name: expected a map, found \"n\"");
  CHECK_THROWS_WITH(set("a..b", "x"), contains_text("expected a dotted key"));
}
