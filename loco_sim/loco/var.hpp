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

/// A value as the words that memory holds.
template <typename T>
struct value_words {
  static_assert(std::is_trivially_copyable_v<T>);
  static constexpr std::size_t kWords = (sizeof(T) + 7) / 8;
  static constexpr bool kAtomic = kWords == 1;
  using Words = std::array<std::uint64_t, kWords>;

  [[nodiscard]] static Words of(const T& value) {
    Words result{};
    std::memcpy(result.data(), &value, sizeof(T));
    return result;
  }
  [[nodiscard]] static T value(const Words& held) {
    T result;
    std::memcpy(&result, held.data(), sizeof(T));
    return result;
  }
  /// The value of a part of a shared variable.
  [[nodiscard]] static T load(shared_bytes& from, const shared_bytes::part& of) {
    Words held{};
    if constexpr (kAtomic)
      held[0] = from.load_word(of);
    else
      from.load_bytes(of, std::as_writable_bytes(std::span(held)));
    return value(held);
  }
  static void store(shared_bytes& to, const shared_bytes::part& of, const T& value) {
    const Words held = value_words::of(value);
    if constexpr (kAtomic)
      to.store_word(of, held[0]);
    else
      to.store_bytes(of, std::as_bytes(std::span(held)));
  }
};

template <typename T>
class var : public shared_bytes {
  static constexpr std::size_t kWords = value_words<T>::kWords;

 public:
  static constexpr bool kAtomic = value_words<T>::kAtomic;

  var(manager& mgr, std::string_view name) : shared_bytes(mgr, name, kWords * 8) {}
  var(manager& mgr, std::string_view name, expect_num expected) : shared_bytes(mgr, name, kWords * 8, expected) {}
  var(channel& parent, std::string_view name, expect_num expected) : shared_bytes(parent, name, kWords * 8, expected) {}

  /// The local copy.
  [[nodiscard]] T load() { return value_words<T>::load(*this, all()); }
  void store(const T& value) { value_words<T>::store(*this, all(), value); }

 private:
  [[nodiscard]] part all() const { return {full_name(), 0, size()}; }
};

/// Throws ownership_error unless `node` owns the variable.
void require_owner(std::string_view variable, NodeId owner, NodeId node);

template <typename T>
class owned_var : private var<T> {
 public:
  owned_var(manager& mgr, std::string_view name, NodeId owner) : var<T>(mgr, name), owner_(owner) {
    this->require_node(owner, "the owner");
  }
  owned_var(channel& parent, std::string_view name, NodeId owner, expect_num expected)
      : var<T>(parent, name, expected), owner_(owner) {
    this->require_node(owner, "the owner");
  }

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
  void require_mine() const { require_owner(full_name(), owner_, this->my_node()); }

  NodeId owner_;
};

}  // namespace loco
