// A named region of which every node of a channel has a copy. Shared variables and arrays of them are built on it; a
// channel may have several.
//
// load and store access the local copy; push, pull and push_broadcast move copies between nodes with one-sided
// operations (LOCO paper, Section 3.4). Values of up to 8 bytes are one word and never torn; longer ones move word by
// word, so a reader may see a mixture of two values. In the trace these are calls of the library sv, except that a
// pull, which that library does not model, is a plain get. If the transport exposes its memory (LocalMemory::direct),
// accesses to the local copy need no call and are not traced.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "loco_sim/loco/membership/channel.hpp"
#include "loco_sim/loco/memory/local_span.hpp"

namespace loco {

class ack_key;

class shared_region {
 public:
  /// Creates the endpoint's region of that name, with `size` bytes on every node. Call it before the endpoint joins.
  /// The trace shows accesses as calls of the variable `name`, whose text must outlive this object.
  shared_region(channel& endpoint, std::string_view name, std::string_view region, std::uint64_t size);
  shared_region(const shared_region&) = delete;
  shared_region& operator=(const shared_region&) = delete;

  [[nodiscard]] channel& endpoint() const { return endpoint_; }
  [[nodiscard]] std::string_view name() const { return name_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// Address of the local copy.
  [[nodiscard]] Address address() const { return base_; }
  /// The copy on a node.
  [[nodiscard]] Region copy(NodeId node) const { return endpoint_.remote(region_, node); }

  /// Some of the words under a name of their own, such as an element of an array.
  struct part {
    std::string_view name;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::uint32_t element = trace::kWholeObject;  ///< of an array of that name
  };
  void load_bytes(const part& of, std::span<std::byte> out);
  void store_bytes(const part& of, std::span<const std::byte> in);
  [[nodiscard]] std::uint64_t load_word(const part& of) {
    return direct_ != nullptr ? direct::load(direct_ + of.offset / kWord) : traced_load(of);
  }
  void store_word(const part& of, std::uint64_t value) {
    if (direct_ != nullptr)
      direct::store(direct_ + of.offset / kWord, value);
    else
      traced_store(of, value);
  }
  void push(const part& of, std::span<const NodeId> nodes, ack_key* key);
  void pull(const part& of, NodeId node, ack_key& key);

  /// The local copy as an array, valid as long as this object. The trace shows accesses as plain reads and writes.
  template <typename T = std::uint64_t>
  [[nodiscard]] local_span<T> words() {
    return {endpoint_.transport(), base_, round_up(size_, kWord) / kWord};
  }
  /// Copy the whole local copy; the spans have size() bytes rounded up to words.
  void load_bytes(std::span<std::byte> out);
  void store_bytes(std::span<const std::byte> in);
  /// Copy a part of the local copy from byte `offset` on, in whole words.
  void load_part(std::uint64_t offset, std::span<std::byte> out);
  void store_part(std::uint64_t offset, std::span<const std::byte> in);
  /// Access the first word of the local copy.
  [[nodiscard]] std::uint64_t load_word();
  void store_word(std::uint64_t value);

  /// Puts the local copy to the copies of `nodes` (Bcast). This node's own number makes a loopback operation.
  void push(std::span<const NodeId> nodes, ack_key* key = nullptr);
  /// Puts only the `bytes` bytes from `offset` on.
  void push_part(std::uint64_t offset, std::uint64_t bytes, std::span<const NodeId> nodes, ack_key* key = nullptr);
  void push(NodeId node, ack_key& key) { push(std::span(&node, 1), &key); }
  void push(NodeId node) { push(std::span(&node, 1)); }
  /// Puts to every connected node but this one.
  void push_broadcast();
  void push_broadcast(ack_key& key);
  /// All other nodes that have connected so far. Precondition: the channel is ready. The returned list never changes;
  /// later peers appear in the next one.
  [[nodiscard]] const std::vector<NodeId>& peers();
  /// Copies a node's copy into the local one.
  void pull(NodeId node, ack_key& key);

 private:
  void require_inside(const part& of, std::uint64_t bytes) const;
  [[nodiscard]] std::uint64_t traced_load(const part& of);
  void traced_store(const part& of, std::uint64_t value);
  [[nodiscard]] part whole() const { return {name_, 0, round_up(size_, kWord)}; }

  channel& endpoint_;
  std::string_view name_;
  std::size_t region_;
  Address base_;
  std::uint64_t* direct_;  ///< the local copy; null: the transport does not expose it
  std::uint64_t size_;
  /// An immutable list of peers. Earlier lists are kept, because other threads may still read them.
  struct known_peers {
    std::vector<NodeId> nodes;
    std::uint32_t connections = 0;
    std::unique_ptr<known_peers> former;
  };
  std::atomic<const known_peers*> known_ = nullptr;
  std::unique_ptr<known_peers> latest_;
};

}  // namespace loco
