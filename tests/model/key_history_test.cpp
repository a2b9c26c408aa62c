// Linearisability of one key's history: both deciders against the definition, on histories small enough for it; and
// long ones of a busy key, with and without a planted violation.
#include "model/key_history.hpp"

#include <algorithm>
#include <array>
#include <random>
#include <set>

#include "model/check.hpp"
#include "tests/catch.hpp"
#include "tests/model/trace_builder.hpp"

namespace loco::model::test {
namespace {

struct Operation {
  Method method = Method::kv_lookup;
  std::uint64_t value = 0, result = 0;
  Seq begin = 0, end = 0;
  bool returned = true;
};
using History = std::vector<Operation>;

Trace trace_of(const History& history) {
  Trace t;
  t.nodes = 1;
  for (const Operation& o : history) {
    t.threads.push_back({0, ""});
    Call c;
    c.library = Library::kvstore;
    c.method = o.method;
    c.thread = static_cast<std::uint32_t>(t.threads.size() - 1);
    c.argument = 5;
    c.work_id = o.value;
    c.result = o.result;
    c.begin = o.begin;
    c.end = o.returned ? o.end : kNever;
    c.returned = o.returned;
    t.calls.push_back(c);
  }
  return t;
}

enum class Answer : std::uint8_t { good, bad, gave_up, not_unique };

template <class Decide>
Answer decide(const History& history, Decide by) {
  const Trace trace = trace_of(history);
  const Poll poll({});
  const TraceIndex index(trace, poll);
  Reports reports(1);
  std::vector<CallId> calls;
  for (CallId id = 1; id <= trace.calls.size(); ++id) calls.push_back(id);
  if (!by(index, calls, reports)) return Answer::not_unique;
  if (reports.total() == 0) return Answer::good;
  return reports.violations().front().rule == Rule::budget ? Answer::gave_up : Answer::bad;
}

Answer by_intervals(const History& history) {
  return decide(history, [](const TraceIndex& i, std::span<const CallId> c, Reports& r) {
    return check_key_by_intervals(i, c, r);
  });
}
Answer by_search(const History& history) {
  return decide(history, [](const TraceIndex& i, std::span<const CallId> c, Reports& r) {
    check_key_by_search(i, c, r);
    return true;
  });
}

/// What the call does to a map with `value`. Returns its result.
std::uint64_t act(const Operation& o, std::uint64_t& value) {
  if (o.method == Method::kv_lookup) return value;
  if ((o.method == Method::kv_insert) != (value == 0)) return 0;
  value = o.method == Method::kv_delete ? 0 : o.value;
  return 1;
}

/// Straight from the definition: is there an order of the calls (those that did not return may be left out) that
/// respects real time and in which each returns what the map says?
class Definition {
 public:
  explicit Definition(const History& history) : history_(history) {}

  bool linearisable(std::uint32_t done = 0, std::uint64_t value = 0) {
    bool left = false;
    for (std::size_t i = 0; i < history_.size(); ++i) left = left || ((done >> i & 1U) == 0 && history_[i].returned);
    if (!left) return true;
    if (!hopeless_.insert({done, value}).second) return false;
    for (std::size_t i = 0; i < history_.size(); ++i) {
      if ((done >> i & 1U) != 0) continue;
      bool first = true;  // no other call ended before this one began
      for (std::size_t j = 0; j < history_.size(); ++j)
        first = first && ((done >> j & 1U) != 0 || !history_[j].returned || history_[j].end >= history_[i].begin);
      std::uint64_t after = value;
      const std::uint64_t result = act(history_[i], after);
      if (first && (!history_[i].returned || history_[i].result == result) && linearisable(done | 1U << i, after))
        return true;
    }
    return false;
  }

 private:
  const History& history_;
  std::set<std::pair<std::uint32_t, std::uint64_t>> hopeless_;
};

struct Shape {
  std::uint64_t calls = 8;
  std::uint64_t span = 20;  ///< a call begins and ends at most this long before and after it takes effect
  std::uint64_t step = 5;   ///< time from one effect to the next, at most
  std::array<Method, 6> mix = {Method::kv_lookup, Method::kv_lookup, Method::kv_insert,
                               Method::kv_update, Method::kv_delete, Method::kv_delete};
  std::uint64_t pending_percent = 0;
};

/// A history that is linearisable: the calls take effect one after the other. Each value is written once.
History run_map(std::mt19937_64& random, const Shape& shape) {
  History history;
  std::uint64_t value = 0;
  Seq now = shape.span + 1;
  for (std::uint64_t i = 0; i < shape.calls; ++i) {
    Operation o;
    o.method = shape.mix.at(random() % shape.mix.size());
    o.value = o.method == Method::kv_insert || o.method == Method::kv_update ? i + 1 : 0;
    now += random() % (shape.step + 1);
    o.begin = now - random() % shape.span;
    o.end = now + random() % shape.span;
    o.returned = random() % 100 >= shape.pending_percent;
    if (o.returned || random() % 2 == 0) o.result = act(o, value);
    if (!o.returned) o.result = 0;
    history.push_back(o);
  }
  return history;
}

/// Makes one thing another.
void disturb(std::mt19937_64& random, History& history) {
  Operation& o = history[random() % history.size()];
  switch (random() % 4) {
    case 0:
      o.result = o.method == Method::kv_lookup ? random() % (history.size() + 1) : 1 - o.result;
      break;
    case 1:
      o.end = o.begin + random() % (o.end - o.begin + 1);
      break;
    case 2:
      o.begin = o.end - random() % (o.end - o.begin + 1);
      break;
    default: {
      Operation& other = history[random() % history.size()];
      std::swap(o.begin, other.begin);
      std::swap(o.end, other.end);
      break;
    }
  }
}

void check_verdict(const Trace& trace, bool good) {
  const std::array kv = {Library::kvstore};
  const Verdict v = check(trace, kv);
  INFO(v.to_text());
  REQUIRE(v.consistent() == good);
  if (!good) REQUIRE(names_rule(v, Library::kvstore, Rule::linearisability));
}

void check_verdict(const History& history, bool good) { check_verdict(trace_of(history), good); }

TEST_CASE("kvstore: histories of one key", "[check]") {
  using M = Method;
  // method, value, result, begin, end, returned
  check_verdict({{M::kv_insert, 7, 1, 1, 2, true}, {M::kv_lookup, 0, 7, 3, 4, true}}, true);
  // Overlapping: the lookup may come before or after.
  check_verdict({{M::kv_insert, 7, 1, 1, 9, true}, {M::kv_lookup, 0, 0, 3, 4, true}}, true);
  check_verdict({{M::kv_insert, 7, 1, 1, 9, true}, {M::kv_lookup, 0, 7, 3, 4, true}}, true);
  // A call that never returned may have taken effect.
  check_verdict({{M::kv_insert, 7, 0, 1, 0, false}, {M::kv_lookup, 0, 7, 3, 4, true}}, true);
  // Stale: the insert was over.
  check_verdict({{M::kv_insert, 7, 1, 1, 2, true}, {M::kv_lookup, 0, 0, 3, 4, true}}, false);
  // Back in time: 8 was seen before 7 was.
  check_verdict({{M::kv_insert, 7, 1, 1, 2, true},
                 {M::kv_update, 8, 1, 3, 20, true},
                 {M::kv_lookup, 0, 8, 4, 5, true},
                 {M::kv_lookup, 0, 7, 6, 7, true}},
                false);
  // Two inserts cannot both succeed.
  check_verdict({{M::kv_insert, 7, 1, 1, 5, true}, {M::kv_insert, 8, 1, 2, 6, true}}, false);
  // Seen before it was written; written by nobody; a success that is none.
  check_verdict({{M::kv_lookup, 0, 7, 1, 2, true}, {M::kv_insert, 7, 1, 3, 4, true}}, false);
  check_verdict({{M::kv_insert, 7, 1, 1, 2, true}, {M::kv_lookup, 0, 9, 3, 4, true}}, false);
  check_verdict({{M::kv_insert, 7, 2, 1, 2, true}}, false);
  // 8 comes and goes while 7 is there from 3 to 9, as both lookups say.
  check_verdict({{M::kv_insert, 7, 1, 1, 2, true},
                 {M::kv_lookup, 0, 7, 2, 3, true},
                 {M::kv_update, 8, 1, 4, 8, true},
                 {M::kv_lookup, 0, 7, 9, 9, true}},
                false);
  // Between the two, the key can be deleted and inserted by calls that go on.
  check_verdict({{M::kv_insert, 7, 1, 1, 2, true},
                 {M::kv_delete, 0, 1, 3, 9, true},
                 {M::kv_insert, 8, 1, 3, 9, true},
                 {M::kv_lookup, 0, 0, 4, 5, true},
                 {M::kv_lookup, 0, 8, 6, 7, true}},
                true);
  // 8 is there from 10 to 20; calls that touch may overlap, so 9 came and went at 10, before it.
  check_verdict({{M::kv_insert, 7, 1, 1, 2, true},
                 {M::kv_update, 8, 1, 3, 10, true},
                 {M::kv_update, 9, 1, 10, 15, true},
                 {M::kv_lookup, 0, 8, 20, 21, true}},
                true);
  check_verdict({{M::kv_insert, 7, 1, 1, 2, true},
                 {M::kv_update, 8, 1, 3, 10, true},
                 {M::kv_update, 9, 1, 11, 15, true},
                 {M::kv_lookup, 0, 8, 20, 21, true}},
                false);
}

TEST_CASE("kvstore: a key of one store is not that of another", "[check]") {
  // Each store has the key inserted once.
  Trace trace = trace_of({{Method::kv_insert, 7, 1, 1, 2, true}, {Method::kv_insert, 8, 1, 3, 4, true}});
  check_verdict(trace, false);
  trace.objects.push_back({"other store", {}, false});
  trace.calls[1].object = static_cast<std::uint32_t>(trace.objects.size() - 1);
  check_verdict(trace, true);
}

TEST_CASE("kvstore: what is too large to decide is undecided, unless another key is wrong", "[check]") {
  // The same value by 600 updates that never return: the search holds 512 open calls at most.
  History history = {{Method::kv_insert, 1, 1, 1, 2, true}};
  for (Seq begin = 3; begin < 603; ++begin) history.push_back({Method::kv_update, 1, 1, begin, 0, false});
  Trace trace = trace_of(history);
  constexpr std::array kStores = {Library::kvstore};
  const Verdict open = check(trace, kStores);
  CHECK_FALSE(open.consistent());
  CHECK(open.undecided());
  CHECK_THAT(open.to_text(), loco::test::contains_text("undecided: kvstore"));
  CHECK(open.to_text().find("inconsistent") == std::string::npos);
  // Key 6 was inserted twice.
  const Trace wrong = trace_of({{Method::kv_insert, 7, 1, 1, 2, true}, {Method::kv_insert, 8, 1, 3, 4, true}});
  for (Call c : wrong.calls) {
    c.argument = 6;
    c.thread = 0;
    trace.calls.push_back(c);
  }
  const std::size_t most = GENERATE(std::size_t{1}, std::size_t{8});
  const Verdict both = check(trace, kStores, {.max_violations = most});
  CHECK_FALSE(both.undecided());
  CHECK_THAT(both.to_text(), loco::test::contains_text("inconsistent: kvstore"));
}

TEST_CASE("kvstore: the same verdict as the definition gives, when values are written twice", "[check]") {
  int good = 0, bad = 0;
  for (std::uint64_t seed = 1; seed <= 4000 / loco::test::kShare; ++seed) {
    std::mt19937_64 random(seed);
    History history;
    const std::uint64_t n = 2 + random() % 5;
    for (std::uint64_t i = 0; i < n; ++i) {
      constexpr std::array kMethods = {Method::kv_lookup, Method::kv_lookup, Method::kv_insert, Method::kv_update,
                                       Method::kv_delete};
      Operation o{};
      o.method = kMethods[random() % kMethods.size()];
      o.value = 1 + random() % 3;
      o.result = o.method == Method::kv_lookup ? random() % 3 : random() % 4 == 0 ? 0 : 1;
      o.begin = 1 + random() % 20;
      o.end = o.begin + random() % 10;
      o.returned = random() % 8 != 0;
      history.push_back(o);
    }
    const bool expected = Definition(history).linearisable();
    INFO("seed " << seed);
    REQUIRE((by_search(history) == Answer::good) == expected);
    check_verdict(history, expected);
    ++(expected ? good : bad);
  }
  CHECK(good > 300 / int(loco::test::kShare));
  CHECK(bad > 300 / int(loco::test::kShare));
}

TEST_CASE("kvstore: the same verdict as the definition gives, when values are written once", "[check]") {
  std::uint64_t good = 0, bad = 0;
  const std::uint64_t histories = loco::test::some(40'000) / loco::test::kShare;
  for (std::uint64_t seed = 1; seed <= histories; ++seed) {
    std::mt19937_64 random(seed);
    Shape shape{.calls = 3 + random() % 9,
                .span = 1 + random() % 40,
                .step = random() % 8,
                .pending_percent = random() % 3 == 0 ? 10U : 0U};
    if (random() % 2 == 0) shape.mix[0] = Method::kv_insert;
    History history = run_map(random, shape);
    for (std::uint64_t times = random() % 4; times > 0; --times) disturb(random, history);
    const Answer expected = Definition(history).linearisable() ? Answer::good : Answer::bad;
    INFO("seed " << seed);
    REQUIRE(by_intervals(history) == expected);
    REQUIRE(by_search(history) == expected);
    ++(expected == Answer::good ? good : bad);
  }
  CHECK(good > histories / 8);
  CHECK(bad > histories / 8);
}

TEST_CASE("kvstore: a long history of one busy key is quick", "[check]") {
  // Hundreds of calls are under way at any time: 32 threads with a window of 128 may have 4,096.
  static constexpr std::array kUpdates = {Method::kv_lookup, Method::kv_lookup, Method::kv_lookup,
                                          Method::kv_update, Method::kv_update, Method::kv_insert};
  const Shape shape = GENERATE(Shape{.calls = 20'000, .span = 1'000}, Shape{.calls = 20'000, .span = 10'000},
                               Shape{.calls = 20'000, .span = 5'000, .step = 1, .mix = kUpdates},
                               Shape{.calls = 20'000, .span = 1'000, .pending_percent = 2});
  std::mt19937_64 random(1);
  History history = run_map(random, shape);
  REQUIRE(by_intervals(history) == Answer::good);

  SECTION("a value that was overwritten for good") {
    const auto changes = [](const Operation& o) { return o.returned && o.value != 0 && o.result == 1; };
    for (int turn = 0; turn < 5; ++turn) {
      std::size_t old = random() % history.size();
      while (!changes(history[old])) old = random() % history.size();
      const auto next = std::find_if(history.begin(), history.end(),
                                     [&](const Operation& o) { return changes(o) && o.begin > history[old].end; });
      if (next == history.end()) continue;
      History wrong = history;
      wrong.push_back({Method::kv_lookup, 0, history[old].value, next->end + 1, next->end + 100'000, true});
      CHECK(by_intervals(wrong) == Answer::bad);
    }
  }
  SECTION("one delete too many") {
    const auto count = [&](Method m) {
      return std::count_if(history.begin(), history.end(),
                           [&](const Operation& o) { return o.method == m && o.result == 1; });
    };
    if (shape.pending_percent != 0) return;
    const Operation last = {Method::kv_delete, 0, 1, 1, 2 * history.back().end, true};
    if (count(Method::kv_insert) > count(Method::kv_delete)) {  // the key is there at the end
      history.push_back(last);
      CHECK(by_intervals(history) == Answer::good);
    }
    history.push_back(last);
    CHECK(by_intervals(history) == Answer::bad);
  }
}

}  // namespace
}  // namespace loco::model::test
