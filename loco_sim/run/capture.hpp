// A run's packets as a capture that Wireshark and tshark read: pcapng (trace/pcapng.hpp), an interface a link, RoCE v2
// frames (fabric/frame.hpp), each as it begins on its link (docs/fabric.md, "Captures").
//
// Packets are told of late and link by link (fabric/tap.hpp), so they are kept until none that began before them can
// come any more. Changes nothing in the run.
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
  /// Throws std::system_error when the file cannot be written.
  explicit Capture(const scenario::CaptureOptions& options);
  /// Of a run that has failed what there is is written as well as it can be.
  ~Capture() override;
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  /// The machine whose links these are, before its first event.
  void watch(const nic::System& system);
  /// Writes what is left. Throws std::system_error when not all could be written.
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
  std::vector<std::uint32_t> interfaces_{};  // by link; kNone: it is not captured
  std::vector<Record> kept_{};
  sim::Duration behind_{};  // how long after its begin a packet is told of, at most
  std::uint64_t number_ = 0;
  std::uint16_t identification_ = 0;
};

}  // namespace loco
