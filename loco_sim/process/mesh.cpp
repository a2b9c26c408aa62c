#include "loco_sim/process/mesh.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <utility>

#include "loco_sim/loco/errors.hpp"

namespace loco::process {

namespace {

constexpr std::array<char, 4> kMagic = {'L', 'O', 'C', 'O'};
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kNetworkBytes = 48;
constexpr std::uint32_t kMessageMax = 64U << 20U;
constexpr std::int64_t kTryAgainMs = 20;

/// The first message of each side.
struct Greeting {
  std::array<char, 4> magic = kMagic;
  std::uint32_t version = kVersion;
  std::uint32_t node = 0;
  std::uint32_t nodes = 0;
  std::array<char, kNetworkBytes> network{};
};

struct Header {
  std::uint32_t bytes = 0;
  std::uint32_t kind = 0;
};

std::int64_t clock_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

std::string reason(int error) { return std::strerror(error); }

/// Waits until the socket is ready. Returns false after the deadline.
bool ready_by(int socket, short events, std::int64_t deadline) {
  pollfd look{.fd = socket, .events = events, .revents = 0};
  const std::int64_t left = std::max<std::int64_t>(deadline - clock_ms(), 0);
  return ::poll(&look, 1, static_cast<int>(left)) > 0;
}

bool send_all(int socket, const void* data, std::size_t bytes) {
  const auto* at = static_cast<const char*>(data);
  while (bytes != 0) {
    const ssize_t sent = ::send(socket, at, bytes, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    at += sent;
    bytes -= static_cast<std::size_t>(sent);
  }
  return true;
}

bool receive_all(int socket, void* data, std::size_t bytes, std::int64_t deadline) {
  auto* at = static_cast<char*>(data);
  while (bytes != 0) {
    if (!ready_by(socket, POLLIN, deadline)) return false;
    const ssize_t got = ::recv(socket, at, bytes, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Addresses resolve(const HostAddress& host, const std::string& who) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.name.c_str(), std::to_string(host.port).c_str(), &hints, &found);
  if (error != 0) throw setup_error(who + ": " + ::gai_strerror(error));
  return {found, &::freeaddrinfo};
}

void send_at_once(int socket) {
  const int yes = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
}

int listen_at(const HostAddress& host, const std::string& who) {
  const Addresses addresses = resolve(host, who);
  int error = 0;
  for (const addrinfo* at = addresses.get(); at != nullptr; at = at->ai_next) {
    const int socket = ::socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
    if (socket < 0) continue;
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (::bind(socket, at->ai_addr, at->ai_addrlen) == 0 && ::listen(socket, 128) == 0) return socket;
    error = errno;
    ::close(socket);
  }
  throw setup_error(who + " cannot listen there: " + reason(error));
}

}  // namespace

Mesh::Mesh(MeshOptions options) : options_(std::move(options)), peers_(options_.hosts.size()) {
  if (options_.node >= nodes())
    throw setup_error("rank " + std::to_string(options_.node) + ": expected less than " + std::to_string(nodes()) +
                      ", as many as the host list has");
  bell_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  try {
    join();
  } catch (...) {
    close_all();
    throw;
  }
}

Mesh::~Mesh() {
  stop();
  close_all();
}

void Mesh::stop() {
  if (!thread_.joinable()) return;
  stopped_ = true;
  ring();
  thread_.join();
  for (Peer& peer : peers_)
    if (!peer.lost && !peer.unsent.empty()) send_all(peer.socket, peer.unsent.data(), peer.unsent.size());
}

void Mesh::ring() const {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(bell_, &one, sizeof(one));
}

void Mesh::close_all() {
  for (Peer& peer : peers_)
    if (peer.socket >= 0) ::close(std::exchange(peer.socket, -1));
  if (listener_ >= 0) ::close(std::exchange(listener_, -1));
  if (bell_ >= 0) ::close(std::exchange(bell_, -1));
}

std::string Mesh::name(NodeId node) const {
  return "node " + std::to_string(node) + " (" + options_.hosts[node].text() + ")";
}

void Mesh::join() {
  const std::int64_t deadline = clock_ms() + options_.patience_ms;
  if (node() + 1 < nodes()) listener_ = listen_at(options_.hosts[node()], name(node()));
  for (NodeId other = 0; other < node(); ++other) connect_to(other, deadline);
  accept_others(deadline);
}

void Mesh::connect_to(NodeId other, std::int64_t deadline) {
  const Addresses addresses = resolve(options_.hosts[other], name(other));
  int error = 0;
  do {
    for (const addrinfo* at = addresses.get(); at != nullptr; at = at->ai_next) {
      const int socket = ::socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
      if (socket < 0) continue;
      if (::connect(socket, at->ai_addr, at->ai_addrlen) == 0) {
        send_at_once(socket);
        peers_[other].socket = socket;
        const NodeId found = greet(socket, deadline);
        if (found != other)
          throw setup_error(name(other) + " says that it is node " + std::to_string(found) +
                            ": the host lists are different");
        return;
      }
      error = errno;
      ::close(socket);
    }
    const timespec shortly{0, kTryAgainMs * 1'000'000};
    ::nanosleep(&shortly, nullptr);
  } while (clock_ms() < deadline);
  throw setup_error("node " + std::to_string(node()) + ": " + name(other) + " has not come within " +
                    std::to_string(options_.patience_ms) + " ms: " + reason(error));
}

void Mesh::accept_others(std::int64_t deadline) {
  for (std::uint32_t missing = nodes() - node() - 1; missing > 0; --missing) {
    if (!ready_by(listener_, POLLIN, deadline)) {
      std::string who;
      for (NodeId n = node() + 1; n < nodes(); ++n)
        if (peers_[n].socket < 0) who += (who.empty() ? "" : ", ") + name(n);
      throw setup_error("node " + std::to_string(node()) + ": " + who + " has not come within " +
                        std::to_string(options_.patience_ms) + " ms");
    }
    const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) throw setup_error("node " + std::to_string(node()) + " cannot accept: " + reason(errno));
    send_at_once(socket);
    NodeId from = 0;
    try {
      from = greet(socket, deadline);
    } catch (...) {
      ::close(socket);
      throw;
    }
    if (from <= node() || from >= nodes() || peers_[from].socket >= 0) {
      ::close(socket);
      throw setup_error("node " + std::to_string(node()) + ": two processes say that they are node " +
                        std::to_string(from));
    }
    peers_[from].socket = socket;
  }
}

NodeId Mesh::greet(int socket, std::int64_t deadline) const {
  Greeting mine{.node = node(), .nodes = nodes()};
  options_.network.copy(mine.network.data(), kNetworkBytes - 1);
  Greeting theirs;
  if (!send_all(socket, &mine, sizeof(mine)) || !receive_all(socket, &theirs, sizeof(theirs), deadline))
    throw setup_error("node " + std::to_string(node()) + ": a connection ended before the other side said who it is");
  if (theirs.magic != kMagic || theirs.version != kVersion)
    throw setup_error("node " + std::to_string(node()) + ": the other side is no program of this version of LOCO");
  theirs.network.back() = '\0';
  const std::string network = theirs.network.data();
  if (theirs.nodes != nodes() || network != std::string(mine.network.data()))
    throw setup_error("node " + std::to_string(theirs.node) + " is one of " + std::to_string(theirs.nodes) + " over " +
                      network + ", node " + std::to_string(node()) + " one of " + std::to_string(nodes()) + " over " +
                      mine.network.data());
  return theirs.node;
}

void Mesh::start(Receive receive, Lost lost) {
  receive_ = std::move(receive);
  lost_ = std::move(lost);
  thread_ = std::thread([this] { serve(); });
}

void Mesh::send(NodeId to, Kind kind, std::string_view body) {
  Peer& peer = peers_[to];
  const Header header{static_cast<std::uint32_t>(body.size()), static_cast<std::uint32_t>(kind)};
  std::string message(sizeof(header), '\0');
  std::memcpy(message.data(), &header, sizeof(header));
  message += body;
  {
    const std::lock_guard lock(peer.sending);
    if (peer.lost) return;
    const bool waits = !peer.unsent.empty();
    peer.unsent += message;
    if (waits) return;  // the mesh's thread is sending
    send_rest(peer);
    if (peer.unsent.empty()) return;
  }
  ring();
}

/// To call with the peer's lock held. The reader notices failures.
void Mesh::send_rest(Peer& peer) {
  std::size_t done = 0;
  while (done < peer.unsent.size()) {
    const ssize_t sent =
        ::send(peer.socket, peer.unsent.data() + done, peer.unsent.size() - done, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    done = sent <= 0 ? peer.unsent.size() : done + static_cast<std::size_t>(sent);
  }
  peer.unsent.erase(0, done);
}

void Mesh::serve() {
  std::vector<pollfd> looks;
  std::vector<NodeId> whose;
  while (true) {
    looks = {{.fd = bell_, .events = POLLIN, .revents = 0}};
    whose = {node()};
    for (NodeId n = 0; n < nodes(); ++n) {
      if (n == node() || peers_[n].lost || peers_[n].ended) continue;
      const std::lock_guard lock(peers_[n].sending);
      const bool waits = !peers_[n].unsent.empty();
      looks.push_back(
          {.fd = peers_[n].socket, .events = static_cast<short>(waits ? POLLIN | POLLOUT : POLLIN), .revents = 0});
      whose.push_back(n);
    }
    if (::poll(looks.data(), looks.size(), -1) < 0 && errno != EINTR) return;
    if (stopped_) return;
    if (looks[0].revents != 0) {
      std::uint64_t rung = 0;
      [[maybe_unused]] const ssize_t got = ::read(bell_, &rung, sizeof(rung));
    }
    for (std::size_t i = 1; i < looks.size(); ++i) {
      if ((looks[i].revents & POLLOUT) != 0) {
        const std::lock_guard lock(peers_[whose[i]].sending);
        send_rest(peers_[whose[i]]);
        looks[i].revents &= static_cast<short>(~POLLOUT);
      }
      if (looks[i].revents == 0 || read_from(whose[i])) continue;
      Peer& peer = peers_[whose[i]];
      if (peer.ended) continue;
      {
        const std::lock_guard lock(mutex_);
        peer.lost = true;
        any_lost_ = true;
      }
      met_.notify_all();
      lost_(whose[i]);
    }
  }
}

bool Mesh::read_from(NodeId from) {
  Peer& peer = peers_[from];
  std::array<char, 4096> buffer;
  const ssize_t got = ::recv(peer.socket, buffer.data(), buffer.size(), 0);
  if (got < 0 && errno == EINTR) return true;
  if (got <= 0) return false;
  peer.received.append(buffer.data(), static_cast<std::size_t>(got));
  std::size_t at = 0;
  Header header;
  while (peer.received.size() - at >= sizeof(header)) {
    std::memcpy(&header, peer.received.data() + at, sizeof(header));
    if (header.bytes > kMessageMax) return false;
    if (peer.received.size() - at - sizeof(header) < header.bytes) break;
    take(from, static_cast<Kind>(header.kind), peer.received.substr(at + sizeof(header), header.bytes));
    at += sizeof(header) + header.bytes;
  }
  peer.received.erase(0, at);
  return true;
}

void Mesh::take(NodeId from, Kind kind, std::string body) {
  if (kind == Kind::control || kind == Kind::wire) return receive_(from, kind, std::move(body));
  {
    const std::lock_guard lock(mutex_);
    Peer& peer = peers_[from];
    if (kind == Kind::here) ++peer.meetings;
    if (kind == Kind::farewell) peer.ended = true;
  }
  met_.notify_all();
}

void Mesh::meet(const std::function<void()>& idle) {
  for (NodeId n = 0; n < nodes(); ++n)
    if (n != node()) send(n, Kind::here, {});
  std::unique_lock lock(mutex_);
  ++meetings_;
  const auto all_here = [this] {
    for (NodeId n = 0; n < nodes(); ++n)
      if (n != node() && !peers_[n].lost && !peers_[n].ended && peers_[n].meetings < meetings_) return false;
    return true;
  };
  if (!idle) return met_.wait(lock, all_here);
  while (!met_.wait_for(lock, std::chrono::milliseconds(1), all_here)) {
    lock.unlock();
    idle();
    lock.lock();
  }
}

void Mesh::say_farewell() {
  for (NodeId n = 0; n < nodes(); ++n)
    if (n != node()) send(n, Kind::farewell, {});
}

}  // namespace loco::process
