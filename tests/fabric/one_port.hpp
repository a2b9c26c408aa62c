// N flows of packets through one port with an endless queue, each with a congestion control: what fixed points are
// checked on. It has no NIC and no switch: a packet is at the port as soon as it is sent, and answered a round trip
// after it has begun to leave it. Times in picoseconds.
#pragma once

#include <array>
#include <cstdint>
#include <queue>
#include <vector>

#include "fabric/congestion/congestion.hpp"
#include "sim/rng.hpp"

namespace loco::test {

struct OnePort {
  struct Set {
    fabric::CongestionSettings settings{};
    sim::BitsPerSecond rate{};
    sim::Duration base{};  // round trip of a packet that does not wait
    std::uint32_t payload = 1'024;
    std::uint32_t overhead = 82;
    std::uint64_t mark_from = 0;  // bytes in the queue: from here to there the chance of a mark rises from 0 to 1
    std::uint64_t mark_all = ~std::uint64_t{0};
    bool at_once = false;  // else they begin one after the other within a round trip
    bool trims = false;    // for the target of NSCC; the queue has no end all the same
  };

  OnePort(const Set& set, std::uint32_t flows);

  /// Runs until `end`. Figures are of what happens from `from` on.
  void run(sim::SimTime from, sim::SimTime end);

  [[nodiscard]] fabric::Congestion& control(std::uint32_t flow) { return flows_[flow].control; }
  [[nodiscard]] std::uint64_t bytes(std::uint32_t flow) const { return flows_[flow].bytes; }
  [[nodiscard]] double utilisation() const;
  [[nodiscard]] double mean_queue() const { return queue_area_ / static_cast<double>((end_ - from_).ps); }
  [[nodiscard]] std::uint64_t longest_queue() const { return longest_; }
  /// Of the packets, us.
  [[nodiscard]] double mean_rtt() const { return rtt_sum_ / static_cast<double>(answers_); }
  /// (sum x)^2 / (n sum x^2) of the windows.
  [[nodiscard]] double fairness_of_windows() const;

 private:
  enum class What : std::uint8_t { may_send, starts, answer };
  struct Event {
    sim::SimTime at{};
    std::uint64_t number = 0;
    What what = What::may_send;
    std::uint32_t flow = 0;
    std::uint32_t psn = 0;
    bool operator>(const Event& o) const { return at != o.at ? at > o.at : number > o.number; }
  };
  struct Packet {
    std::uint32_t flow = 0;
    std::uint32_t psn = 0;
    sim::SimTime sent{};
    bool marked = false;
    fabric::Telemetry telemetry{};
  };
  struct Flow {
    fabric::Congestion control{};
    std::uint64_t in_flight = 0;
    std::uint32_t psn = 0;
    sim::SimTime paced{}, next{};  // when the last packet had its turn; when its port is free
    bool waiting = false;          // for its time
    std::uint64_t bytes = 0;
    std::queue<Packet> on_its_way{};
  };

  void push(sim::SimTime at, What what, std::uint32_t flow, std::uint32_t psn = 0);
  void try_to_send(std::uint32_t flow);
  void start_next();
  void answered(std::uint32_t flow);
  void measure();
  [[nodiscard]] std::uint32_t wire() const { return set_.payload + set_.overhead; }
  [[nodiscard]] bool counts() const { return now_ >= from_; }

  Set set_;
  std::vector<Flow> flows_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t numbers_ = 0;
  sim::SimTime now_{}, from_{}, end_{}, measured_{};
  std::queue<Packet> queue_;  // the first is being sent if `busy_`
  bool busy_ = false;
  std::uint64_t sent_ = 0, sent_counted_ = 0, longest_ = 0, answers_ = 0;
  double queue_area_ = 0, rtt_sum_ = 0;
  sim::Stream stream_{1, "one port"};
};

}  // namespace loco::test
