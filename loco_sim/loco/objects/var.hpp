// Shared variables: one copy of a T on every node (LOCO paper, Sections 2.2 and 3.4).
//
// var: every node may write its copy and push it. owned_var: one node writes and holds the true value, the others read.
// T is trivially copyable; up to 8 bytes it is never torn (kAtomic).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "loco_sim/loco/memory/value_words.hpp"
#include "loco_sim/loco/objects/shared_bytes.hpp"

namespace loco {

/// Loads the value of a part of a shared variable.
template <typename T>
[[nodiscard]] T load_value(shared_region& from, const shared_region::part& of) {
  typename value_words<T>::Words held{};
  if constexpr (value_words<T>::kAtomic)
    held[0] = from.load_word(of);
  else
    from.load_bytes(of, std::as_writable_bytes(std::span(held)));
  return value_words<T>::value(held);
}
template <typename T>
void store_value(shared_region& to, const shared_region::part& of, const T& value) {
  const auto held = value_words<T>::of(value);
  if constexpr (value_words<T>::kAtomic)
    to.store_word(of, held[0]);
  else
    to.store_bytes(of, std::as_bytes(std::span(held)));
}

template <typename T>
class var : public shared_bytes {
  static constexpr std::size_t kWords = value_words<T>::kWords;

 public:
  static constexpr bool kAtomic = value_words<T>::kAtomic;

  var(within where, std::string_view name, std::optional<expect_num> expected = {})
      : shared_bytes(where, name, kWords * 8, expected) {}

  /// Load and store the local copy.
  [[nodiscard]] T load() { return load_value<T>(*this, all()); }
  void store(const T& value) { store_value<T>(*this, all(), value); }

 private:
  [[nodiscard]] part all() const { return {full_name(), 0, size()}; }
};

/// Throws ownership_error unless `node` owns the variable.
void require_owner(std::string_view variable, NodeId owner, NodeId node);
/// Throws it: the node does not.
[[noreturn]] void refuse_writer(std::string_view variable, NodeId owner, NodeId node);

/// "node 2", or "nodes 0, 1"; a long list is printed as its length and a checksum.
[[nodiscard]] std::string nodes_text(std::span<const NodeId> nodes);

/// The terms of a variable with owners, such as "owned by node 2".
[[nodiscard]] std::string owners_text(std::span<const NodeId> owners);

/// What the owned parts of a region have in common: an array's elements, or one variable.
struct part_family {
  part_family(shared_region& bytes, std::string_view name) : of_region(bytes), common_name(name) {
    common_name.shrink_to_fit();
  }
  part_family(const part_family&) = delete;
  part_family& operator=(const part_family&) = delete;

  shared_region& of_region;
  std::string common_name;
};

/// A part of a shared region that one node writes: the whole region for owned_var, an element of an array for
/// var_array. Its family outlives it. Two words, because a barrier of n nodes has n^2 of them.
template <typename T>
class owned_part {
  static constexpr std::uint64_t kLine = 64;
  static constexpr std::uint64_t kBytes = value_words<T>::kWords * kWord;

 public:
  static constexpr bool kAtomic = value_words<T>::kAtomic;
  /// From one element of an array to the next. Those of a cache line or more start on a cache line.
  static constexpr std::uint64_t kStride = kBytes < kLine ? kBytes : round_up(kBytes, kLine);

  owned_part(const part_family& family, std::uint32_t element, NodeId owner)
      : family_(family), element_(element), owner_(owner) {}

  [[nodiscard]] std::string full_name() const { return trace::element_name(family_.common_name, element_); }
  [[nodiscard]] NodeId owner() const { return owner_; }
  /// Address of the local copy.
  [[nodiscard]] Address address() const { return bytes().address() + offset(); }
  /// Loads the local copy.
  [[nodiscard]] T load() { return load_value<T>(bytes(), self()); }
  /// The local copy as a read-only array of words; see shared_region::words().
  template <typename W = std::uint64_t>
  [[nodiscard]] local_span<const W> words() {
    return self_words<W>();
  }

  /// Owner only: the local copy as a writable array of words.
  template <typename W = std::uint64_t>
  [[nodiscard]] local_span<W> own_words() {
    require_mine();
    return self_words<W>();
  }
  /// Owner only.
  void store(const T& value) {
    require_mine();
    store_value<T>(bytes(), self(), value);
  }
  /// Owner only: put the value to one node's copy, to those of some nodes, or to all.
  void push(NodeId node, ack_key& key) { push(std::span(&node, 1), &key); }
  void push(NodeId node) { push(std::span(&node, 1), nullptr); }
  void push(std::span<const NodeId> nodes, ack_key* key) {
    require_mine();
    bytes().push(self(), nodes, key);
  }
  void push_broadcast() { push(bytes().peers(), nullptr); }
  void push_broadcast(ack_key& key) { push(bytes().peers(), &key); }
  /// Copies the owner's value into the local copy. Does nothing on the owner.
  void pull(ack_key& key) {
    if (bytes().endpoint().my_node() != owner_) bytes().pull(self(), owner_, key);
  }

 private:
  [[nodiscard]] shared_region& bytes() const { return family_.of_region; }
  [[nodiscard]] std::uint64_t offset() const {
    return element_ == trace::kWholeObject ? 0 : std::uint64_t{element_} * kStride;
  }
  [[nodiscard]] shared_region::part self() const { return {family_.common_name, offset(), kBytes, element_}; }
  template <typename W>
  [[nodiscard]] local_span<W> self_words() {
    return bytes().template words<W>().subspan(offset() / kWord, value_words<T>::kWords);
  }
  void require_mine() const {
    if (const NodeId me = bytes().endpoint().my_node(); me != owner_) [[unlikely]]
      refuse_writer(full_name(), owner_, me);
  }

  const part_family& family_;
  std::uint32_t element_;
  NodeId owner_;
};

template <typename T>
class owned_var : private shared_bytes, private part_family, public owned_part<T> {
  using Part = owned_part<T>;

 public:
  owned_var(within where, std::string_view name, NodeId owner, std::optional<expect_num> expected = {})
      : shared_bytes(where, name, kBytes, expected, owners_text(std::span(&owner, 1))),
        part_family(static_cast<shared_region&>(*this), shared_bytes::full_name()),
        Part(static_cast<const part_family&>(*this), trace::kWholeObject, owner) {
    require_node(owner, "the owner");
  }

  using shared_bytes::copy;
  using shared_bytes::ready;
  using shared_bytes::wait_for_ready;

  using Part::address;
  using Part::full_name;
  using Part::pull;
  using Part::push;
  using Part::push_broadcast;
  using Part::words;

 private:
  static constexpr std::uint64_t kBytes = value_words<T>::kWords * kWord;
};

}  // namespace loco
