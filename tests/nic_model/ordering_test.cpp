// Every rule of docs/machine.md on what orders what, under random scheduling: what it forbids never happens, what it
// permits does. A short pass in every run; 100,000 runs of each program as a long test.
//
// Two operations of one thread towards one node, on different words. For each pair of their subevents the stamp order
// (LOCO paper, Fig. 10; models page, section 1) says whether the first is before the second: the tables below are its
// rows F to I, spelt out by operation. Subevents of writes have a start and a finish; the order is that of starts, and
// docs/machine.md adds the finishes where a queue keeps them.
#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "pair.hpp"
#include "tests/catch.hpp"

using namespace loco;
using namespace loco::test;
using nic::Stamp;

namespace {

constexpr std::uint64_t kShort = 2'000;
constexpr std::uint64_t kLong = 100'000;

/// When a subevent of a call began and finished, by order stamp.
struct Span {
  std::uint64_t start = 0, finish = 0;
};
using Spans = std::map<std::pair<nic::OpId, Stamp>, Span>;

class Orders : public nic::Observer {
 public:
  Spans spans;
  std::map<std::uint64_t, std::uint64_t> completed;      // order stamp at which a CQE became visible, by wr_id
  std::vector<std::pair<Stamp, nic::Address>> accesses;  // to memory, in order
  std::uint64_t clock = 0;                               // of the last subevent or finish

  void on_subevent(const nic::Subevent& s) override {
    clock = s.seq;
    by_id_[s.id] = {s.op, s.stamp, s.address};
    if (s.finished) accesses.emplace_back(s.stamp, s.address);
    spans[{s.op, s.stamp}] = {s.seq, s.finished ? s.seq : ~std::uint64_t{0}};
  }
  void on_subevent_finish(const nic::SubeventFinish& f) override {
    clock = f.seq;
    const Known& known = by_id_.at(f.id);
    spans[{known.op, known.stamp}].finish = f.seq;
    accesses.emplace_back(known.stamp, known.address);
  }
  void on_cqe(nic::NodeId, nic::CqId, const nic::Cqe& cqe, sim::SimTime) override { completed[cqe.wr_id] = clock; }

 private:
  struct Known {
    nic::OpId op = 0;
    Stamp stamp{};
    nic::Address address = 0;
  };
  std::map<nic::SubeventId, Known> by_id_;
};

/// Runs one program many times, any pending event next, and hands over each run's orders.
template <class Check>
void each_run(Pair& pair, std::uint64_t runs, const Check& check) {
  for (std::uint64_t seed = 1; seed <= runs; ++seed) {
    nic::System system = pair.system;
    Orders orders;
    nic::Context context{pair.scripts, &orders};
    std::mt19937_64 random(seed);
    while (!system.idle()) system.step(context, random() % system.pending_events());
    check(orders, system);
  }
}

enum class Op : std::uint8_t { put, get, faa, send };
constexpr std::array kOpNames = {"put", "get", "fetch-and-add", "send"};

nic::Wqe make(const Pair& pair, Op op, std::uint64_t place) {
  switch (op) {
    case Op::put:
      return pair.write(8 * place, 8 * place);
    case Op::get:
      return pair.read(8 * place, 8 * place);
    case Op::faa:
      return pair.fetch_add(8 * place, 8 * place, 1);
    case Op::send:
      return pair.send(8 * place, 8);
  }
  return {};
}

/// What must hold between two subevents, of the first and of the second operation.
struct Rule {
  Stamp first, second;
  enum : std::uint8_t {
    starts,    ///< first starts before second
    finishes,  ///< and finishes before it
    pushed,    ///< first finishes before second starts
    free,      ///< either order, and both occur
  } what;
  std::string_view cell;
};

struct Case {
  Op first, second;
  bool fence;
  std::vector<Rule> rules;
};

std::vector<Case> cases() {
  using S = Stamp;
  const auto starts = Rule::starts;
  const auto finishes = Rule::finishes;
  const auto pushed = Rule::pushed;
  const auto either = Rule::free;
  return {
      {Op::put,
       Op::put,
       false,
       {{S::aNLR, S::aNLR, starts, "F6"},
        {S::aNLR, S::aNRW, starts, "F7"},
        {S::aNRW, S::aNLR, either, "G6"},
        {S::aNRW, S::aNRW, finishes, "G7"}}},
      {Op::put,
       Op::get,
       false,
       {{S::aNLR, S::aNRR, starts, "F8"},
        {S::aNLR, S::aNLW, starts, "F9"},
        {S::aNRW, S::aNRR, pushed, "G8, and a read pushes posted writes"},
        {S::aNRW, S::aNLW, starts, "G9"}}},
      {Op::get,
       Op::put,
       false,
       {{S::aNRR, S::aNLR, either, "H6"},
        {S::aNRR, S::aNRW, either, "H7"},
        {S::aNLW, S::aNLR, either, "I6"},
        {S::aNLW, S::aNRW, either, "I7"}}},
      {Op::get,
       Op::get,
       false,
       {{S::aNRR, S::aNRR, either, "H8"},
        {S::aNRR, S::aNLW, starts, "H9"},
        {S::aNLW, S::aNRR, either, "I8"},
        {S::aNLW, S::aNLW, finishes, "I9"}}},
      {Op::get,
       Op::put,
       true,
       {{S::aNRR, S::aNLR, starts, "H10, J6"},
        {S::aNRR, S::aNRW, starts, "H10, J7"},
        {S::aNLW, S::aNLR, starts, "row J: earlier READs are complete"},
        {S::aNLW, S::aNRW, starts, "row J: earlier READs are complete"}}},
      {Op::put,
       Op::put,
       true,
       {{S::aNLR, S::aNLR, starts, "F10, J6"},
        {S::aNLR, S::aNRW, starts, "F10, J7"},
        {S::aNRW, S::aNLR, either, "G10: a fence does not wait for earlier WRITEs"}}},
      // Nothing passes an atomic at the responder; the requester starts what follows before its answer comes.
      {Op::faa,
       Op::put,
       false,
       {{S::aNAR, S::aNRW, starts, "behind an atomic"},
        {S::aNRW, S::aNRW, finishes, "behind an atomic"},
        {S::aNLW, S::aNLR, either, "I6"},
        {S::aNLW, S::aNRW, either, "I7"}}},
      {Op::put, Op::faa, false, {{S::aNRW, S::aNAR, pushed, "G12"}, {S::aNRW, S::aNLW, starts, "G9"}}},
      {Op::faa, Op::get, false, {{S::aNRW, S::aNRR, pushed, "G8"}, {S::aNLW, S::aNLW, finishes, "I9"}}},
      {Op::get, Op::faa, false, {{S::aNRR, S::aNAR, either, "H12"}, {S::aNLW, S::aNLW, finishes, "I9"}}},
      {Op::faa,
       Op::faa,
       false,
       {{S::aNRW, S::aNAR, pushed, "one atomic at a time"}, {S::aNLW, S::aNLW, finishes, "I9"}}},
      {Op::send,
       Op::send,
       false,
       {{S::aNLR, S::aNLR, starts, "F6"},
        {S::aNLR, S::aNRW, starts, "F7"},
        {S::aNRW, S::aNLR, either, "G6"},
        {S::aNRW, S::aNRW, finishes, "G7"}}},
      {Op::put, Op::send, false, {{S::aNRW, S::aNRW, finishes, "G7"}}},
      {Op::get, Op::send, false, {{S::aNRR, S::aNRW, either, "H7"}}},
  };
}

void check_pair(const Case& c, std::uint64_t runs) {
  Pair pair(profile_file("model-weak"));
  REQUIRE(pair.receive(1, 1'024, 8));
  REQUIRE(pair.receive(2, 2'048, 8));
  std::vector<nic::Wqe> wqes = {make(pair, c.first, 1), make(pair, c.second, 2)};
  for (nic::OpId i = 0; i < 2; ++i) wqes[i].op = i + 1;
  wqes[1].fence = c.fence;
  pair.post(wqes);
  std::vector<std::uint64_t> kept(c.rules.size());
  each_run(pair, runs, [&](const Orders& orders, const nic::System&) {
    for (std::size_t i = 0; i < c.rules.size(); ++i) {
      const Rule& rule = c.rules[i];
      const Span a = orders.spans.at({1, rule.first});
      const Span b = orders.spans.at({2, rule.second});
      const bool held = rule.what == Rule::pushed     ? a.finish < b.start
                        : rule.what == Rule::finishes ? a.start < b.start && a.finish < b.finish
                                                      : a.start < b.start;
      if (held) ++kept[i];
    }
  });
  for (std::size_t i = 0; i < c.rules.size(); ++i) {
    INFO(kOpNames[static_cast<std::size_t>(c.first)]
         << (c.fence ? ", fenced " : ", ") << kOpNames[static_cast<std::size_t>(c.second)] << ": " << c.rules[i].cell
         << " held in " << kept[i] << " of " << runs);
    if (c.rules[i].what == Rule::free) {
      CHECK(kept[i] > 0);
      CHECK(kept[i] < runs);
    } else {
      CHECK(kept[i] == runs);
    }
  }
}

void check_pairs(std::uint64_t runs) {
  for (const Case& c : cases()) check_pair(c, runs);
}

void check_completions(std::uint64_t runs) {
  // pfg: whoever sees the completion of a READ sees its data. pfp: that of a WRITE says that it has started, no more.
  Pair pair(profile_file("model-weak"));
  std::vector<nic::Wqe> wqes = {pair.read(8, 8), pair.write(16, 16)};
  for (nic::OpId i = 0; i < 2; ++i) wqes[i].wr_id = wqes[i].op = i + 1;
  pair.post(wqes);
  std::uint64_t completed_before_finish = 0;
  each_run(pair, runs, [&](const Orders& orders, const nic::System&) {
    REQUIRE(orders.spans.at({1, Stamp::aNLW}).finish <= orders.completed.at(1));
    const Span written = orders.spans.at({2, Stamp::aNRW});
    REQUIRE(written.start <= orders.completed.at(2));
    if (orders.completed.at(2) < written.finish) ++completed_before_finish;
  });
  CHECK(completed_before_finish > 0);
  CHECK(completed_before_finish < runs);
}

void check_store_buffer(std::uint64_t runs) {
  // B6 to B9: what a thread stored before it posted is in memory before the NIC does anything. B1: not before it loads.
  for (const Op op : {Op::put, Op::get, Op::faa}) {
    Pair pair(profile_file("model-weak"));
    nic::Wqe wqe = make(pair, op, 2);
    wqe.op = 2;
    // The step is told from the machine, so that copies of the system run it alike.
    pair.script(0, [&pair, wqe](nic::Cpu& cpu) {
      const std::uint64_t step = cpu.flag_load(0);
      if (step == 0) cpu.store(pair.region[0].base, 5, 1);
      if (step == 1) static_cast<void>(cpu.load(pair.region[0].base + 64, 3));
      if (step == 2) REQUIRE(cpu.post_send(pair.qp[0], {&wqe, 1}) == nic::PostResult::ok);
      cpu.flag_fetch_or(0, step + 1);
      cpu.flag_fetch_and(0, step + 1);
      if (step == 2) return cpu.stop();
      cpu.resume_after({});
    });
    pair.system.create_flag(0);
    std::uint64_t loaded_early = 0;
    each_run(pair, runs, [&](const Orders& orders, const nic::System&) {
      const std::uint64_t stored = orders.spans.at({1, Stamp::aCW}).finish;
      for (const auto& [what, span] : orders.spans) {
        if (what.first == 2) REQUIRE(stored < span.start);
      }
      if (orders.spans.at({3, Stamp::aCR}).start < stored) ++loaded_early;
    });
    CHECK(loaded_early > 0);
    CHECK(loaded_early < runs);
  }
}

void check_queue_pairs(std::uint64_t runs) {
  // Queue pairs are not ordered with each other: two WRITEs start, and finish, in either order.
  Pair pair(profile_file("model-weak"));
  const nic::QpId other = pair.system.create_qp(0, pair.cq[0], 4);
  pair.system.connect(other, pair.system.create_qp(1, pair.cq[1], 1));
  nic::Wqe first = pair.write(8, 8);
  nic::Wqe second = pair.write(16, 16);
  first.op = 1;
  second.op = 2;
  pair.script(0, [&pair, first, second, other](nic::Cpu& cpu) {
    REQUIRE(cpu.post_send(pair.qp[0], {&first, 1}) == nic::PostResult::ok);
    REQUIRE(cpu.post_send(other, {&second, 1}) == nic::PostResult::ok);
    cpu.stop();
  });
  std::uint64_t in_order = 0;
  std::uint64_t finished_in_order = 0;
  each_run(pair, runs, [&](const Orders& orders, const nic::System&) {
    const Span a = orders.spans.at({1, Stamp::aNRW});
    const Span b = orders.spans.at({2, Stamp::aNRW});
    if (a.start < b.start) ++in_order;
    if (a.start < b.start && a.finish < b.finish) ++finished_in_order;
  });
  CHECK(in_order > 0);
  CHECK(in_order < runs);
  CHECK(finished_in_order < in_order);  // with an ordering domain a queue pair, commits are not ordered either
}

void check_atomics(std::uint64_t runs) {
  // Remote atomics are atomic among each other, from any queue pair; against a CPU's compare-and-swap only if the
  // device says so.
  for (const auto cap : {nic::AtomicCap::hca, nic::AtomicCap::global}) {
    nic::HardwareProfile profile = profile_file("model-weak");
    profile.nic_atomic_cap = cap;
    Pair pair(profile);
    const nic::QpId other = pair.system.create_qp(0, pair.cq[0], 4);
    pair.system.connect(other, pair.system.create_qp(1, pair.cq[1], 1));
    pair.post({pair.fetch_add(64, 0, 1)});
    pair.post({pair.fetch_add(72, 0, 1)}, other);
    pair.script(1, [&pair](nic::Cpu& cpu) {
      const std::uint64_t seen = pair.region[1].base;
      for (std::uint64_t value = 0; value < 3; ++value) {  // one of these succeeds
        if (cpu.compare_swap(seen, value, value + 16) == value) break;
      }
      cpu.stop();
    });
    std::uint64_t lost = 0;
    each_run(pair, runs, [&](const Orders&, const nic::System& system) {
      const std::uint64_t value = system.word(1, pair.region[1].base);
      REQUIRE(value % 16 == 2);  // no NIC's update is lost to the other
      if (value == 2) ++lost;    // the CPU's was, between a NIC's read and write
      REQUIRE((value == 2 || value == 18));
    });
    CHECK((lost > 0) == (cap == nic::AtomicCap::hca));
  }
}

void check_tearing(std::uint64_t runs) {
  // The words of a WRITE are committed, and those of a READ sampled, in any order: each for itself, so that a READ
  // finds any mixture of old and new words.
  Pair pair(profile_file("model-weak"));
  const nic::QpId other = pair.system.create_qp(0, pair.cq[0], 4);
  pair.system.connect(other, pair.system.create_qp(1, pair.cq[1], 1));
  for (const std::uint64_t word : {0U, 1U, 2U}) pair.system.set_word(0, pair.region[0].base + 8 * word, 1);
  pair.post({pair.write(0, 0, 24)});
  pair.post({pair.read(512, 0, 24)}, other);
  std::set<std::array<std::uint64_t, 3>> seen;
  std::map<Stamp, std::set<std::vector<nic::Address>>> orders_seen;
  each_run(pair, runs, [&](const Orders& orders, const nic::System& system) {
    for (const Stamp stamp : {Stamp::aNRW, Stamp::aNRR}) {
      std::vector<nic::Address> touched;
      for (const auto& [what, address] : orders.accesses) {
        if (what == stamp) touched.push_back(address);
      }
      orders_seen[stamp].insert(touched);
      std::ranges::sort(touched);
      const nic::Address first = pair.region[1].base;
      REQUIRE(touched == std::vector<nic::Address>{first, first + 8, first + 16});
    }
    std::array<std::uint64_t, 3> words{};
    for (std::size_t i = 0; i < 3; ++i) words.at(i) = system.word(0, pair.region[0].base + 512 + 8 * i);
    seen.insert(words);
  });
  CHECK(orders_seen[Stamp::aNRW].size() == 6);
  CHECK(orders_seen[Stamp::aNRR].size() == 6);
  CHECK(seen.contains({0, 0, 0}));
  CHECK(seen.contains({1, 1, 1}));
  CHECK(seen.contains({1, 1, 0}));
  CHECK(seen.contains({0, 1, 1}));
}

}  // namespace

TEST_CASE("two operations of one queue pair: the cells of the stamp order") { check_pairs(kShort / 4); }
TEST_CASE("two operations of one queue pair, 100,000 runs each", "[.long]") { check_pairs(kLong); }

TEST_CASE("completions: behind a READ's data, not behind a WRITE's") { check_completions(kShort); }
TEST_CASE("completions, 100,000 runs", "[.long]") { check_completions(kLong); }

TEST_CASE("a doorbell is behind the thread's stores, a load is not") { check_store_buffer(kShort); }
TEST_CASE("doorbells and stores, 100,000 runs", "[.long]") { check_store_buffer(kLong); }

TEST_CASE("queue pairs are not ordered with each other") { check_queue_pairs(kShort); }
TEST_CASE("queue pairs, 100,000 runs", "[.long]") { check_queue_pairs(kLong); }

TEST_CASE("remote atomics are atomic among each other, and with the CPU as the device says") { check_atomics(kShort); }
TEST_CASE("atomics, 100,000 runs", "[.long]") { check_atomics(kLong); }

TEST_CASE("what several words look like while they are written") { check_tearing(kShort); }
TEST_CASE("several words, 100,000 runs", "[.long]") { check_tearing(kLong); }
