// A value for each peer of a thread, made when it is first asked for. Most threads of a large machine talk to few
// peers, so while these are few they are a list: a table for each of n nodes is n^2 values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "loco_sim/loco/transport.hpp"

namespace loco {

template <class T>
class PeerTable {
 public:
  /// Null where none has been made. Once there are many, all have been.
  [[nodiscard]] const T* find(NodeId peer) const {
    if (!all_.empty()) return &all_[peer];
    const auto found = std::ranges::find(few_, peer, &Entry::first);
    return found == few_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] T* find(NodeId peer) { return const_cast<T*>(std::as_const(*this).find(peer)); }

  /// The peer's value, of `peers` that there can be. Values may move when another one is made.
  T& at(NodeId peer, std::size_t peers) {
    if (T* const known = find(peer)) return *known;
    if (few_.size() < kFew) return few_.emplace_back(peer, T{}).second;
    all_.resize(peers);
    for (const Entry& entry : few_) all_[entry.first] = entry.second;
    few_ = {};
    return all_[peer];
  }

  /// f(value) for each that has been made.
  template <class F>
  void for_each(F f) const {
    for (const T& value : all_) f(value);
    for (const Entry& entry : few_) f(entry.second);
  }

 private:
  using Entry = std::pair<NodeId, T>;
  static constexpr std::size_t kFew = 8;

  std::vector<Entry> few_;
  std::vector<T> all_;  ///< by peer; empty while they are few
};

}  // namespace loco
