// An array of owned variables, each with its own owner: a shared state table (SST; Jha et al. 2017, 2019; LOCO paper,
// Section 2.2 and Fig. 18). Element k is named as the sub-channel "ov<k>".
//
// All elements are in one region a node, exchanged once for each pair of nodes: as channels of their own, n elements
// of n nodes would take n^3 set-up messages. The size of the region and the owners are compared, so that two nodes
// whose arrays have different lengths or owners are told so. Elements of a cache line or more start on a cache line.
#pragma once

#include <deque>
#include <span>
#include <string>
#include <string_view>

#include "loco_sim/loco/manager.hpp"
#include "loco_sim/loco/var.hpp"

namespace loco {

template <typename T>
class var_array : private shared_bytes {
 public:
  using Element = owned_part<T>;

  /// One element for each entry of `owners`.
  var_array(channel& parent, std::string_view name, std::span<const NodeId> owners, expect_num expected)
      : shared_bytes(parent, name, owners.size() * kStride, expected, owners_text(owners)) {
    create(owners);
  }
  var_array(manager& mgr, std::string_view name, std::span<const NodeId> owners)
      : shared_bytes(mgr, name, owners.size() * kStride, owners_text(owners)) {
    create(owners);
  }

  using shared_bytes::full_name;
  using shared_bytes::ready;
  using shared_bytes::wait_for_ready;

  [[nodiscard]] std::size_t size() const { return elements_.size(); }
  [[nodiscard]] Element& operator[](std::size_t i) { return elements_.at(i); }
  [[nodiscard]] auto begin() { return elements_.begin(); }
  [[nodiscard]] auto end() { return elements_.end(); }

 private:
  static constexpr std::uint64_t kLine = 64;
  static constexpr std::uint64_t kBytes = value_words<T>::kWords * kWord;
  static constexpr std::uint64_t kStride = kBytes < kLine ? kBytes : (kBytes + kLine - 1) / kLine * kLine;

  void create(std::span<const NodeId> owners) {
    for (const NodeId owner : owners) {
      require_node(owner, "an owner");
      const std::size_t i = elements_.size();
      elements_.emplace_back(static_cast<shared_bytes&>(*this), full_name() + "/ov" + std::to_string(i), i * kStride,
                             owner);
    }
  }

  std::deque<Element> elements_;  // a deque never moves what it holds
};

}  // namespace loco
