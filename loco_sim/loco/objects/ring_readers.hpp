// The nodes that read a ring buffer. The usual case, all nodes but the writer, is stored without a list: n rings on n
// nodes have n^2 endpoints, whose lists would take n^3 entries.
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
  /// `named` lists the readers; empty: all nodes but the writer.
  ring_readers(std::vector<NodeId> named, NodeId writer, std::uint32_t nodes) : writer_(writer), nodes_(nodes) {
    named_ = ascending(std::move(named));
    if (named_.size() + 1 == nodes && !std::ranges::binary_search(named_, writer)) named_.clear();
  }

  [[nodiscard]] std::uint32_t count() const {
    return named_.empty() ? nodes_ - 1 : static_cast<std::uint32_t>(named_.size());
  }
  /// The node's rank among the readers; empty if it does not read.
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
  /// The readers that were named; empty for all but the writer.
  [[nodiscard]] const std::vector<NodeId>& named() const { return named_; }

 private:
  std::vector<NodeId> named_;
  NodeId writer_;
  std::uint32_t nodes_;
};

}  // namespace loco
