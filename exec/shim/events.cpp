// Completion channels and asynchronous events. Their descriptors are eventfds of the shim that count the events
// reported by the conductor, so poll, select and epoll work on them.
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "exec/shim/objects.hpp"
#include "exec/shim/signals.hpp"

namespace loco::shim {

int async_descriptor();

namespace {

constexpr std::uint32_t kChannelsMax = 4096;

std::uint32_t channels = 0;
int channel_files[kChannelsMax];
int async_file = -1;
/// The receiver of connection managers' messages: the other library, once it is loaded.
void (*take_mail)(const CmMessage&) = nullptr;

constexpr std::uint32_t kTimersMax = 1024;
struct Timer {
  std::int64_t at, again;  ///< in simulated time
  clockid_t clock;
};
int timer_files[kTimersMax];
Timer timers[kTimersMax];
std::uint32_t timer_count = 0;

/// Index of the timer behind a descriptor; kTimersMax if it is none.
std::uint32_t timer_of(int file) {
  for (std::uint32_t i = 0; i < timer_count; ++i)
    if (timer_files[i] == file) return i;
  return kTimersMax;
}

void count_up(int file) {
  const std::uint64_t one = 1;
  if (file >= 0) system_call(SYS_write, file, &one, sizeof(one));
}

/// Makes descriptors readable, as a reply says.
void tell_descriptors(Channel& c) {
  for (std::uint32_t i = 0; i < c.news_count; ++i) {
    const std::uint32_t news = c.news[i];
    if (news == kAsyncNews) {
      count_up(async_file);
    } else if (news >= kTimerNews) {
      if (news - kTimerNews < kTimersMax) count_up(timer_files[news - kTimerNews]);
    } else if (news < channels) {
      count_up(channel_files[news]);
    }
  }
  for (std::uint32_t i = 0; i < c.mail_count; ++i)
    if (take_mail != nullptr) take_mail(c.mail[i]);
}

int make_file(int flags = EFD_SEMAPHORE | EFD_CLOEXEC) {
  take_news = tell_descriptors;
  return eventfd(0, flags);
}

void count_down(int file) {
  std::uint64_t one = 0;
  pollfd p{file, POLLIN, 0};
  if (system_call(SYS_poll, &p, 1, 0) == 1) system_call(SYS_read, file, &one, sizeof(one));
}

bool blocks(int file) { return (system_call(SYS_fcntl, file, F_GETFL) & O_NONBLOCK) == 0; }

}  // namespace

int async_descriptor() {
  if (async_file < 0) async_file = make_file();
  return async_file;
}

namespace {

/// The number of the next event, or -1 with errno. An alarm interrupts the wait, unless its handler says that calls go
/// on behind it, as in read(2), by which rdma-core waits.
template <typename Ask>
std::int64_t next_event(int file, Ask ask) {
  static_cast<void>(take_interruption());
  while (true) {
    const std::uint64_t waits = blocks(file) ? 1 : 0;
    const std::int64_t found = ask(waits);
    if (found >= 0) return found;
    if (!take_interruption() || waits == 0) return failed(EAGAIN);
    struct sigaction handler {};
    real_sigaction(SIGALRM, nullptr, &handler);
    if ((handler.sa_flags & SA_RESTART) == 0) return failed(EINTR);
  }
}

}  // namespace

int req_notify_cq(ibv_cq* cq, int solicited_only) {
  if (channel() == nullptr) return EIO;
  of(cq)->known_empty = false;
  call(Request::arm_cq, of(cq)->number, static_cast<std::uint64_t>(solicited_only));
  return 0;
}

}  // namespace loco::shim

using namespace loco::shim;

// For the connection managers' library.
LOCO_EXPORT void loco_sim_set_mailbox(void (*take)(const CmMessage&)) {
  take_mail = take;
  take_news = tell_descriptors;
}

LOCO_EXPORT ibv_comp_channel* ibv_create_comp_channel(ibv_context* context) {
  if (no_conductor()) return nullptr;
  if (channels == kChannelsMax) return failed(ENOMEM);
  auto* const made = make_object<CompletionChannel>();
  if (made == nullptr) return nullptr;
  made->channel.context = context;
  made->channel.fd = make_file();
  made->number = channels++;
  channel_files[made->number] = made->channel.fd;
  return &made->channel;
}

LOCO_EXPORT int ibv_destroy_comp_channel(ibv_comp_channel* c) {
  if (c->refcnt != 0) return EBUSY;
  auto* const mine = reinterpret_cast<CompletionChannel*>(c);
  channel_files[mine->number] = -1;
  system_call(SYS_close, c->fd);
  std::free(mine);
  return 0;
}

LOCO_EXPORT int ibv_get_cq_event(ibv_comp_channel* c, ibv_cq** cq, void** context) {
  if (no_conductor()) return -1;
  const std::int64_t number = next_event(c->fd, [&](std::uint64_t waits) {
    return call(Request::get_cq_event, reinterpret_cast<CompletionChannel*>(c)->number, waits);
  });
  if (number < 0) return -1;
  Cq* const q = cq_numbered(static_cast<std::uint32_t>(number));
  if (q == nullptr) return failed(EAGAIN);
  count_down(c->fd);
  *cq = reinterpret_cast<ibv_cq*>(q);
  *context = q->cq.cq_context;
  return 0;
}

LOCO_EXPORT void ibv_ack_cq_events(ibv_cq*, unsigned) {}

LOCO_EXPORT int ibv_get_async_event(ibv_context* context, ibv_async_event* event) {
  if (no_conductor()) return -1;
  const std::int64_t kind =
      next_event(context->async_fd, [](std::uint64_t waits) { return call(Request::get_async_event, waits); });
  if (kind < 0) return -1;
  count_down(context->async_fd);
  const auto object = static_cast<std::uint32_t>(channel()->replies[1]);
  switch (static_cast<AsyncEvent>(kind)) {
    case AsyncEvent::qp_fatal:
    case AsyncEvent::qp_request_error:
    case AsyncEvent::qp_access_error:
    case AsyncEvent::last_wqe: {
      static constexpr ibv_event_type kTypes[] = {IBV_EVENT_QP_FATAL, IBV_EVENT_QP_REQ_ERR, IBV_EVENT_QP_ACCESS_ERR,
                                                  IBV_EVENT_QP_LAST_WQE_REACHED};
      event->event_type = kTypes[kind];
      event->element.qp = reinterpret_cast<ibv_qp*>(qp_numbered(object));
      break;
    }
    case AsyncEvent::srq_limit:
      event->event_type = IBV_EVENT_SRQ_LIMIT_REACHED;
      event->element.srq = reinterpret_cast<ibv_srq*>(srq_numbered(object));
      break;
    case AsyncEvent::cq_error:
      event->event_type = IBV_EVENT_CQ_ERR;
      event->element.cq = reinterpret_cast<ibv_cq*>(cq_numbered(object));
      break;
    case AsyncEvent::port_error:
    case AsyncEvent::port_active:
      event->event_type =
          static_cast<AsyncEvent>(kind) == AsyncEvent::port_error ? IBV_EVENT_PORT_ERR : IBV_EVENT_PORT_ACTIVE;
      event->element.port_num = 1;
      break;
  }
  return 0;
}

LOCO_EXPORT void ibv_ack_async_event(ibv_async_event*) {}

// --- timerfd: an eventfd that the conductor's timers count up --------------------------------------------------------

namespace {

timespec to_timespec(std::int64_t ps) { return {ps / kSecond, ps % kSecond / 1000}; }

/// How far a clock is ahead of the simulated one.
std::int64_t clock_offset(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return picoseconds(t) - program_time() / 1000 * 1000;
}

}  // namespace

LOCO_EXPORT int timerfd_create(clockid_t clock, int flags) noexcept {
  LOCO_CONDUCTED(timerfd_create, clock, flags);
  const int file = make_file(flags);  // the flags have the same values
  if (file < 0) return file;
  const std::uint32_t old = timer_of(file);
  if (old == kTimersMax && timer_count == kTimersMax) return file;
  const std::uint32_t number = old == kTimersMax ? timer_count++ : old;
  timer_files[number] = file;
  timers[number] = {0, 0, clock};
  return file;
}

LOCO_EXPORT int timerfd_gettime(int file, itimerspec* out) noexcept {
  LOCO_NEXT(timerfd_gettime);
  const std::uint32_t number = channel() == nullptr ? kTimersMax : timer_of(file);
  if (number == kTimersMax) return next_timerfd_gettime(file, out);
  const std::int64_t now = program_time();
  std::int64_t at = timers[number].at;
  const std::int64_t again = timers[number].again;
  if (at != 0 && at <= now) at = again == 0 ? 0 : at + ((now - at) / again + 1) * again;
  *out = {to_timespec(again), to_timespec(at == 0 ? 0 : at - now)};
  return 0;
}

LOCO_EXPORT int timerfd_settime(int file, int flags, const itimerspec* value, itimerspec* old) noexcept {
  LOCO_NEXT(timerfd_settime);
  const std::uint32_t number = channel() == nullptr ? kTimersMax : timer_of(file);
  if (number == kTimersMax) return next_timerfd_settime(file, flags, value, old);
  if (old != nullptr) timerfd_gettime(file, old);
  Timer& timer = timers[number];
  const std::int64_t now = program_time();
  const std::int64_t first = picoseconds(value->it_value);
  timer.at = first == 0 ? 0 : (flags & TFD_TIMER_ABSTIME) != 0 ? first - clock_offset(timer.clock) : now + first;
  if (first != 0 && timer.at <= now) timer.at = now + 1;
  timer.again = picoseconds(value->it_interval);
  count_down(file);
  call(Request::set_timer, number, static_cast<std::uint64_t>(timer.at), static_cast<std::uint64_t>(timer.again));
  return 0;
}
