// The nodes that read a ring buffer. All but the writer, as is usual, takes no list: n rings on n nodes have n^2
// endpoints, and with a list each that would be n^3 places.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "loco_sim/loco/membership/node_list.hpp"
#include "loco_sim/loco/transport.hpp"

namespace loco {

class ring_readers {
 public:
  /// `named`: all but the writer when empty.
  ring_readers(std::vector<NodeId> named, NodeId writer, std::uint32_t nodes) : writer_(writer), nodes_(nodes) {
    named_ = ascending(std::move(named));
    if (named_.size() + 1 == nodes && !std::ranges::binary_search(named_, writer)) named_.clear();
  }

  [[nodiscard]] std::uint32_t count() const {
    return named_.empty() ? nodes_ - 1 : static_cast<std::uint32_t>(named_.size());
  }
  /// How many readers come before the node; nothing when it does not read.
  [[nodiscard]] std::optional<std::uint32_t> place_of(NodeId node) const {
    if (named_.empty()) return node == writer_ ? std::nullopt : std::optional(node - (node > writer_ ? 1 : 0));
    const auto found = std::ranges::lower_bound(named_, node);
    if (found == named_.end() || *found != node) return std::nullopt;
    return static_cast<std::uint32_t>(found - named_.begin());
  }
  /// In ascending order.
  [[nodiscard]] std::vector<NodeId> list() const {
    if (!named_.empty()) return named_;
    std::vector<NodeId> all(nodes_);
    std::iota(all.begin(), all.end(), NodeId{0});
    all.erase(all.begin() + writer_);
    return all;
  }
  /// Those that were named; empty for all but the writer.
  [[nodiscard]] const std::vector<NodeId>& named() const { return named_; }

 private:
  std::vector<NodeId> named_;
  NodeId writer_;
  std::uint32_t nodes_;
};

}  // namespace loco
