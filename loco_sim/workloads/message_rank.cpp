#include "loco_sim/workloads/message_rank.hpp"

#include <algorithm>
#include <bit>

namespace loco::workloads {

namespace {
/// What a look into a hash table takes: the bucket and the entry.
constexpr std::size_t kLooksPerMatch = 2;
}  // namespace

// --- ranks of one node -----------------------------------------------------------------------------------------------

message_boxes::message_boxes(Transport& node, std::uint32_t ranks_per_node, std::uint32_t words_max)
    : node_(node), ranks_(ranks_per_node), words_max_(words_max), boxes_(std::size_t{ranks_per_node} * ranks_per_node) {
  memory_ = node.allocate(boxes_.size() * (1 + kCells * cell_words()) * kWord);
}

Address message_boxes::box_address(std::uint32_t from, std::uint32_t to) const {
  return memory_.base + (std::uint64_t{from} * ranks_ + to) * (1 + kCells * cell_words()) * kWord;
}

Address message_boxes::cell(std::uint32_t from, std::uint32_t to, std::uint64_t number) const {
  return box_address(from, to) + (1 + number % kCells * cell_words()) * kWord;
}

void message_boxes::send(std::uint32_t from, std::uint32_t to, Tag tag, std::span<const std::uint64_t> words) {
  Box& box = boxes_[std::size_t{from} * ranks_ + to];
  if (box.sent >= kCells)
    while (node_.load(box_address(from, to)) + kCells <= box.sent) node_.pause();
  const Address at = cell(from, to, box.sent++);
  node_.store(at + kWord, words.size());
  node_.store(at + 2 * kWord, tag);
  node_.store_bytes(at + 3 * kWord, std::as_bytes(words));
  node_.store(at, box.sent);  // the last one, and stores stay in order
}

std::optional<Tag> message_boxes::receive(std::uint32_t from, std::uint32_t to, std::vector<std::uint64_t>& words) {
  Box& box = boxes_[std::size_t{from} * ranks_ + to];
  const Address at = cell(from, to, box.received);
  if (node_.load(at) != box.received + 1) return std::nullopt;
  words.resize(node_.load(at + kWord));
  const Tag tag = node_.load(at + 2 * kWord);
  node_.load_bytes(at + 3 * kWord, std::as_writable_bytes(std::span(words)));
  node_.store(box_address(from, to), ++box.received);
  return tag;
}

// --- a rank ----------------------------------------------------------------------------------------------------------

message_rank::message_rank(Transport& node, MessageNetwork& network, message_boxes& boxes, std::uint32_t thread,
                           std::int64_t received_ps)
    : node_(node),
      port_(network.port(node.my_node(), thread)),
      boxes_(boxes),
      thread_(thread),
      received_ps_(received_ps) {
  port_.open();
}

void message_rank::send(Rank to, Tag tag, std::span<const std::uint64_t> words) {
  if (to / boxes_.ranks() == node_.my_node()) return boxes_.send(thread_, to % boxes_.ranks(), tag, words);
  words_.assign(1, tag);
  words_.insert(words_.end(), words.begin(), words.end());
  port_.send(to, words_);
}

void message_rank::post_receive(Rank from, Tag tag, Request& request) {
  request.done = false;
  port_.charge_looks(kLooksPerMatch);
  if (const auto early = unexpected_.find({from, tag}); early != unexpected_.end()) {
    request.words.swap(early->second);
    request.done = true;
    unexpected_.erase(early);
    return;
  }
  expected_.emplace(Key{from, tag}, &request);
}

void message_rank::arrived(Rank from, Tag tag, std::span<const std::uint64_t> words) {
  port_.charge_looks(kLooksPerMatch);
  port_.charge(received_ps_);
  const auto found = expected_.find({from, tag});
  if (found == expected_.end()) {
    unexpected_.emplace(Key{from, tag}, std::vector(words.begin(), words.end()));
    return;
  }
  found->second->words.assign(words.begin(), words.end());
  found->second->done = true;
  expected_.erase(found);
}

bool message_rank::progress() {
  bool come = port_.poll(
      [this](PortId from, std::span<const std::uint64_t> words) { arrived(from, words.front(), words.subspan(1)); });
  for (std::uint32_t from = 0; from < boxes_.ranks(); ++from) {
    if (from == thread_) continue;
    const std::optional<Tag> tag = boxes_.receive(from, thread_, words_);
    if (!tag) continue;
    arrived(node_.my_node() * boxes_.ranks() + from, *tag, words_);
    come = true;
  }
  return come;
}

void message_rank::receive(Rank from, Tag tag, Request& request) {
  post_receive(from, tag, request);
  while (!request.done)
    if (!progress()) node_.pause();
}

// --- barriers --------------------------------------------------------------------------------------------------------

namespace {
/// Rounds of a barrier, in its tags: one for each power of two, and two for ranks beyond the greatest one.
constexpr unsigned kRoundBits = 6;
constexpr std::uint32_t kBefore = 62;
constexpr std::uint32_t kAfter = 63;
}  // namespace

void message_barrier::tell(Rank rank, std::uint32_t round) { rank_.send(rank, count_ << kRoundBits | round, {}); }
void message_barrier::hear(Rank rank, std::uint32_t round) {
  rank_.receive(rank, count_ << kRoundBits | round, request_);
}

void message_barrier::waiting() {
  const Rank me = rank_.rank();
  ++count_;
  if (algorithm_ == BarrierAlgorithm::dissemination) {
    for (std::uint32_t k = 0; (1U << k) < ranks_; ++k) {
      tell((me + (1U << k)) % ranks_, k);
      hear((me + ranks_ - (1U << k)) % ranks_, k);
    }
    return;
  }
  // Ranks beyond the greatest power of two let another one stand for them.
  const std::uint32_t full = std::bit_floor(ranks_);
  if (me >= full) {
    tell(me - full, kBefore);
    hear(me - full, kAfter);
    return;
  }
  const bool stands = me + full < ranks_;
  if (stands) hear(me + full, kBefore);
  for (std::uint32_t k = 0; (1U << k) < full; ++k) {
    tell(me ^ (1U << k), k);
    hear(me ^ (1U << k), k);
  }
  if (stands) tell(me + full, kAfter);
}

// --- broadcasts ------------------------------------------------------------------------------------------------------

message_broadcast::message_broadcast(message_rank& rank, std::uint32_t ranks) : rank_(rank) {
  constexpr std::uint32_t kLinearUpTo = 4;  // libNBC's choice
  const Rank me = rank.rank();
  if (ranks <= kLinearUpTo) {
    for (Rank r = 1; me == 0 && r < ranks; ++r) children_.push_back(r);
    return;
  }
  if (me != 0) parent_ = me - std::bit_floor(me);
  for (std::uint32_t step = me == 0 ? 1 : 2 * std::bit_floor(me); me + step < ranks; step *= 2)
    children_.push_back(me + step);
}

void message_broadcast::pass_on(Tag i, std::span<const std::uint64_t> words) {
  for (const Rank child : children_) rank_.send(child, i, words);
}

void message_broadcast::send(Tag i, std::span<const std::uint64_t> words) { pass_on(i, words); }

void message_broadcast::expect(Tag i) {
  under_way_.push_back({.number = i});
  rank_.post_receive(parent_, i, under_way_.back().request);  // a deque does not move what it holds
}

bool message_broadcast::progress() {
  bool happened = rank_.progress();
  rank_.look_at(under_way_.size());
  for (UnderWay& u : under_way_) {
    if (u.passed_on || !u.request.done) continue;
    u.passed_on = happened = true;
    pass_on(u.number, u.request.words);
  }
  return happened;
}

}  // namespace loco::workloads
