// Sockets and pipes: real ones, on loopback only. A call that would block hands over and waits for the other programs.
//
// Host h has the address 127.1.(h/255).(h%255+1), the only form that programs see. In the kernel the second octet is
// that of the run, so that runs do not meet. "Any address" and 127.0.0.1 stand for the host's own. Names node0, node1,
// ... resolve.
#include <arpa/inet.h>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "exec/shim/files.hpp"

namespace loco::shim {

namespace {

constexpr std::uint32_t kSeen = 127U << 24U | 1U << 16U;

std::uint32_t host_part(std::uint32_t host) { return (host / 255) << 8U | (host % 255 + 1); }
std::uint32_t own_network() { return 127U << 24U | channel()->facts.network << 8U; }

/// The 4 bytes of an IPv4 address, mapped into IPv6 or not; null if it is none.
unsigned char* ipv4_of(sockaddr* address) {
  if (address->sa_family == AF_INET)
    return reinterpret_cast<unsigned char*>(&reinterpret_cast<sockaddr_in*>(address)->sin_addr);
  if (address->sa_family != AF_INET6) return nullptr;
  auto* const bytes = reinterpret_cast<sockaddr_in6*>(address)->sin6_addr.s6_addr;
  static constexpr unsigned char kMapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  static constexpr unsigned char kLoopback[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  static constexpr unsigned char kAny[16] = {};
  if (std::memcmp(bytes, kLoopback, 16) == 0 || std::memcmp(bytes, kAny, 16) == 0) {
    std::memcpy(bytes, kMapped, 12);
    std::memset(bytes + 12, 0, 4);  // the any-address
  }
  return std::memcmp(bytes, kMapped, 12) == 0 ? bytes + 12 : nullptr;
}

std::uint32_t load(const unsigned char* bytes) {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes, 4);
  return ntohl(value);
}

void store(unsigned char* bytes, std::uint32_t value) {
  value = htonl(value);
  std::memcpy(bytes, &value, 4);
}

/// Translates an address from the program's form to the kernel's.
void to_kernel(sockaddr* address) {
  unsigned char* const bytes = ipv4_of(address);
  if (bytes == nullptr) return;
  const std::uint32_t ip = load(bytes);
  if (ip == INADDR_ANY || ip == INADDR_LOOPBACK) return store(bytes, own_network() | host_part(channel()->facts.host));
  if ((ip & 0xffffff00U) == kSeen) store(bytes, own_network() | (ip & 0xffU));
}

/// Replaces a listening address outside of loopback by the host's own.
void to_own(sockaddr* address) {
  unsigned char* const bytes = ipv4_of(address);
  if (bytes != nullptr) store(bytes, own_network() | host_part(channel()->facts.host));
}

void to_program(sockaddr* address) {
  if (address == nullptr || channel() == nullptr) return;
  unsigned char* bytes = nullptr;
  if (address->sa_family == AF_INET || address->sa_family == AF_INET6) bytes = ipv4_of(address);
  if (bytes != nullptr && (load(bytes) & 0xffffff00U) == own_network()) store(bytes, kSeen | (load(bytes) & 0xffU));
}

struct Address {
  sockaddr_storage storage;
  [[nodiscard]] sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

bool copy(const sockaddr* from, socklen_t bytes, Address& to) {
  if (from == nullptr || bytes > sizeof(to.storage) || bytes < sizeof(sa_family_t)) return false;
  std::memcpy(&to.storage, from, bytes);
  return true;
}

bool internet(const sockaddr* a) { return a->sa_family == AF_INET || a->sa_family == AF_INET6; }

/// Gives a socket its host's address before it connects, and a port that does not depend on other activity here.
void bind_for_connecting(int file, int family) {
  LOCO_NEXT(bind);
  LOCO_NEXT(getsockname);
  static std::uint16_t next_port = 32768;
  Address own{};
  socklen_t bytes = sizeof(own.storage);
  if (next_getsockname(file, own.get(), &bytes) != 0) return;
  auto& v4 = *reinterpret_cast<sockaddr_in*>(own.get());
  if (v4.sin_port != 0) return;  // it is bound; both families have the port at the same offset
  for (int tries = 0; tries < 1000; ++tries) {
    own = {};
    v4.sin_family = static_cast<sa_family_t>(family);
    v4.sin_port = htons(next_port);
    next_port = next_port >= 60000 ? 32768 : static_cast<std::uint16_t>(next_port + 1);
    to_own(own.get());
    if (next_bind(file, own.get(), family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6)) == 0) return;
    if (errno != EADDRINUSE) return;
  }
}

bool conducted() { return channel() != nullptr; }

int ready(int file, short events) {
  pollfd p{file, events, 0};
  return static_cast<int>(system_call(SYS_poll, &p, 1, 0));
}

}  // namespace

bool is_socket(int file) {
  struct stat s;
  return system_call(SYS_fstat, file, &s) == 0 && S_ISSOCK(s.st_mode);
}

bool waits(int file) {
  struct stat s;
  if (system_call(SYS_fstat, file, &s) != 0) return false;
  return S_ISSOCK(s.st_mode) || S_ISFIFO(s.st_mode) || (s.st_mode & S_IFMT) == 0;  // the last case: anonymous inodes
}

bool non_blocking(int file) { return (system_call(SYS_fcntl, file, F_GETFL) & O_NONBLOCK) != 0; }

void wait_for(int file, short events) {
  if (!conducted()) return;
  open_pages();
  if (!waits(file)) return;
  if ((events & POLLIN) != 0) settle(file);
  if (non_blocking(file)) return;
  while (ready(file, events) == 0) {
    call(Request::wait_io, ~std::uint64_t{0});
    if ((events & POLLIN) != 0) settle(file);
  }
}

void tell_others() {
  break_cycle();
  if (Channel* const c = channel()) c->io = 1;
}

ssize_t looked(int file, ssize_t got, int flags) {
  received(file, got, flags);
  if (!conducted()) return got;
  if (got < 0 && errno == EAGAIN) {
    note_empty_look();
  } else {
    break_cycle();
  }
  return got;
}

}  // namespace loco::shim

using namespace loco::shim;

// --- reading and writing ---------------------------------------------------------------------------------------------

LOCO_EXPORT ssize_t read(int file, void* out, std::size_t bytes) {
  LOCO_NEXT(read);
  wait_for(file, POLLIN);
  return looked(file, next_read(file, out, bytes));
}

LOCO_EXPORT ssize_t __read_chk(int file, void* out, std::size_t bytes, std::size_t) { return read(file, out, bytes); }

LOCO_EXPORT ssize_t readv(int file, const iovec* parts, int count) {
  LOCO_NEXT(readv);
  wait_for(file, POLLIN);
  return looked(file, next_readv(file, parts, count));
}

LOCO_EXPORT ssize_t recv(int file, void* out, std::size_t bytes, int flags) {
  LOCO_CONDUCTED(recv, file, out, bytes, flags);
  if ((flags & MSG_DONTWAIT) != 0) settle(file);
  if ((flags & MSG_DONTWAIT) != 0) return looked(file, next_recv(file, out, bytes, flags), flags);
  if ((flags & MSG_WAITALL) == 0 || non_blocking(file)) {
    wait_for(file, POLLIN);
    return looked(file, next_recv(file, out, bytes, flags), flags);
  }
  std::size_t done = 0;
  while (done < bytes) {
    wait_for(file, POLLIN);
    const ssize_t got = next_recv(file, static_cast<char*>(out) + done, bytes - done, flags & ~MSG_WAITALL);
    received(file, got, flags);
    if (got <= 0) return done == 0 ? got : static_cast<ssize_t>(done);
    done += static_cast<std::size_t>(got);
    if ((flags & MSG_PEEK) != 0) break;
  }
  return static_cast<ssize_t>(done);
}

LOCO_EXPORT ssize_t __recv_chk(int file, void* out, std::size_t bytes, std::size_t, int flags) {
  return recv(file, out, bytes, flags);
}

LOCO_EXPORT ssize_t recvfrom(int file, void* __restrict out, std::size_t bytes, int flags, sockaddr* __restrict from,
                             socklen_t* __restrict from_bytes) {
  LOCO_NEXT(recvfrom);
  if ((flags & MSG_DONTWAIT) == 0) {
    wait_for(file, POLLIN);
  } else {
    settle(file);
  }
  const ssize_t got = looked(file, next_recvfrom(file, out, bytes, flags, from, from_bytes), flags);
  if (got >= 0) to_program(from);
  return got;
}

LOCO_EXPORT ssize_t __recvfrom_chk(int file, void* __restrict out, std::size_t bytes, std::size_t, int flags,
                                   sockaddr* __restrict from, socklen_t* __restrict from_bytes) {
  return recvfrom(file, out, bytes, flags, from, from_bytes);
}

LOCO_EXPORT ssize_t recvmsg(int file, msghdr* message, int flags) {
  LOCO_NEXT(recvmsg);
  if ((flags & MSG_DONTWAIT) == 0) {
    wait_for(file, POLLIN);
  } else {
    settle(file);
  }
  const ssize_t got = looked(file, next_recvmsg(file, message, flags), flags);
  if (got >= 0 && message->msg_name != nullptr) to_program(static_cast<sockaddr*>(message->msg_name));
  return got;
}

namespace {

/// A blocking write to a stream, piece by piece, so that the reader gets its turn when the stream is full.
template <typename Write>
ssize_t write_all(int file, const void* from, std::size_t bytes, Write write_some) {
  std::size_t done = 0;
  while (true) {
    const ssize_t wrote = write_some(static_cast<const char*>(from) + done, bytes - done);
    if (wrote >= 0) {
      done += static_cast<std::size_t>(wrote);
      sent(file, wrote);
      tell_others();
      if (done >= bytes) return static_cast<ssize_t>(done);
    } else if (errno != EAGAIN) {
      return done == 0 ? wrote : static_cast<ssize_t>(done);
    }
    tell_others();
    wait_for(file, POLLOUT);
  }
}

}  // namespace

LOCO_EXPORT ssize_t send(int file, const void* from, std::size_t bytes, int flags) {
  LOCO_CONDUCTED(send, file, from, bytes, flags);
  open_pages();
  if ((flags & MSG_DONTWAIT) != 0 || non_blocking(file)) {
    const ssize_t wrote = next_send(file, from, bytes, flags);
    sent(file, wrote);
    if (wrote > 0) tell_others();
    return wrote;
  }
  return write_all(file, from, bytes, [&](const void* part, std::size_t size) {
    return next_send(file, part, size, flags | MSG_DONTWAIT);
  });
}

LOCO_EXPORT ssize_t write(int file, const void* from, std::size_t bytes) {
  LOCO_CONDUCTED(write, file, from, bytes);
  open_pages();
  if (is_socket(file)) return send(file, from, bytes, 0);
  if (!waits(file)) return next_write(file, from, bytes);
  if (!non_blocking(file)) wait_for(file, POLLOUT);
  const ssize_t wrote = next_write(file, from, bytes);
  if (wrote > 0) tell_others();
  return wrote;
}

LOCO_EXPORT ssize_t writev(int file, const iovec* parts, int count) {
  LOCO_NEXT(writev);
  if (conducted()) open_pages();
  const ssize_t wrote = next_writev(file, parts, count);
  if (wrote > 0 && conducted() && waits(file)) {
    sent(file, wrote);
    tell_others();
  }
  return wrote;
}

LOCO_EXPORT ssize_t sendto(int file, const void* from, std::size_t bytes, int flags, const sockaddr* to,
                           socklen_t to_bytes) {
  LOCO_CONDUCTED(sendto, file, from, bytes, flags, to, to_bytes);
  if (to == nullptr) return send(file, from, bytes, flags);
  open_pages();
  Address kernel{};
  if (copy(to, to_bytes, kernel) && internet(to)) {
    to_kernel(kernel.get());
    bind_for_connecting(file, to->sa_family);
    to = kernel.get();
  }
  const ssize_t wrote = next_sendto(file, from, bytes, flags, to, to_bytes);
  if (wrote >= 0) tell_others();
  return wrote;
}

LOCO_EXPORT ssize_t sendmsg(int file, const msghdr* message, int flags) {
  LOCO_CONDUCTED(sendmsg, file, message, flags);
  open_pages();
  msghdr changed = *message;
  Address kernel{};
  if (copy(static_cast<const sockaddr*>(message->msg_name), message->msg_namelen, kernel) && internet(kernel.get())) {
    to_kernel(kernel.get());
    changed.msg_name = kernel.get();
  }
  const ssize_t wrote = next_sendmsg(file, &changed, flags);
  sent(file, wrote);
  if (wrote >= 0) tell_others();
  return wrote;
}

LOCO_EXPORT int dup2(int from, int to) noexcept {
  LOCO_NEXT(dup2);
  if (from != to) forget_file(to, false);
  return next_dup2(from, to);
}

LOCO_EXPORT int dup3(int from, int to, int flags) noexcept {
  LOCO_NEXT(dup3);
  forget_file(to, false);
  return next_dup3(from, to, flags);
}

// --- addresses -------------------------------------------------------------------------------------------------------

LOCO_EXPORT int bind(int file, const sockaddr* address, socklen_t bytes) noexcept {
  LOCO_NEXT(bind);
  Address kernel{};
  if (!conducted() || !copy(address, bytes, kernel) || !internet(address)) return next_bind(file, address, bytes);
  const int no = 0;  // hosts have IPv4 addresses only, which an IPv6 socket has as well
  if (address->sa_family == AF_INET6) system_call(SYS_setsockopt, file, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
  to_own(kernel.get());
  if (reinterpret_cast<sockaddr_in*>(kernel.get())->sin_port == 0) {  // a port that does not depend on what else runs
    bind_for_connecting(file, address->sa_family);
    return 0;
  }
  return next_bind(file, kernel.get(), bytes);
}

LOCO_EXPORT int listen(int file, int backlog) noexcept {
  LOCO_NEXT(listen);
  const int result = next_listen(file, backlog);
  tell_others();
  return result;
}

LOCO_EXPORT int connect(int file, const sockaddr* address, socklen_t bytes) {
  LOCO_NEXT(connect);
  Address kernel{};
  if (!conducted() || !copy(address, bytes, kernel) || !internet(address)) {
    const int result = next_connect(file, address, bytes);
    tell_others();
    return result;
  }
  to_kernel(kernel.get());
  bind_for_connecting(file, address->sa_family);
  const int result = next_connect(file, kernel.get(), bytes);
  const int error = errno;
  if (result == 0 || error == EINPROGRESS) connected(file);
  tell_others();
  errno = error;
  return result;
}

LOCO_EXPORT int accept4(int file, sockaddr* __restrict address, socklen_t* __restrict bytes, int flags) {
  LOCO_NEXT(accept4);
  wait_for(file, POLLIN);
  const int result = next_accept4(file, address, bytes, flags);
  if (result < 0) return static_cast<int>(looked(file, result));
  to_program(address);
  accepted(file);
  forget_file(result, false);
  tell_others();
  return result;
}

LOCO_EXPORT int accept(int file, sockaddr* __restrict address, socklen_t* __restrict bytes) {
  return accept4(file, address, bytes, 0);
}

LOCO_EXPORT int getsockname(int file, sockaddr* __restrict address, socklen_t* __restrict bytes) noexcept {
  LOCO_NEXT(getsockname);
  const int result = next_getsockname(file, address, bytes);
  if (result == 0) to_program(address);
  return result;
}

LOCO_EXPORT int getpeername(int file, sockaddr* __restrict address, socklen_t* __restrict bytes) noexcept {
  LOCO_NEXT(getpeername);
  const int result = next_getpeername(file, address, bytes);
  if (result == 0) to_program(address);
  return result;
}

LOCO_EXPORT int close(int file) {
  LOCO_NEXT(close);
  if (is_own_file(file)) return 0;
  if (conducted() && file > 2 && waits(file)) {
    forget_file(file, true);
    tell_others();
  }
  return next_close(file);
}

LOCO_EXPORT int shutdown(int file, int how) noexcept {
  LOCO_NEXT(shutdown);
  const int result = next_shutdown(file, how);
  if (how != SHUT_RD) shut(file);
  tell_others();
  return result;
}

// --- names -----------------------------------------------------------------------------------------------------------

namespace {

/// Replaces nodeH by the numeric address of host H; other names stay.
const char* numeric(const char* name, char (&out)[32]) {
  unsigned host = 0;
  char more = 0;
  if (name == nullptr || channel() == nullptr || std::sscanf(name, "node%u%c", &host, &more) != 1) return name;
  if (host >= channel()->facts.hosts) return name;
  std::snprintf(out, sizeof(out), "127.1.%u.%u", host / 255, host % 255 + 1);
  return out;
}

}  // namespace

LOCO_EXPORT int getaddrinfo(const char* __restrict name, const char* __restrict service,
                            const addrinfo* __restrict hints, addrinfo** __restrict out) {
  LOCO_CONDUCTED(getaddrinfo, name, service, hints, out);
  open_pages();
  char text[32];
  addrinfo only{};
  if (hints != nullptr) only = *hints;
  if (only.ai_family == AF_UNSPEC) only.ai_family = AF_INET;
  only.ai_flags &= ~AI_ADDRCONFIG;
  return next_getaddrinfo(numeric(name, text), service, &only, out);
}

LOCO_EXPORT hostent* gethostbyname(const char* name) {
  LOCO_NEXT(gethostbyname);
  char text[32];
  return next_gethostbyname(numeric(name, text));
}

LOCO_EXPORT int gethostname(char* out, std::size_t bytes) noexcept {
  LOCO_CONDUCTED(gethostname, out, bytes);
  std::snprintf(out, bytes, "node%u", channel()->facts.host);
  return 0;
}
