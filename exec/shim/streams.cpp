// Makes loopback TCP deterministic. The kernel may take a while, in real time, to deliver sent data, and how long
// depends on the load of the machine. Both ends therefore count on a board that all programs of a run share. A program
// that looks at a socket first waits, in real time, until the kernel has everything that was sent.
#include <arpa/inet.h>
#include <cstring>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "exec/shim/files.hpp"

namespace loco::shim {

namespace {

constexpr int kFiles = 4096;
constexpr int kPatience = 20'000;  // looks, 50 us apart: closing a copy of a descriptor closes no connection

enum class Kind : std::uint8_t { unknown, other, stream, listener };
struct File {
  Kind kind;
  Stream* in;
  Stream* out;
};
File files[kFiles];
int highest = -1;
Board* board = nullptr;

Board* the_board() {
  if (board != nullptr) return board;
  const int file = channel()->facts.board;
  void* const memory = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return nullptr;
  system_call(SYS_fcntl, file, F_SETFD, FD_CLOEXEC);
  return board = static_cast<Board*>(memory);
}

/// The entry of a key; null if the board is full.
Stream* stream_of(std::uint64_t key) {
  Board* const b = the_board();
  if (b == nullptr) return nullptr;
  auto at = static_cast<std::uint32_t>((key * 0x9e3779b97f4a7c15ULL) >> 40U);
  for (std::uint32_t i = 0; i < kStreams; ++i, ++at) {
    Stream& s = b->streams[at % kStreams];
    if (s.key == 0) s.key = key;
    if (s.key == key) return &s;
  }
  return nullptr;
}

/// Host and port of a loopback address; 0 if it is none.
std::uint32_t end_of(const sockaddr_storage& address) {
  std::uint32_t ip = 0;
  if (address.ss_family == AF_INET) {
    std::memcpy(&ip, &reinterpret_cast<const sockaddr_in&>(address).sin_addr, 4);
  } else if (address.ss_family == AF_INET6) {
    std::memcpy(&ip, reinterpret_cast<const sockaddr_in6&>(address).sin6_addr.s6_addr + 12, 4);
  } else {
    return 0;
  }
  const std::uint32_t port = ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
  return (ntohl(ip) & 0xffffU) << 16U | port;
}

int option(int file, int level, int name) {
  int value = 0;
  socklen_t bytes = sizeof(value);
  return system_call(SYS_getsockopt, file, level, name, &value, &bytes) == 0 ? value : -1;
}

File* known(int file) {
  if (file < 0 || file >= kFiles || channel() == nullptr) return nullptr;
  File& f = files[file];
  if (f.kind != Kind::unknown) return &f;
  f.kind = Kind::other;
  sockaddr_storage own{};
  sockaddr_storage peer{};
  socklen_t own_bytes = sizeof(own);
  socklen_t peer_bytes = sizeof(peer);
  if (!is_socket(file) || system_call(SYS_getsockname, file, &own, &own_bytes) != 0) return &f;
  if (end_of(own) == 0 || option(file, SOL_SOCKET, SO_TYPE) != SOCK_STREAM) return &f;
  if (option(file, SOL_SOCKET, SO_ACCEPTCONN) == 1) {
    f.kind = Kind::listener;
    f.in = stream_of(end_of(own));
  } else if (system_call(SYS_getpeername, file, &peer, &peer_bytes) == 0) {
    f.kind = Kind::stream;
    f.in = stream_of(std::uint64_t{end_of(peer)} << 32U | end_of(own));
    f.out = stream_of(std::uint64_t{end_of(own)} << 32U | end_of(peer));
    const int yes = 1;  // the kernel holds nothing back
    system_call(SYS_setsockopt, file, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
  } else {
    f.kind = Kind::unknown;  // not connected yet
    return nullptr;
  }
  if (file > highest) highest = file;
  return &f;
}

bool there(int file, const File& f) {
  const Stream& s = *f.in;
  pollfd p{file, POLLIN, 0};
  if (f.kind == Kind::listener) return s.sent <= s.received || system_call(SYS_poll, &p, 1, 0) != 0;
  if (s.sent > s.received) {
    int bytes = 0;
    if (system_call(SYS_ioctl, file, FIONREAD, &bytes) != 0) return true;
    // After a reset of the connection nothing more comes.
    return s.received + static_cast<std::uint64_t>(bytes) >= s.sent ||
           (system_call(SYS_poll, &p, 1, 0) > 0 && (p.revents & (POLLERR | POLLHUP)) != 0);
  }
  return s.closed == 0 || system_call(SYS_poll, &p, 1, 0) != 0;
}

}  // namespace

void settle(int file) {
  const File* const f = known(file);
  if (f == nullptr || f->in == nullptr) return;
  for (int looks = 0; !there(file, *f) && looks < kPatience; ++looks) {
    const timespec shortly{0, 50'000};
    system_call(SYS_nanosleep, &shortly, nullptr);
  }
}

void settle_all() {
  for (int file = 0; file <= highest; ++file)
    if (files[file].in != nullptr) settle(file);
}

void sent(int file, ssize_t bytes) {
  const File* const f = known(file);
  if (f != nullptr && f->out != nullptr && bytes > 0) f->out->sent += static_cast<std::uint64_t>(bytes);
}

void received(int file, ssize_t bytes, int flags) {
  const File* const f = known(file);
  if (f != nullptr && f->kind == Kind::stream && f->in != nullptr && bytes > 0 && (flags & MSG_PEEK) == 0)
    f->in->received += static_cast<std::uint64_t>(bytes);
}

void connected(int file) {
  pollfd p{file, POLLOUT, 0};
  system_call(SYS_poll, &p, 1, 1000);  // loopback answers at once
  forget_file(file, false);
  const File* const f = known(file);
  if (f == nullptr || f->kind != Kind::stream || f->in == nullptr || f->out == nullptr) return;
  f->in->sent = f->in->received = f->in->closed = 0;
  f->out->sent = f->out->received = f->out->closed = f->out->copies = 0;
  if (Stream* const listener = stream_of(f->out->key & 0xffffffffU)) ++listener->sent;
}

void accepted(int listener) {
  const File* const f = known(listener);
  if (f != nullptr && f->kind == Kind::listener && f->in != nullptr) ++f->in->received;
}

void copy_streams() {
  for (int file = 0; file <= highest; ++file)
    if (files[file].kind == Kind::stream && files[file].out != nullptr) ++files[file].out->copies;
}

void shut(int file) {
  const File* const f = known(file);
  if (f != nullptr && f->kind == Kind::stream && f->out != nullptr) f->out->closed = 1;
  forget_file(file, false);
}

void forget_file(int file, bool closes) {
  if (file < 0 || file >= kFiles) return;
  File& f = files[file];
  if (closes && f.kind == Kind::stream && f.out != nullptr) {
    if (f.out->copies == 0) {
      f.out->closed = 1;
    } else {
      --f.out->copies;
    }
  }
  if (closes && f.kind == Kind::listener && f.in != nullptr) f.in->sent = f.in->received = 0;
  f = {};
}

}  // namespace loco::shim
