// What random networks (random_network.hpp) do, a hash a seed: tests/same_networks.sh compares them among compilers.
//
//   network_traces FIRST COUNT    a line "seed hash" each
//   network_traces --print SEED   what the hash is of, a line an event
//
// Of every tenth network the accesses to memory are traced, too.
#include <cstdint>
#include <cstdlib>
#include <fmt/format.h>
#include <initializer_list>
#include <string_view>

#include "random_network.hpp"
#include "sim/rng.hpp"

using namespace loco;

namespace {

class Trace final : public nic::Observer {
 public:
  Trace(bool accesses, bool print) : accesses_(accesses), print_(print) {}

  [[nodiscard]] bool follows_accesses() const override { return accesses_; }
  void on_subevent(const nic::Subevent& s) override { access("access", s); }
  void on_subevent_repeated(const nic::Subevent& s) override { access("again", s); }
  void on_subevent_finish(const nic::SubeventFinish& f) override {
    note("finish", f.at, {f.id, f.overwrote, f.value, f.seq});
  }
  void on_packet(nic::PacketStep step, const fabric::Packet& p, sim::SimTime at) override {
    note("packet", at,
         {number(step),
          p.source.index(),
          p.destination.index(),
          p.source_qp,
          p.destination_qp,
          number(p.opcode),
          p.first,
          p.last,
          p.traffic_class,
          number(p.nak),
          p.marked,
          p.immediate,
          p.ack_request,
          p.trimmed,
          p.entropy,
          p.psn.value(),
          p.wqe,
          p.offset,
          p.length,
          p.total,
          p.wire,
          p.address,
          p.a,
          p.serial});
  }
  void on_tlp(const nic::TlpEvent& t) override {
    note("tlp", t.at, {number(t.kind), t.node, t.qp, t.address, t.bytes});
  }
  void on_cqe(nic::NodeId node, nic::CqId cq, const nic::Cqe& c, sim::SimTime at) override {
    note("cqe", at, {node, cq, c.wr_id, c.qp, number(c.opcode), number(c.status), c.length, c.wqe});
  }
  void on_cq_overrun(nic::NodeId node, nic::CqId cq, const nic::Cqe& c, sim::SimTime at) override {
    note("overrun", at, {node, cq, c.wr_id, c.qp});
  }
  void on_message(const nic::MessageArrival& m) override {
    note("message", m.at, {m.found, m.qp, m.queue, m.op, m.receive.wr_id});
  }

  void note(std::string_view what, sim::SimTime at, std::initializer_list<std::uint64_t> values) {
    if (print_) fmt::print("{} {}", at.ps, what);
    add(what.size());
    add(static_cast<std::uint64_t>(at.ps));
    for (const std::uint64_t value : values) {
      add(value);
      if (print_) fmt::print(" {}", value);
    }
    if (print_) fmt::print("\n");
  }
  [[nodiscard]] std::uint64_t hash() const { return hash_; }

 private:
  template <class T>
  static std::uint64_t number(T value) {
    return static_cast<std::uint64_t>(value);
  }
  void access(std::string_view what, const nic::Subevent& s) {
    note(what, s.at,
         {s.id, number(s.stamp), s.finished, s.nic_atomic, s.thread, s.op, s.peer, s.home, s.address, s.value,
          s.value_read, s.source, s.overwrote, s.seq});
  }
  void add(std::uint64_t value) {
    std::uint64_t state = hash_ ^ value;
    hash_ = sim::splitmix64(state);
  }

  bool accesses_, print_;
  std::uint64_t hash_ = 0;
};

std::uint64_t trace(std::uint64_t seed, bool print) {
  nic::SystemConfig config = test::random_network(seed);
  config.witness = seed % 10 == 5;
  Trace trace(config.witness, print);
  const test::TrafficOutcome outcome = test::run_traffic(config, seed, &trace);
  for (const nic::NamedCounter& c : nic::kCounters) trace.note(c.name, outcome.ended, {outcome.counters.*c.member});
  trace.note("end", outcome.ended, {outcome.succeeded, outcome.failed, outcome.lost, outcome.pauses, outcome.deadlock});
  return trace.hash();
}

}  // namespace

int main(int count, char** words) {
  const auto number = [&](int i) { return std::strtoull(words[i], nullptr, 10); };
  if (count == 3 && std::string_view(words[1]) == "--print") {
    trace(number(2), true);
    return 0;
  }
  if (count != 3) {
    fmt::print(stderr, "network_traces: expected FIRST COUNT, or --print SEED\n");
    return 2;
  }
  for (std::uint64_t seed = number(1); seed < number(1) + number(2); ++seed)
    fmt::print("{} {:016x}\n", seed, trace(seed, false));
  return 0;
}
