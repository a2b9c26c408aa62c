#include "loco_sim/baselines/message_rank.hpp"

#include <algorithm>

namespace loco::baselines {

namespace {
/// Words read by a lookup in a hash table: the bucket and the entry.
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
  node_.store(at, box.sent);  // the last store, because stores stay in order
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
                           Costs costs)
    : node_(node), port_(network.port(node.my_node(), thread)), boxes_(boxes), thread_(thread), costs_(costs) {
  port_.open();
}

void message_rank::send(Rank to, Tag tag, std::span<const std::uint64_t> words) {
  port_.charge(costs_.sent_ps);
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
  port_.charge(costs_.received_ps);
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

std::size_t message_rank::wait_any(std::span<Request* const> requests) {
  const auto is_done = [](const Request* request) { return request != nullptr && request->done; };
  const auto first_done = [&] {
    return static_cast<std::size_t>(std::ranges::find_if(requests, is_done) - requests.begin());
  };
  // One pass over some of the requests.
  const auto pass = [&](std::size_t count) {
    const auto idle = static_cast<std::size_t>(std::ranges::count(requests.first(count), nullptr));
    port_.charge_looks(idle);
    port_.charge_swaps(count - idle);
  };
  std::size_t found = first_done();
  const std::size_t marked = std::min(found + 1, requests.size());
  pass(marked);
  while (found == requests.size()) {
    if (progress())
      found = first_done();
    else
      node_.pause();
  }
  pass(marked);
  return found;
}

std::vector<std::size_t> message_rank::test_some(std::span<Request* const> requests) {
  std::vector<std::size_t> found;
  port_.charge_looks(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i)
    if (requests[i] != nullptr && requests[i]->done) found.push_back(i);
  if (found.empty() && !progress()) node_.pause();
  return found;
}

}  // namespace loco::baselines
