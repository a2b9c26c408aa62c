// A process of its own for a piece of work: what is left of it when its parent goes.
#include "fabric/flow/child.hpp"

#include <array>
#include <chrono>
#include <csignal>
#include <poll.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "tests/catch.hpp"

using namespace loco;

TEST_CASE("a child whose parent is gone ends, although its answer is more than a pipe holds") {
  std::array<int, 2> alive{};  // its write end is open as long as one of the two processes lives
  REQUIRE(pipe(alive.data()) == 0);
  const pid_t parent = fork();
  REQUIRE(parent >= 0);
  if (parent == 0) {
    std::string answer;
    const auto work = [] {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      return std::string(1U << 20U, 'x');
    };
    fabric::run_in_child(work, {}, answer);
    _exit(0);
  }
  close(alive[1]);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  pollfd end{alive[0], POLLIN, 0};
  constexpr int kPatienceMs = 10'000;
  CHECK(poll(&end, 1, kPatienceMs) == 1);
  CHECK((end.revents & POLLHUP) != 0);
  close(alive[0]);
}
