// An array of owned variables, each with its own owner: a shared state table (SST; Jha et al. 2017, 2019; LOCO paper,
// Section 2.2 and Fig. 18). Element k is the sub-channel "ov<k>".
#pragma once

#include <deque>
#include <span>
#include <string>
#include <string_view>

#include "loco_sim/loco/manager.hpp"
#include "loco_sim/loco/var.hpp"

namespace loco {

template <typename T>
class var_array : public channel {
 public:
  /// One element for each entry of `owners`.
  var_array(channel& parent, std::string_view name, std::span<const NodeId> owners, expect_num expected)
      : channel(parent, name, expected) {
    create(owners, expected);
  }
  var_array(manager& mgr, std::string_view name, std::span<const NodeId> owners)
      : channel(mgr, name, expect_num{mgr.num_nodes() - 1}) {
    create(owners, expect_num{mgr.num_nodes() - 1});
  }

  [[nodiscard]] std::size_t size() const { return elements_.size(); }
  [[nodiscard]] owned_var<T>& operator[](std::size_t i) { return elements_.at(i); }
  [[nodiscard]] auto begin() { return elements_.begin(); }
  [[nodiscard]] auto end() { return elements_.end(); }

 private:
  void create(std::span<const NodeId> owners, expect_num expected) {
    for (const NodeId owner : owners)
      elements_.emplace_back(*this, "ov" + std::to_string(elements_.size()), owner, expected);
    join();
  }

  std::deque<owned_var<T>> elements_;  // a deque never moves what it holds
};

}  // namespace loco
