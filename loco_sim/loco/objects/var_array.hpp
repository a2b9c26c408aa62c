// An array of owned variables, each with its own owner: a shared state table (SST; Jha et al. 2017, 2019; LOCO paper,
// Section 2.2 and Fig. 18). Element k is named as the sub-channel "ov<k>".
//
// owned_parts are the elements alone, in a shared region of some channel; var_array is a channel of its own for them.
// All elements are in one region a node, exchanged once for each pair of nodes: as channels of their own, n elements
// of n nodes would take n^3 set-up messages. The size of the region and the owners are compared, so that two nodes
// whose arrays have different lengths or owners are told so. Elements of a cache line or more start on a cache line.
#pragma once

#include <algorithm>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "loco_sim/loco/objects/var.hpp"
#include "loco_sim/loco/operations/networked_node.hpp"

namespace loco {

template <typename T>
class owned_parts {
 public:
  using Element = owned_part<T>;

  /// Of the region that they need.
  [[nodiscard]] static constexpr std::uint64_t bytes_of(std::size_t elements) { return elements * kStride; }

  /// One element for each entry of `owners`, which are nodes, "<name>/ov<k>", all in `bytes`.
  owned_parts(shared_region& bytes, std::string_view name, std::span<const NodeId> owners) : bytes_(bytes) {
    elements_.reserve(owners.size());
    for (std::size_t i = 0; i < owners.size(); ++i) add(name, i, owners[i]);
  }
  /// Of a longer array, `count` elements from `first` on, all of one owner: for a node that looks at its own alone. n
  /// arrays of n elements on n nodes then take n^2 places, not n^3.
  owned_parts(shared_region& bytes, std::string_view name, NodeId owner, std::size_t first, std::size_t count)
      : bytes_(bytes), first_(first) {
    elements_.reserve(count);
    for (std::size_t i = first; i < first + count; ++i) add(name, i, owner);
  }

  /// Of the elements that this node has, which iteration visits.
  [[nodiscard]] std::size_t size() const { return elements_.size(); }
  /// Element i of the whole array. Throws std::out_of_range when this node does not have it.
  [[nodiscard]] Element& operator[](std::size_t i) {
    if (i < first_ || i - first_ >= elements_.size()) refuse(i);
    return elements_[i - first_];
  }
  [[nodiscard]] auto begin() { return elements_.begin(); }
  [[nodiscard]] auto end() { return elements_.end(); }

 private:
  static constexpr std::uint64_t kLine = 64;
  static constexpr std::uint64_t kBytes = value_words<T>::kWords * kWord;
  static constexpr std::uint64_t kStride = kBytes < kLine ? kBytes : round_up(kBytes, kLine);

  void add(std::string_view name, std::size_t i, NodeId owner) {
    elements_.emplace_back(bytes_, std::string(name) + "/ov" + std::to_string(i), i * kStride, owner);
  }
  [[noreturn]] void refuse(std::size_t i) const {
    throw std::out_of_range("'" + std::string(bytes_.name()) + "': node " +
                            std::to_string(bytes_.endpoint().my_node()) + " has no element " + std::to_string(i) +
                            ", but " + std::to_string(elements_.size()) + " element(s)" +
                            (first_ == 0 ? "" : " from " + std::to_string(first_) + " on"));
  }

  shared_region& bytes_;
  std::size_t first_ = 0;
  std::vector<Element> elements_;
};

template <typename T>
class var_array : private shared_bytes, public owned_parts<T> {
  using Parts = owned_parts<T>;

 public:
  /// One element for each entry of `owners`.
  var_array(channel& parent, std::string_view name, std::span<const NodeId> owners, expect_num expected)
      : shared_bytes(parent, name, Parts::bytes_of(owners.size()), expected, owners_text(owners)),
        Parts(static_cast<shared_region&>(*this), full_name(), owners) {
    require_nodes(owners);
  }
  var_array(networked_node& mgr, std::string_view name, std::span<const NodeId> owners)
      : shared_bytes(mgr, name, Parts::bytes_of(owners.size()), owners_text(owners)),
        Parts(static_cast<shared_region&>(*this), full_name(), owners) {
    require_nodes(owners);
  }

  using shared_bytes::full_name;
  using shared_bytes::ready;
  using shared_bytes::wait_for_ready;

  using Parts::size;

 private:
  void require_nodes(std::span<const NodeId> owners) const {
    for (const NodeId owner : owners) require_node(owner, "an owner");
  }
};

}  // namespace loco
