// Leaves out the middle of long WRITEs and SENDs, where each packet is the one before it, a fixed time later.
//
// A leap shortens the message that is under way by what it would carry in some time, copies those bytes from one
// program's memory to the other's, and adds that time to all times that programs see, and its packets and TLPs to the
// counters. Nothing else in the machine changes: what is queued and in flight is that of a message in its middle,
// before the leap as behind it. So all that follows happens as it would have, that much later.
//
// Why this is exact: a leap is made when for three segments all packets of the run left, arrived and were placed at the
// same distances in time as in the segment before, and counted the same, while no program ran, nothing completed, and
// nothing is pending but that message and payloads of its queue pair that are read. These are read over PCIe faster
// than they leave, at a rate of their own, but well ahead, and nobody else uses the way that they take: that reading is
// carried on, step by step, to where it would be behind the leap (System::leave_out). Then further segments are like
// these, until the message comes to its end, to pages whose translations the receiver's NIC does not hold, to memory
// that a program watches, or something is due at a time of its own. A leap ends before that.
//
// Must not know: programs, channels. The conductor says what happens, and by which time a leap must end.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "fabric/packet.hpp"
#include "nic_model/counters.hpp"
#include "nic_model/engine/hash.hpp"
#include "nic_model/observer.hpp"
#include "nic_model/system.hpp"

namespace loco::exec {

/// True if nothing in a machine is drawn at random or remembers what has been, so that equal distances in time say that
/// the state is the same.
[[nodiscard]] bool may_leap(const nic::SystemConfig& config);

class Leaps {
 public:
  /// Copies so many bytes from one host's memory to another's.
  using Copy = std::function<void(nic::NodeId from, nic::Address source, nic::NodeId to, nic::Address target,
                                  std::uint64_t bytes)>;

  /// The system must outlive it.
  Leaps(nic::System& system, Copy copy) : system_(system), copy_(std::move(copy)) {}

  /// Names the requests to be followed, before they are posted.
  void name(nic::QpId qp, std::span<nic::Wqe> requests);

  // What happens, in the order of time.
  void packet(nic::PacketStep step, const fabric::Packet& packet, sim::SimTime at);
  /// Returns true if look() is to be called behind this step.
  bool placed(nic::OpId message, std::uint32_t bytes, sim::SimTime at);
  /// Anything else.
  void disturbed() { disturbed_ = true; }

  /// Leaps if it may, to before `end` of the machine's time. Between steps. Returns how long the leap is, or zero.
  sim::Duration look(sim::SimTime end);

  /// What the machine's counters lack.
  [[nodiscard]] const nic::Counters& left_out() const { return left_out_; }

 private:
  /// The distances in time of what happens in a segment, and how often they were the same in a row.
  struct Segments {
    nic::Hasher distances{};
    std::uint64_t last_distances = 0;
    sim::SimTime begun{};
    sim::Duration took{};
    std::uint32_t alike = 0;
  };

  void follow(const fabric::Packet& first);
  void happens(std::uint64_t what, std::uint32_t bytes, sim::SimTime at);
  void end_segment(sim::SimTime at);
  [[nodiscard]] bool counts_alike(const nic::Counters& counters, const nic::SpareBytes& spare);
  [[nodiscard]] std::int64_t most_segments(const nic::SpareBytes& spare, sim::SimTime end) const;
  sim::Duration leap(const nic::SpareBytes& spare, std::int64_t segments);

  nic::System& system_;
  Copy copy_;
  nic::OpId names_ = 0;

  // the message that is being sent
  nic::OpId message_ = 0;  // 0: none
  nic::QpId qp_ = 0;
  std::uint32_t work_request_ = 0;
  bool translated_ = false;  // where its bytes go; SENDs use no translations at the receiver
  std::uint32_t key_ = 0;
  nic::NodeId sender_ = 0, receiver_ = 0;
  std::uint32_t mtu_ = 0;
  std::uint64_t segment_ = 0;
  std::uint64_t sent_ = 0, placed_ = 0;  // bytes, without those left out
  bool disturbed_ = false;
  Segments segments_{};

  struct Sample {
    nic::Counters counters{};
    nic::ReadSoFar read{};
    nic::Counters segment{};  // what a segment has counted without its reading
    bool alike = false;       // as much as the one before
  };
  Sample sample_{};
  struct Range {
    nic::NodeId host = 0;
    std::uint32_t key = 0;
    nic::Address base = 0;
    std::uint64_t bytes = 0;
  };
  Range used_{};  // left out, whose translations the receiver's NIC has yet to use
  nic::Counters left_out_{};
};

}  // namespace loco::exec
