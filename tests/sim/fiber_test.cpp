// Shows: fibers stop and go on where they were, carry exceptions out, and are unwound when destroyed.
#include "sim/fiber.hpp"

#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/catch.hpp"

using loco::sim::FiberId;
using loco::sim::FiberPool;

namespace {

struct OnExit {
  std::vector<int>& log;
  int value;
  ~OnExit() { log.push_back(value); }
};

}  // namespace

TEST_CASE("Fibers interleave at their suspension points") {
  FiberPool pool;
  std::string log;
  const auto body = [&](char name) {
    return [&pool, &log, name] {
      for (int i = 0; i < 3; ++i) {
        log += name;
        pool.suspend();
      }
    };
  };
  const FiberId a = pool.create(body('a'));
  const FiberId b = pool.create(body('b'));
  CHECK(log.empty());  // nothing runs before the first resume
  for (int i = 0; i < 3; ++i) {
    pool.resume(a);
    pool.resume(b);
  }
  CHECK(log == "ababab");
  CHECK_FALSE(pool.finished(a));
  pool.resume(a);
  CHECK(pool.finished(a));
  CHECK(pool.unfinished() == 1);
}

TEST_CASE("A stack is used again and the old handle stays finished") {
  FiberPool pool;
  int runs = 0;
  FiberId last;
  for (int i = 0; i < 1000; ++i) {
    const FiberId id = pool.create([&] { ++runs; });
    CHECK_FALSE(id == last);
    pool.resume(id);
    CHECK(pool.finished(id));
    last = id;
  }
  CHECK(runs == 1000);
  CHECK(pool.stacks() == 1);
}

TEST_CASE("An exception leaves the body through resume") {
  FiberPool pool;
  const FiberId id = pool.create([&] {
    pool.suspend();
    throw std::runtime_error("from inside");
  });
  pool.resume(id);
  CHECK_THROWS_WITH(pool.resume(id), "from inside");
  CHECK(pool.finished(id));
  CHECK_THROWS_AS(pool.resume(id), std::logic_error);
  bool ran = false;
  pool.resume(pool.create([&] { ran = true; }));  // the pool works on
  CHECK(ran);
}

TEST_CASE("Fibers suspend inside catch blocks without mixing up their exceptions") {
  FiberPool pool;
  std::vector<std::string> seen;
  const auto body = [&](std::string text) {
    return [&pool, &seen, text] {
      try {
        throw std::runtime_error(text);
      } catch (const std::runtime_error&) {
        pool.suspend();
        try {
          throw;  // rethrows the exception this fiber is handling
        } catch (const std::runtime_error& again) {
          seen.emplace_back(again.what());
        }
      }
    };
  };
  const FiberId a = pool.create(body("a"));
  const FiberId b = pool.create(body("b"));
  pool.resume(a);
  pool.resume(b);
  CHECK(std::current_exception() == nullptr);
  pool.resume(a);  // ends in the order of starting, not nested
  pool.resume(b);
  CHECK(seen == std::vector<std::string>{"a", "b"});
}

TEST_CASE("A destructor may suspend while an exception unwinds its fiber") {
  FiberPool pool;
  struct Suspends {
    FiberPool& pool;
    ~Suspends() { pool.suspend(); }
  };
  const FiberId id = pool.create([&] {
    const Suspends guard{pool};
    throw std::runtime_error("late");
  });
  pool.resume(id);
  CHECK(std::uncaught_exceptions() == 0);
  CHECK_FALSE(pool.finished(id));
  CHECK_THROWS_WITH(pool.resume(id), "late");
}

TEST_CASE("Destroying a pool unwinds unfinished fibers, each stack from the inside out") {
  std::vector<int> log;
  {
    FiberPool pool;
    const auto body = [&](int base) {
      return [&pool, &log, base] {
        const OnExit outer{log, base};
        const OnExit inner{log, base + 1};
        for (;;) pool.suspend();
      };
    };
    pool.resume(pool.create(body(10)));
    pool.resume(pool.create(body(20)));
    pool.create(body(30));  // never started: nothing to unwind
    CHECK(log.empty());
  }
  CHECK(log == std::vector<int>{11, 10, 21, 20});
}

TEST_CASE("A body that swallows every std::exception is still unwound") {
  std::vector<int> log;
  {
    FiberPool pool;
    pool.resume(pool.create([&] {
      const OnExit exit{log, 1};
      for (;;) {
        try {
          pool.suspend();
        } catch (const std::exception&) {
          log.push_back(99);
        }
      }
    }));
  }
  CHECK(log == std::vector<int>{1});
}

TEST_CASE("One fiber can be cancelled by itself") {
  std::vector<int> log;
  FiberPool pool;
  const FiberId id = pool.create([&] {
    const OnExit exit{log, 5};
    pool.suspend();
    log.push_back(6);
  });
  pool.resume(id);
  pool.cancel(id);
  CHECK(pool.finished(id));
  pool.cancel(id);
  CHECK(log == std::vector<int>{5});
  CHECK(pool.unfinished() == 0);
}

TEST_CASE("Misuse of a pool is refused") {
  FiberPool pool;
  CHECK_THROWS_AS(pool.suspend(), std::logic_error);
  CHECK_THROWS_AS(pool.resume(FiberId{}), std::logic_error);
  const FiberId other = pool.create([] {});
  const FiberId id = pool.create([&] { pool.resume(other); });
  CHECK_THROWS_AS(pool.resume(id), std::logic_error);
  CHECK_FALSE(pool.finished(other));
}

TEST_CASE("A fiber may create fibers and drive another pool") {
  FiberPool pool;
  int inner_runs = 0;
  std::vector<FiberId> made;
  const FiberId id = pool.create([&] {
    for (int i = 0; i < 100; ++i) made.push_back(pool.create([&] { ++inner_runs; }));
    FiberPool nested;
    const FiberId n = nested.create([&] {
      ++inner_runs;
      nested.suspend();
      ++inner_runs;
    });
    nested.resume(n);
    pool.suspend();
    nested.resume(n);
  });
  pool.resume(id);
  CHECK(inner_runs == 1);
  pool.resume(id);
  CHECK(inner_runs == 2);
  for (const FiberId m : made) pool.resume(m);
  CHECK(inner_runs == 102);
}

TEST_CASE("A fiber has the stack that was asked for") {
  FiberPool pool({.stack_bytes = 1U << 20U});
  unsigned sum = 0;
  pool.resume(pool.create([&] {
    std::array<volatile unsigned char, 900U << 10U> big;  // more than the default stack
    for (std::size_t i = 0; i < big.size(); i += 512) big[i] = 1;
    for (std::size_t i = 0; i < big.size(); i += 512) sum += big[i];
  }));
  CHECK(sum == (900U << 10U) / 512);
}
