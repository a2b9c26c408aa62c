// An array of owned variables, each with its own owner: a shared state table (SST; Jha et al. 2017, 2019; LOCO paper,
// Section 2.2 and Fig. 18). Element k is named like a sub-channel "ov<k>".
//
// owned_parts holds only the elements, in a shared region of some channel; var_array is a channel of its own. All
// elements of a node lie in one region, exchanged once per pair of nodes: n elements on n nodes as channels of their
// own would take n^3 set-up messages. Set-up compares the region's size and the owners, so a mismatch of two nodes'
// arrays is reported.
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
class owned_parts : private part_family {
 public:
  using Element = owned_part<T>;

  /// Bytes of the region that `elements` elements need.
  [[nodiscard]] static constexpr std::uint64_t bytes_of(std::size_t elements) { return elements * Element::kStride; }

  /// One element "<name>/ov<i>" per entry of `owners`, all in the region `bytes`.
  owned_parts(shared_region& bytes, std::string_view name, std::span<const NodeId> owners) : part_family(bytes, name) {
    elements_.reserve(owners.size());
    for (std::size_t i = 0; i < owners.size(); ++i) add(i, owners[i]);
  }
  /// Only `count` elements from `first` on, which all have the same owner, for a node that needs no others. n arrays of
  /// n elements on n nodes then take n^2 entries, not n^3.
  owned_parts(shared_region& bytes, std::string_view name, NodeId owner, std::size_t first, std::size_t count)
      : part_family(bytes, name), first_(first) {
    elements_.reserve(count);
    for (std::size_t i = first; i < first + count; ++i) add(i, owner);
  }

  /// Number of elements that this node holds and iteration visits.
  [[nodiscard]] std::size_t size() const { return elements_.size(); }
  /// Element i of the whole array. Throws std::out_of_range if this node does not hold it.
  [[nodiscard]] Element& operator[](std::size_t i) {
    if (i < first_ || i - first_ >= elements_.size()) refuse(i);
    return elements_[i - first_];
  }
  [[nodiscard]] auto begin() { return elements_.begin(); }
  [[nodiscard]] auto end() { return elements_.end(); }

 private:
  void add(std::size_t i, NodeId owner) {
    elements_.emplace_back(static_cast<const part_family&>(*this), static_cast<std::uint32_t>(i), owner);
  }
  [[noreturn]] void refuse(std::size_t i) const {
    throw std::out_of_range("'" + std::string(of_region.name()) + "': node " +
                            std::to_string(of_region.endpoint().my_node()) + " has no element " + std::to_string(i) +
                            ", but " + std::to_string(elements_.size()) + " element(s)" +
                            (first_ == 0 ? "" : " from " + std::to_string(first_) + " on"));
  }

  std::size_t first_ = 0;
  std::vector<Element> elements_;
};

template <typename T>
class var_array : private shared_bytes, public owned_parts<T> {
  using Parts = owned_parts<T>;

 public:
  /// One element per entry of `owners`.
  var_array(within where, std::string_view name, std::span<const NodeId> owners,
            std::optional<expect_num> expected = {})
      : shared_bytes(where, name, Parts::bytes_of(owners.size()), expected, owners_text(owners)),
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
