#include "model/copied_words.hpp"

#include <algorithm>

namespace loco::model {

void CopiedWords::by_address(std::span<const SubeventId> parts, Stamp stamp, std::vector<SubeventId>& ids) const {
  ids.clear();
  for (const SubeventId id : parts)
    if (index_->kind(id).stamp == stamp) ids.push_back(id);
  const auto before = [this](SubeventId a, SubeventId b) {
    return index_->subevent(a).address < index_->subevent(b).address;
  };
  if (!std::is_sorted(ids.begin(), ids.end(), before)) std::stable_sort(ids.begin(), ids.end(), before);
}

bool CopiedWords::fits(std::size_t first) {
  const auto address = [this](SubeventId id) { return index_->subevent(id).address; };
  const std::uint64_t offset = address(writes_.front()) - address(reads_[first]);
  std::size_t r = first;
  pairs_.clear();
  for (const SubeventId w : writes_) {
    index_->poll();
    while (r < reads_.size() && address(reads_[r]) + offset < address(w)) ++r;
    if (r == reads_.size() || address(reads_[r]) + offset != address(w)) return false;
    const Subevent& from = index_->subevent(reads_[r]);
    const Subevent& to = index_->subevent(w);
    if (!is_unbegun(from) && !is_unbegun(to) && from.value != to.value) return false;
    pairs_.push_back({reads_[r], w});
  }
  return true;
}

const std::vector<CopiedWords::Pair>& CopiedWords::of(std::span<const SubeventId> parts, Stamp read, Stamp written) {
  by_address(parts, written, writes_);
  pairs_.clear();
  if (writes_.empty()) return pairs_;
  by_address(parts, read, reads_);
  if (writes_.size() < reads_.size()) {
    const std::size_t places = reads_.size() - writes_.size() + 1;
    for (std::size_t first = 0; first < places; ++first)
      if (fits(first)) return pairs_;
    pairs_.clear();
  }
  for (std::size_t i = 0; i < writes_.size(); ++i) pairs_.push_back({i < reads_.size() ? reads_[i] : 0, writes_[i]});
  return pairs_;
}

}  // namespace loco::model
