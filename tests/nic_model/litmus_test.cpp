// The figures of the LOCO/Mowgli paper that need rdmatso and rdmawait only, on model-weak under random scheduling:
// every allowed outcome occurs, no forbidden one does. And every deliberate fault, each with a program in which it
// shows.
#include "program.hpp"
#include "rig.hpp"
#include "tests/catch.hpp"

using namespace loco;
using namespace loco::test;

namespace {

/// Does a full outcome agree with a partial one?
bool agrees(const Outcome& full, const Outcome& partial) {
  for (const auto& [name, v] : partial) {
    if (full.at(name) != v) return false;
  }
  return true;
}

bool occurs(const Outcomes& outcomes, const Outcome& partial) {
  for (const Outcome& o : outcomes) {
    if (agrees(o, partial)) return true;
  }
  return false;
}

struct Figure {
  std::string name;
  Program program;
  std::vector<Outcome> allowed, forbidden;
};

std::vector<Figure> figures() {
  std::vector<Figure> f;
  const auto xz = [] { return Program().location("x", 1).location("z", 2).observe("z"); };
  f.push_back({"Fig. 2(a)", xz().thread(1, "put(z, x); poll(2); x = 1"), {{{"z", 0}}}, {{{"z", 1}}}});
  f.push_back({"Fig. 2(b)", xz().thread(1, "put(z, x); put(z, x); poll(2); x = 1"), {{{"z", 0}}, {{"z", 1}}}, {}});
  f.push_back(
      {"Fig. 2(c)", xz().thread(1, "put(z, x); put(z, x); poll(2); poll(2); x = 1"), {{{"z", 0}}}, {{{"z", 1}}}});
  f.push_back({"Fig. 3(d)", xz().thread(1, "put(z, x) as d; wait(d); x = 1"), {{{"z", 0}}}, {{{"z", 1}}}});
  f.push_back(
      {"Fig. 3(e)", xz().thread(1, "put(z, x) as e; put(z, x) as d; wait(d); x = 1"), {{{"z", 0}}}, {{{"z", 1}}}});
  f.push_back({"Section 1", xz().thread(1, "put(z, x); x = 1"), {{{"z", 0}}, {{"z", 1}}}, {}});
  f.push_back({"Fig. 4, top",
               Program()
                   .location("y", 1)
                   .location("x", 2)
                   .thread(1, "put(x, 1) as d; wait(d); a = y")
                   .thread(2, "put(y, 1) as e; wait(e); b = x"),
               {{{"a", 0}, {"b", 0}}, {{"a", 1}, {"b", 1}}, {{"a", 0}, {"b", 1}}, {{"a", 1}, {"b", 0}}},
               {}});
  f.push_back({"Fig. 4, bottom",
               Program()
                   .location("y", 1)
                   .location("w", 1)
                   .location("c1", 1)
                   .location("x", 2)
                   .location("z", 2)
                   .location("c2", 2)
                   .thread(1, "put(x, 1); get(c1, z) as d; wait(d); a = y")
                   .thread(2, "put(y, 1); get(c2, w) as e; wait(e); b = x"),
               {{{"a", 1}, {"b", 1}}, {{"a", 0}, {"b", 1}}, {{"a", 1}, {"b", 0}}},
               {{{"a", 0}, {"b", 0}}}});
  f.push_back({"Fig. 8(a)",
               Program().location("x", 1).location("y", 1).thread(1, "x = 1; a = y").thread(1, "y = 1; b = x"),
               {{{"a", 0}, {"b", 0}}, {{"a", 1}, {"b", 1}}, {{"a", 0}, {"b", 1}}, {{"a", 1}, {"b", 0}}},
               {}});
  f.push_back(
      {"Fig. 8(a) with mfence",
       Program().location("x", 1).location("y", 1).thread(1, "x = 1; mfence; a = y").thread(1, "y = 1; mfence; b = x"),
       {{{"a", 1}, {"b", 1}}, {{"a", 0}, {"b", 1}}, {{"a", 1}, {"b", 0}}},
       {{{"a", 0}, {"b", 0}}}});
  f.push_back({"Fig. 8(b)",
               Program()
                   .location("w", 1, 1)
                   .location("x", 1)
                   .location("y", 1)
                   .thread(1, "x = w; y = 1")
                   .thread(1, "a = y; b = x"),
               {{{"a", 1}, {"b", 1}}, {{"a", 0}, {"b", 0}}, {{"a", 0}, {"b", 1}}},
               {{{"a", 1}, {"b", 0}}}});
  f.push_back({"Fig. 8(c)",
               Program()
                   .location("w", 2, 1)
                   .location("x", 1)
                   .location("y", 1)
                   .thread(1, "get(x, w); y = 1")
                   .thread(1, "a = y; b = x"),
               {{{"a", 1}, {"b", 0}}},
               {}});
  f.push_back({"local compare-and-swap",
               Program().location("x", 1).thread(1, "a = cas(x, 0, 1)").thread(1, "b = cas(x, 0, 2)").observe("x"),
               {{{"a", 0}, {"b", 1}, {"x", 1}}, {{"a", 2}, {"b", 0}, {"x", 2}}},
               {{{"a", 0}, {"b", 0}}}});
  return f;
}

/// A program, and the outcome that only broken hardware shows, by the cell of the stamp order that it breaks.
struct Broken {
  nic::Fault fault;
  Program program;
  Outcome forbidden;
};

/// All but atomic_replayed, which shows where answers are lost: repeated_requests_test.cpp.
std::vector<Broken> broken() {
  using nic::Fault;
  std::vector<Broken> b;
  const auto message = [] {
    return Program().location("x", 2).location("y", 2).thread(1, "put(x, 1); put(y, 1)").thread(2, "a = y; b = x");
  };
  b.push_back({Fault::posted_passes_posted, message(), {{"a", 1}, {"b", 0}}});  // G7
  b.push_back({Fault::responder_reorders, message(), {{"a", 1}, {"b", 0}}});    // G7
  b.push_back({Fault::read_does_not_flush,                                      // G8
               Program().location("z", 2).location("c", 1, 7).thread(1, "put(z, 1); get(c, z) as d; wait(d); a = c"),
               {{"a", 0}}});
  b.push_back({Fault::completion_before_data,  // pfg
               Program().location("z", 2, 1).location("c", 1).thread(1, "get(c, z) as d; wait(d); a = c"),
               {{"a", 0}}});
  b.push_back({Fault::doorbell_before_stores,  // B6
               Program().location("z", 2).location("x", 1).thread(1, "x = 1; put(z, x)").observe("z"),
               {{"z", 0}}});
  b.push_back({Fault::payload_reads_reorder,  // F6
               Program()
                   .location("z", 2)
                   .location("w", 2)
                   .location("x", 1)
                   .location("y", 1)
                   .thread(1, "put(z, x); put(w, y)")
                   .thread(1, "y = 1; x = 1")
                   .observe("z")
                   .observe("w"),
               {{"z", 1}, {"w", 0}}});
  b.push_back(
      {Fault::fence_ignored,  // H10, J7
       Program().location("z", 2).location("c", 1).thread(1, "get(c, z) as d; rfence(2); put(z, 1); wait(d); a = c"),
       {{"a", 1}}});
  b.push_back({Fault::early_write_completion,  // pfp
               Program().location("z", 2).location("x", 1).thread(1, "put(z, x) as d; wait(d); x = 1").observe("z"),
               {{"z", 1}}});
  return b;
}

}  // namespace

TEST_CASE("the paper's figures: allowed outcomes occur, forbidden ones do not") {
  for (const Figure& figure : figures()) {
    const Outcomes seen = sample_hardware(figure.program, profile_file("model-weak"), 1, 10'000);
    INFO(figure.name << figure.program.text() << "\nseen\n" << text(seen));
    for (const Outcome& o : figure.allowed) {
      INFO("allowed" << text(o));
      CHECK(occurs(seen, o));
    }
    for (const Outcome& o : figure.forbidden) {
      INFO("forbidden" << text(o));
      CHECK_FALSE(occurs(seen, o));
    }
  }
}

TEST_CASE("the real profile, too, shows no forbidden outcome under any schedule") {
  nic::HardwareProfile profile = real();
  for (const Figure& figure : figures()) {
    const Outcomes seen = sample_hardware(figure.program, profile, 2, 2'000);
    INFO(figure.name << figure.program.text() << "\nseen\n" << text(seen));
    for (const Outcome& o : figure.forbidden) CHECK_FALSE(occurs(seen, o));
  }
}

TEST_CASE("each fault shows an outcome that sound hardware never shows", "[search]") {
  std::set<nic::Fault> tested;
  for (const Broken& b : broken()) {
    tested.insert(b.fault);
    nic::HardwareProfile profile = profile_file("model-weak");
    const Outcomes sound = sample_hardware(b.program, profile, 3, 10'000);
    profile.faults.add(b.fault);
    const Outcomes faulty = sample_hardware(b.program, profile, 3, 10'000);
    INFO(nic::kFaultNames[static_cast<std::size_t>(b.fault)] << b.program.text() << "\nfaulty\n"
                                                             << text(faulty) << "sound\n"
                                                             << text(sound));
    CHECK_FALSE(occurs(sound, b.forbidden));
    CHECK(occurs(faulty, b.forbidden));
  }
  CHECK_FALSE(tested.contains(nic::Fault::atomic_replayed));
  CHECK(tested.size() + 1 == nic::kFaultNames.size());
}

TEST_CASE("the fence flag is what keeps a write behind an earlier read") {
  // H7 is not ordered: without the fence the write overtakes the read (docs/machine.md, "NIC, responder side").
  const Program program =
      Program().location("z", 2).location("c", 1).thread(1, "get(c, z) as d; put(z, 1); wait(d); a = c");
  CHECK(occurs(sample_hardware(program, profile_file("model-weak"), 4, 10'000), {{"a", 1}}));
}
