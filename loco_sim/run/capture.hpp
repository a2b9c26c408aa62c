// A run's packets as a capture for Wireshark and tshark: pcapng (trace/pcapng.hpp) with an interface for each link, and
// RoCE v2 frames (fabric/frame.hpp), each at the time when it begins on its link (docs/fabric.md, "Captures").
//
// A machine has a recorder, or each of its parts has one of its own (nic_model/parts.hpp), used by the thread that
// simulates that part alone. The file has all packets in the order of time, and of links where times are equal: it does
// not depend on the number of parts. Does not change the run.
#pragma once

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fabric/tap.hpp"
#include "loco_sim/scenario/scenario.hpp"
#include "nic_model/system.hpp"
#include "trace/pcapng.hpp"

namespace loco {

/// A packet on a link.
struct CapturedPacket {
  sim::SimTime at{};
  std::uint32_t interface = 0;
  std::uint32_t length = 0;  ///< on the link
  std::vector<std::byte> bytes{};

  /// The order of the file; packets of one link stay as they are.
  [[nodiscard]] bool before(const CapturedPacket& other) const {
    return at != other.at ? at < other.at : interface < other.interface;
  }
};

/// Sees the packets of one machine, or of one part. They are reported late and link by link (fabric/tap.hpp), so it
/// keeps them until none that began earlier can follow, and hands them over in order.
class LinkRecorder final : public fabric::LinkTap {
 public:
  using Sink = std::function<void(const CapturedPacket&)>;
  LinkRecorder(const scenario::CaptureOptions& options, Sink sink) : options_(options), sink_(std::move(sink)) {}

  /// Names the machine whose links these are, before its first event. `interfaces`: by link; kNone: not captured.
  void watch(const nic::System& system, std::vector<std::uint32_t> interfaces);
  void hand_over_rest() { hand_over_until(sim::SimTime::max()); }

  void on_packet(fabric::topology::LinkId link, sim::SimTime begins, const fabric::Packet& packet) override;
  void on_pause(fabric::topology::LinkId link, sim::SimTime begins, std::uint8_t classes, bool stop) override;

 private:
  [[nodiscard]] bool captures(fabric::topology::LinkId link) const;
  void keep(fabric::topology::LinkId link, sim::SimTime begins, std::vector<std::byte> bytes, std::uint32_t length);
  void hand_over_until(sim::SimTime end);

  const scenario::CaptureOptions& options_;
  Sink sink_;
  const nic::System* system_ = nullptr;
  std::vector<std::uint32_t> interfaces_{};       // by link
  std::vector<std::uint16_t> identifications_{};  // by link: of the next IPv4 packet
  std::vector<CapturedPacket> kept_{};
  sim::Duration behind_{};  // the greatest delay between the beginning of a packet and its report
};

/// What a part has recorded, in a temporary file without a name.
class PacketSpool {
 public:
  /// Throws std::system_error if there is no room for it.
  PacketSpool();
  void put(const CapturedPacket& packet);
  /// From the first packet on; none can be put any more.
  void rewind();
  /// Nothing behind the last one. Throws std::system_error if something could not be written or read.
  [[nodiscard]] std::optional<CapturedPacket> next();

 private:
  struct Close {
    void operator()(std::FILE* file) const { static_cast<void>(std::fclose(file)); }
  };
  std::unique_ptr<std::FILE, Close> file_;
};

class Capture {
 public:
  /// Throws std::system_error if the file cannot be written.
  explicit Capture(const scenario::CaptureOptions& options);
  /// After a failed run, writes what there is, as far as possible.
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  /// For so many parts, 1 for a machine in one. Before all below.
  void be_parted(std::size_t parts);
  [[nodiscard]] fabric::LinkTap& tap(std::size_t part) { return *recorders_.at(part); }
  /// Names the machine that is this part, before its first event; on the part's thread.
  void watch(std::size_t part, const nic::System& system);
  /// Writes the rest, when all parts have ended. Throws std::system_error if not everything could be written.
  void finish();

 private:
  void write(const CapturedPacket& packet);
  void write_rest();

  scenario::CaptureOptions options_;
  std::ofstream out_;
  std::optional<trace::PcapngWriter> writer_{};
  std::vector<std::unique_ptr<LinkRecorder>> recorders_{};  // by part
  std::vector<PacketSpool> spools_{};                       // by part, if there are several
};

}  // namespace loco
