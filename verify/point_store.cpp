#include "verify/point_store.hpp"

#include <cstring>
#include <stdexcept>
#include <utility>

namespace loco::verify {

namespace {

constexpr std::size_t kTableMin = 1024;

/// Seven bits a byte, the top bit says that more follow.
void write(std::vector<std::uint8_t>& to, std::uint32_t word) {
  while (word >= 0x80U) {
    to.push_back(static_cast<std::uint8_t>(word | 0x80U));
    word >>= 7U;
  }
  to.push_back(static_cast<std::uint8_t>(word));
}

std::uint32_t read(const std::uint8_t*& from) {
  std::uint32_t word = 0;
  for (unsigned shift = 0;; shift += 7) {
    const std::uint8_t byte = *from++;
    word |= static_cast<std::uint32_t>(byte & 0x7fU) << shift;
    if ((byte & 0x80U) == 0) return word;
  }
}

std::uint32_t folded(Value value) {
  if (value == kNoValue) return 0;
  const auto bits = static_cast<std::uint32_t>(value);
  return ((bits << 1U) ^ (value < 0 ? 0xffffffffU : 0U)) + 1;
}

Value unfolded(std::uint32_t word) {
  if (word-- == 0) return kNoValue;
  return static_cast<Value>((word >> 1U) ^ ((word & 1U) != 0 ? 0xffffffffU : 0U));
}

std::uint64_t hash_of(const std::uint8_t* bytes, std::size_t size) {
  std::uint64_t hash = 0x9e3779b97f4a7c15U ^ size;
  const auto mix = [&](std::uint64_t word) {
    hash = (hash ^ word) * 0xff51afd7ed558ccdU;
    hash ^= hash >> 32U;
  };
  for (; size >= 8; size -= 8, bytes += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, 8);
    mix(word);
  }
  std::uint64_t rest = 0;
  std::memcpy(&rest, bytes, size);
  mix(rest);
  return hash ^ (hash >> 29U);
}

}  // namespace

PointStore::PointStore(const SetSystem& system, bool covering)
    : system_(&system),
      covering_(covering),
      words_(system.program().processes.size() + system.program().shared.size() + system.program().locals.size()),
      table_(kTableMin, kNone) {}

void PointStore::pack(const Point& point) {
  packed_.clear();
  for (const std::uint32_t at : point.at) write(packed_, at);
  for (const Value v : point.shared) write(packed_, folded(v));
  for (const Value v : point.locals) write(packed_, folded(v));
  write(packed_, static_cast<std::uint32_t>(point.entries.size()));
  for (const Entry& e : point.entries) write(packed_, (e.statement << 1U) | (e.result_only ? 1U : 0U));
  skeleton_size_ = packed_.size();
  for (const Entry& e : point.entries) write(packed_, (e.set << 1U) | (e.many ? 1U : 0U));
}

const std::uint8_t* PointStore::end_of(Index index) const {
  return bytes_.data() + (index + 1 < begins_.size() ? begins_[index + 1] : bytes_.size());
}

void PointStore::read_entries(const std::uint8_t* from, const std::uint8_t* end, std::vector<Entry>& into) const {
  into.resize(read(from));
  for (Entry& e : into) {
    const std::uint32_t word = read(from);
    e.statement = word >> 1U;
    e.result_only = (word & 1U) != 0;
  }
  for (std::size_t i = 0; i < into.size() && from != end; ++i) {
    const std::uint32_t word = read(from);
    into[i].set = word >> 1U;
    into[i].many = (word & 1U) != 0;
  }
}

void PointStore::get(Index index, Point& into) const {
  const std::uint8_t* from = bytes_.data() + begins_[index];
  into.at.resize(system_->program().processes.size());
  into.shared.resize(system_->program().shared.size());
  into.locals.resize(system_->program().locals.size());
  for (std::uint32_t& at : into.at) at = read(from);
  for (Value& v : into.shared) v = unfolded(read(from));
  for (Value& v : into.locals) v = unfolded(read(from));
  read_entries(from, end_of(index), into.entries);
  into.merged = false;
}

/// A skeleton tells where it ends, so that it begins no other.
bool PointStore::same_skeleton(Index index) const {
  const std::uint8_t* from = bytes_.data() + begins_[index];
  return static_cast<std::size_t>(end_of(index) - from) >= skeleton_size_ &&
         std::memcmp(from, packed_.data(), skeleton_size_) == 0;
}

bool PointStore::covers(const Entry& larger, const Entry& smaller) const {
  if (smaller.many && !larger.many) return false;
  if (larger.set == smaller.set) return true;
  const bool pairs = !larger.result_only && system_->program().remotes[larger.statement].kind == RemoteKind::kCas;
  return pairs ? system_->sets().pairs_include(larger.set, smaller.set)
               : system_->sets().include(larger.set, smaller.set);
}

bool PointStore::covers(const std::vector<Entry>& larger, const std::vector<Entry>& smaller) const {
  for (std::size_t i = 0; i < larger.size(); ++i) {
    if (covering_ ? !covers(larger[i], smaller[i]) : !(larger[i] == smaller[i])) return false;
  }
  return true;
}

void PointStore::grow() {
  std::vector<Index> bigger(table_.size() * 2, kNone);
  for (const Index i : table_) {
    if (i == kNone) continue;
    std::size_t slot = hashes_[i] & (bigger.size() - 1);
    while (bigger[slot] != kNone) slot = (slot + 1) & (bigger.size() - 1);
    bigger[slot] = i;
  }
  table_ = std::move(bigger);
}

std::pair<PointStore::Index, bool> PointStore::put(const Point& point) {
  pack(point);
  const auto hash = static_cast<std::uint32_t>(hash_of(packed_.data(), skeleton_size_));
  std::size_t slot = hash & (table_.size() - 1);
  for (; table_[slot] != kNone; slot = (slot + 1) & (table_.size() - 1)) {
    if (hashes_[table_[slot]] == hash && same_skeleton(table_[slot])) break;
  }
  Index first = table_[slot];
  Index* link = &first;  // to the point that is looked at
  while (*link != kNone) {
    const Index index = *link;
    const std::uint8_t* from = bytes_.data() + begins_[index];
    for (std::size_t i = 0; i < words_; ++i) (void)read(from);
    read_entries(from, end_of(index), entries_);
    if (covers(entries_, point.entries)) {
      table_[slot] = first;
      return {index, false};
    }
    if (covering_ && covers(point.entries, entries_)) {
      covered_[index] = true;
      *link = next_[index];
    } else {
      link = &next_[index];
    }
  }
  if (begins_.size() >= kNone - 1) throw std::length_error("more points than a search can number");
  const Index index = size();
  if (table_[slot] == kNone) ++skeletons_;
  table_[slot] = index;
  begins_.push_back(bytes_.size());
  hashes_.push_back(hash);
  next_.push_back(first);
  covered_.push_back(false);
  bytes_.insert(bytes_.end(), packed_.begin(), packed_.end());
  if (skeletons_ * 2 > table_.size()) grow();
  return {index, true};
}

std::size_t PointStore::bytes() const {
  return bytes_.capacity() + begins_.capacity() * (sizeof(std::uint64_t) + sizeof(std::uint32_t) + sizeof(Index)) +
         table_.capacity() * sizeof(Index);
}

}  // namespace loco::verify
