#include "loco_sim/baselines/tree_node.hpp"

#include <algorithm>
#include <vector>

#include "loco_sim/loco/memory/checksum.hpp"

namespace loco::baselines {

namespace {
enum EntryWord : std::size_t { kKey, kValue, kEntryVersion, kEntrySum };
}  // namespace

tree_node::tree_node(std::uint64_t level, std::uint64_t lowest, std::uint64_t last) {
  words_[kVersion] = 1;
  words_[kLevel] = level;
  words_[kLowest] = lowest;
  words_[kLast] = last;
  if (level > 0) return;
  for (std::size_t i = 0; i < kEntries; ++i) set_entry(i, 0, 0);
}

std::uint64_t tree_node::sum() const {
  checksum_of_words all;
  for (std::size_t i = 0; i < kSum; ++i) all.add(words_[i]);
  // In a torn node the number of children may have any value.
  const std::size_t behind = level() == 0 ? 0 : std::min(children(), kChildren) * kChildWords;
  for (std::size_t i = 0; i < behind; ++i) all.add(words_[kHeaderWords + i]);
  return all.value();
}

// --- leaves ----------------------------------------------------------------------------------------------------------

tree_node::entry tree_node::entry_of(std::size_t i) const {
  const std::size_t at = entry_at(i);
  return {.key = words_[at + kKey], .value = words_[at + kValue], .version = words_[at + kEntryVersion]};
}

bool tree_node::entry_intact(std::size_t i) const {
  const std::size_t at = entry_at(i);
  return words_[at + kEntrySum] == checksum(std::span(words_).subspan(at, kEntrySum));
}

void tree_node::set_entry(std::size_t i, std::uint64_t key, std::uint64_t value) {
  const std::size_t at = entry_at(i);
  words_[at + kKey] = key;
  words_[at + kValue] = value;
  words_[at + kEntryVersion] = version();
  words_[at + kEntrySum] = checksum(std::span<const std::uint64_t>(words_).subspan(at, kEntrySum));
}

tree_node tree_node::upper_half_of_leaf() const {
  std::vector<entry> live;
  for (std::size_t i = 0; i < kEntries; ++i)
    if (!is_free(i)) live.push_back(entry_of(i));
  std::ranges::sort(live, {}, &entry::key);
  const std::size_t middle = live.size() / 2;
  tree_node upper(0, live[middle].key, last());
  for (std::size_t i = middle; i < live.size(); ++i) upper.set_entry(i - middle, live[i].key, live[i].value);
  return upper;
}

// --- inner nodes -----------------------------------------------------------------------------------------------------

tree_node::child tree_node::child_of(std::size_t i) const {
  const std::size_t at = kHeaderWords + i * kChildWords;
  return {.lowest = words_[at], .place = tree_place::of(words_[at + 1])};
}

tree_place tree_node::child_for(std::uint64_t key) const {
  std::size_t after = 0;  // number of children whose keys begin no later
  while (after < children() && child_of(after).lowest <= key) ++after;
  return after == 0 ? tree_place::of(words_[kLeftmost]) : child_of(after - 1).place;
}

bool tree_node::insert_child(const child& inserted) {
  const std::size_t count = children();
  if (count == kChildren) return false;
  std::size_t at = count;
  for (; at > 0 && child_of(at - 1).lowest > inserted.lowest; --at) {
    const std::size_t to = kHeaderWords + at * kChildWords;
    words_[to] = words_[to - kChildWords];
    words_[to + 1] = words_[to - 1];
  }
  words_[kHeaderWords + at * kChildWords] = inserted.lowest;
  words_[kHeaderWords + at * kChildWords + 1] = inserted.place.word();
  words_[kCount] = count + 1;
  ++words_[kVersion];
  return true;
}

/// The middle child becomes the leftmost child of the upper half.
tree_node tree_node::upper_half_of_children() {
  const std::size_t count = children();
  const std::size_t middle = count / 2;
  tree_node upper(level(), child_of(middle).lowest, last());
  upper.set_leftmost(child_of(middle).place);
  for (std::size_t i = middle + 1; i < count; ++i) upper.insert_child(child_of(i));
  words_[kCount] = middle;
  return upper;
}

tree_node tree_node::split(tree_place place) {
  tree_node upper = level() == 0 ? upper_half_of_leaf() : upper_half_of_children();
  upper.words_[kSibling] = words_[kSibling];
  words_[kLast] = upper.lowest() - 1;
  set_sibling(place);
  ++words_[kVersion];
  return upper;
}

}  // namespace loco::baselines
