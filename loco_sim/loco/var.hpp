// Shared variables: one copy of a T on every node (LOCO paper, Sections 2.2 and 3.4).
//
// var: every node may write its copy and push it. owned_var: one node writes, the others read; the owner holds the
// true value. T is trivially copyable; up to 8 bytes it is never torn (kAtomic).
#pragma once

#include <array>
#include <cstring>
#include <type_traits>

#include "loco_sim/loco/shared_bytes.hpp"

namespace loco {

template <typename T>
class var : public shared_bytes {
  static_assert(std::is_trivially_copyable_v<T>);
  static constexpr std::size_t kWords = (sizeof(T) + 7) / 8;

 public:
  static constexpr bool kAtomic = kWords == 1;

  var(manager& mgr, std::string_view name) : shared_bytes(mgr, name, kWords * 8) {}
  var(manager& mgr, std::string_view name, expect_num expected) : shared_bytes(mgr, name, kWords * 8, expected) {}
  var(channel& parent, std::string_view name, expect_num expected) : shared_bytes(parent, name, kWords * 8, expected) {}

  /// The local copy.
  [[nodiscard]] T load() {
    std::array<std::uint64_t, kWords> words{};
    if constexpr (kAtomic)
      words[0] = load_word();
    else
      load_bytes(std::as_writable_bytes(std::span(words)));
    T value;
    std::memcpy(&value, words.data(), sizeof(T));
    return value;
  }

  void store(const T& value) {
    std::array<std::uint64_t, kWords> words{};
    std::memcpy(words.data(), &value, sizeof(T));
    if constexpr (kAtomic)
      store_word(words[0]);
    else
      store_bytes(std::as_bytes(std::span(words)));
  }
};

/// Throws ownership_error unless `node` owns the variable.
void require_owner(const channel& variable, NodeId owner, NodeId node);

template <typename T>
class owned_var : private var<T> {
 public:
  owned_var(manager& mgr, std::string_view name, NodeId owner) : var<T>(mgr, name), owner_(owner) {}
  owned_var(channel& parent, std::string_view name, NodeId owner, expect_num expected)
      : var<T>(parent, name, expected), owner_(owner) {}

  using var<T>::kAtomic;
  using var<T>::full_name;
  using var<T>::ready;
  using var<T>::wait_for_ready;
  using var<T>::load;
  using var<T>::address;
  using var<T>::copy;

  [[nodiscard]] NodeId owner() const { return owner_; }

  /// Owner only.
  void store(const T& value) {
    require_mine();
    var<T>::store(value);
  }
  /// Owner only: puts the value to one node's copy, or to all.
  void push(NodeId node, ack_key& key) {
    require_mine();
    var<T>::push(node, key);
  }
  void push(NodeId node) {
    require_mine();
    var<T>::push(node);
  }
  void push(std::span<const NodeId> nodes, ack_key* key) {
    require_mine();
    var<T>::push(nodes, key);
  }
  void push_broadcast() {
    require_mine();
    var<T>::push_broadcast();
  }
  void push_broadcast(ack_key& key) {
    require_mine();
    var<T>::push_broadcast(key);
  }
  /// Gets the owner's value into the local copy; nothing to do for the owner.
  void pull(ack_key& key) {
    if (this->my_node() != owner_) var<T>::pull(owner_, key);
  }

 private:
  void require_mine() const { require_owner(*this, owner_, this->my_node()); }

  NodeId owner_;
};

}  // namespace loco
