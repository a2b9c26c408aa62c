// Values that show whether they are torn, and small helpers of the workloads' programs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "loco_sim/loco/objects/shared_bytes.hpp"
#include "loco_sim/loco/objects/var_array.hpp"

namespace loco::workloads {

inline std::vector<NodeId> each_node(std::uint32_t count) {
  std::vector<NodeId> nodes(count);
  std::iota(nodes.begin(), nodes.end(), NodeId{0});
  return nodes;
}

/// A value whose words are all the same, so that a reader sees whether it is torn.
struct Payload {
  explicit Payload(std::int64_t bytes) : words(static_cast<std::size_t>(bytes / 8)) {}

  [[nodiscard]] std::uint64_t bytes() const { return words.size() * 8; }
  void fill(std::uint64_t value) { std::ranges::fill(words, value); }
  void write(shared_bytes& variable, std::uint64_t value) {
    fill(value);
    if (words.size() == 1)
      variable.store_word(value);
    else
      variable.store_bytes(std::as_bytes(std::span(words)));
  }
  /// Returns the last word, which is written last.
  std::uint64_t read(shared_bytes& variable) {
    if (words.size() == 1)
      words[0] = variable.load_word();
    else
      variable.load_bytes(std::as_writable_bytes(std::span(words)));
    return words.back();
  }
  [[nodiscard]] bool whole() const { return std::ranges::count(words, words.back()) == std::ssize(words); }

  std::vector<std::uint64_t> words;
};

}  // namespace loco::workloads
