// A word on one node that all threads of all nodes change with remote atomics (LOCO paper, Section 6.2, App. I, where
// ticket locks and trackers are built on it).
//
// All accesses go through the NIC of the home node, on that node by loopback: remote atomics are atomic with each
// other, but on most devices not with the CPU (atomic capability `hca`), nor with a plain put. A store is therefore a
// compare-and-swap, retried until it succeeds. Calls wait for their result; those with an ack_key do not. A completed
// atomic has taken effect for later atomics. For plain reads to find it, it must be fenced like a put.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include "loco_sim/loco/membership/channel.hpp"
#include "loco_sim/loco/memory/value_words.hpp"
#include "loco_sim/loco/operations/ack_key.hpp"
#include "loco_sim/loco/operations/mem_ref.hpp"

namespace loco {

/// The part that does not depend on the value's type.
class atomic_word : public channel {
 public:
  atomic_word(within where, std::string_view name, NodeId home, std::uint64_t initial,
              std::optional<expect_num> expected = {});

  [[nodiscard]] NodeId home() const { return home_; }

  [[nodiscard]] std::uint64_t load();
  std::uint64_t fetch_add(std::uint64_t add);
  /// Returns the old value; the swap took place if that equals `expected`.
  std::uint64_t compare_swap(std::uint64_t expected, std::uint64_t desired);
  std::uint64_t exchange(std::uint64_t desired);

  // These write the old value to `old` by the time `key` is complete.
  void load(const mem_ref& old, ack_key& key);
  void fetch_add(const mem_ref& old, std::uint64_t add, ack_key& key);
  void compare_swap(const mem_ref& old, std::uint64_t expected, std::uint64_t desired, ack_key& key);

 private:
  void create(std::uint64_t initial);
  template <typename Post>
  std::uint64_t wait_for(Post post);

  NodeId home_;
  RegionIndex word_ = 0;
};

/// T is any trivially copyable type of up to 8 bytes without padding: integers, pointers, enumerations, double, small
/// structures. A remote atomic covers 8 bytes, so a smaller value shares its word with unused bytes, into which an
/// addition may carry. Arithmetic is offered for integers only.
template <typename T>
class atomic_var : private atomic_word {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(std::uint64_t),
                "remote atomics are of 8 bytes, which are copied as they are");
  static_assert(std::has_unique_object_representations_v<T> || std::is_floating_point_v<T>,
                "values are compared byte by byte, so they may not have padding");
  static constexpr bool kAdds = std::integral<T> && !std::same_as<T, bool>;
  static constexpr bool kCarries = kAdds && sizeof(T) < sizeof(std::uint64_t);
  static_assert(!kCarries || std::endian::native == std::endian::little,
                "the first bytes of a word are those that an addition begins with");

 public:
  /// All nodes must name the same initial value and home. If some nodes do not take part, `expected` says how many
  /// others do.
  atomic_var(within where, std::string_view name, NodeId home = 0, T initial = T{},
             std::optional<expect_num> expected = {})
      : atomic_word(where, name, home, word(initial), expected) {}

  using atomic_word::home;
  using channel::full_name;
  using channel::ready;
  using channel::wait_for_ready;

  [[nodiscard]] T load() { return value(atomic_word::load()); }
  void store(T value) { exchange(value); }
  /// These return the old value.
  T fetch_add(T add) requires kAdds { return value(atomic_word::fetch_add(word(add))); }
  T exchange(T desired) { return value(atomic_word::exchange(word(desired))); }
  /// Returns true if the value was `expected`, byte by byte. Otherwise sets `expected` to the value found.
  bool compare_exchange(T& expected, T desired) {
    std::uint64_t held = word(expected);
    while (true) {
      const std::uint64_t old = compare_swap(held, word(desired));
      const bool done = old == held;
      if constexpr (kCarries) {
        if (!done && value(old) == expected) {  // the value matches, only the unused bytes differ
          held = old;
          continue;
        }
      }
      expected = value(old);
      return done;
    }
  }
  // These write the old value to `old` by the time `key` is complete.
  void load(const mem_ref& old, ack_key& key) { atomic_word::load(old, key); }
  void fetch_add(const mem_ref& old, T add, ack_key& key) requires kAdds {
    atomic_word::fetch_add(old, word(add), key);
  }
  // For integers of less than 8 bytes that are added to, this may fail although the value matches: the unused bytes of
  // the word are compared too, and `old` holds them.
  void compare_exchange(const mem_ref& old, T expected, T desired, ack_key& key) {
    compare_swap(old, word(expected), word(desired), key);
  }

 private:
  static std::uint64_t word(const T& of) { return value_words<T>::of(of)[0]; }
  static T value(std::uint64_t held) { return value_words<T>::value({held}); }
};

}  // namespace loco
