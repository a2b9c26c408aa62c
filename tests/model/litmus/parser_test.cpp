// Litmus documents: what is read, and where mistakes are.
#include "model/litmus/language/parser.hpp"

#include "model/litmus/search/search.hpp"
#include "tests/catch.hpp"
#include "text/input_error.hpp"

using namespace loco::model;
using namespace loco::model::litmus;

namespace {

Program parse(const std::string& text) { return parse_text(text, "f").front(); }

std::string error(const std::string& text) {
  try {
    (void)parse_text(text, "f");
  } catch (const loco::text::InputError& e) {
    return e.what();
  }
  return "no error";
}

/// A document with one thread on node 1 of the given code.
std::string with_code(const std::string& code) {
  return "name: t\nlocations: {x: {node: 1}, y: {node: 1}, z: {node: 2}, s: {shared: true}}\nthreads:\n"
         "  - node: 1\n    code: |\n      " +
         code + "\n";
}

}  // namespace

TEST_CASE("statements become instructions with one access each", "[litmus]") {
  const Program p = parse(with_code("x = y; a = x + y; put(z, 7) as d; wait(d); bcast(s, {2, 1, 2}) as d"));
  const auto& code = p.threads[0].code;
  REQUIRE(code.size() == 8);
  CHECK(code[0].op == Op::read);
  CHECK(code[1].op == Op::write);
  CHECK(code[1].text == "x = y");
  CHECK(code[2].op == Op::read);
  CHECK(code[3].op == Op::read);
  CHECK(code[4].op == Op::assign);
  CHECK(code[5].op == Op::put);
  CHECK(code[5].node == 2);
  CHECK(p.locations[static_cast<std::size_t>(code[5].source)].fresh);
  CHECK(p.locations[static_cast<std::size_t>(code[5].source)].init == 7);
  CHECK(code[6].op == Op::wait);
  CHECK(code[6].library == Library::sv);  // d is used by a bcast
  CHECK(code[7].nodes == std::vector<int>{1, 2});
  CHECK(p.nodes == std::vector<int>{1, 2});
  REQUIRE(p.observables.size() == 1);
  CHECK(p.observables[0].name == "a");
}

TEST_CASE("control flow becomes jumps", "[litmus]") {
  const Program p =
      parse(with_code("while (x == 0) {\n        a = 1\n      }\n      if (a) { b = 1 }\n      else { b = 2 }"));
  const auto& code = p.threads[0].code;
  REQUIRE(code.size() == 8);
  CHECK(code[0].op == Op::read);
  CHECK(code[1].op == Op::branch_zero);
  CHECK(code[1].jump == 4);
  CHECK(code[3].op == Op::jump);
  CHECK(code[3].jump == 0);
  CHECK(code[4].op == Op::branch_zero);
  CHECK(code[4].jump == 7);
  CHECK(code[6].jump == 8);
}

TEST_CASE("break leaves the innermost loop, and there must be one", "[litmus]") {
  const std::string head = "model: rdmawait\nlocations: {x: {node: 1}}\nthreads: [{node: 1, code: \"";
  const Program p =
      parse_text(head + "a = 0; while (1) { a = a + 1; if (a == 2) { break } }; b = 7\"}]\n", "t").front();
  const std::vector<Outcome> outcomes = search(p, *find_model("rdmawait"), {}).outcomes;
  CHECK(outcomes == std::vector<Outcome>{{2, 7}});
  CHECK_THROWS_WITH(parse_text(head + "break\"}]\n", "t"),
                    loco::test::contains_text("expected break within a while only"));
}

TEST_CASE("mistakes in code are placed in the file, whatever the scalar's style", "[litmus]") {
  CHECK(error(with_code("x = 1; y = q")) == "f:6:18: expected a location, or a register of this thread, found \"q\"");
  CHECK(error("name: t\nlocations: {x: {node: 1}}\nthreads:\n  - {node: 1, code: \"x = 1; a = xx\"}\n") ==
        "f:4:33: expected a location, or a register of this thread, found \"xx\"; did you mean \"x\"?");
  CHECK(error("threads:\n  - node: 1\n    code: 'a = 1; b = ?'\n") == "f:3:23: expected a statement, found \"?\"");
  CHECK(error("threads:\n  - node: 1\n    code: |\n\n      a = 1\n      b = (1\n") ==
        "f:7:7: expected ')', found the end of the code");
  // folded: line breaks become spaces, or go away before empty lines; lines further in keep theirs
  const std::string folded = "threads:\n  - node: 1\n    code: &k >\n\n      a = 1;\n      b = 2;\n\n\n      c = 3;\n";
  CHECK(error(folded + "      d = ?\n") == "f:10:11: expected a statement, found \"?\"");
  CHECK(error(folded + "        d = 4;\n      \n      e = ?\n") == "f:12:11: expected a statement, found \"?\"");
  CHECK(error("threads:\n  - {node: 1, code: &k \"a = ?\"}\n") == "f:2:29: expected a statement, found \"?\"");
}

TEST_CASE("mistakes name what was expected and what was found", "[litmus]") {
  CHECK(error(with_code("a = z")) == "f:6:11: expected a location on node 1, the thread's own, found \"z\" on node 2");
  CHECK(error(with_code("put(q, 1)")) == "f:6:11: expected a location to put to, found \"q\"");
  CHECK(error(with_code("put(s, 1)")) == "f:6:11: expected a location to put to, found \"s\", a shared location");
  CHECK(error(with_code("bcast(x, {2})")) ==
        "f:6:13: expected a shared location, found \"x\", a location that holds one word");
  CHECK(error(with_code("barier(x)")) == "f:6:7: expected a statement, found \"barier\"; did you mean \"barrier\"?");
  CHECK(error(with_code("x = 99999999999999999999")) ==
        "f:6:11: expected a decimal integer of at most 2^61, found \"99999999999999999999\"");
  CHECK(error(with_code("a = put(z, 1)")) ==
        "f:6:11: expected cas, xchg, submit, receive, tryread or an expression, found \"put\", which returns nothing");
  CHECK(error(with_code("poll(1)")) == "f:6:7: expected a statement of model loco, found \"poll(1)\"");
  CHECK(error("locations: {x: {nod: 1}}\nthreads: []\n") ==
        "f:1:17: expected one of the keys node, init, shared, relaxed, memory, found \"nod\"; did you mean \"node\"?");
  CHECK(error("model: rdmawat\nthreads: []\n") ==
        "f:1:8: expected one of the models rdmatso, rdmawait, loco, sc, verbs, corerma, corerma-verbs, "
        "corerma-unordered, "
        "corerma-aries, corerma-ga-atomic, found "
        "\"rdmawat\"; did you mean \"rdmawait\"?");
  CHECK(error("threads: [{node: 1, code: a = 1}, {node: 1, code: a = 2}]\n") ==
        "f:1:51: expected a register that no other thread assigns to, found \"a\", a register of thread 0");
  CHECK(error("threads: [{node: 1, code: a = 1}]\noutcomes: {allowed: [{b: 1}]}\n") ==
        "f:2:23: expected a register or a location of `final`, found \"b\"");
  CHECK(error("threads: [{node: 1}]\nbarriers: {z: [0, 1]}\n") ==
        "f:2:19: expected the position of one of the 1 threads, from 0, found \"1\"");
  CHECK(error("a: [") == "f:1:5: expected well-formed YAML, found the end of the line in place of a value");
  CHECK(error("a: b: c\n") == "f:1:5: expected well-formed YAML, found mapping values are not allowed in this context");
  CHECK(error("a: [1, }\n") == "f:1:8: expected well-formed YAML, found \"}\" in place of a value");
  CHECK(error("a: 1\nb: \xff\n") == "f:2:4: expected well-formed YAML, found invalid leading UTF-8 octet");
  CHECK(parse("\xef\xbb\xbfname: marked\nthreads: []\n").name == "marked");
  CHECK(error("a: *b\n") == "f:1:4: expected an alias of a finished value, found an alias of nothing");
  CHECK(error("a: 1\nb\nc: 1\n") == "f:2:1: expected well-formed YAML, found \"b\" in place of a key and ':'");
  CHECK(error("threads: [{node: 1, \xc3\xa9: 2}]\n").substr(0, 6) == "f:1:21");
  CHECK(error("threads: [{code: \"a = '\xc3\xa9'\", node: -}]\n").substr(0, 6) == "f:1:36");
  CHECK(error("a: [&b 1, &b [*b]]\n") ==
        "f:1:15: expected an alias of a finished value, found an alias inside the value that it names");
  CHECK(error("a: &b [*b]\n") ==
        "f:1:8: expected an alias of a finished value, found an alias inside the value that it names");
  CHECK_THROWS_AS(parse_file("/nonexistent/litmus.yaml"), loco::text::InputError);
}

TEST_CASE("nesting and size have limits", "[litmus]") {
  CHECK_THAT(error(with_code("a = " + std::string(200, '('))),
             loco::test::contains_text("at most 64 levels of nesting"));
  CHECK_THAT(error(with_code("a = " + std::string(200, '-') + "1")), loco::test::contains_text("at most 64 levels"));
  const auto sum = [](int operators) {
    std::string text = "1";
    for (int i = 0; i < operators; ++i) text += "+1";
    return text;
  };
  CHECK_THAT(error(with_code("x = " + sum(1000))), loco::test::contains_text("at most 2000 operands and operators"));
  CHECK_THAT(error(with_code("while (" + sum(1000) + ") { }")), loco::test::contains_text("at most 2000 operands"));
  CHECK_THAT(error(with_code("x = cas(x, " + sum(500) + ", " + sum(500) + ")")),
             loco::test::contains_text("at most 2000 operands"));
  // What is left has a value: that of a long sum is its own.
  const Program p = parse(with_code("a = x; y = " + sum(999) + "\nfinal: [y]"));
  const std::vector<Outcome> outcomes = search(p, *find_model("rdmawait"), {}).outcomes;
  REQUIRE(outcomes.size() == 1);
  CHECK(p.text(outcomes.front()) == "a=0 y=1000");
}

TEST_CASE("coreRMA documents give get, put and cas their own meaning", "[litmus]") {
  const std::string document =
      "model: corerma\nlocations: {X: {node: 1}, Y: {node: 2}}\nthreads:\n  - {node: 1, code: \"X = cas(Y, 0, 1); "
      "flush(2)\"}\n";
  const Program p = parse(document);
  CHECK(p.threads[0].code[0].op == Op::remote_cas);
  CHECK(p.threads[0].code[0].node == 2);
  CHECK_THROWS_WITH(parse_text(document, "f", {"rdmawait"}),
                    loco::test::contains_text("same family as model rdmawait"));
  CHECK_THAT(error("model: corerma\nlocations: {Y: {node: 2}}\nthreads: [{node: 1, code: u = get(Y)}]\n"),
             loco::test::contains_text("a location: coreRMA's remote statements do not write registers"));
}

TEST_CASE("what would be read in a way that nobody meant is refused", "[litmus]") {
  const auto with = [](const std::string& lines, const std::string& code = "a = x") {
    return "locations: {x: {node: 1}, s: {shared: true}}\n" + lines + "threads:\n  - {node: 1, code: \"" + code +
           "\"}\n";
  };
  CHECK(error(with("")) == "no error");
  CHECK(error(with("outcomes: {allowed: [{a: 0, a: 1}]}\n")) ==
        "f:2:29: expected each key once, found \"a\" again (first in line 2, column 23)");
  CHECK(error(with("barriers: {x: [0]}\n")) == "f:2:12: expected a name not used before, found \"x\"");
  CHECK(error(with("barriers: {z: [0]}\nringbuffers: {z: {writer: 0, readers: [0]}}\n")) ==
        "f:3:15: expected a name not used before, found \"z\"");
  CHECK(error(with("barriers: {z: [0, 0]}\n")) == "f:2:19: expected each thread once, found \"0\"");
  CHECK(error(with("barriers: {z: []}\n")) == "f:2:12: expected a barrier with a participating thread, found \"z\"");
  CHECK(error(with("final: [s@7]\n")) == "f:2:9: expected a copy on the node of a thread or location, found \"s@7\"");
  CHECK(error(with("", "bcast(s, {9})")) == "f:3:32: expected the node of a thread or location, found \"9\"");
  CHECK(error(with("atomicity: non_atomic\n")) ==
        "f:2:12: expected no atomicity in a document of model loco, found \"non_atomic\"");
  CHECK(error(with("", "mfence = 1")) ==
        "f:3:22: expected a location or register, found \"mfence\", a word of the statements");
  CHECK(error("locations: {x: {node: 1, init: +5}}\nthreads: []\n") == "no error");
  for (const std::string number : {"+-5", "++5", "--5", "+", "5.0", "0x5"})
    CHECK_THAT(error("locations: {x: {node: 1, init: " + number + "}}\nthreads: []\n"),
               loco::test::contains_text("f:1:32: expected an integer"));
  CHECK(error("locations: {put: {node: 1}}\nthreads: []\n") ==
        "f:1:13: expected the name of a location, found \"put\", a word of the statements");
}
