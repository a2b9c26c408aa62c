// An ordering domain of PCIe: posted writes that never pass each other, and reads that never pass them (PCIe base
// specification, 2.4.1).
//
// Writes are a ring, of which only the head has a pending event: the commit of its next TLP. A write that is relaxed,
// or that a fault lets pass, has one as soon as it is posted. Writes have running numbers. Private to nic_model/.
#pragma once

#include <cstdint>

#include "nic_model/engine/hash.hpp"
#include "nic_model/engine/payloads.hpp"
#include "nic_model/pcie/messages.hpp"
#include "sim/ring.hpp"

namespace loco::nic {

/// A write on its way: of data, or of a CQE.
struct PostedWrite : MemoryWrite {
  bool is_cqe = false;
  bool has_event = false;       // its next step is a pending event
  bool done = false;            // all of it is in memory, and it waits for those in front of it to be forgotten
  bool device = false;          // to memory on the NIC
  bool peer = false;            // to the memory of another device
  bool passes = false;          // its next step is to take its place on the links behind the NIC's own
  std::uint8_t over_links = 0;  // n: there are such links, on the path to memory n - 1 (pcie/paths.hpp)
  bool burst = false;           // its event is that of its last TLP: see bursts.hpp
  bool relaxed = false;         // relaxed ordering: may pass the writes in front of it; then it is one TLP
  Stamp stamp = Stamp::aNRW;
  std::uint32_t committed = 0;  // bytes
  std::uint64_t behind = 0;     // of a CQE: writes of the device's path with smaller numbers are in memory before it
  std::uint32_t besides = 0;    // what it takes of the receive buffer until its last byte is in memory
  SubeventId subevent = 0;      // of its first word
  CqId cq = 0;                  // kNone: nobody waits for its CQE any more
  sim::SimTime ready{};         // when its next TLP is committed, if nothing is in front of it
  sim::Duration way{};          // of a TLP, from the link to memory: what taking credits late is added to
  Cqe cqe{};

  bool operator==(const PostedWrite&) const = default;
};

class PostedDomain {
 public:
  explicit PostedDomain(NodeId node) : node_(node) {}

  [[nodiscard]] NodeId node() const { return node_; }
  /// The domain of the same stream's accesses to memory on the NIC (nic.device_own_path); kNone: this one.
  [[nodiscard]] std::uint32_t device_path() const { return device_path_; }
  /// Of the domain with number `own`: where accesses to the memory of that kind are ordered.
  [[nodiscard]] std::uint32_t path(std::uint32_t own, const RegionKind& kind) const {
    if (kind.gpu != 0) return first_memory_path_ + socket_paths_ + kind.gpu - 1;
    if (kind.numa != 0 && socket_paths_ != 0) return first_memory_path_ + kind.numa - 1;
    return kind.device && device_path_ != kNone ? device_path_ : own;
  }
  void set_device_path(std::uint32_t domain) { device_path_ = domain; }
  /// The domains of the same stream's accesses to memories with an order of their own, which follow each other: those
  /// of the sockets behind the first one (MemoryOrder::each), then those of the host's GPUs.
  void set_memory_paths(std::uint32_t first, std::uint32_t sockets, std::uint32_t gpus) {
    first_memory_path_ = first;
    socket_paths_ = sockets;
    memory_paths_ = sockets + gpus;
  }
  [[nodiscard]] std::uint32_t first_memory_path() const { return first_memory_path_; }
  [[nodiscard]] std::uint32_t memory_paths() const { return memory_paths_; }
  /// Of a domain that is a device's path: the domain of its stream.
  [[nodiscard]] std::uint32_t host_path() const { return host_path_; }
  void set_host_path(std::uint32_t domain) { host_path_ = domain; }
  /// The oldest write, if it has no event yet.
  [[nodiscard]] PostedWrite* waiting_head() {
    return writes_.empty() || writes_.front().has_event ? nullptr : &writes_.front();
  }
  /// Of the next write; all that were posted have smaller numbers.
  [[nodiscard]] std::uint64_t issued() const { return first_ + writes_.size(); }
  /// All writes with smaller numbers are in memory.
  [[nodiscard]] std::uint64_t committed() const { return first_; }
  [[nodiscard]] bool empty() const { return writes_.empty(); }
  [[nodiscard]] bool holds(std::uint64_t number) const { return number - first_ < writes_.size(); }
  /// Is a write of data of this kind not in memory yet?
  [[nodiscard]] bool holds_data(Stamp stamp) const {
    for (std::size_t i = 0; i < writes_.size(); ++i)
      if (!writes_[i].is_cqe && !writes_[i].done && writes_[i].stamp == stamp) return true;
    return false;
  }
  /// Is the new value of an atomic on its way?
  [[nodiscard]] bool holds_atomic() const {
    for (std::size_t i = 0; i < writes_.size(); ++i)
      if (writes_[i].ends_atomic && !writes_[i].done) return true;
    return false;
  }
  /// Is a CQE of that queue pair on its way?
  [[nodiscard]] bool holds_cqe(QpId qp) const {
    for (std::size_t i = 0; i < writes_.size(); ++i)
      if (writes_[i].is_cqe && !writes_[i].done && writes_[i].cqe.qp == qp) return true;
    return false;
  }
  /// Precondition: holds().
  [[nodiscard]] const PostedWrite& write(std::uint64_t number) const { return writes_[number - first_]; }
  [[nodiscard]] PostedWrite& edit(std::uint64_t number) { return writes_[number - first_]; }

  /// May a further write of this message be placed together with the newest one, which is of it and may be placed?
  [[nodiscard]] bool joins_newest(std::uint64_t message) const {
    const PostedWrite& newest = writes_[writes_.size() - 1];
    return newest.message == message && (newest.has_event || newest.done);
  }

  PostedWrite& push(const PostedWrite& write) { return writes_.push_back(write); }
  /// Forgets the writes at the front that are in memory. Returns the one that is next, if it has no event yet.
  PostedWrite* forget_done();
  /// CQEs of this queue pair will not be written: it is RESET.
  void drop_cqes(QpId qp);

  void hold(const HeldRead& read) { held_.push_back(read); }
  /// Takes out the oldest read that nothing is in front of any more. False: there is none.
  bool pop_free(HeldRead& read);

  void hash(Hasher& h, const Payloads& payloads) const;
  /// Throws sim::BrokenInvariant.
  void check(std::uint32_t domain, sim::SimTime now) const;
  bool operator==(const PostedDomain&) const = default;

 private:
  NodeId node_;
  std::uint32_t device_path_ = kNone;
  std::uint32_t first_memory_path_ = kNone;
  std::uint32_t socket_paths_ = 0;
  std::uint32_t memory_paths_ = 0;
  std::uint32_t host_path_ = kNone;
  std::uint64_t first_ = 0;  // number of writes_[0]
  sim::Ring<PostedWrite> writes_{};
  sim::Ring<HeldRead> held_{};
};

}  // namespace loco::nic
