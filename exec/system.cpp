#include "exec/system.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <csignal>
#include <fmt/format.h>
#include <fstream>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <utility>

namespace loco::exec {

namespace {

timespec clock_by_call(clockid_t clock) {
  timespec t{};
  syscall(SYS_clock_gettime, clock, &t);
  return t;
}

double now_seconds() {
  const timespec t = clock_by_call(CLOCK_MONOTONIC);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

}  // namespace

WallTime::WallTime() : began_(now_seconds()) {}
double WallTime::seconds() const { return now_seconds() - began_; }

PinnedToOneCore::PinnedToOneCore() {
  if (sched_getaffinity(0, sizeof(before_), &before_) != 0) return;
  cpu_set_t one;
  CPU_ZERO(&one);
  unsigned core = 0;
  if (syscall(SYS_getcpu, &core, nullptr, nullptr) != 0) return;
  CPU_SET(core, &one);
  pinned_ = sched_setaffinity(0, sizeof(one), &one) == 0;
}

PinnedToOneCore::~PinnedToOneCore() {
  if (pinned_) sched_setaffinity(0, sizeof(before_), &before_);
}

OrphansAdopted::OrphansAdopted() { prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }
OrphansAdopted::~OrphansAdopted() { prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0); }

CounterTrapped::CounterTrapped() { prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0); }
CounterTrapped::~CounterTrapped() { prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0); }

namespace {
volatile std::sig_atomic_t interrupt_seen = 0;
}  // namespace

InterruptNoted::InterruptNoted() {
  interrupt_seen = 0;
  struct sigaction action {};
  action.sa_handler = [](int) { interrupt_seen = 1; };
  sigaction(SIGINT, &action, &before_);
}
InterruptNoted::~InterruptNoted() { sigaction(SIGINT, &before_, nullptr); }
bool InterruptNoted::seen() { return interrupt_seen != 0; }

int silence_signal() { return SIGRTMAX - 1; }

std::int64_t processor_time_us(pid_t process) {
  // the clock of another process: clock_getcpuclockid(3), in the kernel's encoding
  const auto clock = static_cast<clockid_t>((~static_cast<unsigned>(process) << 3U) | 2U);
  const timespec t = clock_by_call(clock);
  return std::int64_t{t.tv_sec} * 1'000'000 + t.tv_nsec / 1000;
}

namespace {

/// Its state according to /proc; 0 if it does not exist.
char state_in(const std::string& path) {
  std::ifstream file(path);
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(')');
  return name_end != std::string::npos && name_end + 2 < text.size() ? text[name_end + 2] : '\0';
}

}  // namespace

bool computes(pid_t process, std::uint32_t thread) {
  return state_in(fmt::format("/proc/{}/task/{}/stat", process, thread)) == 'R';
}

bool has_ended(pid_t process) {
  const char state = state_in(fmt::format("/proc/{}/stat", process));
  return state == '\0' || state == 'Z' || state == 'X';
}

bool thread_is_there(pid_t process, std::uint32_t thread) {
  return access(fmt::format("/proc/{}/task/{}", process, thread).c_str(), F_OK) == 0;
}

bool waits_for_futex(pid_t process, std::uint32_t thread) {
  std::ifstream file(fmt::format("/proc/{}/task/{}/syscall", process, thread));
  long number = -1;
  return static_cast<bool>(file >> number) && number == SYS_futex;
}

bool is_traced(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/status", process));
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("TracerPid:")) return line.find_first_of("123456789") != std::string::npos;
  return false;
}

void wait_shortly() { usleep(100); }

bool death_seen() {
  siginfo_t info{};
  return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0;
}

int lock_network(std::uint32_t& network) {
  // Successive runs get different ports, because used ones stay taken for a minute.
  constexpr std::uint32_t kFirst = 2U << 8U;
  constexpr std::uint32_t kCount = 60'000;
  const auto begin = static_cast<std::uint32_t>(getpid()) % kCount;
  for (std::uint32_t i = 0; i < kCount; ++i) {
    network = kFirst + (begin + i) % kCount;
    const int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (file < 0) return -1;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(127U << 24U | network << 8U | 0xfeU);
    address.sin_port = htons(49'151);
    if (bind(file, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return file;
    close(file);
  }
  return -1;
}

void set_port_speed(std::uint64_t bits_per_second, HostFacts& facts) {
  struct Port {
    std::uint64_t gigabits;
    std::uint32_t width, speed;
  };
  // lanes (1: 1, 2: 4) of SDR 1, QDR 4, FDR10 8, FDR 16, EDR 32, HDR 64, NDR 128 (IBTA volume 1, PortInfo)
  static constexpr std::array<Port, 9> kPorts = {{{10, 1, 8},
                                                  {25, 1, 32},
                                                  {40, 2, 4},
                                                  {50, 1, 64},
                                                  {56, 2, 16},
                                                  {100, 2, 32},
                                                  {200, 2, 64},
                                                  {400, 2, 128},
                                                  {800, 2, 128}}};
  const std::uint64_t gigabits = bits_per_second / 1'000'000'000;
  facts.width = kPorts[0].width;
  facts.speed = kPorts[0].speed;
  for (const Port& port : kPorts) {
    if (port.gigabits > gigabits) break;
    facts.width = port.width;
    facts.speed = port.speed;
  }
}

void fill_grh(std::span<std::byte, kGrhBytes> out, std::uint32_t from, std::uint32_t to, std::uint32_t payload,
              bool infiniband) {
  std::array<std::uint8_t, kGrhBytes> h{};
  const auto two_bytes = [&h](std::size_t at, std::uint32_t value) {
    h.at(at) = static_cast<std::uint8_t>(value >> 8U);
    h.at(at + 1) = static_cast<std::uint8_t>(value);
  };
  constexpr std::uint8_t kHops = 64;
  if (infiniband) {
    constexpr std::uint32_t kTransportBytes = 12 + 8 + 4;  // BTH, DETH, ICRC
    constexpr std::uint8_t kNextIsBth = 0x1b;
    h[0] = 0x60;
    two_bytes(4, payload + kTransportBytes);
    h[6] = kNextIsBth;
    h[7] = kHops;
    for (const auto& [at, host] : {std::pair{8U, from}, std::pair{24U, to}}) {  // fe80::, 0200:00ff:fe00:0001 + host
      static constexpr std::array<std::uint8_t, 14> kGid = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0xff, 0xfe, 0};
      std::ranges::copy(kGid, h.begin() + at);
      two_bytes(at + 14, host + 1);
    }
  } else {
    constexpr std::uint32_t kHeaders = 20 + 8 + 12 + 8 + 4;  // IP, UDP, BTH, DETH, ICRC
    constexpr std::uint8_t kUdp = 17;
    h[20] = 0x45;
    two_bytes(22, payload + kHeaders);
    h[28] = kHops;
    h[29] = kUdp;
    for (const auto& [at, host] : {std::pair{32U, from}, std::pair{36U, to}}) {
      h.at(at) = 10;
      two_bytes(at + 2, host / 255U << 8U | (host % 255U + 1U));
    }
  }
  std::ranges::copy(std::as_bytes(std::span(h)), out.begin());
}

std::string time_text(sim::SimTime time) { return fmt::format("{:.3f} ms", static_cast<double>(time.ps) * 1e-9); }

}  // namespace loco::exec
