// herd's files: the families of x86 tests have x86-TSO's verdicts (Sewell et al., "x86-TSO", CACM 53(7), 2010; Alglave,
// Maranget, Tautschnig, "Herding cats", TOPLAS 36(2), 2014, names of families), and what is written is read again.
#include "model/litmus/language/herd.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "model/litmus/answers/litmus.hpp"
#include "model/litmus/language/parser.hpp"
#include "tests/catch.hpp"

using namespace loco::model::litmus;

namespace {

/// Threads by letters: Wx1 a store of 1 to x, Rx a load, F a fence; loads go to EAX, EBX, ... of their thread.
std::string x86(const std::string& name, const std::vector<std::string>& threads, const std::string& condition) {
  std::vector<std::vector<std::string>> columns;
  std::size_t rows = 0;
  for (const std::string& t : threads) {
    std::vector<std::string> lines;
    int loads = 0;
    for (std::size_t i = 0; i < t.size(); ++i) {
      if (t[i] == 'F') lines.emplace_back("MFENCE");
      if (t[i] == 'W') lines.push_back(std::string("MOV [") + t[i + 1] + "],$" + t[i + 2]);
      if (t[i] == 'R')
        lines.push_back(std::string("MOV E") + static_cast<char>('A' + loads++) + "X,[" + t[i + 1] + "]");
    }
    rows = std::max(rows, lines.size());
    columns.push_back(lines);
  }
  std::string s = "X86 " + name + "\n\"a family by its name\"\n{ x=0; y=0; }\n";
  for (std::size_t t = 0; t < columns.size(); ++t) s += (t > 0 ? " | P" : " P") + std::to_string(t);
  s += " ;\n";
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t t = 0; t < columns.size(); ++t)
      s += (t > 0 ? " | " : " ") + (r < columns[t].size() ? columns[t][r] : "");
    s += " ;\n";
  }
  return s + condition + "\n";
}

bool possible(const std::string& file) {
  const Program p = parse_herd(file, "test.litmus");
  const Result r = enumerate(p);
  REQUIRE(r.complete);
  return r.ok;
}

struct Family {
  const char* name;
  std::vector<std::string> threads;
  const char* exists;
  bool allowed;
};

const std::vector<Family> kFamilies = {
    {"SB", {"Wx1Ry", "Wy1Rx"}, "0:EAX=0 /\\ 1:EAX=0", true},
    {"SB+mfences", {"Wx1FRy", "Wy1FRx"}, "0:EAX=0 /\\ 1:EAX=0", false},
    {"SB+mfence+po", {"Wx1FRy", "Wy1Rx"}, "0:EAX=0 /\\ 1:EAX=0", true},
    {"SB+rfi-pos", {"Wx1RxRy", "Wy1RyRx"}, "0:EAX=1 /\\ 0:EBX=0 /\\ 1:EAX=1 /\\ 1:EBX=0", true},
    {"MP", {"Wx1Wy1", "RyRx"}, "1:EAX=1 /\\ 1:EBX=0", false},
    {"LB", {"RxWy1", "RyWx1"}, "0:EAX=1 /\\ 1:EAX=1", false},
    {"IRIW", {"Wx1", "Wy1", "RxRy", "RyRx"}, "2:EAX=1 /\\ 2:EBX=0 /\\ 3:EAX=1 /\\ 3:EBX=0", false},
    {"2+2W", {"Wx2Wy1", "Wy2Wx1"}, "x=2 /\\ y=2", false},
    {"R", {"Wx1Wy1", "Wy2Rx"}, "y=2 /\\ 1:EAX=0", true},
    {"R+po+mfence", {"Wx1Wy1", "Wy2FRx"}, "y=2 /\\ 1:EAX=0", false},
    {"S", {"Wx2Wy1", "RyWx1"}, "x=2 /\\ 1:EAX=1", false},
    {"WRC", {"Wx1", "RxWy1", "RyRx"}, "1:EAX=1 /\\ 2:EAX=1 /\\ 2:EBX=0", false},
    {"RWC", {"Wx1", "RxRy", "Wy1Rx"}, "1:EAX=1 /\\ 1:EBX=0 /\\ 2:EAX=0", true},
    {"RWC+po+mfence", {"Wx1", "RxRy", "Wy1FRx"}, "1:EAX=1 /\\ 1:EBX=0 /\\ 2:EAX=0", false},
    {"CoRR", {"Wx1", "RxRx"}, "1:EAX=1 /\\ 1:EBX=0", false},
    {"CoRR0", {"Wx1Wx2", "RxRx"}, "1:EAX=2 /\\ 1:EBX=1", false},
    {"CoRR2", {"Wx1", "Wx2", "RxRx", "RxRx"}, "2:EAX=1 /\\ 2:EBX=2 /\\ 3:EAX=2 /\\ 3:EBX=1", false},
    {"CoRW", {"RxWx1"}, "0:EAX=1", false},
    {"CoRW1", {"RxWx1", "Wx2"}, "0:EAX=2 /\\ x=2", false},
    {"CoWR", {"Wx1Rx", "Wx2"}, "0:EAX=2 /\\ x=1", false},
    {"CoWW", {"Wx1Wx2"}, "x=1", false},
};

}  // namespace

TEST_CASE("herd's families for x86 have x86-TSO's verdicts", "[herd]") {
  for (const Family& f : kFamilies) {
    INFO(f.name);
    CHECK(possible(x86(f.name, f.threads, std::string("exists (") + f.exists + ")")) == f.allowed);
    CHECK(possible(x86(f.name, f.threads, std::string("~exists (") + f.exists + ")")) == !f.allowed);
    CHECK(possible(x86(f.name, f.threads, std::string("forall not (") + f.exists + ")")) == !f.allowed);
  }
}

TEST_CASE("what is written for herd is read again, with the same states", "[herd]") {
  for (const Family& f : kFamilies) {
    const Program p = parse_herd(x86(f.name, f.threads, std::string("exists (") + f.exists + ")"), "test.litmus");
    const auto file = to_herd_file(p);
    REQUIRE(file);
    INFO(*file);
    const Program again = parse_herd(*file, "again.litmus");
    CHECK(enumerate(again).outcomes == enumerate(p).outcomes);
    CHECK(enumerate(again).ok == f.allowed);
  }
  const char* const remote =
      "name: far\nlocations: {x: {node: 1}}\nthreads: [{node: 1, code: \"put(x, 1)\"}, {node: 1, code: \"a = x\"}]\n";
  CHECK_FALSE(to_herd_file(parse_text(remote, "test").front()));
}

TEST_CASE("herd's lines are printed, of the states that the file asks for", "[herd]") {
  const Program p =
      parse_herd(x86("SB", {"Wx1Ry", "Wy1Rx"}, "locations [x;]\nexists (0:EAX=0 /\\ 1:EAX=0)"), "sb.litmus");
  CHECK(to_herd_text(p, enumerate(p)) ==
        "Test SB Allowed\nStates 4\n0:EAX=0; 1:EAX=0; [x]=1;\n0:EAX=0; 1:EAX=1; [x]=1;\n0:EAX=1; 1:EAX=0; [x]=1;\n"
        "0:EAX=1; 1:EAX=1; [x]=1;\nOk\nWitnesses\nPositive: 1 Negative: 3\n"
        "Condition exists (0:EAX=0 /\\ 1:EAX=0)\nObservation SB Sometimes 1 3\n");
}

TEST_CASE("herd's C: plain accesses, the kernel's macros, C11's atomics", "[herd]") {
  const auto message = [](const std::string& p0, const std::string& p1, const std::string& exists) {
    return "C MP\n\n{ [x]=0; int y = 0; }\n\nP0 (int* x, atomic_int* y) { // writer\n" + p0 + "\n}\n" +
           "P1 (int* x, atomic_int* y) {\n" + p1 + "\n}\nexists (" + exists + ") (* end *)\n";
  };
  CHECK_FALSE(possible(message("*x = 1; *y = 1;", "int r0 = *y; int r1 = *x;", "1:r0=1 /\\ 1:r1=0")));
  CHECK(possible(message("WRITE_ONCE(*x, 1); int r0 = READ_ONCE(*y);", "WRITE_ONCE(*y, 1); int r0 = READ_ONCE(*x);",
                         "0:r0=0 /\\ 1:r0=0")));
  CHECK_FALSE(possible(message("WRITE_ONCE(*x, 1); smp_mb(); int r0 = READ_ONCE(*y);",
                               "WRITE_ONCE(*y, 1); smp_mb(); int r0 = READ_ONCE(*x);", "0:r0=0 /\\ 1:r0=0")));
  CHECK_FALSE(possible(message("atomic_store(x, 1); int r0 = atomic_load(y);",
                               "atomic_store_explicit(y, 1, memory_order_seq_cst); int r0 = atomic_load(x);",
                               "0:r0=0 /\\ 1:r0=0")));
  CHECK(
      possible(message("atomic_store_explicit(x, 1, memory_order_release); int r0 = atomic_load_explicit(y, "
                       "memory_order_acquire);",
                       "*y = 1; int r0 = *x;", "0:r0=0 /\\ 1:r0=0")));
  CHECK(possible(message("int r0 = *x; int r1 = r0 + 1; *y = r1;", "int r0 = *y;", "~(1:r0=0) \\/ 1:r0=2")));
}

TEST_CASE("herd: XCHG and LOCK CMPXCHG are one step, and fences", "[herd]") {
  const auto sb = [](const std::string& first, const std::string& second) {
    return "X86 SB\n{ 0:EAX=1; 1:EAX=1; x=0; y=0; }\n P0 | P1 ;\n " + first + " | " + second +
           " ;\n MOV EBX,[y] | MOV EBX,[x] ;\nexists (0:EBX=0 /\\ 1:EBX=0)\n";
  };
  CHECK(possible(sb("MOV [x],EAX", "MOV [y],EAX")));
  CHECK_FALSE(possible(sb("XCHG [x],EAX", "XCHG EAX,[y]")));
  CHECK(possible(sb("XCHG [x],EAX", "MOV [y],EAX")));
  const auto swap = [](const std::string& op, const std::string& condition) {
    return "X86 swap\n{ 0:EAX=0; 1:EAX=0; 0:EBX=1; 1:EBX=2; x=0; }\n P0 | P1 ;\n " + op + " | " + op + " ;\n" +
           condition + "\n";
  };
  CHECK_FALSE(possible(swap("LOCK CMPXCHG [x],EBX", "exists (0:EAX=0 /\\ 1:EAX=0)")));
  CHECK(possible(swap("LOCK CMPXCHG [x],EBX", "exists (0:EAX=2 /\\ 1:EAX=0 /\\ x=2)")));
  CHECK_FALSE(possible(swap("XCHG [x],EBX", "exists (0:EBX=0 /\\ 1:EBX=0)")));
  CHECK(possible(swap("XCHG [x],EBX", "exists (0:EBX=2 /\\ 1:EBX=0 /\\ x=1)")));
}

TEST_CASE("what is no file of herd's is refused where it stands", "[herd]") {
  const auto refused = [](const std::string& text) {
    try {
      (void)parse_herd(text, "t.litmus");
    } catch (const std::exception& e) {
      return std::string(e.what());
    }
    return std::string("read");
  };
  CHECK_THAT(refused("PPC MP\n{}\n"),
             loco::test::contains_text("t.litmus:1:1: expected a test of X86, X86_64 or C, found \"PPC\""));
  CHECK_THAT(refused("X86 T\n{ }\n P0 ;\n LEA EAX,[x] ;\nexists (x=0)"),
             loco::test::contains_text("t.litmus:4:2: expected MOV, MFENCE, XCHG or LOCK CMPXCHG, found \"LEA\""));
  CHECK_THAT(refused("X86 T\n{ }\n P0 ;\n MFENCE ;\nexists (3:EAX=0)"),
             loco::test::contains_text("t.litmus:5:9: expected one of the 1 threads, from 0"));
  CHECK_THAT(refused("X86 T\n{ }\n P0 ;\n MFENCE ;\nexists (0:EAX=0"),
             loco::test::contains_text("expected ')', found the end"));
  CHECK_THAT(refused("X86 T\n{ 0:EAX=x; }\n P0 ;\n MFENCE ;\nexists (0:EAX=0)"),
             loco::test::contains_text("t.litmus:2:9: "));
  CHECK_THAT(refused("C T\n{}\nP0 (int* x) { r = foo(x); }\nexists (x=0)"), loco::test::contains_text("t.litmus:3:"));
}
