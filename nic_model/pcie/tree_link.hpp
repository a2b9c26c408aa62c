// A link of the PCIe tree beyond the NICs' own: above a switch, of a GPU, between two sockets (PCIe base specification,
// 1.3; credits: 2.6.1).
//
// Each direction carries one TLP after the other, in the order in which TLPs come, whoever they are of: devices that
// share a link share its rate. All this delays; what orders is apart (posted_domain.hpp). Private to nic_model/.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "nic_model/engine/window.hpp"
#include "nic_model/host_config.hpp"
#include "sim/time.hpp"

namespace loco::nic {

/// Towards the root complex, or from the socket with the lower number; the other way.
enum class LinkWay : std::uint8_t { up, down };
[[nodiscard]] constexpr LinkWay other_way(LinkWay way) { return way == LinkWay::up ? LinkWay::down : LinkWay::up; }

/// Which link it is: for reports.
struct TreeLinkName {
  enum class Kind : std::uint8_t { above_switch, of_gpu, sockets };
  HostId host{};
  Kind kind = Kind::above_switch;
  std::uint32_t number = 0;  ///< of the switch or the GPU; the first socket
  std::uint32_t other = 0;   ///< the second socket

  bool operator==(const TreeLinkName&) const = default;
};

class TreeLink {
 public:
  /// `delay`: of a TLP from one end to the other, which a credit takes back.
  TreeLink(const TreeLinkName& name, std::uint64_t credits, sim::Duration delay)
      : name_(name), credits_(credits), delay_(delay) {}

  [[nodiscard]] const TreeLinkName& name() const { return name_; }

  /// When a TLP that could be at its far end at `due` is there, behind those that have come before it.
  [[nodiscard]] sim::SimTime earliest(LinkWay way, sim::SimTime due) const { return std::max(due, at(way).free); }
  /// The same of one that comes now, and takes so long: those behind it are later by that.
  sim::SimTime take(LinkWay way, sim::SimTime due, sim::Duration taken) {
    Direction& d = at(way);
    const sim::SimTime passes = std::max(due, d.free);
    d.free = passes + taken;
    d.busy += taken;
    return passes;
  }
  /// Since when its far end has room for so many bytes.
  sim::SimTime take_credits(LinkWay way, std::uint64_t bytes) { return at(way).credits.take(bytes, credits_); }
  /// They have left the near end at `from` and the far end at `until`. Who comes from now on leaves the near end at
  /// `gone` at the earliest.
  void return_credits(LinkWay way, std::uint64_t bytes, sim::SimTime from, sim::SimTime until, sim::SimTime gone) {
    at(way).credits.give_back(bytes, credits_, from, until + delay_, gone);
  }
  [[nodiscard]] bool limits_credits() const { return credits_ != 0; }
  [[nodiscard]] sim::Duration delay() const { return delay_; }
  /// Data of a read, which could be sent from `now` on: when all of it has been.
  sim::SimTime send(LinkWay way, sim::SimTime now, sim::Duration taken) {
    Direction& d = at(way);
    d.free = std::max(now, d.free) + taken;
    d.busy += taken;
    return d.free;
  }

  [[nodiscard]] sim::Duration busy(LinkWay way) const { return at(way).busy; }
  [[nodiscard]] sim::Duration busy_credits(LinkWay way) const { return at(way).credits.busy(); }

  bool operator==(const TreeLink&) const = default;

 private:
  struct Direction {
    sim::SimTime free{};
    sim::Duration busy{};
    Window credits{};
    bool operator==(const Direction&) const = default;
  };
  [[nodiscard]] Direction& at(LinkWay way) { return ways_[static_cast<std::size_t>(way)]; }
  [[nodiscard]] const Direction& at(LinkWay way) const { return ways_[static_cast<std::size_t>(way)]; }

  TreeLinkName name_;
  std::uint64_t credits_;
  sim::Duration delay_;
  std::array<Direction, 2> ways_{};
};

}  // namespace loco::nic
