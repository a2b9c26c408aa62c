// The network memory of a node: regions of words. An address is the number of a region and a place in it, so that any
// thread finds a word without a lock.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>
#include <vector>

#include "loco_sim/loco/transport.hpp"

namespace loco::test {

#if defined(__SANITIZE_THREAD__)
inline constexpr bool kPlainIsPlain = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
inline constexpr bool kPlainIsPlain = true;
#else
inline constexpr bool kPlainIsPlain = false;
#endif
#else
inline constexpr bool kPlainIsPlain = false;
#endif

/// One word: atomic, or in a plain region an ordinary one for the thread sanitizer to watch.
class Word {
 public:
  Word(std::uint64_t& word, bool plain) : word_(word), plain_(plain && kPlainIsPlain) {}

  [[nodiscard]] std::uint64_t load(std::memory_order order) const { return plain_ ? word_ : atomic().load(order); }
  void store(std::uint64_t value, std::memory_order order) const {
    if (plain_)
      word_ = value;
    else
      atomic().store(value, order);
  }
  [[nodiscard]] std::uint64_t fetch_add(std::uint64_t add) const { return atomic().fetch_add(add); }
  /// The value from before.
  [[nodiscard]] std::uint64_t compare_swap(std::uint64_t expected, std::uint64_t desired) const {
    atomic().compare_exchange_strong(expected, desired);
    return expected;
  }

 private:
  [[nodiscard]] std::atomic_ref<std::uint64_t> atomic() const { return std::atomic_ref(word_); }

  std::uint64_t& word_;
  bool plain_;
};

class Words {
 public:
  /// By one thread at a time.
  Region add(NodeId node, std::uint64_t bytes, bool plain) {
    const std::size_t index = made_.size();
    if (index == kRegions) throw std::length_error("too many regions");
    made_.push_back(std::make_unique<Chunk>());
    Chunk& chunk = *made_.back();
    chunk.words.reset(static_cast<std::uint64_t*>(std::calloc(bytes / kWord, kWord)));
    if (chunk.words == nullptr) throw std::bad_alloc();
    chunk.bytes = bytes;
    chunk.plain = plain;
    chunks_[index].store(&chunk, std::memory_order_release);
    return {.node = node, .base = (index + 1) << kShift, .size = bytes, .rkey = static_cast<std::uint32_t>(index + 1)};
  }

  [[nodiscard]] Word at(Address address) const {
    const Chunk* const chunk = find(address >> kShift);
    const std::uint64_t offset = address & ((Address{1} << kShift) - 1);
    if (chunk == nullptr || offset >= chunk->bytes) throw std::out_of_range("no such address");
    return {chunk->words[offset / kWord], chunk->plain};
  }

  /// The words themselves, for the CPUs of their node; null when they are plain.
  [[nodiscard]] std::uint64_t* shown(Address address, std::uint64_t bytes) const {
    static_cast<void>(at(address));
    const Chunk& chunk = *find(address >> kShift);
    const std::uint64_t offset = address & ((Address{1} << kShift) - 1);
    if (bytes > chunk.bytes - offset) throw std::out_of_range("no such address");
    return chunk.plain ? nullptr : chunk.words.get() + offset / kWord;
  }

  /// May the peers reach these bytes with this key?
  [[nodiscard]] bool has(Address address, std::uint64_t bytes, std::uint32_t rkey) const {
    const Chunk* const chunk = find(rkey);
    return chunk != nullptr && address >> kShift == rkey &&
           (address & ((Address{1} << kShift) - 1)) + bytes <= chunk->bytes;
  }

 private:
  static constexpr std::size_t kRegions = 4096;
  static constexpr unsigned kShift = 32;
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  struct Chunk {
    std::unique_ptr<std::uint64_t[], Free> words;  ///< from calloc: untouched pages take no memory
    std::uint64_t bytes = 0;
    bool plain = false;
  };
  [[nodiscard]] const Chunk* find(std::uint64_t number) const {
    return number == 0 || number > kRegions ? nullptr : chunks_[number - 1].load(std::memory_order_acquire);
  }

  std::array<std::atomic<Chunk*>, kRegions> chunks_{};
  std::vector<std::unique_ptr<Chunk>> made_;
};

}  // namespace loco::test
