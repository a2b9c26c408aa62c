// The conductor's end of a channel.
#pragma once

#include <sys/types.h>

#include "exec/protocol.hpp"

namespace loco::exec {

/// A memfd with a Channel, mapped. Owns the mapping.
class ChannelEnd {
 public:
  /// A new one; its descriptor is for the program to inherit.
  static ChannelEnd make(const HostFacts& facts, int& file);
  /// The one that a program has made for a new thread: its descriptor there.
  static ChannelEnd of_thread(pid_t process, int file);

  ChannelEnd(ChannelEnd&& other) noexcept : channel_(other.channel_) { other.channel_ = nullptr; }
  ChannelEnd& operator=(ChannelEnd&&) = delete;
  ~ChannelEnd();

  [[nodiscard]] Channel& operator*() const { return *channel_; }
  [[nodiscard]] Channel* operator->() const { return channel_; }

  /// The program's turn.
  void let() const;
  /// Waits for our turn; false when it has not come after `microseconds` of real time.
  [[nodiscard]] bool wait(std::int64_t microseconds) const;

 private:
  explicit ChannelEnd(Channel* channel) : channel_(channel) {}
  Channel* channel_;
};

}  // namespace loco::exec
