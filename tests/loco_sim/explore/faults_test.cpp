// Every deliberate fault of the hardware shows in exploration: an outcome that the model forbids.
#include <algorithm>

#include "loco_sim/explore/explore.hpp"
#include "model/litmus/language/parser.hpp"
#include "model/litmus/models/axioms.hpp"
#include "model/litmus/search/search.hpp"
#include "tests/catch.hpp"

using namespace loco;
using model::litmus::Outcome;
using nic::Fault;

namespace {

struct Case {
  Fault fault;
  const char* cell;       ///< what of the models page, section 1 or 2, forbids the outcome
  const char* forbidden;  ///< the outcome
  const char* document;
};

const Case kCases[] = {
    {Fault::posted_passes_posted, "G7", "a=1 b=0", R"yaml(
name: two-puts
model: rdmawait
locations: {x: {node: 2}, y: {node: 2}}
threads: [{node: 1, code: "put(x, 1); put(y, 1)"}, {node: 2, code: "a = y; b = x"}]
)yaml"},
    {Fault::read_does_not_flush, "G8", "a=0", R"yaml(
name: put-get
model: rdmawait
locations: {l: {node: 1}, z: {node: 2}}
threads: [{node: 1, code: "put(z, 1); get(l, z) as d; wait(d); a = l"}]
)yaml"},
    {Fault::completion_before_data, "pfg in so", "a=0", R"yaml(
name: get-wait
model: rdmawait
locations: {l: {node: 1}, z: {node: 2, init: 1}}
threads: [{node: 1, code: "get(l, z) as d; wait(d); a = l"}]
)yaml"},
    {Fault::doorbell_before_stores, "B6", "z=0", R"yaml(
name: store-put
model: rdmawait
locations: {x: {node: 1}, z: {node: 2}}
threads: [{node: 1, code: "x = 1; put(z, x)"}]
final: [z]
)yaml"},
    {Fault::payload_reads_reorder, "F6", "z=1 w=0", R"yaml(
name: two-payloads
model: rdmawait
locations: {x: {node: 1}, z: {node: 2}, w: {node: 2}}
threads: [{node: 1, code: "put(z, x); put(w, x)"}, {node: 1, code: "x = 1"}]
final: [z, w]
)yaml"},
    {Fault::fence_ignored, "H10 and J7", "a=1", R"yaml(
name: get-fence-put
model: rdmawait
locations: {l: {node: 1}, z: {node: 2}}
threads: [{node: 1, code: "get(l, z) as d; rfence(2); put(z, 1); wait(d); a = l"}]
)yaml"},
    {Fault::responder_reorders, "G7", "a=1 b=0", R"yaml(
name: two-puts
model: rdmawait
locations: {x: {node: 2}, y: {node: 2}}
threads: [{node: 1, code: "put(x, 1); put(y, 1)"}, {node: 2, code: "a = y; b = x"}]
)yaml"},
    {Fault::early_write_completion, "pfp in ib (Fig. 3d)", "z=1", R"yaml(
name: wait-one
model: rdmawait
locations: {x: {node: 1}, z: {node: 2}}
threads: [{node: 1, code: "put(z, x) as d; wait(d); x = 1"}]
final: [z]
)yaml"},
};

bool shows(const model::litmus::Program& program, const std::vector<Outcome>& outcomes, const std::string& text) {
  return std::any_of(outcomes.begin(), outcomes.end(), [&](const Outcome& o) { return program.text(o) == text; });
}

}  // namespace

TEST_CASE("each hardware fault makes exploration show what the model forbids, and only the fault does") {
  CHECK(std::size(kCases) + 1 == nic::kFaultNames.size());  // the other one is below
  for (const Case& c : kCases) {
    const auto program = model::litmus::parse_text(c.document, "fault").front();
    INFO(nic::kFaultNames[static_cast<std::size_t>(c.fault)] << ": " << c.cell << " forbids " << c.forbidden);
    const auto allowed = search(program, *model::litmus::find_model("rdmawait"), {}).outcomes;
    CHECK_FALSE(shows(program, allowed, c.forbidden));

    nic::HardwareProfile profile;
    CHECK_FALSE(shows(program, explore::explore(explore::Machine(program, profile)).outcomes, c.forbidden));
    profile.faults.add(c.fault);
    const explore::Machine broken(program, profile);
    CHECK(shows(program, explore::explore(broken).outcomes, c.forbidden));
    // Sampling finds it, too.
    bool sampled = false;
    for (const auto& s : explore::sample(broken, 2000, 1).outcomes) sampled |= program.text(s.outcome) == c.forbidden;
    CHECK(sampled);
  }
}

// Its request must come again, and a network that is explored loses nothing: docs/hardware.md, rule once. The test of
// repeated requests on the NIC model and scenarios/faults/atomic_replayed.yaml show it where answers are lost.
TEST_CASE("an atomic that is replayed does not show where nothing is lost") {
  const auto program = model::litmus::parse_text(R"yaml(
name: two-adds
model: rdmawait
locations: {l: {node: 1}, z: {node: 2}}
threads: [{node: 1, code: "rfaa(l, z, 1) as d; wait(d); a = l"}, {node: 2, code: "b = z"}]
final: [z]
)yaml",
                                                 "fault")
                           .front();
  nic::HardwareProfile profile;
  const auto sound = explore::explore(explore::Machine(program, profile));
  profile.faults.add(Fault::atomic_replayed);
  const auto broken = explore::explore(explore::Machine(program, profile));
  CHECK(sound.exhaustive());
  CHECK(broken.exhaustive());
  CHECK(shows(program, sound.outcomes, "a=0 b=1 z=1"));
  CHECK(broken.outcomes == sound.outcomes);
}
