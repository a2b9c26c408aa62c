// The PCIe link of a node, as one unit: both directions, tags and credits, doorbells on their way, the IOMMU's buffer
// (PCIe base specification, 2.2.6.2 and 2.6.1).
//
// Each direction carries one TLP after the other, in the order of the calls. Other units use it through pcie.hpp and
// flow_control.hpp. Private to nic_model/.
#pragma once

#include <array>
#include <cstdint>

#include "nic_model/engine/engine.hpp"
#include "nic_model/engine/hash.hpp"
#include "nic_model/engine/key_cache.hpp"
#include "nic_model/engine/window.hpp"
#include "nic_model/pcie/bursts.hpp"
#include "nic_model/profile.hpp"
#include "nic_model/verbs.hpp"
#include "sim/ring.hpp"
#include "sim/time.hpp"

namespace loco::nic {

/// A doorbell: a CPU writes to its NIC how many work requests it has posted.
struct Doorbell {
  sim::SimTime ready{};
  QpId qp = 0;
  std::uint32_t posted = 0;
  bool blueflame = false;

  bool operator==(const Doorbell&) const = default;
};

/// A bare DMA read of the device: System::dma_read.
struct Probe {
  Address address = 0;
  std::uint32_t length = 0;
  std::uint32_t read = 0;
  std::uint32_t key = 0;

  bool operator==(const Probe&) const = default;
};

class PcieLink {
 public:
  explicit PcieLink(const HardwareProfile& profile);

  // --- its directions: from `now`, or once the link is free, busy for `taken`; returns when that is over -------------
  sim::SimTime send_up(sim::SimTime now, sim::Duration taken) {
    busy_up_ += taken;
    return up_free_ = std::max(up_free_, now) + taken;
  }
  /// How long a TLP would wait for what is on its way up already.
  [[nodiscard]] sim::Duration waits_up(sim::SimTime now) const { return std::max(up_free_, now) - now; }
  sim::SimTime send_down(sim::SimTime now, sim::Duration taken) {
    busy_down_ += taken;
    return down_free_ = std::max(down_free_, now) + taken;
  }
  /// Occupies the link for TLPs of no read (doorbells, contexts): the data of all reads comes so much later.
  sim::SimTime send_down_unasked(sim::SimTime now, sim::Duration taken) {
    asked_until_ += taken;
    return send_down(now, taken);
  }

  // --- tags, credits, what is under way: flow_control.cpp ------------------------------------------------------------
  sim::SimTime take_request(const HardwareProfile& p, sim::SimTime now, std::uint64_t bytes, sim::SimTime due,
                            sim::Duration reach, sim::Duration begin, sim::Duration walk = {});
  sim::SimTime take_posted(const HardwareProfile& p, sim::SimTime now, std::uint64_t bytes, sim::SimTime due,
                           sim::Duration way);
  /// When memory has a TLP that keeps its order: at `due`, or `interval` behind the one before it.
  sim::SimTime keep_distance(sim::Duration interval, sim::SimTime due) {
    due = std::max(due, ordered_free_);
    ordered_free_ = due + interval;
    busy_commits_ += interval;
    return due;
  }
  /// A walk of the IOMMU's tables of so long that could begin at `from`: when it does.
  sim::SimTime begin_walk(const HardwareProfile& p, sim::SimTime now, sim::SimTime from, sim::Duration walk);
  /// A fetch of a context that takes a `round_trip`, when it can begin; a bounded number is under way at once.
  sim::SimTime begin_context_fetch(std::uint32_t most, sim::SimTime now, sim::Duration round_trip);

  // --- doorbells -----------------------------------------------------------------------------------------------------
  /// True when no other is on its way.
  bool push_doorbell(const Doorbell& doorbell);
  Doorbell pop_doorbell();
  /// Null when none is on its way.
  [[nodiscard]] const Doorbell* next_doorbell() const { return doorbells_.empty() ? nullptr : &doorbells_.front(); }

  // --- memory behind it ----------------------------------------------------------------------------------------------
  /// Were these pages in the IOMMU's buffer? Puts them there.
  bool translates(Address first_page, Address last_page);
  /// Keeps the last word that was read: nic.stale_operands.
  void remember_word(std::uint64_t word) { words_read_ = {words_read_[1], word}; }
  /// The last two, the newest last.
  [[nodiscard]] const std::array<std::uint64_t, 2>& words_read() const { return words_read_; }

  [[nodiscard]] Bursts& bursts() { return bursts_; }

  // --- bare DMA ------------------------------------------------------------------------------------------------------
  std::uint32_t begin_probe(const Probe& probe);
  [[nodiscard]] const Probe& probe(std::uint32_t index) const { return probes_[index]; }
  void probe_read(std::uint32_t index, std::uint32_t bytes) { probes_[index].read += bytes; }
  void end_probe(std::uint32_t index) { probes_.release(index); }
  void probe_done() { ++probes_done_; }
  [[nodiscard]] std::uint64_t probes_done() const { return probes_done_; }

  // --- what a report asks --------------------------------------------------------------------------------------------
  [[nodiscard]] sim::Duration busy_up() const { return busy_up_; }
  [[nodiscard]] sim::Duration busy_down() const { return busy_down_; }
  [[nodiscard]] sim::Duration busy_commits() const { return busy_commits_; }  ///< in pcie.write_interval
  [[nodiscard]] sim::Duration busy_issue() const { return busy_issue_; }      ///< in pcie.read_interval
  [[nodiscard]] const Window& tags() const { return tags_; }
  [[nodiscard]] const Window& nonposted_credits() const { return nonposted_credits_; }
  [[nodiscard]] const Window& posted_credits() const { return posted_credits_; }
  [[nodiscard]] const Window& completion_credits() const { return completion_credits_; }
  [[nodiscard]] const Window& context_fetches() const { return context_fetches_; }
  [[nodiscard]] const Window& walks() const { return walks_; }

  void hash(Hasher& h) const;
  /// Throws sim::BrokenInvariant.
  void check(NodeId node, const HardwareProfile& p, sim::SimTime now) const;
  bool operator==(const PcieLink&) const = default;

 private:
  sim::SimTime take_read_credits(const HardwareProfile& p, std::uint64_t bytes);
  void give_read_credits_back(const HardwareProfile& p, std::uint64_t bytes, sim::SimTime from, sim::SimTime read,
                              sim::SimTime there, sim::SimTime gone);

  sim::SimTime up_free_{};
  sim::SimTime down_free_{};
  sim::SimTime ordered_free_{};  // for the next commit: pcie.write_interval
  sim::SimTime issue_free_{};    // of the DMA engine: pcie.read_interval
  sim::SimTime asked_until_{};   // when the link will have carried the data of all reads that were issued
  sim::Duration busy_up_{};
  sim::Duration busy_down_{};
  sim::Duration busy_commits_{};
  sim::Duration busy_issue_{};
  Window tags_{};
  Window nonposted_credits_{};
  Window posted_credits_{};
  Window completion_credits_{};
  Window context_fetches_{};
  Window walks_{};
  sim::Ring<Doorbell> doorbells_{};
  KeyCache<std::uint64_t> translated_{};       // pages in the IOMMU's buffer
  std::array<std::uint64_t, 2> words_read_{};  // with nic.stale_operands only
  sim::Pool<Probe> probes_{};
  std::uint64_t probes_done_ = 0;
  Bursts bursts_{};
};

}  // namespace loco::nic
