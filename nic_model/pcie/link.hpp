// The PCIe link of a node as one unit: both directions, tags and credits, doorbells in flight, the IOMMU's buffer (PCIe
// base specification, 2.2.6.2 and 2.6.1).
//
// Each direction carries TLPs one after the other, in the order of the calls. Other units use the link through pcie.hpp
// and flow_control.hpp. Private to nic_model/.
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

/// What TLPs of the usual sizes take on the link, worked out once, because each takes a division.
struct TlpTimes {
  sim::Duration read_header{};
  sim::Duration completion{};    // full: pcie.read_completion
  sim::Duration write{};         // full: pcie.mps
  sim::Duration request_data{};  // the completions of a full request: pcie.mrrs
  sim::Duration reach{};         // from a read request on the link until memory is read

  bool operator==(const TlpTimes&) const = default;
};

class PcieLink {
 public:
  explicit PcieLink(const HardwareProfile& profile);
  [[nodiscard]] const TlpTimes& times() const { return times_; }

  // --- its directions: from `now`, or once the link is free, busy for `taken`; returns when that is over -------------
  sim::SimTime send_up(sim::SimTime now, sim::Duration taken) {
    busy_up_ += taken;
    return up_free_ = std::max(up_free_, now) + taken;
  }
  /// How long a TLP sent up now would wait for earlier ones.
  [[nodiscard]] sim::Duration waits_up(sim::SimTime now) const { return std::max(up_free_, now) - now; }
  sim::SimTime send_down(sim::SimTime now, sim::Duration taken) {
    busy_down_ += taken;
    return down_free_ = std::max(down_free_, now) + taken;
  }
  /// When a peer's TLP that could be behind the link at `due`, and occupies it for `taken`, is: as TreeLink has it, but
  /// for what else the link carries down.
  [[nodiscard]] sim::SimTime earliest_down(sim::SimTime due, sim::Duration taken) const {
    return std::max(due, down_free_ + taken);
  }
  /// The same of one that comes now.
  sim::SimTime pass_down(sim::SimTime due, sim::Duration taken) {
    busy_down_ += taken;
    return down_free_ = earliest_down(due, taken);
  }
  /// Sends TLPs that belong to no read (doorbells, contexts), which delays the data of all reads.
  sim::SimTime send_down_unasked(sim::SimTime now, sim::Duration taken) {
    asked_until_ += taken;
    return send_down(now, taken);
  }

  /// Takes over the times of a copy of it that was used on, so much earlier. How long it was busy meanwhile is left
  /// out. Precondition: `now` is the time at which the copy was made.
  void take_over(const PcieLink& later, sim::SimTime now, sim::Duration earlier);

  // --- tags, credits, what is under way: flow_control.cpp ------------------------------------------------------------
  sim::SimTime take_request(const HardwareProfile& p, sim::SimTime now, std::uint64_t bytes, sim::SimTime due,
                            sim::Duration reach, sim::Duration begin, sim::Duration walk = {});
  sim::SimTime take_posted(const HardwareProfile& p, sim::SimTime now, std::uint64_t bytes, sim::SimTime due,
                           sim::Duration way);
  /// When memory has a TLP that must keep its order: at `due`, or `interval` after the previous one.
  sim::SimTime keep_distance(sim::Duration interval, sim::SimTime due) {
    due = std::max(due, ordered_free_);
    ordered_free_ = due + interval;
    busy_commits_ += interval;
    return due;
  }
  /// When an IOMMU table walk of length `walk` begins, if it is possible at `from`.
  sim::SimTime begin_walk(const HardwareProfile& p, sim::SimTime now, sim::SimTime from, sim::Duration walk);
  /// When a context fetch that takes `round_trip` can begin; the number of simultaneous ones is bounded.
  sim::SimTime begin_context_fetch(std::uint32_t most, sim::SimTime now, sim::Duration round_trip);

  // --- doorbells -----------------------------------------------------------------------------------------------------
  /// Returns true if no other doorbell is in flight.
  bool push_doorbell(const Doorbell& doorbell);
  Doorbell pop_doorbell();
  /// Null if none is in flight.
  [[nodiscard]] const Doorbell* next_doorbell() const { return doorbells_.empty() ? nullptr : &doorbells_.front(); }

  // --- memory behind it ----------------------------------------------------------------------------------------------
  /// True if the IOMMU's buffer held all these pages. Loads them.
  bool translates(Address first_page, Address last_page);
  /// Records the last word that was read, for nic.stale_operands.
  void remember_word(std::uint64_t word) { words_read_ = {words_read_[1], word}; }
  /// The last two words read, the newest last.
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
  void check(NicId node, const HardwareProfile& p, sim::SimTime now) const;
  bool operator==(const PcieLink&) const = default;

 private:
  sim::SimTime take_read_credits(const HardwareProfile& p, std::uint64_t bytes);
  void give_read_credits_back(const HardwareProfile& p, std::uint64_t bytes, sim::SimTime from, sim::SimTime read,
                              sim::SimTime there, sim::SimTime gone);

  TlpTimes times_{};
  sim::SimTime up_free_{};
  sim::SimTime down_free_{};
  sim::SimTime ordered_free_{};  // when the next ordered commit may be: pcie.write_interval
  sim::SimTime issue_free_{};    // when the DMA engine may issue again: pcie.read_interval
  sim::SimTime asked_until_{};   // when the link will have carried the data of all issued reads
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
  std::array<std::uint64_t, 2> words_read_{};  // only with nic.stale_operands
  sim::Pool<Probe> probes_{};
  std::uint64_t probes_done_ = 0;
  Bursts bursts_{};
};

}  // namespace loco::nic
