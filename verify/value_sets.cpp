#include "verify/value_sets.hpp"

#include <algorithm>
#include <iterator>
#include <set>

namespace loco::verify {

SetId ValueSets::id(const std::vector<Value>& values) {
  const auto [entry, added] = ids_.emplace(values, static_cast<SetId>(by_id_.size()));
  if (added) {
    constexpr std::size_t kOverhead = 96;  // of a map's node and a vector
    by_id_.push_back(&entry->first);
    bytes_ += kOverhead + values.size() * sizeof(Value);
  }
  return entry->second;
}

SetId ValueSets::with(SetId set, Value value) {
  const std::uint64_t key = (std::uint64_t{set} << 32U) | static_cast<std::uint32_t>(value);
  const auto known = with_.find(key);
  if (known != with_.end()) return known->second;
  std::vector<Value> result = values(set);
  const auto place = std::lower_bound(result.begin(), result.end(), value);
  if (place == result.end() || *place != value) result.insert(place, value);
  const SetId after = id(result);
  with_.emplace(key, after);
  bytes_ += 48;  // a node of the table
  return after;
}

SetId ValueSets::united(SetId a, SetId b) {
  if (a == b) return a;
  std::vector<Value> result;
  std::set_union(values(a).begin(), values(a).end(), values(b).begin(), values(b).end(), std::back_inserter(result));
  return id(result);
}

bool ValueSets::include(SetId larger, SetId smaller) const {
  return std::includes(values(larger).begin(), values(larger).end(), values(smaller).begin(), values(smaller).end());
}

namespace {

/// The two parts of the values that a cas may have read.
struct Read {
  std::set<Value> operands;
  std::set<std::pair<Value, Value>> pairs;
};

void add(Read& read, const std::vector<Value>& flat) {
  if (flat.empty()) return;
  const auto operands = static_cast<std::size_t>(flat.front());
  read.operands.insert(flat.begin() + 1, flat.begin() + 1 + static_cast<std::ptrdiff_t>(operands));
  for (std::size_t i = 1 + operands; i < flat.size(); i += 2) read.pairs.emplace(flat[i], flat[i + 1]);
}

std::vector<Value> flattened(const Read& read) {
  std::vector<Value> flat{static_cast<Value>(read.operands.size())};
  flat.insert(flat.end(), read.operands.begin(), read.operands.end());
  for (const auto& [operand, swap] : read.pairs) {
    flat.push_back(operand);
    flat.push_back(swap);
  }
  return flat;
}

}  // namespace

SetId ValueSets::pairs_with(SetId pairs, Value operand, Value swap) {
  Read read;
  add(read, values(pairs));
  read.operands.insert(operand);
  for (const Value o : read.operands) read.pairs.emplace(o, swap);  // the swap is read after the operand
  return id(flattened(read));
}

SetId ValueSets::pairs_united(SetId a, SetId b) {
  if (a == b) return a;
  Read read;
  add(read, values(a));
  add(read, values(b));
  return id(flattened(read));
}

bool ValueSets::pairs_include(SetId larger, SetId smaller) const {
  Read more;
  Read less;
  add(more, values(larger));
  add(less, values(smaller));
  return std::includes(more.operands.begin(), more.operands.end(), less.operands.begin(), less.operands.end()) &&
         std::includes(more.pairs.begin(), more.pairs.end(), less.pairs.begin(), less.pairs.end());
}

std::vector<std::pair<Value, Value>> ValueSets::pairs(SetId pairs) const {
  Read read;
  add(read, values(pairs));
  return {read.pairs.begin(), read.pairs.end()};
}

}  // namespace loco::verify
