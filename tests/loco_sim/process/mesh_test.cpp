// Meshes of one process: each node on a thread of its own, over loopback.
#include "loco_sim/process/mesh.hpp"

#include <array>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <netinet/in.h>
#include <stdexcept>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "loco_sim/loco/errors.hpp"
#include "tests/catch.hpp"

using namespace loco;
using namespace loco::process;

namespace {

/// A port that nobody has now.
std::uint16_t free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof(address);
  ::bind(socket, reinterpret_cast<sockaddr*>(&address), bytes);
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &bytes);
  ::close(socket);
  return ntohs(address.sin_port);
}

std::vector<HostAddress> loopback(std::uint32_t nodes) {
  std::vector<HostAddress> hosts;
  for (std::uint32_t n = 0; n < nodes; ++n) hosts.push_back({"127.0.0.1", free_port()});
  return hosts;
}

struct Inbox {
  std::mutex mutex;
  std::condition_variable news;
  std::vector<std::string> messages;
  std::vector<NodeId> lost;

  template <typename Ready>
  void wait_for(Ready ready) {
    std::unique_lock lock(mutex);
    news.wait(lock, ready);
  }
};

void start(Mesh& mesh, Inbox& inbox) {
  mesh.start(
      [&](NodeId from, Kind kind, std::string body) {
        const std::lock_guard lock(inbox.mutex);
        inbox.messages.push_back(std::to_string(from) + (kind == Kind::control ? " control " : " wire ") + body);
        inbox.news.notify_all();
      },
      [&](NodeId peer) {
        const std::lock_guard lock(inbox.mutex);
        inbox.lost.push_back(peer);
        inbox.news.notify_all();
      });
}

/// Catch2's own assertions are for one thread.
void require(bool condition, const std::string& what) {
  if (!condition) throw std::logic_error(what);
}

/// Throws what the first one threw.
template <typename Program>
void on_all(std::uint32_t nodes, const Program& program) {
  const std::vector<HostAddress> hosts = loopback(nodes);
  std::vector<std::thread> threads;
  std::vector<std::exception_ptr> failures(nodes);
  for (NodeId n = 0; n < nodes; ++n)
    threads.emplace_back([&, n] {
      try {
        Inbox inbox;  // which the mesh's thread uses until the mesh is gone
        Mesh mesh({.hosts = hosts, .node = n, .network = "test"});
        start(mesh, inbox);
        program(mesh, inbox);
      } catch (...) {
        failures[n] = std::current_exception();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

std::string refusal(const std::function<void()>& f) {
  try {
    f();
  } catch (const setup_error& error) {
    return error.what();
  }
  return "taken";
}

}  // namespace

TEST_CASE("messages of one node come in order, also those longer than a packet") {
  on_all(3, [](Mesh& mesh, Inbox& inbox) {
    for (NodeId to = 0; to < 3; ++to) {
      if (to == mesh.node()) continue;
      for (int i = 0; i < 20; ++i) mesh.send(to, Kind::control, std::to_string(i) + std::string(10'000, '.'));
      mesh.send(to, Kind::wire, "");
    }
    inbox.wait_for([&] { return inbox.messages.size() == 42; });
    for (NodeId from = 0; from < 3; ++from) {
      int next = 0;
      for (const std::string& message : inbox.messages) {
        if (!message.starts_with(std::to_string(from) + " control ")) continue;
        require(message == std::to_string(from) + " control " + std::to_string(next++) + std::string(10'000, '.'),
                "the messages of node " + std::to_string(from) + " in order");
      }
      require(next == (from == mesh.node() ? 0 : 20), "next == (from == mesh.node() ? 0 : 20)");
    }
    mesh.meet();
    mesh.say_farewell();
    mesh.stop();
    require(inbox.lost.empty(), "inbox.lost.empty()");
  });
}

TEST_CASE("meshes whose own threads answer do not wait for each other, however much is under way") {
  // 64 MiB each way, and as much in answers: more than connections hold
  constexpr std::size_t kMessages = 1'000;
  const std::string text(64U << 10U, '.');
  const std::vector<HostAddress> hosts = loopback(2);
  std::vector<std::thread> nodes;
  std::array<std::atomic<std::size_t>, 2> answered = {};
  for (NodeId n = 0; n < 2; ++n)
    nodes.emplace_back([&, n] {
      Mesh mesh({.hosts = hosts, .node = n, .network = "test"});
      mesh.start(
          [&](NodeId from, Kind kind, const std::string& body) {
            if (kind == Kind::wire) return mesh.send(from, Kind::control, body);
            ++answered.at(n);
            answered.at(n).notify_all();
          },
          [](NodeId) {});
      for (std::size_t i = 0; i < kMessages; ++i) mesh.send(1 - n, Kind::wire, text);
      for (std::size_t seen = 0; seen < kMessages; seen = answered.at(n)) answered.at(n).wait(seen);
      mesh.meet();
      mesh.say_farewell();
      mesh.stop();
    });
  for (std::thread& node : nodes) node.join();
  CHECK(answered[0] == kMessages);
  CHECK(answered[1] == kMessages);
}

TEST_CASE("nobody leaves a meeting before all have come") {
  std::atomic<int> come = 0;
  on_all(4, [&](Mesh& mesh, Inbox&) {
    for (int round = 1; round <= 50; ++round) {
      ++come;
      mesh.meet();
      require(come >= 4 * round, "come >= 4 * round");
    }
    mesh.say_farewell();
  });
}

TEST_CASE("who ends without a farewell is lost to the others, who with one is not") {
  on_all(3, [](Mesh& mesh, Inbox& inbox) {
    mesh.meet();
    if (mesh.node() == 1) return;  // its connections close
    inbox.wait_for([&] { return !inbox.lost.empty(); });
    require(inbox.lost == std::vector<NodeId>{1}, "inbox.lost == std::vector<NodeId>{1}");
    require(mesh.lost(1), "mesh.lost(1)");
    mesh.meet();  // without it
    mesh.say_farewell();
    mesh.meet();  // nobody is waited for who has said so
    require(inbox.lost.size() == 1, "inbox.lost.size() == 1");
  });
}

TEST_CASE("a node that does not come is named") {
  const auto hosts = loopback(2);
  CHECK(refusal([&] { Mesh mesh({.hosts = hosts, .node = 0, .network = "test", .patience_ms = 50}); }) ==
        "node 0: node 1 (" + hosts[1].text() + ") has not come within 50 ms");
  CHECK(refusal([&] { Mesh mesh({.hosts = hosts, .node = 1, .network = "test", .patience_ms = 50}); }) ==
        "node 1: node 0 (" + hosts[0].text() + ") has not come within 50 ms: Connection refused");
  CHECK(refusal([&] { Mesh mesh({.hosts = hosts, .node = 2}); }) ==
        "rank 2: expected less than 2, as many as the host list has");
}

TEST_CASE("nodes that do not fit together refuse each other on both sides") {
  const auto hosts = loopback(2);
  std::string first, second;
  std::thread other([&] {
    second = refusal([&] { Mesh mesh({.hosts = hosts, .node = 1, .network = "verbs", .patience_ms = 5000}); });
  });
  first = refusal([&] { Mesh mesh({.hosts = hosts, .node = 0, .network = "libfabric", .patience_ms = 5000}); });
  other.join();
  CHECK(first == "node 1 is one of 2 over verbs, node 0 one of 2 over libfabric");
  CHECK(second == "node 0 is one of 2 over libfabric, node 1 one of 2 over verbs");
}
