// An array of owned variables, each with its own owner: a shared state table (SST; Jha et al. 2017, 2019; LOCO paper,
// Section 2.2 and Fig. 18). Element k is named as the sub-channel "ov<k>".
//
// All elements are in one region a node, exchanged once for each pair of nodes: as channels of their own, n elements
// of n nodes would take n^3 set-up messages. The size of the region is compared, so that two nodes whose arrays have
// different lengths are told so. Elements of a cache line or more start on a cache line.
#pragma once

#include <deque>
#include <span>
#include <string>
#include <string_view>

#include "loco_sim/loco/manager.hpp"
#include "loco_sim/loco/var.hpp"

namespace loco {

/// An element of an array: what owned_var offers.
template <typename T>
class array_element {
 public:
  static constexpr bool kAtomic = value_words<T>::kAtomic;

  array_element(shared_bytes& array, std::string name, std::uint64_t offset, NodeId owner)
      : array_(array), name_(std::move(name)), offset_(offset), owner_(owner) {}

  [[nodiscard]] const std::string& full_name() const { return name_; }
  [[nodiscard]] NodeId owner() const { return owner_; }
  /// Of the local copy.
  [[nodiscard]] Address address() const { return array_.address() + offset_; }
  /// The local copy.
  [[nodiscard]] T load() { return value_words<T>::load(array_, self()); }

  /// Owner only.
  void store(const T& value) {
    require_mine();
    value_words<T>::store(array_, self(), value);
  }
  /// Owner only: puts the value to one node's copy, to those of some, or to all.
  void push(NodeId node, ack_key& key) { push(std::span(&node, 1), &key); }
  void push(NodeId node) { push(std::span(&node, 1), nullptr); }
  void push(std::span<const NodeId> nodes, ack_key* key) {
    require_mine();
    array_.push(self(), nodes, key);
  }
  void push_broadcast() { push(array_.peers(), nullptr); }
  void push_broadcast(ack_key& key) { push(array_.peers(), &key); }
  /// Gets the owner's value into the local copy; nothing to do for the owner.
  void pull(ack_key& key) {
    if (array_.my_node() != owner_) array_.pull(self(), owner_, key);
  }

 private:
  [[nodiscard]] shared_bytes::part self() const { return {name_, offset_, value_words<T>::kWords * kWord}; }
  void require_mine() const { require_owner(name_, owner_, array_.my_node()); }

  shared_bytes& array_;
  std::string name_;
  std::uint64_t offset_;
  NodeId owner_;
};

template <typename T>
class var_array : private shared_bytes {
 public:
  using Element = array_element<T>;

  /// One element for each entry of `owners`.
  var_array(channel& parent, std::string_view name, std::span<const NodeId> owners, expect_num expected)
      : shared_bytes(parent, name, owners.size() * kStride, expected) {
    create(owners);
  }
  var_array(manager& mgr, std::string_view name, std::span<const NodeId> owners)
      : shared_bytes(mgr, name, owners.size() * kStride) {
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
