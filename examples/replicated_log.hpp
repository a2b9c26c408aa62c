// A log that a leader writes to all nodes with one-sided puts, and that a change of leaders leaves as it is. As in Mu
// (Aguilera et al., "Microsecond consensus for microsecond applications", OSDI 2020) followers' CPUs do nothing; a
// leader writes only where it has permission, and an entry is committed when it is on more than half of the nodes.
//
// A node's permission is a word: the highest epoch that a leader has swapped in there. Epochs are the leader's own:
// epoch mod nodes is its node. Mu has the NIC refuse what an earlier leader writes; here every leader has a part of its
// own on every node, as in Disk Paxos (Gafni and Lamport, 2003), and looks behind its put whether it still has the
// permission: the get is behind the put on its queue pair, so if it has, the entry was there before anybody else led.
// Who wants to lead takes the permission of more than half of the nodes first and reads their parts then. So it finds
// whatever was committed: of each slot, the entry of the latest epoch. It writes all that again as its own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <vector>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/membership/channel.hpp"
#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/operations/ack_key.hpp"
#include "loco_sim/loco/operations/mem_ref.hpp"

struct log_options {
  /// False: what is written counts wherever it has been sent. For experiments: a leader that is none any more commits.
  bool ask_permission = true;
};

/// One thread of each node uses it.
class replicated_log : public loco::channel {
 public:
  using Value = std::uint32_t;

  replicated_log(loco::manager& mgr, std::string_view name, std::uint64_t slots, log_options options = {})
      : channel(mgr, name, loco::expect_num{mgr.num_nodes() - 1}),
        slots_(slots),
        options_(options),
        permission_(symmetric_region("permission", 8)),
        parts_(symmetric_region("parts", mgr.num_nodes() * part_bytes())),
        all_parts_(mgr, mgr.num_nodes() * part_bytes()),
        answers_(mgr, mgr.num_nodes() * 8) {
    for (loco::NodeId node = 0; node < num_nodes(); ++node) keys_.emplace_back(mgr);
    join();
  }

  /// Takes the lead. False when others have been faster, or too few nodes answer.
  [[nodiscard]] bool lead() {
    heard_of_ = epoch_ = (heard_of_ / num_nodes() + 1) * num_nodes() + my_node();
    entries_.clear();
    const bool leads = most_nodes([this](loco::NodeId node) {
      if (!take_permission(node)) return false;
      read_parts(node);
      return true;
    });
    if (!leads) return false;
    for (std::uint64_t slot = 0; slot < entries_.size(); ++slot) note(slot, value_of(entries_[slot]));
    return entries_.empty() || commit(0);
  }

  /// Leader only. True when the entry is committed, at the end of the log. False when this node does not lead any more,
  /// or too few nodes answer: then whether it will ever be is for the next leader to say.
  [[nodiscard]] bool append(Value value) {
    if (entries_.size() == slots_) throw loco::size_error("the log is full");
    entries_.push_back(0);
    note(entries_.size() - 1, value);
    return commit(entries_.size() - 1);
  }

  /// What this node knows to be committed in a slot.
  [[nodiscard]] std::optional<Value> committed(std::uint64_t slot) {
    for (loco::NodeId leader = 0; leader < num_nodes(); ++leader) {
      const loco::Address part = local(parts_).base + leader * part_bytes();
      if (transport().load(part) > slot) return value_of(transport().load(part + entry_at(slot)));
    }
    return std::nullopt;
  }

 private:
  // A part: how many slots are committed, then the entries: epoch << 32 | value; 0 is none.
  [[nodiscard]] std::uint64_t part_bytes() const { return entry_at(slots_); }
  static std::uint64_t entry_at(std::uint64_t slot) { return 8 + slot * 8; }
  static Value value_of(std::uint64_t entry) { return static_cast<Value>(entry); }
  [[nodiscard]] loco::Region on(RegionIndex region, loco::NodeId node) const {
    return node == my_node() ? local(region) : remote(region, node);
  }
  [[nodiscard]] loco::Address my_part() const { return local(parts_).base + my_node() * part_bytes(); }

  bool take_permission(loco::NodeId node) {
    std::uint64_t seen = 0;
    while (seen < epoch_) {
      mgr().compare_swap(answers_.address(), on(permission_, node), 0, seen, epoch_, &keys_[node]);
      keys_[node].wait();
      const std::uint64_t old = answers_.load();
      if (old == seen) return true;
      seen = old;
    }
    heard_of_ = std::max(heard_of_, seen);
    return false;
  }

  /// Of each slot, the entry of the latest epoch. The get is behind the swap: who has not lost the permission by now
  /// has its entry there.
  void read_parts(loco::NodeId node) {
    mgr().get(all_parts_.address(), on(parts_, node), 0, all_parts_.size(), &keys_[node]);
    keys_[node].wait();
    for (loco::NodeId leader = 0; leader < num_nodes(); ++leader)
      for (std::uint64_t slot = 0; slot < slots_; ++slot) {
        const std::uint64_t entry = all_parts_.load(leader * part_bytes() + entry_at(slot));
        if (entry == 0) continue;
        if (entries_.size() <= slot) entries_.resize(slot + 1);
        entries_[slot] = std::max(entries_[slot], entry);
      }
  }

  /// In this node's copy of its own part.
  void note(std::uint64_t slot, Value value) {
    entries_[slot] = epoch_ << 32U | value;
    transport().store(my_part() + entry_at(slot), entries_[slot]);
  }

  /// Entries from `first` on go to all nodes; are they committed?
  bool commit(std::uint64_t first) {
    const std::uint64_t bytes = (entries_.size() - first) * 8;
    for (loco::NodeId node = 0; node < num_nodes(); ++node) {
      put_to(node, entry_at(first), bytes, {.more = true});
      mgr().get(answers_.address() + node * 8, on(permission_, node), 0, 8, &keys_[node]);
    }
    const bool leads = most_nodes([this](loco::NodeId node) {
      keys_[node].wait();
      return !options_.ask_permission || answers_.load(node * 8) == epoch_;
    });
    if (!leads) return false;
    transport().store(my_part(), entries_.size());
    for (loco::NodeId node = 0; node < num_nodes(); ++node) put_to(node, 0, 8);  // behind the entries
    return true;
  }

  void put_to(loco::NodeId node, std::uint64_t offset, std::uint64_t bytes, loco::Posting posting = {}) {
    if (node == my_node()) return;  // it is there
    mgr().put(my_part() + offset, remote(parts_, node), my_node() * part_bytes() + offset, bytes, &keys_[node],
              posting);
  }

  /// Does more than half of the nodes say yes? One that does not answer says no.
  template <typename Question>
  [[nodiscard]] bool most_nodes(const Question& question) const {
    std::uint32_t yes = 0;
    for (loco::NodeId node = 0; node < num_nodes(); ++node) {
      try {
        if (question(node)) ++yes;
      } catch (const loco::operation_error&) {
        continue;
      }
    }
    return yes > num_nodes() / 2;
  }

  std::uint64_t slots_;
  log_options options_;
  RegionIndex permission_, parts_;
  loco::mem_ref all_parts_, answers_;
  std::deque<loco::ack_key> keys_;      ///< by node
  std::vector<std::uint64_t> entries_;  ///< the leader's
  std::uint64_t epoch_ = 0, heard_of_ = 0;
};
