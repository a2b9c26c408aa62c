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

  var(networked_node& mgr, std::string_view name) : shared_bytes(mgr, name, kWords * 8) {}
  var(networked_node& mgr, std::string_view name, expect_num expected)
      : shared_bytes(mgr, name, kWords * 8, expected) {}
  var(channel& parent, std::string_view name, expect_num expected) : shared_bytes(parent, name, kWords * 8, expected) {}

  /// Load and store the local copy.
  [[nodiscard]] T load() { return load_value<T>(*this, all()); }
  void store(const T& value) { store_value<T>(*this, all(), value); }

 private:
  [[nodiscard]] part all() const { return {full_name(), 0, size()}; }
};

/// Throws ownership_error unless `node` owns the variable.
void require_owner(std::string_view variable, NodeId owner, NodeId node);

/// "node 2", or "nodes 0, 1"; a long list is printed as its length and a checksum.
[[nodiscard]] std::string nodes_text(std::span<const NodeId> nodes);

/// The terms of a variable with owners, such as "owned by node 2".
[[nodiscard]] std::string owners_text(std::span<const NodeId> owners);

/// A part of a shared region that one node writes: the whole region for owned_var, an element of an array for
/// var_array.
template <typename T>
class owned_part {
 public:
  static constexpr bool kAtomic = value_words<T>::kAtomic;

  owned_part(shared_region& bytes, std::string name, std::uint64_t offset, NodeId owner)
      : bytes_(bytes), name_(without_spare(std::move(name))), offset_(offset), owner_(owner) {}

  [[nodiscard]] const std::string& full_name() const { return name_; }
  [[nodiscard]] NodeId owner() const { return owner_; }
  /// Address of the local copy.
  [[nodiscard]] Address address() const { return bytes_.address() + offset_; }
  /// Loads the local copy.
  [[nodiscard]] T load() { return load_value<T>(bytes_, self()); }
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
    store_value<T>(bytes_, self(), value);
  }
  /// Owner only: put the value to one node's copy, to those of some nodes, or to all.
  void push(NodeId node, ack_key& key) { push(std::span(&node, 1), &key); }
  void push(NodeId node) { push(std::span(&node, 1), nullptr); }
  void push(std::span<const NodeId> nodes, ack_key* key) {
    require_mine();
    bytes_.push(self(), nodes, key);
  }
  void push_broadcast() { push(bytes_.peers(), nullptr); }
  void push_broadcast(ack_key& key) { push(bytes_.peers(), &key); }
  /// Copies the owner's value into the local copy. Does nothing on the owner.
  void pull(ack_key& key) {
    if (bytes_.endpoint().my_node() != owner_) bytes_.pull(self(), owner_, key);
  }

 private:
  [[nodiscard]] shared_region::part self() const { return {name_, offset_, value_words<T>::kWords * kWord}; }
  template <typename W>
  [[nodiscard]] local_span<W> self_words() {
    return bytes_.words<W>().subspan(offset_ / kWord, value_words<T>::kWords);
  }
  void require_mine() const { require_owner(name_, owner_, bytes_.endpoint().my_node()); }

  shared_region& bytes_;
  std::string name_;
  std::uint64_t offset_;
  NodeId owner_;
};

template <typename T>
class owned_var : private shared_bytes, public owned_part<T> {
  using Part = owned_part<T>;

 public:
  owned_var(networked_node& mgr, std::string_view name, NodeId owner)
      : shared_bytes(mgr, name, kBytes, owners_text(std::span(&owner, 1))),
        Part(static_cast<shared_region&>(*this), std::string(name), 0, owner) {
    require_node(owner, "the owner");
  }
  owned_var(channel& parent, std::string_view name, NodeId owner, expect_num expected)
      : shared_bytes(parent, name, kBytes, expected, owners_text(std::span(&owner, 1))),
        Part(static_cast<shared_region&>(*this), shared_bytes::full_name(), 0, owner) {
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
