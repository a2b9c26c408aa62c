// What a System is made from, and who runs its threads and watches it.
#pragma once

#include <cstdint>
#include <vector>

#include "fabric/config.hpp"
#include "nic_model/profile.hpp"

namespace loco::nic {

class MessageObserver;
class Observer;
class ThreadRunner;

struct SystemConfig {
  HardwareProfile profile;
  fabric::Topology topology = fabric::Topology::star;  ///< `profile.link_ideal` overrides it
  fabric::Config network{};  ///< shape, options, seed and failures are used; the rest comes from here and the profile
  std::uint32_t nodes = 2;
  /// The path MTU of each node's queue pairs that System::connect() connects, as QpAttributes::path_mtu; of nodes that
  /// it does not reach, and 0: `profile.link_mtu`.
  std::vector<std::uint32_t> path_mtu{};
  /// Only System::step(context) will be called: the earliest event is always next. TLPs of a packet that nothing can
  /// fall between are one step then (pcie/bursts.hpp), which changes no time and no value.
  bool timed = false;
  /// Transport timers run where nothing can be lost, too: for runs in the order of time. Searches leave them out: there
  /// any pending event may be next, and a timer would say something of the schedule only.
  bool timers = false;
  std::uint64_t seed = 1;  ///< of what NICs draw: the order of words (nic.word_order: any)
  bool witness = false;    ///< remember the last writer of every word; needed for subevents' source and overwrote
};

/// Who runs the threads, and who watches (may be null). Passed to every step.
struct Context {
  ThreadRunner& runner;
  Observer* observer = nullptr;
  MessageObserver* messages = nullptr;
};

}  // namespace loco::nic
