// The conductor's end of a channel.
#pragma once

#include <sys/types.h>

#include "exec/protocol.hpp"

namespace loco::exec {

/// A memfd that holds a Channel, mapped into this process. Owns the mapping.
class ChannelEnd {
 public:
  /// Makes a new one; the program inherits the descriptor `file`.
  static ChannelEnd make(const HostFacts& facts, int& file);
  /// Maps the one that a program has made for a new thread; `file` is its descriptor there.
  static ChannelEnd of_thread(pid_t process, int file);

  ChannelEnd(ChannelEnd&& other) noexcept : channel_(other.channel_) { other.channel_ = nullptr; }
  ChannelEnd& operator=(ChannelEnd&&) = delete;
  ~ChannelEnd();

  [[nodiscard]] Channel& operator*() const { return *channel_; }
  [[nodiscard]] Channel* operator->() const { return channel_; }

  /// Gives the turn to the program.
  void let() const;
  /// Waits until the turn comes back. Returns false if it has not after `microseconds` of real time.
  [[nodiscard]] bool wait(std::int64_t microseconds) const;

 private:
  explicit ChannelEnd(Channel* channel) : channel_(channel) {}
  Channel* channel_;
};

}  // namespace loco::exec
