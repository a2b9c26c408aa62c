// Shows: events come out in the order of (time, priority, insertion), whatever is pushed, cancelled or picked between.
// The reference is std::stable_sort over a plain vector. A failure prints its seed; replay it by setting kFirstSeed.
#include "sim/event_queue.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/invariant.hpp"
#include "sim/rng.hpp"
#include "tests/catch.hpp"

namespace loco::sim {

struct EventQueueProbe {
  static void set_sequence(EventQueue& queue, std::uint32_t value) { queue.sequence_ = value; }
  static std::uint32_t last_sequence() { return EventQueue::kSequenceEnd - 1; }
  static std::size_t keys_held(const EventQueue& queue) {
    EventCalendar calendar = queue.calendar_;
    std::vector<EventKey> keys;
    calendar.pour_all(queue.slots_.data(), keys);
    return queue.heap_.size() + keys.size();
  }
};

}  // namespace loco::sim

namespace {

using loco::sim::Event;
using loco::sim::EventHandle;
using loco::sim::EventQueue;
using loco::sim::EventQueueProbe;
using loco::sim::SimTime;
using loco::sim::Stream;

constexpr std::uint64_t kFirstSeed = 1;
constexpr std::uint64_t kSeeds = 200 / loco::test::kShare;

bool before(const Event& l, const Event& r) { return l.at != r.at ? l.at < r.at : l.priority < r.priority; }

// A queue that is right by construction: in the order of insertion, sorted stably when asked.
class Reference {
 public:
  void push(const Event& event, EventHandle handle) { entries_.push_back({event, handle}); }
  Event pop_earliest() { return take(earliest()); }
  Event cancel(std::size_t i) { return take(entries_.begin() + static_cast<std::ptrdiff_t>(i)); }
  bool erase(const Event& event) {
    const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.event == event; });
    if (found == entries_.end()) return false;
    entries_.erase(found);
    return true;
  }
  [[nodiscard]] EventHandle handle(std::size_t i) const { return entries_[i].handle; }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] std::vector<Event> sorted() const {
    std::vector<Event> events;
    for (const Entry& e : entries_) events.push_back(e.event);
    std::stable_sort(events.begin(), events.end(), before);
    return events;
  }

 private:
  struct Entry {
    Event event;
    EventHandle handle;
  };
  using Iterator = std::vector<Entry>::iterator;
  Iterator earliest() {
    return std::min_element(entries_.begin(), entries_.end(),
                            [](const Entry& l, const Entry& r) { return before(l.event, r.event); });
  }
  Event take(Iterator at) {
    const Event event = at->event;
    entries_.erase(at);
    return event;
  }
  std::vector<Entry> entries_;
};

std::vector<Event> drain(EventQueue queue) {
  std::vector<Event> events;
  while (!queue.empty()) events.push_back(queue.pop_earliest());
  return events;
}

// Few distinct times and priorities, so that ties are common; `a` tells events apart.
Event random_event(Stream& stream, SimTime from, std::uint64_t name, std::uint64_t spread) {
  return {.at = {from.ps + static_cast<std::int64_t>(stream.below(spread))},
          .priority = static_cast<std::uint8_t>(stream.below(3)),
          .a = name};
}

}  // namespace

TEST_CASE("Events come out in the order of time, priority and insertion") {
  for (std::uint64_t seed = kFirstSeed; seed < kFirstSeed + kSeeds; ++seed) {
    INFO("seed " << seed);
    Stream stream(seed, "event queue test");
    EventQueue queue;
    Reference reference;
    const std::uint64_t spread = 1ULL << stream.below(40);
    for (std::uint64_t i = 0; i < 300; ++i) {
      const Event event = random_event(stream, {}, i, spread);
      reference.push(event, queue.push(event));
    }
    REQUIRE(drain(queue) == reference.sorted());
  }
}

TEST_CASE("Order holds through any mix of push, pop, cancel and copy") {
  for (std::uint64_t seed = kFirstSeed; seed < kFirstSeed + kSeeds; ++seed) {
    INFO("seed " << seed);
    Stream stream(seed, "event queue mix");
    EventQueue queue;
    Reference reference;
    SimTime now;
    const std::uint64_t spread = 1ULL << stream.below(40);
    const std::uint64_t pushes = 30 + stream.below(40);  // of 100 operations
    for (std::uint64_t i = 0; i < 1500; ++i) {
      const std::uint64_t dice = stream.below(100);
      if (dice < pushes) {
        const Event event = random_event(stream, now, i, spread);
        reference.push(event, queue.push(event));
      } else if (reference.size() != 0 && dice < 90) {
        REQUIRE(queue.earliest() == reference.sorted().front());
        const Event event = queue.pop_earliest();
        REQUIRE(event == reference.pop_earliest());
        now = event.at;
      } else if (reference.size() != 0) {
        const auto victim = static_cast<std::size_t>(stream.below(reference.size()));
        const EventHandle handle = reference.handle(victim);
        REQUIRE(queue.pending(handle));
        REQUIRE(queue.cancel(handle));
        REQUIRE_FALSE(queue.pending(handle));
        REQUIRE_FALSE(queue.cancel(handle));
        reference.cancel(victim);
      }
      REQUIRE(queue.size() == reference.size());
      REQUIRE(queue.empty() == (reference.size() == 0));
      if (stream.below(100) == 0) REQUIRE(drain(queue) == reference.sorted());
      if (stream.below(100) == 0) queue = EventQueue(queue);
    }
    REQUIRE(drain(queue) == reference.sorted());
  }
}

TEST_CASE("Order holds with many pending events, bursts, ties and timers far ahead") {
  // Enough events to go through every level of the wheel and every width of the calendar, with a reference that is
  // ordered by construction.
  using Ordered = std::tuple<SimTime, std::uint8_t, std::uint64_t>;
  for (std::uint64_t seed = kFirstSeed; seed < kFirstSeed + kSeeds / 5; ++seed) {
    INFO("seed " << seed);
    Stream stream(seed, "event queue big");
    EventQueue queue;
    std::set<Ordered> reference;
    std::vector<std::pair<EventHandle, Ordered>> timers;
    SimTime now;
    std::uint64_t name = 0;
    const auto push = [&](std::uint64_t spread) {
      const Event event = random_event(stream, now, name++, spread);
      const EventHandle handle = queue.push(event);
      reference.emplace(event.at, event.priority, event.a);
      return std::pair{handle, Ordered{event.at, event.priority, event.a}};
    };
    const std::uint64_t width = 1ULL << (1 + stream.below(30));
    for (int i = 0; i < 20'000; ++i) {
      const std::uint64_t dice = stream.below(1000);
      if (dice < 2) {
        const std::uint64_t burst = 1 + stream.below(1000);
        const std::uint64_t spread = stream.below(4) == 0 ? 1 : 1ULL << stream.below(45);
        for (std::uint64_t k = 0; k < burst; ++k) push(spread);
      } else if (dice < 400) {
        push(width);
      } else if (dice < 450) {
        timers.push_back(push(1ULL << 50U));
      } else if (dice < 500 && !timers.empty()) {
        const auto [handle, key] = timers.back();
        timers.pop_back();
        REQUIRE(queue.cancel(handle) == (reference.erase(key) == 1));
      } else if (!reference.empty()) {
        const Event event = queue.pop_earliest();
        REQUIRE(Ordered{event.at, event.priority, event.a} == *reference.begin());
        reference.erase(reference.begin());
        now = event.at;
      }
      REQUIRE(queue.size() == reference.size());
      // A look at the next event brings its window near; what is pushed then may be due before it.
      if (dice % 8 == 0 && !reference.empty()) REQUIRE(queue.earliest().at == std::get<SimTime>(*reference.begin()));
      if (dice == 999) queue = EventQueue(queue);
    }
    EventQueue copy = queue;
    for (const Ordered& expected : reference) {
      const Event event = queue.pop_earliest();
      REQUIRE(Ordered{event.at, event.priority, event.a} == expected);
    }
    REQUIRE(queue.empty());
    // By index the copy still holds the same events.
    std::set<Ordered> indexed;
    for (std::size_t i = 0; i < copy.size(); ++i) {
      const Event& event = copy.pending(i);
      indexed.emplace(event.at, event.priority, event.a);
    }
    REQUIRE(indexed == reference);
    // The earliest of them and any other are taken in turn.
    const auto take = [&](const Event& event) { return reference.erase({event.at, event.priority, event.a}) == 1; };
    while (!reference.empty()) {
      REQUIRE(copy.earliest().a == std::get<2>(*reference.begin()));
      REQUIRE(take(copy.pop_earliest()));
      if (!copy.empty()) REQUIRE(take(copy.pop(stream.below(copy.size()))));
    }
  }
}

TEST_CASE("Any pending event can be picked, and the rest keeps its order") {
  for (std::uint64_t seed = kFirstSeed; seed < kFirstSeed + kSeeds; ++seed) {
    INFO("seed " << seed);
    Stream stream(seed, "event queue pick");
    EventQueue queue;
    Reference reference;
    for (std::uint64_t i = 0; i < 600; ++i) {
      if (stream.below(5) < 3 || queue.empty()) {
        const Event event = random_event(stream, {}, i, 50);
        reference.push(event, queue.push(event));
      } else if (stream.below(4) == 0) {
        const auto victim = static_cast<std::size_t>(stream.below(reference.size()));
        REQUIRE(queue.cancel(reference.handle(victim)));
        reference.cancel(victim);
      } else {
        const auto i_picked = static_cast<std::size_t>(stream.below(queue.size()));
        const Event promised = queue.pending(i_picked);
        const Event picked = queue.pop(i_picked);
        REQUIRE(picked == promised);
        REQUIRE(reference.erase(picked));
      }
    }
    // Every pending event is seen once by index.
    std::vector<Event> indexed;
    for (std::size_t i = 0; i < queue.size(); ++i) indexed.push_back(queue.pending(i));
    std::sort(indexed.begin(), indexed.end(), [](const Event& l, const Event& r) { return l.a < r.a; });
    auto expected = reference.sorted();
    REQUIRE(drain(queue) == expected);
    std::sort(expected.begin(), expected.end(), [](const Event& l, const Event& r) { return l.a < r.a; });
    REQUIRE(indexed == expected);
  }
}

TEST_CASE("Few events keep their order while they become many, and when they are picked in the end") {
  for (std::uint64_t few = 1; few <= 40; ++few) {
    INFO(few << " events");
    Stream stream(few, "event queue few");
    EventQueue queue;
    Reference reference;
    const auto push = [&](std::uint64_t name) {
      const Event event = random_event(stream, {50}, name, 10);
      reference.push(event, queue.push(event));
    };
    queue.push({.at = {1}});
    for (std::uint64_t i = 0; i < few; ++i) push(i);
    REQUIRE(queue.pop_earliest().at == SimTime{1});
    for (std::uint64_t i = 0; i < few; ++i) push(few + i);
    const auto victim = static_cast<std::size_t>(stream.below(reference.size()));
    REQUIRE(queue.cancel(reference.handle(victim)));
    reference.cancel(victim);
    REQUIRE(drain(queue) == reference.sorted());
    while (!queue.empty()) {
      const Event picked = queue.pop(static_cast<std::size_t>(stream.below(queue.size())));
      REQUIRE(reference.erase(picked));
    }
    REQUIRE(reference.size() == 0);
  }
}

TEST_CASE("Copies of a queue have the same future and do not touch each other") {
  EventQueue queue;
  Stream stream(5, "event queue copy");
  std::vector<EventHandle> handles;
  for (std::uint64_t i = 0; i < 100; ++i) handles.push_back(queue.push(random_event(stream, {}, i, 20)));
  queue.pop_earliest();
  queue.cancel(handles[50]);
  EventQueue copy = queue;
  const auto future = drain(queue);
  CHECK(drain(copy) == future);
  // Same history, same indices: a choice made by index replays on the copy.
  for (std::size_t i = 0; i < queue.size(); ++i) REQUIRE(queue.pending(i) == copy.pending(i));
  CHECK(copy.push(random_event(stream, {1000}, 1, 20)) == queue.push(random_event(stream, {1000}, 2, 20)));
  CHECK(copy.cancel(handles[51]));
  CHECK(queue.pending(handles[51]));
  while (!copy.empty()) copy.pop_earliest();
  CHECK(drain(queue).size() == future.size() + 1);
}

TEST_CASE("A handle does not fit the event that uses its slot next") {
  EventQueue queue;
  const EventHandle first = queue.push({.at = {1}});
  queue.pop_earliest();
  const EventHandle second = queue.push({.at = {2}});
  CHECK_FALSE(first == second);
  CHECK_FALSE(queue.cancel(first));
  CHECK_FALSE(queue.cancel(EventHandle{}));
  CHECK(queue.size() == 1);
  CHECK(queue.cancel(second));
  CHECK(queue.empty());
}

TEST_CASE("Order survives the end of the sequence numbers") {
  EventQueue queue;
  EventQueueProbe::set_sequence(queue, EventQueueProbe::last_sequence() - 100);
  Reference reference;
  Stream stream(9, "event queue sequence");
  for (std::uint64_t i = 0; i < 300; ++i) {
    const Event event = random_event(stream, {}, i, 10);
    const EventHandle handle = queue.push(event);
    reference.push(event, handle);
    if (i == 50) {
      REQUIRE(queue.cancel(handle));
      reference.erase(event);
    }
    if (i % 3 == 0) REQUIRE(queue.size() == reference.size());
  }
  CHECK(queue.cancel(reference.handle(7)));  // handles stay valid
  reference.cancel(7);
  CHECK(drain(queue) == reference.sorted());
}

TEST_CASE("Order survives the end of the sequence numbers with many pending") {
  EventQueue queue;
  Stream stream(10, "event queue sequence");
  std::vector<Event> events;
  const auto push = [&] {
    events.push_back(random_event(stream, {}, events.size(), 1000));
    queue.push(events.back());
  };
  for (int i = 0; i < 3000; ++i) push();
  EventQueueProbe::set_sequence(queue, EventQueueProbe::last_sequence() - 1000);
  for (int i = 0; i < 3000; ++i) push();
  std::stable_sort(events.begin(), events.end(), before);
  CHECK(drain(queue) == events);
}

TEST_CASE("Ranked events come behind the others of their time, by rank, also when the sequence starts again") {
  EventQueue queue;
  EventQueueProbe::set_sequence(queue, EventQueueProbe::last_sequence() - 20);
  Stream stream(4, "event queue ranks");
  std::vector<Event> events;
  for (std::uint32_t i = 0; i < 500; ++i) {
    Event event{.at = {static_cast<std::int64_t>(i / 50)}, .what = 1, .where = i};
    if (i % 2 == 0) {
      queue.push(event);
      events.push_back(event);
      continue;
    }
    // Pushed in another order than that of their ranks.
    event.priority = loco::sim::kRanked;
    event.where = 1'000 + (i * 37) % 500;
    queue.push_ranked(event, event.where);
    events.push_back(event);
  }
  std::ranges::sort(events, [](const Event& l, const Event& r) {
    return std::tuple(l.at.ps, l.priority, l.where) < std::tuple(r.at.ps, r.priority, r.where);
  });
  CHECK(drain(queue) == events);
}

TEST_CASE("Cancelled events do not pile up") {
  EventQueue queue;
  for (int i = 0; i < 10; ++i) queue.push({.at = {i}});
  for (int i = 0; i < 100'000; ++i) queue.cancel(queue.push({.at = {1'000'000 + i}}));
  CHECK(queue.size() == 10);
  CHECK(EventQueueProbe::keys_held(queue) < 200);
  for (int i = 10; i < 100; ++i) queue.push({.at = {i}});
  for (int i = 0; i < 50; ++i) CHECK(queue.pop_earliest().at == SimTime{i});
  for (int i = 0; i < 100'000; ++i) queue.cancel(queue.push({.at = {1'000'000'000 + i}}));
  CHECK(queue.size() == 50);
  CHECK(EventQueueProbe::keys_held(queue) < 200);
}

TEST_CASE("Order holds where a crowd comes after many timers have been cancelled") {
  // Few are near, so that the window is wide; then the timers' keys are dropped, and so many come at nearly one time,
  // each before one that is there, that the window is cut: what was near goes back to where the timers are.
  EventQueue queue;
  std::vector<Event> events;
  const auto push = [&](std::int64_t at) {
    events.push_back({.at = {at}, .a = events.size()});
    return queue.push(events.back());
  };
  for (int i = 0; i < 100; ++i) push(i * 167'000);  // up to the window's end, at 2^24
  for (int i = 0; i < 100; ++i) push(20'000'000 + i * 1'000'000);
  CHECK(queue.pop_earliest().at == SimTime{0});
  events.erase(events.begin());
  for (int i = 0; i < 1000; ++i) CHECK(queue.cancel(queue.push({.at = {1'000'000'000 + i}})));
  for (int i = 0; i < 300; ++i) push(1'000'000 + (i == 0 ? 300 : i));
  std::stable_sort(events.begin(), events.end(), before);
  CHECK(drain(queue) == events);
}

TEST_CASE("Order holds where a crowd comes before the window that is near") {
  // A look at the next event has brought its window near; nothing in front of that may go back to the wheel.
  EventQueue queue;
  std::vector<Event> events;
  const auto push = [&](std::int64_t at) {
    events.push_back({.at = {at}, .a = events.size()});
    queue.push(events.back());
  };
  push(0);
  for (int i = 0; i < 100; ++i) push(100'000'000'000 + i * 100'000);
  queue.pop_earliest();
  events.erase(events.begin());
  CHECK(queue.earliest() == events.front());
  for (int i = 0; i < 300; ++i) push(50'000'000 + 997 * (i == 0 ? 300 : i));
  std::stable_sort(events.begin(), events.end(), before);
  CHECK(drain(queue) == events);
}

TEST_CASE("Times at the ends of the range are in order") {
  EventQueue queue;
  queue.push({.at = SimTime::max(), .a = 3});
  queue.push({.at = {0}, .a = 2});
  queue.push({.at = {-5}, .a = 1});
  CHECK(queue.pop_earliest().a == 1);
  CHECK(queue.pop_earliest().a == 2);
  CHECK(queue.pop_earliest().a == 3);
}

TEST_CASE("An event in the past is a broken invariant") {
  const int later = GENERATE(0, 100);  // few or many pending
  CAPTURE(later);
  EventQueue queue;
  queue.push({.at = {100}});
  for (int i = 0; i < later; ++i) queue.push({.at = {200}});
  queue.pop_earliest();
  queue.push({.at = {100}});  // the present instant is not the past
  try {
    queue.push({.at = {99}});
    FAIL("accepted");
  } catch (const loco::sim::BrokenInvariant& broken) {
    CHECK(broken.at() == SimTime{100});
    CHECK(broken.component() == "event queue");
    CHECK_THAT(broken.what(), loco::test::contains_text("100 ps") && loco::test::contains_text("event queue"));
  }
}
