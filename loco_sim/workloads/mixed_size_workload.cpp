// Values wider than a word (LOCO paper, Apps. D and H.6.1): node 0 repeatedly writes and pushes a value, and all other
// nodes try to read it. A reader must reject torn values and never return one.
#include <array>

#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/objects/mixed_size.hpp"
#include "loco_sim/workloads/kinds.hpp"
#include "loco_sim/workloads/payload.hpp"

namespace loco::workloads {

namespace {

/// Reads until the last value has arrived. A torn value that is returned counts as its oldest word.
template <typename Variable>
void read_until_last(const Setup& setup, manager& mgr, Variable& variable, Payload& payload) {
  constexpr std::array kWriter = {NodeId{0}};
  const Transport& node = mgr.transport();
  const auto rounds = setup.params.amount("iterations");
  sim::Counters& counters = setup.results.counters;
  for (std::uint64_t newest = 0; newest < rounds;) {
    const std::int64_t t0 = node.now_ps();
    if (variable.try_load(payload.words)) {
      setup.results.add("read", t0, node.now_ps());
      setup.results.promise("torn_values", payload.whole() ? 0 : 1);
      newest = std::max(newest, *std::ranges::min_element(payload.words));
    } else {
      counters.add(counters.id("refused_reads"));
    }
    if (newest < rounds) mgr.pause_for("value", kWriter);
  }
}

template <typename Variable, typename Push>
void run_variable(Transport& node, const Setup& setup, manager& mgr, Variable& variable, const Push& push) {
  mgr.wait_for_ready();
  Payload payload(setup.params.get("size"));
  if (node.my_node() != 0) return read_until_last(setup, mgr, variable, payload);
  const auto rounds = setup.params.amount("iterations");
  for (std::uint64_t i = 1; i <= rounds; ++i) {
    const std::int64_t t0 = node.now_ps();
    payload.fill(i);
    variable.store(payload.words);
    push();
    setup.results.add("write", t0, node.now_ps());
  }
}

void mixed_size_program(Transport& node, const Setup& setup) {
  const auto words = setup.params.amount("size") / 8;
  manager mgr(node);
  if (setup.params.get("with") == 0) {
    hashed_words variable(mgr, "value", words);
    ack_key key(mgr);
    run_variable(node, setup, mgr, variable, [&] { variable.push_broadcast(key); });
    key.wait();
  } else {
    guarded_words variable(mgr, "value", 0, words,
                           {.read_forward = setup.faults.has(LibraryFault::guards_read_forward)});
    run_variable(node, setup, mgr, variable, [&] { variable.push_broadcast(); });
  }
}

}  // namespace

void start_mixed_size(const Setup& setup) {
  setup.cluster.spawn_everywhere([&setup](Transport& node) { mixed_size_program(node, setup); });
}

}  // namespace loco::workloads
