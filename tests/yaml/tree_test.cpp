// The YAML tree: places, duplicate keys, bounds.
#include <string>

#include "tests/catch.hpp"
#include "text/input_error.hpp"
#include "text/words.hpp"
#include "yaml/node.hpp"

using namespace loco::yaml;
using loco::test::contains_text;
using loco::text::in_quotes;
using loco::text::InputError;
using loco::text::printable;

namespace {

/// A tree in one line: `text` of plain scalars, 'text' of quoted ones, - for nothing; with the place of each value if
/// asked.
std::string show(const Node& node, bool places = false) {
  const std::string at =
      places ? std::to_string(node.place.line) + ":" + std::to_string(node.place.column) + " " : std::string();
  std::string s;
  switch (node.kind) {
    case Node::Kind::null:
      return at + "-";
    case Node::Kind::scalar:
      return at + (node.quoted ? "'" + printable(node.text) + "'" : printable(node.text));
    case Node::Kind::list:
      for (const Node& item : node.items) s += (s.empty() ? "" : ", ") + show(item, places);
      return at + "[" + s + "]";
    case Node::Kind::map:
      for (const Entry& e : node.entries) s += (s.empty() ? "" : ", ") + e.key + ": " + show(e.value, places);
      return at + "{" + s + "}";
  }
  return s;
}

std::string tree(const std::string& text) { return show(parse_document(text, "f")); }
std::string tree_with_places(const std::string& text) { return show(parse_document(text, "f"), true); }

}  // namespace

TEST_CASE("values know their line and column", "[yaml]") {
  const Node root = parse_document("a: 1\nb:\n  c: [x, 'y']\n", "f.yaml");
  const Node* list = root.find("b")->find("c");
  REQUIRE(list->items.size() == 2);
  CHECK(list->items[0].place.text() == "f.yaml:3:7");
  CHECK(list->items[1].place.text() == "f.yaml:3:10");
  CHECK_FALSE(list->items[0].quoted);
  CHECK(list->items[1].quoted);
}

TEST_CASE("a key given twice is refused where it is repeated", "[yaml]") {
  CHECK_THROWS_WITH(parse_document("a: 1\nb: 2\na: 3\n", "f.yaml"),
                    "f.yaml:3:1: expected each key once, found \"a\" again (first in line 1, column 1)");
  CHECK_THROWS_WITH(parse_document("s: {x: 1, x: 1}\n", "f.yaml"),
                    contains_text("f.yaml:1:11: expected each key once"));
}

TEST_CASE("maps are not merged", "[yaml]") {
  CHECK_THROWS_WITH(tree("a: &a {b: 1}\nc: {<<: *a}\n"),
                    "f:2:5: expected a key, found \"<<\", which merges maps in YAML 1.1 only");
  CHECK(tree("'<<': 1\n") == "{<<: 1}");
}

TEST_CASE("columns count bytes, and no byte-order mark", "[yaml]") {
  CHECK(tree_with_places("\xef\xbb\xbf"
                         "a: [x, y]\nb: z\n") == "1:1 {a: 1:4 [1:5 x, 1:8 y], b: 2:4 z}");
  CHECK(tree_with_places("a: [\xc3\xa9, \xe2\x82\xac, \xf0\x9f\x98\x80, x]\nb: [\xc3\xa9, y]\n") ==
        "1:1 {a: 1:4 [1:5 \xc3\xa9, 1:9 \xe2\x82\xac, 1:14 \xf0\x9f\x98\x80, 1:20 x], b: 2:4 [2:5 \xc3\xa9, 2:9 y]}");
  CHECK_THROWS_WITH(parse_document("\xc3\xa9: 1\nb: {\xc3\xa9: 1, \xc3\xa9: 2}\n", "f"),
                    contains_text("f:2:12: expected each key once"));
  CHECK_THROWS_WITH(parse_document("a: \xc3\xa9\n\xc3\xa9: b: c\n", "f"), contains_text("f:2:6: "));
}

TEST_CASE("lines may end as on Windows", "[yaml]") {
  const std::string text = "a: 1\n\nb:\n  - x\n  - 'y\n    z'\nc: |\n  u\n  v\n# end\nd: [p,\n  q]\n";
  std::string windows;
  for (const char c : text) windows += c == '\n' ? std::string("\r\n") : std::string(1, c);
  CHECK(tree_with_places(windows) == tree_with_places(text));
  CHECK(tree(text) == "{a: 1, b: [x, 'y z'], c: 'u\\x0av\\x0a', d: [p, q]}");
}

TEST_CASE("JSON is read, with and without spaces", "[yaml]") {
  CHECK(tree(R"({"a":1,"b":[1,2],"c":{"d":"e","f":null,"g":true}})") ==
        "{a: 1, b: [1, 2], c: {d: 'e', f: -, g: true}}");
  CHECK(tree("{\n\t\"a\": 1,\n\t\"b\": [\n\t\t-1.5e3,\n\t\t\"x\\u00e9\\/\\n\"\n\t]\n}\n") ==
        "{a: 1, b: [-1.5e3, 'x\xc3\xa9/\\x0a']}");
  CHECK(tree("{\"a\":[],\"b\":{}}") == "{a: [], b: {}}");
  CHECK(show(parse_override("[1,\"2\"]", "--set")) == "[1, '2']");
}

TEST_CASE("what stands for no value, and where", "[yaml]") {
  CHECK(tree("a: ~\nb: null\nc: Null\nd: NULL\ne:\nf: ''\ng: \"~\"\nh: nUll\n") ==
        "{a: -, b: -, c: -, d: -, e: -, f: '', g: '~', h: nUll}");
  CHECK(tree_with_places("a:\nb:   # later\nc: {d, e: }\n") ==
        "1:1 {a: 1:3 -, b: 2:3 -, c: 3:4 {d: 3:6 -, e: 3:11 -}}");
  for (const char* text : {"", "\n", "# nothing\n", "---\n", "---\n...\n", "\xef\xbb\xbf"}) CHECK(tree(text) == "-");
  CHECK(tree("--- {a: 1}\n...\n") == "{a: 1}");
}

TEST_CASE("text in quotes and blocks is text", "[yaml]") {
  CHECK(tree("a: '1'\nb: \"2\"\nc: |\n  3\nd: >-\n  4\n  5\ne: 6\n  7\n") ==
        "{a: '1', b: '2', c: '3\\x0a', d: '4 5', e: 6 7}");
  // the tag "!" makes text of what would be something else; an anchor may stand before or behind it
  CHECK(tree("[! 1, &a ! 2, ! &b 3, ! '4', ! null, &c 5, *a, *b, *c]") ==
        "['1', '2', '3', '4', 'null', 5, '2', '3', 5]");
  CHECK(tree("? a\n! b: 1\n") == "{a: -, b: 1}");
  CHECK(tree("a: !\nb: ! [1]\n") == "{a: '', b: [1]}");
}

TEST_CASE("an alias is its anchor's last value", "[yaml]") {
  CHECK(tree("a: &x {b: 1}\nc: *x\nd: [*x, &x 2, *x]\n") == "{a: {b: 1}, c: {b: 1}, d: [{b: 1}, 2, 2]}");
  CHECK(tree("&k a: 1\nb: *k\n") == "{a: 1, b: a}");
  CHECK_THROWS_WITH(parse_document("a: *x\n", "f"),
                    "f:1:4: expected an alias of a finished value, found an alias of nothing");
  CHECK_THROWS_WITH(parse_document("a: &x 1\nb: &x [*x]\n", "f"),
                    contains_text("f:2:8: expected an alias of a finished value"));
}

TEST_CASE("text that is not YAML is refused with its place", "[yaml]") {
  const auto error = [](const std::string& text) -> std::string {
    try {
      return tree(text);
    } catch (const InputError& e) {
      return e.what();
    }
  };
  const std::string expected = ": expected well-formed YAML, found ";
  CHECK(error("a: [1, 2\nb: 3\n") ==
        "f:2:2" + expected +
            "\": 3\" in place of ',' or ']'; while parsing a flow sequence that began in line 1, column 4");
  CHECK(error("a: [") == "f:1:5" + expected + "the end of the line in place of a value");
  CHECK(error("a: 'x\nb: 1\n") ==
        "f:3:1" + expected + "unexpected end of stream; while scanning a quoted scalar that began in line 1, column 4");
  CHECK(error("a: 1\nbcd\ne: 2\n") == "f:2:1" + expected + "\"bcd\" in place of a key and ':'");
  CHECK(error("a: 1\n  b: 2\n") == "f:2:4" + expected + "mapping values are not allowed in this context");
  CHECK(error("a: 'x' y\n") ==
        "f:1:8" + expected + "\"y\" in place of a key; while parsing a block mapping that began in line 1, column 1");
  CHECK(error("{a: 1}\nb: 2\n") == "f:2:1" + expected + "\"b: 2\" in place of '---' or the end of the text");
  CHECK(error("a: @x\n") == "f:1:4" + expected + "character that cannot start any token");
  CHECK(error("a: 1\n\tb: 2\n") ==
        "f:2:1" + expected +
            "a tab character that violates indentation; while scanning a plain scalar that began in line 1, column 4");
  CHECK(error("a: 'x'\n\tb: 2\n") == "f:2:1" + expected + "a tab character where an indentation space is expected");
  CHECK(error("a: b: c\n") == "f:1:5" + expected + "mapping values are not allowed in this context");
  CHECK(error("a: 1\n---\nb: 2\n") == "f:3:1: expected one YAML document, found a second one");
  CHECK(error("? [a]\n: 1\n") == "f:1:3: expected a key, found [a]");
  CHECK(error("~: 1\n") == "f:1:1: expected a key, found nothing");
  CHECK(error("a: !!int 1\n") == "f:1:4: expected a plain value, found the YAML tag \"tag:yaml.org,2002:int\"");
  CHECK(error("a: !b [1]\n") == "f:1:4: expected a plain value, found the YAML tag \"!b\"");
  CHECK(error("a: !!python/object x\n") ==
        "f:1:4: expected a plain value, found the YAML tag \"tag:yaml.org,2002:python/object\"");
}

TEST_CASE("bytes that are no text are refused with their place", "[yaml]") {
  const auto at = [](const std::string& text, const std::string& place) {
    CHECK_THROWS_WITH(parse_document(text, "f"), contains_text("f:" + place + ": expected well-formed YAML, found "));
  };
  at(std::string("a: 1\nb: \0\n", 10), "2:4");
  at("a: \"\x01\"\n", "1:5");
  at("a: 1\nb: \xff\n", "2:4");
  at("\xef\xbb\xbfx: \xc3\n", "1:5");
  at("a: \xc3", "1:4");
  at("a: \xed\xa0\x80\n", "1:4");               // half of a surrogate pair
  at(std::string("\xff\xfe[\0]\0", 6), "1:1");  // UTF-16
}

TEST_CASE("messages are one line of UTF-8, whatever the file holds", "[yaml]") {
  CHECK(printable("a\nb\xff\xc3\xa4\x7f") == "a\\x0ab\\xff\xc3\xa4\\x7f");
  CHECK(in_quotes(std::string(100, 'a')) == "\"" + std::string(60, 'a') + "...\"");
  CHECK_THROWS_WITH(parse_document(std::string("\0\xff\n", 3), "f.yaml"), contains_text("f.yaml:1:"));
}

TEST_CASE("documents that would fill the memory are refused", "[yaml]") {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string p = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) bomb += p + (k < 9 ? ", " : "]\n");
  }
  CHECK_THROWS_WITH(parse_document(bomb, "f.yaml"), contains_text("expected at most 100000 values, found more"));
  CHECK_THROWS_WITH(parse_document("a: &a [*a]\n", "f.yaml"), contains_text("an alias inside the value that it names"));
  std::string deep;
  for (int i = 0; i < 60; ++i) deep += "- ";
  CHECK_THROWS_WITH(parse_document(deep + "x\n", "f.yaml"), contains_text("expected at most 50 levels"));
  for (const char* opening : {"[", "{", "[{", "? "}) {
    std::string text;
    while (text.size() < kFileBytesMax - 1) text += opening;
    CHECK_THROWS_WITH(parse_document(text, "f.yaml"), contains_text("expected at most 50 levels"));
  }
  CHECK(parse_document(std::string(50, '[') + std::string(50, ']'), "f.yaml").items.size() == 1);
  CHECK_THROWS_WITH(parse_document(std::string(kFileBytesMax + 1, ' '), "f.yaml"),
                    contains_text("at most 1048576 bytes"));
}

TEST_CASE("texts of several documents", "[yaml]") {
  const std::vector<Node> trees = parse_documents("a: &x 1\n---\n---\n- 2\n", "f");
  REQUIRE(trees.size() == 3);
  CHECK(show(trees[0]) == "{a: 1}");
  CHECK(trees[1].kind == Node::Kind::null);
  CHECK(show(trees[2], true) == "4:1 [4:3 2]");
  CHECK_THROWS_WITH(parse_documents("a: &x 1\n---\nb: *x\n", "f"),
                    "f:3:4: expected an alias of a finished value, found an alias of nothing");
  CHECK(parse_documents("# nothing\n", "f").empty());
}

TEST_CASE("a file that is not there is refused", "[yaml]") {
  CHECK_THROWS_WITH(load_document("/nonexistent/s.yaml"),
                    "/nonexistent/s.yaml:1:1: expected a readable file, found none");
  CHECK_THROWS_AS(load_document("/"), InputError);
}

TEST_CASE("overrides reach into the tree by dotted path", "[yaml]") {
  Node root = parse_document("topology: {nodes: 4}\nname: n\n", "f.yaml");
  const auto set = [&](const std::string& path, const std::string& text) {
    set_at(root, path, parse_override(text, "--set " + path + "=" + text));
  };
  set("topology.nodes", "8");
  set("fabric.link.rate", "10Gbps");
  CHECK(root.find("topology")->find("nodes")->text == "8");
  CHECK(root.find("topology")->find("nodes")->place.text() == "--set topology.nodes=8");
  CHECK(root.find("fabric")->find("link")->find("rate")->text == "10Gbps");
  CHECK_THROWS_WITH(set("name.first", "x"), "--set name.first=x: name: expected a map, found \"n\"");
  CHECK_THROWS_WITH(set("a..b", "x"), contains_text("expected a dotted key"));
}
