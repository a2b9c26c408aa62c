// Locks of three classes (docs/atomics.md, "In traces") under many schedules: each keeps what it promises; who needs
// more than it promises is told so; a mistake in the lock breaks the promise.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "loco_sim/workloads/faults.hpp"
#include "tests/catch.hpp"
#include "tests/loco_sim/workloads/checked_run.hpp"

namespace loco::test {
namespace {

enum Class : std::int64_t { kStrong, kWeak, kNode };
enum Counter : std::int64_t { kOther, kHome };

Job counting(std::int64_t lock_class, std::int64_t counter, std::uint64_t seed) {
  Job job{.kind = "lock",
          .params = {{"iterations", 3}, {"lock_class", lock_class}, {"counter", counter}},
          .nodes = 3,
          .schedule = seed % 2 == 0 ? Schedule::random : Schedule::adversarial,
          .seed = seed,
          .tower = true};
  return job;
}

bool tells(const Outcome& outcome, const std::string& what) { return outcome.text.find(what) != std::string::npos; }

void check_every_class(std::uint64_t seeds) {
  for (const std::int64_t lock_class : {kStrong, kWeak, kNode})
    for (const std::int64_t counter : {kOther, kHome})
      for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        Job job = counting(lock_class, counter, seed);
        if (seed % 4 > 1) job.params.insert(job.params.end(), {{"threads_per_node", 2}, {"hand_overs", 1}});
        if (seed % 8 > 3) job.params.emplace_back("device_memory", 1);
        const Outcome outcome = run(job);
        INFO("class " << lock_class << ", counter " << counter << ", seed " << seed << "\n" << outcome.text);
        REQUIRE(outcome.consistent);
        REQUIRE(outcome.broken.empty());
      }
}

}  // namespace

TEST_CASE("locks of every class keep their promises, and what they do not promise is the threads' to fence") {
  check_every_class(24);
}

TEST_CASE("locks of every class keep their promises under 10,000 schedules", "[.long]") { check_every_class(1700); }

namespace {

/// Atomic variables by the atomics that they are made of, stores by what their locks promise.
void check_atomics_and_stores(std::uint64_t first, std::uint64_t last) {
  for (std::uint64_t seed = first; seed < last; ++seed) {
    std::vector<Job> jobs = {
        {.kind = "pattern", .params = {{"pattern", pattern("fetch_add")}, {"iterations", 4}}, .nodes = 3},
        {.kind = "kvstore", .params = {{"iterations", 6}, {"key_space", 64}, {"locks", 3}}, .nodes = 3}};
    for (Job& job : jobs) {
      job.schedule = seed % 2 == 0 ? Schedule::random : Schedule::adversarial;
      job.seed = seed;
      job.tower = true;
      const Outcome outcome = run(job);
      INFO(job.kind << ", seed " << seed << "\n" << outcome.text);
      REQUIRE(outcome.consistent);
      REQUIRE(outcome.broken.empty());
    }
  }
}

}  // namespace

TEST_CASE("atomic variables and stores are what their atomics promise") { check_atomics_and_stores(1, 25); }

TEST_CASE("atomic variables and stores are what their atomics promise under 10,000 schedules", "[.long]") {
  check_atomics_and_stores(1, 10'001);
}

TEST_CASE("a store whose updates do not wait breaks its promise, and is told", "[search]") {
  bool told = false;
  for (std::uint64_t seed = 1; seed <= 100 && !told; ++seed) {
    Job job{.kind = "kvstore",
            .params = {{"iterations", 8}, {"key_space", 64}, {"locks", 3}, {"fence", 0}},
            .nodes = 3,
            .seed = seed,
            .tower = true};
    const std::string text = run(job).text;
    const std::size_t store = text.find("inconsistent: kvstore");
    told = store != std::string::npos && text.find("  promise: ", store) != std::string::npos;
  }
  CHECK(told);
}

TEST_CASE("a lock of a weaker class than its use needs is told, by the fence that is missing", "[search]") {
  // The counter is on node 2, and not on the lock's home, node 0.
  for (const std::int64_t lock_class : {kWeak, kNode}) {
    bool told = false;
    for (std::uint64_t seed = 1; seed <= 200 && !told; ++seed) {
      Job job = counting(lock_class, kOther, seed);
      job.params.emplace_back("fence", 0);
      const Outcome outcome = run(job);
      CHECK_FALSE(tells(outcome, "\n  promise"));  // the lock has kept its promise
      // An update is lost only where a get has not seen the put before it.
      if (!outcome.broken.empty()) CHECK(tells(outcome, "missing aGF_2"));
      told = !outcome.broken.empty();
    }
    CHECK(told);
  }
}

TEST_CASE("mistakes in a lock are found by what they break", "[search]") {
  using workloads::LibraryFault;
  struct Mistake {
    LibraryFault fault;
    std::int64_t counter;
    const char* rule;
  };
  for (const Mistake& m : {Mistake{LibraryFault::lock_released_before_data, kOther, "  promise: "},
                           Mistake{LibraryFault::lock_without_home_fence, kHome, "  promise: "},
                           Mistake{LibraryFault::lock_by_get_and_put, kOther, "  mutual exclusion: "},
                           Mistake{LibraryFault::lock_by_home_cas, kOther, "  mixed access: "}}) {
    bool found = false;
    for (std::uint64_t seed = 1; seed <= 200 && !found; ++seed) {
      Job job = counting(kStrong, m.counter, seed);
      job.library_faults.add(m.fault);
      job.may_hang = true;
      found = tells(run(job), m.rule);
    }
    INFO(m.rule << static_cast<int>(m.fault));
    CHECK(found);
  }
}

}  // namespace loco::test
