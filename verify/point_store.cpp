#include "verify/point_store.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string_view>
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

PointStore::PointStore(const Program& program)
    : processes_(program.processes.size()),
      shared_(program.shared.size()),
      locals_(program.locals.size()),
      table_(kTableMin, kNone) {}

void PointStore::pack(const Point& point) {
  packed_.clear();
  for (const std::uint32_t at : point.at) write(packed_, at);
  for (const Value v : point.shared) write(packed_, folded(v));
  for (const Value v : point.locals) write(packed_, folded(v));
  for (const Entry& e : point.entries) {
    write(packed_, (e.statement << 2U) | (e.result_only ? 2U : 0U) | (e.many ? 1U : 0U));
    write(packed_, e.set);
  }
}

void PointStore::get(Index index, Point& into) const {
  const std::uint8_t* from = bytes_.data() + begins_[index];
  const std::uint8_t* end = bytes_.data() + (index + 1 < begins_.size() ? begins_[index + 1] : bytes_.size());
  into.at.resize(processes_);
  into.shared.resize(shared_);
  into.locals.resize(locals_);
  into.entries.clear();
  for (std::uint32_t& at : into.at) at = read(from);
  for (Value& v : into.shared) v = unfolded(read(from));
  for (Value& v : into.locals) v = unfolded(read(from));
  while (from != end) {
    const std::uint32_t word = read(from);
    into.entries.push_back({word >> 2U, (word & 2U) != 0, (word & 1U) != 0, read(from)});
  }
}

bool PointStore::equal(Index index) const {
  const std::uint64_t begin = begins_[index];
  const std::uint64_t end = index + 1 < begins_.size() ? begins_[index + 1] : bytes_.size();
  return end - begin == packed_.size() && std::memcmp(bytes_.data() + begin, packed_.data(), packed_.size()) == 0;
}

void PointStore::grow() {
  std::vector<Index> bigger(table_.size() * 2, kNone);
  for (Index i = 0; i < size(); ++i) {
    const std::uint64_t begin = begins_[i];
    const std::uint64_t end = i + 1 < begins_.size() ? begins_[i + 1] : bytes_.size();
    std::size_t slot = hash_of(bytes_.data() + begin, end - begin) & (bigger.size() - 1);
    while (bigger[slot] != kNone) slot = (slot + 1) & (bigger.size() - 1);
    bigger[slot] = i;
  }
  table_ = std::move(bigger);
}

std::pair<PointStore::Index, bool> PointStore::put(const Point& point) {
  pack(point);
  std::size_t slot = hash_of(packed_.data(), packed_.size()) & (table_.size() - 1);
  for (; table_[slot] != kNone; slot = (slot + 1) & (table_.size() - 1)) {
    if (equal(table_[slot])) return {table_[slot], false};
  }
  if (begins_.size() >= kNone - 1) throw std::length_error("more points than a search can number");
  const Index index = size();
  table_[slot] = index;
  begins_.push_back(bytes_.size());
  bytes_.insert(bytes_.end(), packed_.begin(), packed_.end());
  if (begins_.size() * 2 > table_.size()) grow();
  return {index, true};
}

std::size_t PointStore::bytes() const {
  return bytes_.capacity() + begins_.capacity() * sizeof(std::uint64_t) + table_.capacity() * sizeof(Index);
}

}  // namespace loco::verify
