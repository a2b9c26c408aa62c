// The program's end of the channel: attaching, handing over.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "exec/shim/shim.hpp"
#include "exec/shim/signals.hpp"

namespace loco::shim {

namespace {

thread_local Channel* t_channel __attribute__((tls_model("initial-exec"))) = nullptr;
thread_local bool t_interrupted __attribute__((tls_model("initial-exec"))) = false;
bool attached = false;
bool has_family = false;  ///< it has forked, or was forked: family signals are delivered in this process's turns only
bool forked_child = false;
std::int64_t frozen_time = 0;
long process = 0;
int file_of_channel = -1;

[[noreturn]] void misfit() {
  static constexpr char kText[] = "loco-sim: the shim and loco-sim are of different versions\n";
  system_call(SYS_write, 2, kText, sizeof(kText) - 1);
  end_now(126);
}

char** variables = nullptr;  ///< from the loader, before the C library has them

/// The channel's variable. It is replaced by another one, which says that the program is conducted, and is not removed:
/// the auxiliary vector after the variables is found by their number.
const char* take_variable() {
  const std::size_t length = std::strlen(kChannelVariable);
  for (char** at = variables == nullptr ? environ : variables; at != nullptr && *at != nullptr; ++at) {
    if (std::strncmp(*at, kChannelVariable, length) != 0 || (*at)[length] != '=') continue;
    const char* const value = *at + length + 1;
    static char conducted[] = "LOCO_SIM_EXEC=1";
    *at = conducted;
    return value;
  }
  return nullptr;
}

/// Constructors of other libraries may call replaced functions before the shim's own constructor has run.
void attach() {
  attached = true;
  const char* const text = take_variable();
  if (text == nullptr) return;
  const int file = std::atoi(text);
  void* const memory = mmap(nullptr, sizeof(Channel), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return;
  system_call(SYS_fcntl, file, F_SETFD, FD_CLOEXEC);  // processes.cpp gives it back to an image after exec
  t_channel = static_cast<Channel*>(memory);
  if (t_channel->version != kProtocolVersion || t_channel->bytes != sizeof(Channel)) misfit();
  t_channel->thread = static_cast<std::uint32_t>(system_call(SYS_gettid));
  t_channel->watches = 0;
  process = system_call(SYS_getpid);
  file_of_channel = file;
}

void hand_over_alone(Channel& c) {
  c.turn.store(static_cast<std::uint32_t>(Turn::conductor), std::memory_order_release);
  system_call(SYS_futex, &c.turn, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  while (c.turn.load(std::memory_order_acquire) == static_cast<std::uint32_t>(Turn::conductor))
    system_call(SYS_futex, &c.turn, FUTEX_WAIT, static_cast<std::uint32_t>(Turn::conductor), nullptr, nullptr, 0);
}

/// Signals that arrive during other processes' turns are delivered in this process's own turn, at a time that is the
/// same in each run.
void hand_over(Channel& c) {
  if (!has_family) return hand_over_alone(c);
  constexpr std::size_t kBytes = 8;  // size of the kernel's signal sets
  std::uint64_t most = ~std::uint64_t{0} & ~(std::uint64_t{1} << (silence_signal() - 1));
  std::uint64_t before = 0;
  std::uint64_t pending = 0;
  system_call(SYS_rt_sigprocmask, SIG_SETMASK, &most, &before, kBytes);
  hand_over_alone(c);
  system_call(SYS_rt_sigpending, &pending, kBytes);
  if ((pending & ~before) != 0) t_interrupted = true;
  system_call(SYS_rt_sigprocmask, SIG_SETMASK, &before, nullptr, kBytes);
}

void note(Note kind, const char* what, std::uint64_t seen = 0) {
  Channel* const c = channel();
  if (c == nullptr) return;
  std::snprintf(c->data, kDataBytes, "%s", what);
  call(Request::note, static_cast<std::uint64_t>(kind), seen);
}

}  // namespace

void end_now(int status) {
  while (true) system_call(SYS_exit_group, status);
}

Channel* channel() {
  if (!attached) attach();
  return t_channel;
}

void set_channel(Channel* channel) { t_channel = channel; }

void leave_conductor() {
  if (t_channel != nullptr) frozen_time = t_channel->now_ps + t_channel->ahead_ps;
  t_channel = nullptr;
  attached = true;
  forked_child = true;
}

Channel* new_channel(int& file) {
  file = static_cast<int>(system_call(SYS_memfd_create, "loco-sim-channel", 1U /* MFD_CLOEXEC */));
  if (file < 0 || ftruncate(file, sizeof(Channel)) != 0) return nullptr;
  void* const memory = mmap(nullptr, sizeof(Channel), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* const c = static_cast<Channel*>(memory);
  c->version = t_channel->version;
  c->bytes = t_channel->bytes;
  c->facts = t_channel->facts;
  c->watches = t_channel->watches;
  return c;
}

void become_child(Channel* c, int file) {
  set_family();
  attached = true;
  forked_child = false;
  t_channel = c;
  t_interrupted = false;
  c->thread = static_cast<std::uint32_t>(system_call(SYS_gettid));
  process = system_call(SYS_getpid);
  file_of_channel = file;
}

void set_family() { has_family = true; }

bool take_interruption() {
  const bool was = t_interrupted;
  t_interrupted = false;
  return was;
}
void note_interruption() { t_interrupted = true; }

bool is_own_file(int file) {
  return t_channel != nullptr && file >= 0 && (file == file_of_channel || file == t_channel->facts.board);
}

bool is_forked_child() { return forked_child; }
long attached_process() { return process; }
int channel_file() { return file_of_channel; }

void keep_channel_at_exec(bool keep) {
  for (const int file : {file_of_channel, t_channel->facts.board})
    system_call(SYS_fcntl, file, F_SETFD, keep ? 0 : FD_CLOEXEC);
}
std::int64_t last_time() { return frozen_time; }

std::int64_t call(Request request, std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t d, std::uint64_t e,
                  std::uint64_t f) {
  tell_of_store();
  Channel& mine = *t_channel;
  const int error = errno;
  if (request != Request::wait_memory) open_pages();
  stop_following();
  const std::uint64_t arguments[] = {a, b, c, d, e, f};
  std::memcpy(mine.arguments, arguments, sizeof(arguments));
  mine.request = request;
  handed_over();
  hand_over(mine);
  if (take_news != nullptr && (mine.news_count != 0 || mine.mail_count != 0)) take_news(mine);
  mine.news_count = mine.mail_count = 0;
  if (request != Request::sync) clock_used_otherwise();
  if (request != Request::sync && request != Request::poll_cq) break_cycle();
  if (request == Request::poll_cq) close_learnt_page();
  errno = error;
  return mine.replies[0];
}

Refused unsupported(const char* what) {
  note(Note::unsupported, what);
  return refused(EOPNOTSUPP);
}

void not_deterministic(const char* what, std::uint64_t seen) { note(Note::not_deterministic, what, seen); }
void approximated(const char* what) { note(Note::approximated, what); }

namespace {

/// The first of all constructors (-z initfirst), because others may read the time-stamp counter.
[[gnu::constructor]] void begin(int, char**, char** environment) {
  variables = environment;
  if (channel() == nullptr) return;
  install_handlers();
  call(Request::start);
  trap_counter();
  trap_system_calls(environment);
}

[[gnu::destructor]] void end() {
  if (t_channel == nullptr) return;
  std::fflush(nullptr);
  untrap_counter();
  t_channel->io = 1;
  call(Request::exit);
  t_channel = nullptr;
}

}  // namespace
}  // namespace loco::shim

// For the connection managers' library (cm.cpp), which is separate.
LOCO_EXPORT loco::exec::Channel* loco_sim_channel() { return loco::shim::channel(); }
LOCO_EXPORT std::int64_t loco_sim_call(loco::exec::Request request, std::uint64_t a, std::uint64_t b) {
  return loco::shim::call(request, a, b);
}
LOCO_EXPORT void loco_sim_note_look() { loco::shim::note_empty_look(); }
LOCO_EXPORT int loco_sim_unsupported(const char* what) { return loco::shim::unsupported(what); }
