// Congestion control of a connection, as a strategy: one of several algorithms, each a file of this folder
// (docs/congestion.md). It says how fast and how far ahead of answers a queue pair may send, by what answers, CNPs and
// losses tell it.
//
// A strategy has no timers of its own: what time changes is caught up with when somebody asks. So times that are given
// may not run backwards. Integers only. A value.
#pragma once

#include <cstdint>
#include <limits>
#include <variant>

#include "fabric/congestion/dcqcn.hpp"
#include "fabric/congestion/feedback.hpp"
#include "fabric/congestion/hpcc.hpp"
#include "fabric/congestion/nscc.hpp"
#include "fabric/congestion/options.hpp"
#include "fabric/congestion/swift.hpp"
#include "fabric/congestion/timely.hpp"

namespace loco::fabric {

/// What all connections of a run share.
struct CongestionSettings {
  CongestionAlgorithm algorithm = CongestionAlgorithm::none;
  DcqcnOptions dcqcn{};
  CongestionOptions others{};
  bool operator==(const CongestionSettings&) const = default;
};

class Congestion {
 public:
  static constexpr std::uint64_t kNoWindow = std::numeric_limits<std::uint64_t>::max();

  Congestion() = default;
  Congestion(const CongestionSettings& settings, const CongestionPath& path);

  /// Does it control anything yet?
  [[nodiscard]] bool begun() const { return !std::holds_alternative<std::monostate>(kind_); }

  void on_sent(sim::SimTime now, sim::Bytes wire, const CongestionSettings& settings);
  void on_ack(sim::SimTime now, const Feedback& feedback, const CongestionSettings& settings);
  void on_cnp(sim::SimTime now, const CongestionSettings& settings);
  void on_loss(sim::SimTime now, const Loss& loss, const CongestionSettings& settings);
  void on_timeout(sim::SimTime now, const CongestionSettings& settings);

  /// Of what is sent from now on; 0: it is not paced.
  [[nodiscard]] sim::BitsPerSecond rate() const;
  /// Bytes on the wire that may be under way; kNoWindow.
  [[nodiscard]] std::uint64_t window() const;
  /// May `bytes` be sent while `in_flight` are under way? Something always may when nothing is. Else, with the next
  /// answer.
  [[nodiscard]] bool may_send(std::uint64_t in_flight, std::uint64_t bytes) const;

  template <class Kind>
  [[nodiscard]] Kind* as() {
    return std::get_if<Kind>(&kind_);
  }
  template <class Kind>
  [[nodiscard]] const Kind* as() const {
    return std::get_if<Kind>(&kind_);
  }

  bool operator==(const Congestion&) const = default;

 private:
  std::variant<std::monostate, Dcqcn, Hpcc, Timely, Swift, Nscc> kind_{};
};

}  // namespace loco::fabric
