// An ordering domain of PCIe: posted writes that never pass each other, and reads that never pass them (PCIe base
// specification, 2.4.1).
//
// Writes form a ring, of which only the head has a pending event: the commit of its next TLP. A write that is relaxed,
// or that a fault lets pass, has its event as soon as it is posted. Writes have running numbers. Private to nic_model/.
#pragma once

#include <cstdint>

#include "nic_model/engine/hash.hpp"
#include "nic_model/engine/payloads.hpp"
#include "nic_model/pcie/messages.hpp"
#include "sim/ring.hpp"

namespace loco::nic {

/// A posted write in flight, of data or of a CQE.
struct PostedWrite : MemoryWrite {
  bool is_cqe = false;
  bool has_event = false;        // its next step is a pending event
  bool done = false;             // all of it is in memory, and it waits for those in front of it to be forgotten
  bool device = false;           // to memory on the NIC
  bool peer = false;             // to the memory of another device
  bool passes = false;           // its next step is to take its place on the links behind the NIC's own
  std::uint16_t over_links = 0;  // n: there are such links, on the path to memory n - 1 (pcie/paths.hpp)
  bool burst = false;            // its event is that of its last TLP: see bursts.hpp
  bool relaxed = false;          // relaxed ordering: may pass the writes in front of it; then it is one TLP
  Stamp stamp = Stamp::aNRW;
  std::uint32_t committed = 0;  // bytes
  std::uint64_t behind = 0;     // for a CQE: writes of the device path with smaller numbers must be in memory first
  std::uint32_t besides = 0;    // bytes of receive buffer that it occupies besides, until it is in memory
  SubeventId subevent = 0;      // id of its first word's subevent
  CqId cq = 0;                  // kNone: its CQE was dropped
  sim::SimTime ready{};         // when its next TLP is committed if no other write is ahead
  sim::Duration way{};          // a TLP's time from the link to memory, which follows a wait for credits
  Cqe cqe{};

  bool operator==(const PostedWrite&) const = default;
};

class PostedDomain {
 public:
  explicit PostedDomain(NicId node, bool stream = true) : node_(node), stream_(stream) {}

  [[nodiscard]] NicId node() const { return node_; }
  /// The domain of this stream's accesses to memory on the NIC (nic.device_own_path); kNone: this domain.
  [[nodiscard]] std::uint32_t device_path() const { return device_path_; }
  /// The domain that orders accesses to that kind of memory; `own` is this domain's number.
  [[nodiscard]] std::uint32_t path(std::uint32_t own, const RegionKind& kind) const {
    if (kind.gpu != 0) return first_memory_path_ + socket_paths_ + kind.gpu - 1;
    if (kind.numa != 0 && socket_paths_ != 0) return first_memory_path_ + kind.numa - 1;
    if (!kind.device) return own;
    if (kind.nic != nic_index_) return first_nic_path_ + kind.nic - (kind.nic > nic_index_ ? 1 : 0);
    return device_path_ != kNone ? device_path_ : own;
  }
  void set_device_path(std::uint32_t domain) { device_path_ = domain; }
  /// The domains of the same stream's accesses to memories with an order of their own, which follow each other: those
  /// of the sockets behind the first one (MemoryOrder::each), then those of the host's GPUs.
  void set_memory_paths(std::uint32_t first, std::uint32_t sockets, std::uint32_t gpus) {
    first_memory_path_ = first;
    socket_paths_ = sockets;
    memory_paths_ = sockets + gpus;
  }
  /// Those of accesses to memory on the host's other NICs, by their index; this one's is `nic`.
  void set_nic_paths(std::uint32_t first, std::uint32_t nics, std::uint32_t nic) {
    first_nic_path_ = first;
    nic_paths_ = nics - 1;
    nic_index_ = nic;
  }
  [[nodiscard]] std::uint32_t first_nic_path() const { return first_nic_path_; }
  [[nodiscard]] std::uint32_t nic_paths() const { return nic_paths_; }
  /// Is it a stream of writes, and not one of the paths of a stream?
  [[nodiscard]] bool is_stream() const { return stream_; }
  [[nodiscard]] std::uint32_t first_memory_path() const { return first_memory_path_; }
  [[nodiscard]] std::uint32_t memory_paths() const { return memory_paths_; }
  /// If this domain is a device's path: the domain of its stream.
  [[nodiscard]] std::uint32_t host_path() const { return host_path_; }
  void set_host_path(std::uint32_t domain) { host_path_ = domain; }
  /// The oldest write if it has no event yet, or null.
  [[nodiscard]] PostedWrite* waiting_head() {
    return writes_.empty() || writes_.front().has_event ? nullptr : &writes_.front();
  }
  /// Number of the next write.
  [[nodiscard]] std::uint64_t issued() const { return first_ + writes_.size(); }
  /// All writes with smaller numbers are in memory.
  [[nodiscard]] std::uint64_t committed() const { return first_; }
  [[nodiscard]] bool empty() const { return writes_.empty(); }
  [[nodiscard]] bool holds(std::uint64_t number) const { return number - first_ < writes_.size(); }
  /// True if a data write of this kind is not in memory yet.
  [[nodiscard]] bool holds_data(Stamp stamp) const {
    for (std::size_t i = 0; i < writes_.size(); ++i)
      if (!writes_[i].is_cqe && !writes_[i].done && writes_[i].stamp == stamp) return true;
    return false;
  }
  /// True if the new value of an atomic is in flight.
  [[nodiscard]] bool holds_atomic() const {
    for (std::size_t i = 0; i < writes_.size(); ++i)
      if (writes_[i].ends_atomic && !writes_[i].done) return true;
    return false;
  }
  /// True if a CQE of that queue pair is in flight.
  [[nodiscard]] bool holds_cqe(QpId qp) const {
    for (std::size_t i = 0; i < writes_.size(); ++i)
      if (writes_[i].is_cqe && !writes_[i].done && writes_[i].cqe.qp == qp) return true;
    return false;
  }
  /// Precondition: holds().
  [[nodiscard]] const PostedWrite& write(std::uint64_t number) const { return writes_[number - first_]; }
  [[nodiscard]] PostedWrite& edit(std::uint64_t number) { return writes_[number - first_]; }

  /// True if a further write of this message may be placed together with the newest one, which is of the same message
  /// and may be placed already.
  [[nodiscard]] bool joins_newest(std::uint64_t message) const {
    const PostedWrite& newest = writes_[writes_.size() - 1];
    return newest.message == message && (newest.has_event || newest.done);
  }

  PostedWrite& push(const PostedWrite& write) { return writes_.push_back(write); }
  /// Drops the oldest writes that are in memory. Returns the next one if it has no event yet, or null.
  PostedWrite* forget_done();
  /// Drops the CQEs of this queue pair, because it is RESET.
  void drop_cqes(QpId qp);

  void hold(const HeldRead& read) { held_.push_back(read); }
  /// Removes the oldest read that no write is ahead of any more. Returns false if there is none.
  bool pop_free(HeldRead& read);

  void hash(Hasher& h, const Payloads& payloads) const;
  /// Throws sim::BrokenInvariant.
  void check(std::uint32_t domain, sim::SimTime now) const;
  bool operator==(const PostedDomain&) const = default;

 private:
  NicId node_;
  std::uint32_t device_path_ = kNone;
  std::uint32_t first_memory_path_ = kNone;
  std::uint32_t socket_paths_ = 0;
  std::uint32_t memory_paths_ = 0;
  std::uint32_t first_nic_path_ = kNone;
  std::uint32_t nic_paths_ = 0;
  std::uint32_t nic_index_ = 0;
  std::uint32_t host_path_ = kNone;
  bool stream_;
  std::uint64_t first_ = 0;  // number of writes_[0]
  sim::Ring<PostedWrite> writes_{};
  sim::Ring<HeldRead> held_{};
};

}  // namespace loco::nic
