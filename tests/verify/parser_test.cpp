// Programs as text: what is accepted, and one line with its place for each kind of mistake.
#include "verify/parser.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/verify/programs.hpp"
#include "text/input_error.hpp"

namespace {

using namespace loco::verify;
using loco::test::parsed;

std::string error(const std::string& text) {
  try {
    (void)parsed(text);
  } catch (const loco::text::InputError& e) {
    return e.what();
  }
  return "accepted";
}

/// A program of two processes with this code in the first.
std::string with(const std::string& code, const std::string& property = "assert always (1);") {
  return "process 1 { shared X = 0, V = 0; local u; " + code +
         " }\nprocess 2 { shared Y = 1, Z = 2; local w; A: skip; }\n" + property + "\n";
}

std::string repeated(const std::string& text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

}  // namespace

TEST_CASE("every statement of the language is read") {
  const Program program = parsed(R"(
# a comment, and // another
process -3 {   /* and
  one of two lines */
  shared X = -1, C = 0, S = 5;
  local a, b = 7;
  local c;
  one: load a = X;
  store X = a + 2 * (b - 1);
  C = get(Y, 12);
  put(Y, 12, X);
  flush(12);
  C = rga(Y, 12, X);
  C = cas(Y, 12, X, S);
  a = a - -1;
  b = choose(1, -2, 3);
  assume (*);
  assert (a >= 0 || !b);
  if (a == 1) { skip; } else if (*) b = 2; else { }
  while (a <= b) { if (a != b) break; a = a + 1; goto one; }
  two: { three: skip; }
}
process 12 { shared Y = 99999999999999999999999999; local a; }
assert final (a@12 < a@-3 && Y > 9999999999999999999999);
assert always (!at(-3, two) || X * X >= 0);
)");
  CHECK(program.processes.size() == 2);
  CHECK(program.remotes.size() == 4);
  CHECK(program.flushes.size() == 1);
  CHECK(program.properties.size() == 2);
  CHECK(program.processes[0].labels.size() == 3);
  CHECK(program.locals[1].initial == 7);
  CHECK(program.shared[3].initial == Integer("99999999999999999999999999"));
  CHECK(program.remotes[3].text == "C = cas(Y, 12, X, S)");
  CHECK(program.properties[0].expression.text == "a@12 < a@-3 && Y > 9999999999999999999999");
  // `two` stands before the statement inside its block.
  CHECK(program.processes[0].labels[1].location == program.processes[0].labels[2].location);
}

TEST_CASE("integers are decimal, whatever zeros they begin with") {
  const Program program = parsed("process 010 { shared X = 010, Y = -009, Z = 00; skip; } assert always (X == 0012);");
  CHECK(program.processes[0].id == 10);
  CHECK(program.shared[0].initial == 10);
  CHECK(program.shared[1].initial == -9);
  CHECK(program.shared[2].initial == 0);
  CHECK(program.properties[0].expression.nodes[1].literal == 12);
}

TEST_CASE("operators bind as in C") {
  const auto value = [](const std::string& expression) {
    const Program program = parsed(with("u = " + expression + ";"));
    for (const Edge& edge : program.processes[0].edges)
      return evaluate(edge.action.expression.value(), [](const ExpressionNode&) { return Integer(5); });
    return Integer(-1);
  };
  CHECK(value("1 + 2 * 3 - 4") == 3);
  CHECK(value("10 - 4 - 3") == 3);
  CHECK(value("-u * -2") == 10);
  CHECK(value("1 + 1 == 2 && 3 < 2 + 2") == 1);
  CHECK(value("1 || 0 && 0") == 1);
  CHECK(value("!0 + 1") == 2);
  CHECK(value("!(0 + 1)") == 0);
  CHECK(value("3 > 2 == 1") == 1);
  CHECK(value("(2 != 2) + (2 >= 2) + (u <= 5)") == 2);
}

TEST_CASE("a mistake is told of in one line with its place") {
  CHECK(error("") == "f.rma:1:1: expected \"process\", found the end of the file");
  CHECK(error("process 1 {") == "f.rma:1:12: expected a statement, found the end of the file");
  CHECK(error("process 1 { }") == "f.rma:1:14: expected a property: \"assert\", found the end of the file");
  CHECK(error("process x { }") == "f.rma:1:9: expected the number of the process, found \"x\"");
  CHECK(error("process 1 { shared X; }") == "f.rma:1:21: expected \"=\" and the variable's first value, found \";\"");
  CHECK(error("process 1 { skip }\nassert always (1);") == "f.rma:1:18: expected \";\", found \"}\"");
  CHECK(error("process 1 { /* ") == "f.rma:1:13: expected \"*/\" to close this comment, found none");
  CHECK(error("process 1 { \u00fc }") == "f.rma:1:13: expected a name, an integer or an operator, found \"\u00fc\"");
  CHECK(error("\xef\xbb\xbfprocess 1 { $ }") ==
        "f.rma:1:13: expected a name, an integer or an operator, found \"$\"");  // the mark has no column
  CHECK(error("process 1 { $ }") == "f.rma:1:13: expected a name, an integer or an operator, found \"$\"");
  CHECK(error("process 1 { local u; u = 12ab; }") == "f.rma:1:26: expected an integer, found \"12ab\"");
  CHECK(error(with("flsh(2);")) == "f.rma:1:43: expected a statement, found \"flsh\"; did you mean \"flush\"?");
  CHECK(error(with("lod u = X;")) == "f.rma:1:43: expected a statement, found \"lod\"; did you mean \"load\"?");
  CHECK(error(with("u = chose(1);")) ==
        "f.rma:1:47: expected get, rga, cas, choose or an expression, found \"chose\"; did you mean \"choose\"?");
  CHECK(error(with("u 1;")) == "f.rma:1:43: expected a statement, found \"u\"");
  CHECK(error(with("u = (1;")) == "f.rma:1:49: expected \")\", found \";\"");
  CHECK(error(with("u = 1 +;")) == "f.rma:1:50: expected an integer, a variable or \"(\", found \";\"");
  CHECK(error(with("else skip;")) == "f.rma:1:43: expected a statement, found \"else\"");
  CHECK(error(with("skip;", "assert finaly (1);")) ==
        "f.rma:3:8: expected final, always, ends, eventually, leads_to or progress, found \"finaly\"; did you mean "
        "\"final\"?");
  CHECK(error(with("skip;", "assert always (1); process")) ==
        "f.rma:3:20: expected \"assert\" or the end of the file, found \"process\"");
}

TEST_CASE("names are looked up where they may be used") {
  CHECK(error(with("v = 1;")) == "f.rma:1:43: expected a local of process 1, found \"v\"");
  CHECK(error(with("u = X + 1;")) == "f.rma:1:47: expected a local of process 1, found \"X\", a shared variable");
  CHECK(error(with("load u = Y;")) ==
        "f.rma:1:52: expected a shared variable of process 1, found \"Y\", which lives on process 2");
  CHECK(error(with("store Q = 1;")) == "f.rma:1:49: expected a shared variable of process 1, found \"Q\"");
  CHECK(error(with("X = get(Y, 1);")) == "f.rma:1:54: expected \"2\", the process on which \"Y\" lives, found \"1\"");
  CHECK(error(with("put(Y, 3, X);")) == "f.rma:1:50: expected the number of a process (1, 2), found \"3\"");
  CHECK(error(with("flush(7);")) == "f.rma:1:49: expected the number of a process (1, 2), found \"7\"");
  CHECK(error(with("put(Y, 2, Z);")) ==
        "f.rma:1:53: expected a shared variable of process 1, found \"Z\", which lives on process 2");
  CHECK(error(with("goto B;")) == "f.rma:1:48: expected a label of process 1, found \"B\"");
  CHECK(error(with("break;")) == "f.rma:1:43: expected \"break\" inside a loop, found it outside");
  CHECK(error(with("L: skip; L: skip;")) == "f.rma:1:52: expected a label that process 1 has once, found \"L\" again");
  CHECK(error(with("L: M: skip;")) ==
        "f.rma:1:46: expected a statement after the label \"L\" (it has one label at most), found \"M\"");
  CHECK(error("process 1 { } process 1 { } assert always (1);") ==
        "f.rma:1:23: expected a number that no other process has, found \"1\"");
  CHECK(error("process 1 { shared X = 1; } process 2 { shared X = 1; } assert always (1);") ==
        "f.rma:1:48: expected a name that no other shared variable has, found \"X\"");
  CHECK(error("process 1 { local u, u; } assert always (1);") ==
        "f.rma:1:22: expected a name that no other local of process 1 has, found \"u\"");
}

TEST_CASE("properties may name everything, without doubt") {
  CHECK(error(with("skip;", "assert always (u == X && w == Y && at(2, A));")) == "accepted");
  CHECK(error(with("skip;", "assert always (at(1, A));")) == "f.rma:3:22: expected a label of process 1, found \"A\"");
  CHECK(error(with("skip;", "assert always (at(5, A));")) ==
        "f.rma:3:19: expected the number of a process (1, 2), found \"5\"");
  CHECK(error(with("skip;", "assert always (at2);")) == "f.rma:3:16: expected a variable, found \"at2\"");
  CHECK(error("process 1 { local u; } process 2 { local u; } assert final (u == 1);") ==
        "f.rma:1:61: expected one variable, found \"u\", which 2 processes declare: write u@1");
  CHECK(error("process 1 { local u; } process 2 { local u; } assert final (u@3 == 1);") ==
        "f.rma:1:63: expected the number of a process (1, 2), found \"3\"");
  CHECK(error("process 0 { shared a = 1; local a; } assert final (a == 1);") ==
        "f.rma:1:52: expected a name with one meaning, found \"a\", a shared variable and a local of process 0: a@0 is "
        "the local; for the other, give one of them another name");
}

TEST_CASE("liveness has words of its own, which are names elsewhere") {
  CHECK(error(with("in: skip;", "assert always (in(1, in) || at(2, A));")) == "accepted");
  CHECK(error("process 1 { shared ends = 0, under = 1; local in; progress: skip; } assert final (ends == in);") ==
        "accepted");
  CHECK(error(with("skip;", "assert live;")) ==
        "f.rma:3:8: expected final, always, ends, eventually, leads_to or progress, found \"live\"");
  CHECK(error(with("skip;", "assert ends (1, 7);")) ==
        "f.rma:3:17: expected the number of a process (1, 2), found \"7\"");
  CHECK(error(with("skip;", "assert leads_to (X == 1);")) ==
        "f.rma:3:24: expected \",\" and what is to come, found \")\"");
  CHECK(error(with("skip;", "assert progress (at(2, B));")) ==
        "f.rma:3:24: expected a label of process 2, found \"B\"");
  CHECK(error(with("skip;", "assert progress (in(2, A));")) == "f.rma:3:18: expected \"at\", found \"in\"");
  CHECK(error(with("skip;", "assert ends under wek;")) ==
        "f.rma:3:19: expected weak, nic or none, found \"wek\"; did you mean \"weak\"?");
  CHECK(error(with("u = 1 + in(1, A);")) ==
        "f.rma:1:57: expected locals only (at(...) and in(...) are for properties), found \"in\"");
}

TEST_CASE("in(...) is a statement with its block") {
  const Program program = parsed(
      "process 1 { local u; L: while (u == 0) { u = 1; if (u == 1) skip; } M: u = 2; }\n"
      "assert leads_to (in(1, L), in(1, M)) under nic;");
  const Process& process = program.processes[0];
  REQUIRE(process.labels.size() == 2);
  CHECK(std::count(process.labels[0].inside.begin(), process.labels[0].inside.end(), true) == 4);
  CHECK(std::count(process.labels[1].inside.begin(), process.labels[1].inside.end(), true) == 1);
  REQUIRE(program.liveness.size() == 1);
  CHECK(program.liveness[0].under == Fairness::kNic);
  CHECK(program.liveness[0].text == "leads_to (in(1, L), in(1, M))");
}

TEST_CASE("depth is bounded, length is not") {
  const std::string message = "expected at most 256 blocks or parentheses in each other, found more";
  CHECK_THAT(error(with(repeated("{", 3000) + repeated("}", 3000))), loco::test::contains_text(message));
  CHECK_THAT(error(with("u = " + repeated("(", 100000) + "1" + repeated(")", 100000) + ";")),
             loco::test::contains_text(message));
  CHECK_THAT(error(with("u = " + repeated("-", 100000) + "1;")), loco::test::contains_text(message));
  CHECK(error(with(repeated("{", 200) + "skip;" + repeated("}", 200))) == "accepted");
  CHECK(error(with(repeated("if (u == 1) { u = u + 1; }\n", 10000))) == "accepted");
  CHECK(error(with("u = 0" + repeated(" + u", 10000) + ";")) == "accepted");
  CHECK_THAT(error(with(repeated("u = 1;\n", 10000) + "u = ;")), loco::test::contains_text("f.rma:10001:5: "));
}

TEST_CASE("flushes after every remote statement are numbered like these") {
  const Program program = with_flush_after_every_remote(parsed(loco::test::kPeterson));
  REQUIRE(program.flushes.size() == 7);
  for (std::size_t i = 0; i < program.remotes.size(); ++i) {
    CHECK(program.flushes[i].process == program.remotes[i].process);
    CHECK(program.flushes[i].target == program.remotes[i].target);
    CHECK(program.flushes[i].place.line == program.remotes[i].place.line);
  }
}
