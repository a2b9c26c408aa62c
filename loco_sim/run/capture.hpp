// A run's packets as a capture for Wireshark and tshark: pcapng (trace/pcapng.hpp) with an interface for each link, and
// RoCE v2 frames (fabric/frame.hpp), each at the time when it begins on its link (docs/fabric.md, "Captures").
//
// Packets are reported late and link by link (fabric/tap.hpp), so they are kept until no packet that began earlier can
// follow. Does not change the run.
#pragma once

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "fabric/tap.hpp"
#include "loco_sim/scenario/scenario.hpp"
#include "nic_model/system.hpp"
#include "trace/pcapng.hpp"

namespace loco {

class Capture final : public fabric::LinkTap {
 public:
  /// Throws std::system_error if the file cannot be written.
  explicit Capture(const scenario::CaptureOptions& options);
  /// After a failed run, writes what there is, as far as possible.
  ~Capture() override;
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  /// Names the machine whose links these are, before its first event.
  void watch(const nic::System& system);
  /// Writes the rest. Throws std::system_error if not everything could be written.
  void finish();

  void on_packet(fabric::topology::LinkId link, sim::SimTime begins, const fabric::Packet& packet) override;
  void on_pause(fabric::topology::LinkId link, sim::SimTime begins, std::uint8_t classes, bool stop) override;

 private:
  struct Record {
    sim::SimTime at{};
    std::uint64_t number = 0;
    std::uint32_t interface = 0;
    std::uint32_t length = 0;
    std::vector<std::byte> bytes{};
  };

  void keep(fabric::topology::LinkId link, sim::SimTime begins, std::vector<std::byte> bytes, std::uint32_t length);
  void write_until(sim::SimTime end);

  scenario::CaptureOptions options_;
  std::ofstream out_;
  std::optional<trace::PcapngWriter> writer_{};
  const nic::System* system_ = nullptr;
  std::vector<std::uint32_t> interfaces_{};  // by link; kNone: not captured
  std::vector<Record> kept_{};
  sim::Duration behind_{};  // the greatest delay between the beginning of a packet and its report
  std::uint64_t number_ = 0;
  std::uint16_t identification_ = 0;
};

}  // namespace loco
