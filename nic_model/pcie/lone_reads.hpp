// Reads of payloads carried on by themselves, while nothing else uses the NIC's PCIe link: for leaving out what only
// repeats (System::leave_out). The steps are those that would be simulated, at the same times, on a copy of the link.
// Private to nic_model/.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nic_model/engine/engine.hpp"
#include "nic_model/pcie/bursts.hpp"
#include "nic_model/pcie/link.hpp"
#include "sim/time.hpp"

namespace loco::nic {

class LoneReads {
 public:
  /// For steps before `now` and that time.
  LoneReads(const Engine& engine, NicId node, sim::Duration time);

  /// Carries on with a read that is under way.
  void carry_on(Engine& engine, ReadBurst read);
  /// Begins the next read. Precondition: the one before it is at its end.
  void begin(Engine& engine, ReadBurst read, sim::SimTime due, sim::Duration reach);
  /// True if the newest read is at its end.
  [[nodiscard]] bool at_end() const { return reads_.empty() || reads_.back().done == reads_.back().length; }

  /// Those that had a step, or begun; times as they would be.
  [[nodiscard]] std::span<const ReadBurst> reads() const { return reads_; }
  [[nodiscard]] sim::Duration time() const { return time_; }
  /// The link takes over what they have made of it, that time earlier, and the steps are counted.
  void commit(Engine& engine) const;

 private:
  NicId node_;
  sim::SimTime now_;
  sim::Duration time_;
  PcieLink link_;
  std::vector<ReadBurst> reads_{};
  sim::SimTime newest_step_{};
  std::uint32_t completions_ = 0;
  std::uint32_t requests_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace loco::nic
