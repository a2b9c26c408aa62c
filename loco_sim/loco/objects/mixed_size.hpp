// Variables wider than a word whose readers get a whole value or none (LOCO paper, Appendices D and H.6.1).
//
// What is wider than a word travels word by word, so a reader may find a mixture of two values. hashed_var puts a
// checksum in front of the value: any node may write its copy, push it and pull others'. guarded_var puts it between
// two guards, which a write sets to a fresh number, the leading one before the value, the trailing one after it; a
// reader goes the other way, trailing guard first, and has a whole value when both guards agree. It is cheaper to
// read than a checksum, has one owner, and is pushed only: the words of a get come in no order.
// try_load returns nothing when the value is torn, as the specification's TryRead returns bottom. In the trace these
// are the calls of the library msw.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "loco_sim/loco/membership/channel.hpp"
#include "loco_sim/loco/memory/value_words.hpp"
#include "loco_sim/loco/operations/ack_key.hpp"

namespace loco {

/// Some words on every node, and what both kinds do with them.
class mixed_words : public channel {
 protected:
  mixed_words(within where, std::string_view name, std::uint64_t words, std::optional<expect_num> expected,
              std::string terms = {});

  [[nodiscard]] Address at(std::uint64_t word) const { return words_here_.address() + word * kWord; }
  [[nodiscard]] Region copy(NodeId node) const { return remote(region_, node); }
  [[nodiscard]] std::vector<NodeId> peers() const { return all_peers(region_); }
  /// Of the local copy: one word, or words from `first` on, in ascending order.
  [[nodiscard]] std::uint64_t load_word(std::uint64_t word) const { return words_here_[word]; }
  void store_word(std::uint64_t word, std::uint64_t value) const { words_here_[word] = value; }
  void store_words(std::uint64_t first, std::span<const std::uint64_t> words);
  void load_words(std::uint64_t first, std::span<std::uint64_t> words);
  /// Throws size_error for a value that has another number of words: behind the variable's is another's.
  void require_words(std::size_t found, std::uint64_t expected) const;

 private:
  void create(std::uint64_t words, std::string terms);

  RegionIndex region_ = 0;
  local_words words_here_;
};

/// A value behind its checksum; Fig. 25. Values of another number of words are a size_error.
class hashed_words : public mixed_words {
 public:
  hashed_words(within where, std::string_view name, std::uint64_t words, std::optional<expect_num> expected = {});

  void store(std::span<const std::uint64_t> value);
  /// False, and nonsense in `value`, when the local copy is torn or was never written.
  [[nodiscard]] bool try_load(std::span<std::uint64_t> value);
  void push(NodeId node, ack_key& key);
  void push_broadcast(ack_key& key);
  /// Gets a node's copy into the local one.
  void pull(NodeId node, ack_key& key);

 private:
  std::uint64_t words_;
};

struct guard_options {
  /// True: a read goes from the leading to the trailing guard, the second bug of App. D. For experiments.
  bool read_forward = false;
  std::optional<expect_num> peers = {};  ///< how many other nodes take part; empty means all
};

/// A value between two guards. One thread of the owner writes. Values of another number of words are a size_error.
class guarded_words : public mixed_words {
 public:
  guarded_words(within where, std::string_view name, NodeId owner, std::uint64_t words, guard_options options = {});

  [[nodiscard]] NodeId owner() const { return owner_; }
  /// Owner only. Waits until what is being pushed has been read.
  void store(std::span<const std::uint64_t> value);
  /// False, and nonsense in `value`, when the local copy is torn.
  [[nodiscard]] bool try_load(std::span<std::uint64_t> value);
  /// Owner only.
  void push(NodeId node);
  void push(NodeId node, ack_key& key);
  void push_broadcast();
  void push_broadcast(ack_key& key);

 private:
  [[nodiscard]] std::uint64_t trailing() const { return words_ + 1; }

  NodeId owner_;
  std::uint64_t words_;
  guard_options options_;
  std::uint64_t fresh_ = 0;  ///< the guards of the latest write
  ack_key pushes_;
};

template <typename T>
class hashed_var : private hashed_words {
  using Words = typename value_words<T>::Words;

 public:
  hashed_var(networked_node& mgr, std::string_view name, std::optional<expect_num> expected = {})
      : hashed_words(mgr, name, Words{}.size(), expected) {}
  hashed_var(channel& parent, std::string_view name, std::optional<expect_num> expected = {})
      : hashed_words(parent, name, Words{}.size(), expected) {}

  using channel::full_name;
  using channel::ready;
  using channel::wait_for_ready;
  using hashed_words::pull;
  using hashed_words::push;
  using hashed_words::push_broadcast;

  void store(const T& value) { hashed_words::store(value_words<T>::of(value)); }
  /// Nothing when the local copy is torn or was never written.
  [[nodiscard]] std::optional<T> try_load() {
    Words value;
    return hashed_words::try_load(value) ? std::optional(value_words<T>::value(value)) : std::nullopt;
  }
};

template <typename T>
class guarded_var : private guarded_words {
  using Words = typename value_words<T>::Words;

 public:
  guarded_var(networked_node& mgr, std::string_view name, NodeId owner, guard_options options = {})
      : guarded_words(mgr, name, owner, Words{}.size(), options) {}
  guarded_var(channel& parent, std::string_view name, NodeId owner, guard_options options = {})
      : guarded_words(parent, name, owner, Words{}.size(), options) {}

  using channel::full_name;
  using channel::ready;
  using channel::wait_for_ready;
  using guarded_words::owner;
  using guarded_words::push;
  using guarded_words::push_broadcast;

  void store(const T& value) { guarded_words::store(value_words<T>::of(value)); }
  /// Nothing when the local copy is torn.
  [[nodiscard]] std::optional<T> try_load() {
    Words value;
    return guarded_words::try_load(value) ? std::optional(value_words<T>::value(value)) : std::nullopt;
  }
};

}  // namespace loco
