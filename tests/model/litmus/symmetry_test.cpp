// Searching one execution of each orbit gives the same outcomes, and counts the same, as searching all.
#include "model/litmus/search/symmetry.hpp"

#include <array>
#include <string>
#include <vector>

#include "model/litmus/language/parser.hpp"
#include "model/litmus/search/search.hpp"
#include "tests/catch.hpp"
#include "tests/model/litmus/corpus.hpp"
#include "tests/model/litmus/random_program.hpp"

using namespace loco::model::litmus;

namespace {

constexpr std::uint64_t kFew = 20'000;

/// Searches with and without symmetries. The order of the group; 0 if there are too many executions.
std::uint64_t compare(const Program& p, const std::string& model, bool every_witness) {
  const Model m = *find_model(model.empty() ? p.model : model);
  SearchOptions options;
  options.every_witness = every_witness;
  options.executions_max = kFew;
  int asked = 0;
  options.out_of_time = [&] {
    return ++asked > 20;
  };  // all outcomes are looked for first, however many steps that takes
  if (const SearchResult few = search(p, m, options); few.stopped || few.uncounted || few.limited()) return 0;
  options.executions_max = 0;
  options.out_of_time = {};
  options.symmetry_after = kNoSymmetry;
  const SearchResult all = search(p, m, options);
  options.symmetry_after = 0;
  const SearchResult leaders = search(p, m, options);
  CHECK(leaders.outcomes == all.outcomes);
  CHECK(leaders.executions == all.executions);
  CHECK(leaders.failed_assertions == all.failed_assertions);
  CHECK(leaders.cut_loops == all.cut_loops);
  options.symmetry_after = 7;  // half-way
  CHECK(search(p, m, options).executions == all.executions);
  options.outcomes_only = true;
  CHECK(search(p, m, options).outcomes == all.outcomes);
  return Symmetry(p).order();
}

/// Threads that are copies of each other: each on its own node or all on one, with a location of its own, its
/// neighbour's, and common ones; writing the same value or its own.
std::string copies(std::uint64_t seed) {
  std::uint64_t state = seed * 0x9E3779B97F4A7C15ULL;
  const auto below = [&](std::uint64_t n) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (state >> 33U) % n;
  };
  const auto threads = 2 + static_cast<int>(below(3));
  const bool apart = below(2) == 0, loco = below(2) == 0, tso = !loco && below(3) == 0, own_values = below(2) == 0;
  const std::string common = std::to_string(1 + below(2));
  std::vector<std::uint64_t> code;
  for (std::uint64_t n = 1 + below(threads > 2 ? 3 : 4); n > 0; --n) code.push_back(below(loco ? 17 : 12));
  const bool barrier = loco && below(3) == 0;

  std::string text = "model: " + std::string(loco ? "loco" : tso ? "rdmatso" : "rdmawait") + "\nlocations:\n";
  const auto node = [&](int t) { return std::to_string(apart ? t + 1 : 1); };
  for (int t = 0; t < threads; ++t) text += "  x" + std::to_string(t) + ": {node: " + node(t) + "}\n";
  text += "  z: {node: " + common + "}\n";
  if (loco) text += "  s: {shared: true}\n";
  if (barrier) {
    text += "barriers: {b: {threads: [0";
    for (int t = 1; t < threads; ++t) text += ", " + std::to_string(t);
    text += "]}}\n";
  }
  text += "threads:\n";
  int registers = 0;
  for (int t = 0; t < threads; ++t) {
    const int next = (t + 1) % threads;
    const std::string own = "x" + std::to_string(t), neighbour = "x" + std::to_string(next);
    const std::string v = own_values ? std::to_string(t + 3) : "1";
    const std::string local = apart || common == "2" ? own : "z";
    text += "  - node: " + node(t) + "\n    code: |\n";
    for (std::size_t i = 0; i < code.size(); ++i) {
      const std::string r = "r" + std::to_string(registers++);
      const std::array<std::string, 17> statements = {own + " = " + v,
                                                      r + " = " + own,
                                                      "put(" + neighbour + ", " + own + ")" + (tso ? "" : " as d"),
                                                      "put(z, " + v + ")" + (tso ? "" : " as d"),
                                                      "get(" + own + ", z)" + (tso ? "" : " as e"),
                                                      "get(" + own + ", " + neighbour + ")" + (tso ? "" : " as d"),
                                                      tso ? "poll(" + node(next) + ")" : "wait(d)",
                                                      r + " = cas(" + own + ", 0, " + v + ")",
                                                      "if (" + local + " == " + v + ") { " + own + " = 2 }",
                                                      "rfence(" + node(next) + ")",
                                                      r + " = cas(" + local + ", " + v + ", 2)",
                                                      "mfence",
                                                      "s = " + v,
                                                      r + " = s",
                                                      "bcast(s, {" + node(next) + "}) as d",
                                                      "gf({" + node(next) + "})",
                                                      "bcast(s, {" + node(0) + ", " + node(threads - 1) + "})"};
      text += "      " + statements.at(code[i]) + "\n";
      if (barrier && i == 0) text += "      barrier(b)\n";
    }
  }
  return text + (below(2) == 0 ? "final: [z]\n" : "");
}

}  // namespace

TEST_CASE("symmetry: nothing changes on the corpus", "[symmetry]") {
  int symmetric = 0;
  for (const Program& p : test::corpus()) {
    INFO(p.file << ": " << p.name);
    symmetric += compare(p, "", false) > 1 ? 1 : 0;
  }
  CHECK(symmetric > 10);
}

TEST_CASE("symmetry: nothing changes on random programs", "[symmetry]") {
  for (std::uint64_t seed = 1; seed <= 600 / loco::test::kShare; ++seed)
    for (const char* model : {"rdmawait", "rdmatso", "loco", "corerma"}) {
      test::RandomShape shape;
      shape.model = model;
      shape.total_max = 6;
      const std::string document = test::random_document(seed, shape);
      INFO(document);
      compare(parse_text(document, "random").front(), model, seed % 4 == 0);
    }
}

TEST_CASE("symmetry: nothing changes on programs of threads that are copies", "[symmetry]") {
  int symmetric = 0, large = 0;
  for (std::uint64_t seed = 1; seed <= 2000 / loco::test::kShare; ++seed) {
    const std::string document = copies(seed);
    INFO("seed " << seed << "\n" << document);
    const std::uint64_t order = compare(parse_text(document, "copies").front(), "", seed % 5 == 0);
    symmetric += order > 1 ? 1 : 0;
    large += order >= 6 ? 1 : 0;
  }
  CHECK(symmetric > 700 / int(loco::test::kShare));
  CHECK(large > 70 / int(loco::test::kShare));
}

TEST_CASE("symmetry: what nobody touches keeps its value when values are exchanged", "[symmetry]") {
  const auto document = [](int init) {
    return "model: rdmawait\nlocations: {x: {node: 1}, y: {node: 2}, z: {node: 3, init: " + std::to_string(init) +
           "}}\nthreads:\n  - {node: 1, code: \"put(y, 1); a = x\"}\n  - {node: 2, code: \"put(x, 2); b = y\"}\n"
           "final: [z]\n";
  };
  CHECK(compare(parse_text(document(1), "exchanged").front(), "", true) == 1);
  CHECK(compare(parse_text(document(3), "other").front(), "", true) == 2);
}

TEST_CASE("symmetry: a value that is compared with true is not exchanged", "[symmetry]") {
  // 1 is true, 2 is not: only the second thread's condition can hold.
  const Program p = parse_text(
                        "model: rdmawait\nlocations: {x: {node: 1}, y: {node: 1}}\nthreads:\n"
                        "  - {node: 1, code: \"x = 1; a = y; if (a == true) { b = 1 }\"}\n"
                        "  - {node: 1, code: \"y = 2; c = x; if (c == true) { d = 2 }\"}\n",
                        "true")
                        .front();
  CHECK(compare(p, "", true) == 1);
}

TEST_CASE("symmetry: the groups of some programs", "[symmetry]") {
  const auto order = [](const std::string& text) { return Symmetry(parse_text(text, "text").front()).order(); };
  const std::string head = "model: rdmawait\nlocations: {x: {node: 1}, y: {node: 1}, z: {node: 2}}\nthreads:\n";
  // Store buffering: exchanging the threads exchanges the locations.
  CHECK(order(head + "  - {node: 1, code: \"x = 1; a = y\"}\n  - {node: 1, code: \"y = 1; b = x\"}\n") == 2);
  // Values as well, as long as they are only data ...
  CHECK(order(head + "  - {node: 1, code: \"x = 1; a = y\"}\n  - {node: 1, code: \"y = 2; b = x\"}\n") == 2);
  CHECK(order(head + "  - {node: 1, code: \"x = 1; a = x + 1\"}\n  - {node: 1, code: \"x = 2; b = x + 1\"}\n") == 1);
  // ... and not 0, which registers start with.
  CHECK(order(head + "  - {node: 1, code: \"x = 0; a = y\"}\n  - {node: 1, code: \"y = 2; b = x\"}\n") == 1);
  // The nodes are not alike.
  CHECK(order(head + "  - {node: 1, code: \"put(z, x)\"}\n  - {node: 2, code: \"put(x, z)\"}\nfinal: [x]\n") == 1);
  CHECK(order(head + "  - {node: 1, code: \"put(z, x)\"}\n  - {node: 2, code: \"put(x, z)\"}\nfinal: [x, z]\n") == 2);
  std::string many = head;
  for (int i = 0; i < 8; ++i) many += "  - {node: 1, code: \"x = 1; r" + std::to_string(i) + " = x\"}\n";
  CHECK(order(many) == 5040);  // of 40,320: those that leave the first thread
}
