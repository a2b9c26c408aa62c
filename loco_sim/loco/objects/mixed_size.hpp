// Variables wider than a word whose readers get a whole value or none (LOCO paper, Appendices D and H.6.1).
//
// A wide value travels word by word, so a reader may find a torn mixture of two values. hashed_var puts a checksum in
// front of the value; any node may write its copy, push it and pull others'. guarded_var puts the value between two
// guards. A write sets both to a fresh number, the leading one before the value and the trailing one after it. A reader
// goes the other way and has a whole value if both guards agree. Guards are cheaper to check than a checksum, but such
// a variable has one owner and is pushed only, because the words of a get are read in no order.
// try_load returns nothing for a torn value, as the specification's TryRead returns bottom. In the trace these are
// calls of the library msw.
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

/// The part common to both kinds: some words on every node.
class mixed_words : public channel {
 protected:
  mixed_words(within where, std::string_view name, std::uint64_t words, std::optional<expect_num> expected,
              std::string terms = {});

  [[nodiscard]] Address at(std::uint64_t word) const { return words_here_.address() + word * kWord; }
  [[nodiscard]] Region copy(NodeId node) const { return remote(region_, node); }
  [[nodiscard]] std::vector<NodeId> peers() const { return all_peers(region_); }
  /// Access to the local copy: one word, or several in ascending order from `first` on.
  [[nodiscard]] std::uint64_t load_word(std::uint64_t word) const { return words_here_[word]; }
  void store_word(std::uint64_t word, std::uint64_t value) const { words_here_[word] = value; }
  void store_words(std::uint64_t first, std::span<const std::uint64_t> words);
  void load_words(std::uint64_t first, std::span<std::uint64_t> words);
  /// Throws size_error if a value has the wrong number of words, because the memory after the variable is another's.
  void require_words(std::size_t found, std::uint64_t expected) const;

 private:
  void create(std::uint64_t words, std::string terms);

  RegionIndex region_ = 0;
  local_words words_here_;
};

/// A value after its checksum; Fig. 25. A value with the wrong number of words throws size_error.
class hashed_words : public mixed_words {
 public:
  hashed_words(within where, std::string_view name, std::uint64_t words, std::optional<expect_num> expected = {});

  void store(std::span<const std::uint64_t> value);
  /// Returns false, with arbitrary words in `value`, if the local copy is torn or was never written.
  [[nodiscard]] bool try_load(std::span<std::uint64_t> value);
  void push(NodeId node, ack_key& key);
  void push_broadcast(ack_key& key);
  /// Copies a node's copy into the local one.
  void pull(NodeId node, ack_key& key);

 private:
  std::uint64_t words_;
};

struct guard_options {
  /// True: reads go from the leading to the trailing guard, the second bug of App. D. For experiments.
  bool read_forward = false;
  std::optional<expect_num> peers = {};  ///< number of other nodes that take part; empty: all
};

/// A value between two guards, written by one thread of the owner. A value with the wrong number of words throws
/// size_error.
class guarded_words : public mixed_words {
 public:
  guarded_words(within where, std::string_view name, NodeId owner, std::uint64_t words, guard_options options = {});

  [[nodiscard]] NodeId owner() const { return owner_; }
  /// Owner only. First waits until the NIC has read the source of earlier pushes.
  void store(std::span<const std::uint64_t> value);
  /// Returns false, with arbitrary words in `value`, if the local copy is torn.
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
  std::uint64_t fresh_ = 0;  ///< guard number of the latest write
  ack_key pushes_;
};

template <typename T>
class hashed_var : private hashed_words {
  using Words = typename value_words<T>::Words;

 public:
  hashed_var(within where, std::string_view name, std::optional<expect_num> expected = {})
      : hashed_words(where, name, Words{}.size(), expected) {}

  using channel::full_name;
  using channel::ready;
  using channel::wait_for_ready;
  using hashed_words::pull;
  using hashed_words::push;
  using hashed_words::push_broadcast;

  void store(const T& value) { hashed_words::store(value_words<T>::of(value)); }
  /// Empty if the local copy is torn or was never written.
  [[nodiscard]] std::optional<T> try_load() {
    Words value;
    return hashed_words::try_load(value) ? std::optional(value_words<T>::value(value)) : std::nullopt;
  }
};

template <typename T>
class guarded_var : private guarded_words {
  using Words = typename value_words<T>::Words;

 public:
  guarded_var(within where, std::string_view name, NodeId owner, guard_options options = {})
      : guarded_words(where, name, owner, Words{}.size(), options) {}

  using channel::full_name;
  using channel::ready;
  using channel::wait_for_ready;
  using guarded_words::owner;
  using guarded_words::push;
  using guarded_words::push_broadcast;

  void store(const T& value) { guarded_words::store(value_words<T>::of(value)); }
  /// Empty if the local copy is torn.
  [[nodiscard]] std::optional<T> try_load() {
    Words value;
    return guarded_words::try_load(value) ? std::optional(value_words<T>::value(value)) : std::nullopt;
  }
};

}  // namespace loco
