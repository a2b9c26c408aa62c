// Shows: processes wake at the exact instant and in the promised order, and their errors reach the run loop.
#include "sim/process.hpp"

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "sim/invariant.hpp"
#include "sim/rng.hpp"
#include "tests/catch.hpp"

using namespace loco::sim;

namespace {

using Log = std::vector<std::pair<std::int64_t, std::string>>;

}  // namespace

TEST_CASE("A sleeping process wakes at the exact instant") {
  Simulation simulation;
  Processes& p = simulation.processes();
  Log log;
  p.spawn("a", [&] {
    for (int i = 0; i < 3; ++i) {
      p.sleep(10_ps);
      log.emplace_back(p.now().ps, "a");
    }
  });
  p.spawn("b", [&] {
    p.sleep_until(SimTime{15});
    log.emplace_back(p.now().ps, "b");
    p.sleep_until(SimTime{3});  // in the past: the present
    log.emplace_back(p.now().ps, "b");
  });
  simulation.run();
  CHECK(log == Log{{10, "a"}, {15, "b"}, {15, "b"}, {20, "a"}, {30, "a"}});
  CHECK(p.unfinished() == 0);
}

TEST_CASE("Equal instants wake in the order in which the sleeps began") {
  Simulation simulation;
  Processes& p = simulation.processes();
  std::string log;
  for (const char name : {'a', 'b', 'c'}) {
    p.spawn(std::string(1, name), [&p, &log, name] {
      for (int i = 0; i < 2; ++i) {
        p.sleep(5_ps);
        log += name;
      }
    });
  }
  simulation.run();
  CHECK(log == "abcabc");
}

TEST_CASE("A condition wakes its waiters first come first served, at the instant of the notification") {
  Simulation simulation;
  Processes& p = simulation.processes();
  Condition condition(p);
  Log log;
  for (const char name : {'a', 'b', 'c'}) {
    p.spawn(std::string(1, name), [&, name] {
      p.wait(condition);
      log.emplace_back(p.now().ps, std::string(1, name));
    });
  }
  p.spawn("notifier", [&] {
    p.sleep(7_ps);
    CHECK(condition.notify_one());
    p.sleep(7_ps);
    condition.notify_all();
    CHECK_FALSE(condition.notify_one());
  });
  simulation.run();
  CHECK(log == Log{{7, "a"}, {14, "b"}, {14, "c"}});
}

TEST_CASE("A wait with a deadline ends at the notification or at the deadline, once") {
  Simulation simulation;
  Processes& p = simulation.processes();
  Condition condition(p);
  Log log;
  p.spawn("waiter", [&] {
    const auto round = [&](SimTime deadline) {
      const bool notified = p.wait_until(condition, deadline);
      log.emplace_back(p.now().ps, notified ? "notified" : "timeout");
    };
    round(SimTime{10});   // nobody notifies
    round(SimTime{100});  // notified at 20
    round(SimTime{30});   // deadline and notification at the same instant, notified first
    round(SimTime{50});   // notified at 40: the first process runs before the timer of 50
    p.sleep_until(SimTime{200});
    log.emplace_back(p.now().ps, "slept");  // no wake-up was left over to cut the sleep short
  });
  p.spawn("notifier", [&] {
    for (const std::int64_t at : {20, 30, 40}) {
      p.sleep_until(SimTime{at});
      condition.notify_one();
    }
  });
  simulation.run();
  // At 30 the notifier's wake-up was pushed at 20 before the waiter's timer, so it notifies first.
  CHECK(log == Log{{10, "timeout"}, {20, "notified"}, {30, "notified"}, {40, "notified"}, {200, "slept"}});
}

TEST_CASE("A timed out waiter is no longer in the list") {
  Simulation simulation;
  Processes& p = simulation.processes();
  Condition condition(p);
  std::string log;
  p.spawn("gives up", [&] {
    if (!p.wait_until(condition, SimTime{5})) log += 't';
  });
  p.spawn("stays", [&] {
    p.wait(condition);
    log += 's';
  });
  p.spawn("notifier", [&] {
    p.sleep(10_ps);
    condition.notify_one();
  });
  simulation.run();
  CHECK(log == "ts");
}

TEST_CASE("An exception in a process comes out of the run loop and the others can go on") {
  Simulation simulation;
  Processes& p = simulation.processes();
  bool other_ended = false;
  p.spawn("fails", [&] {
    p.sleep(5_ps);
    throw std::runtime_error("broken process");
  });
  p.spawn("other", [&] {
    p.sleep(9_ps);
    other_ended = true;
  });
  CHECK_THROWS_WITH(simulation.run(), "broken process");
  CHECK(simulation.now() == SimTime{5});
  simulation.run();
  CHECK(other_ended);
}

TEST_CASE("Processes that wait for ever are named, and unwound with the simulation") {
  bool unwound = false;
  {
    Simulation simulation;
    Processes& p = simulation.processes();
    Condition never(p);
    struct OnExit {
      bool& flag;
      ~OnExit() { flag = true; }
    };
    p.spawn("stuck", [&] {
      const OnExit guard{unwound};
      Condition mine(p);  // on the fiber's own stack
      p.wait_until(mine, SimTime::max());
    });
    p.spawn("fine", [&] { p.sleep(1_ps); });
    simulation.run();
    CHECK(p.unfinished_names() == std::vector<std::string>{"stuck"});
    CHECK_FALSE(unwound);
  }
  CHECK(unwound);
}

TEST_CASE("block and wake hand over at the present instant") {
  Simulation simulation;
  Processes& p = simulation.processes();
  Log log;
  const ProcessId blocked = p.spawn("blocked", [&] {
    p.block();
    log.emplace_back(p.now().ps, "woken");
  });
  p.spawn("waker", [&] {
    p.sleep(3_ps);
    p.wake(blocked);
    log.emplace_back(p.now().ps, "waker goes on");
  });
  simulation.run();
  CHECK(log == Log{{3, "waker goes on"}, {3, "woken"}});
  CHECK(p.finished(blocked));
}

TEST_CASE("Models' events and processes share the queue; run_until stops between them") {
  Simulation simulation;
  Processes& p = simulation.processes();
  Log log;
  simulation.on_event([&](const Event& event) { log.emplace_back(simulation.now().ps, std::to_string(event.what)); });
  simulation.queue().push({.at = {10}, .what = 1});
  simulation.queue().push({.at = {30}, .what = 2});
  p.spawn("p", [&] {
    p.sleep(20_ps);
    log.emplace_back(p.now().ps, "p");
  });
  simulation.run_until(SimTime{20});
  CHECK(log == Log{{10, "1"}, {20, "p"}});
  simulation.run_until(SimTime{25});
  CHECK(simulation.now() == SimTime{25});
  simulation.run();
  CHECK(log == Log{{10, "1"}, {20, "p"}, {30, "2"}});
}

TEST_CASE("An event that nobody handles stops the run") {
  Simulation simulation;
  simulation.queue().push({.at = {42}, .what = 1});
  CHECK_THROWS_AS(simulation.run(), BrokenInvariant);
}

TEST_CASE("Under random picking every process still ends, the same way for a seed") {
  const auto run = [](std::uint64_t seed) {
    Simulation simulation{Pick(Random{Stream(seed, "pick")})};
    Processes& p = simulation.processes();
    std::string log;
    for (const char name : {'a', 'b', 'c', 'd'}) {
      p.spawn(std::string(1, name), [&p, &log, name] {
        for (int i = 0; i < 5; ++i) {
          p.sleep(10_ps);
          log += name;
        }
      });
    }
    simulation.run();
    CHECK(p.unfinished() == 0);
    return log;
  };
  CHECK(run(1).size() == 20);
  CHECK(run(1) == run(1));
  CHECK_FALSE(run(1) == run(2));
}
