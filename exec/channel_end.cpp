#include "exec/channel_end.hpp"

#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <system_error>
#include <time.h>
#include <unistd.h>

namespace loco::exec {

namespace {

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

Channel* map(int file) {
  void* const memory = mmap(nullptr, sizeof(Channel), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) fail("a program's channel");
  return static_cast<Channel*>(memory);
}

}  // namespace

ChannelEnd ChannelEnd::make(const HostFacts& facts, int& file) {
  file = memfd_create("loco-sim-channel", 0);
  if (file < 0 || ftruncate(file, sizeof(Channel)) != 0) fail("a program's channel");
  Channel* const channel = map(file);
  channel->version = kProtocolVersion;
  channel->bytes = sizeof(Channel);
  channel->facts = facts;
  return ChannelEnd(channel);
}

ChannelEnd ChannelEnd::of_thread(pid_t process, int file) {
  const int mine = open(fmt::format("/proc/{}/fd/{}", process, file).c_str(), O_RDWR | O_CLOEXEC);
  if (mine < 0) fail("a thread's channel");
  Channel* const channel = map(mine);
  close(mine);
  return ChannelEnd(channel);
}

ChannelEnd::~ChannelEnd() {
  if (channel_ != nullptr) munmap(channel_, sizeof(Channel));
}

void ChannelEnd::let() const {
  channel_->turn.store(static_cast<std::uint32_t>(Turn::program), std::memory_order_release);
  syscall(SYS_futex, &channel_->turn, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

bool ChannelEnd::wait(std::int64_t microseconds) const {
  constexpr auto kTheirs = static_cast<std::uint32_t>(Turn::program);
  if (channel_->turn.load(std::memory_order_acquire) != kTheirs) return true;
  const timespec time{microseconds / 1'000'000, microseconds % 1'000'000 * 1000};
  syscall(SYS_futex, &channel_->turn, FUTEX_WAIT, kTheirs, &time, nullptr, 0);
  return channel_->turn.load(std::memory_order_acquire) != kTheirs;
}

}  // namespace loco::exec
