#include "loco_sim/loco/objects/mixed_size.hpp"

#include <string>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/memory/bounds.hpp"
#include "loco_sim/loco/memory/checksum.hpp"
#include "loco_sim/loco/objects/var.hpp"
#include "loco_sim/loco/operations/call_scope.hpp"
#include "loco_sim/loco/operations/networked_node.hpp"
#include "probe/probe.hpp"

namespace loco {

namespace {
constexpr std::uint64_t kLeading = 0;
constexpr std::uint64_t kValue = 1;  // follows the checksum or the leading guard
}  // namespace

mixed_words::mixed_words(within where, std::string_view name, std::uint64_t words, std::optional<expect_num> expected,
                         std::string terms)
    : channel(where, name, or_all(expected, where.num_nodes())) {
  create(words, std::move(terms));
}

void mixed_words::create(std::uint64_t words, std::string terms) {
  set_terms(std::move(terms));
  region_ = symmetric_region("val", bytes_of(words, kWord));
  words_here_ = words_of(region_);
  join();
}

void mixed_words::store_words(std::uint64_t first, std::span<const std::uint64_t> words) {
  for (std::size_t i = 0; i < words.size(); ++i) words_here_[first + i] = words[i];
}

void mixed_words::load_words(std::uint64_t first, std::span<std::uint64_t> words) {
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = words_here_[first + i];
}

void mixed_words::require_words(std::size_t found, std::uint64_t expected) const {
  if (found != expected) throw other_words("'" + full_name() + "' has values", expected, found);
}

// --- with a checksum -------------------------------------------------------------------------------------------------

hashed_words::hashed_words(within where, std::string_view name, std::uint64_t words, std::optional<expect_num> expected)
    : mixed_words(where, name, words + 1, expected), words_(words) {}

void hashed_words::store(std::span<const std::uint64_t> value) {
  require_words(value.size(), words_);
  const std::uint64_t hash = checksum(value);
  const call_scope call(transport(), {.library = "msw", .method = "write", .object = full_name(), .argument = hash});
  store_word(kLeading, hash);
  store_words(kValue, value);
}

bool hashed_words::try_load(std::span<std::uint64_t> value) {
  require_words(value.size(), words_);
  call_scope call(transport(), {.library = "msw", .method = "tryread", .object = full_name()});
  const std::uint64_t hash = load_word(kLeading);
  load_words(kValue, value);
  if (hash != checksum(value)) {
    LOCO_PROBE(hashed_value_torn);
    return false;
  }
  call.set_result(hash);
  return true;
}

void hashed_words::push(NodeId node, ack_key& key) {
  key.note_mixed_size();
  const call_scope call(transport(),
                        {.library = "msw", .method = "put", .object = full_name(), .work_id = key.work_id()});
  here().put(at(kLeading), copy(node), 0, (words_ + 1) * kWord, &key);
}

void hashed_words::push_broadcast(ack_key& key) {
  for (const NodeId node : peers()) push(node, key);
}

void hashed_words::pull(NodeId node, ack_key& key) {
  key.note_mixed_size();
  const call_scope call(transport(),
                        {.library = "msw", .method = "get", .object = full_name(), .work_id = key.work_id()});
  here().get(at(kLeading), copy(node), 0, (words_ + 1) * kWord, &key);
}

// --- with guards -----------------------------------------------------------------------------------------------------

guarded_words::guarded_words(within where, std::string_view name, NodeId owner, std::uint64_t words,
                             guard_options options)
    : mixed_words(where, name, words + 2, options.peers, owners_text(std::span(&owner, 1))),
      owner_(owner),
      words_(words),
      options_(options),
      pushes_(here()) {
  require_network({Capability::ordered_puts});
  require_node(owner, "the owner");
  pushes_.note_mixed_size();
}

void guarded_words::store(std::span<const std::uint64_t> value) {
  require_owner(full_name(), owner_, my_node());
  require_words(value.size(), words_);
  pushes_.wait();  // otherwise a NIC could send this value between the guards of the previous one
  const call_scope call(transport(),
                        {.library = "msw", .method = "write", .object = full_name(), .argument = checksum(value)});
  ++fresh_;
  store_word(kLeading, fresh_);
  store_words(kValue, value);
  store_word(trailing(), fresh_);
}

bool guarded_words::try_load(std::span<std::uint64_t> value) {
  require_words(value.size(), words_);
  call_scope call(transport(), {.library = "msw", .method = "tryread", .object = full_name()});
  const std::uint64_t first = load_word(options_.read_forward ? kLeading : trailing());
  load_words(kValue, value);
  const std::uint64_t last = load_word(options_.read_forward ? trailing() : kLeading);
  if (first != last) {
    LOCO_PROBE(guarded_value_torn);
    return false;
  }
  call.set_result(checksum(value));
  return true;
}

/// Three puts, because the words of one put are placed in no order, but a later put follows an earlier one: a reader
/// that sees the trailing guard sees the value.
void guarded_words::push(NodeId node) { push(node, pushes_); }

void guarded_words::push(NodeId node, ack_key& key) {
  require_owner(full_name(), owner_, my_node());
  key.note_mixed_size();
  const call_scope call(transport(), {"msw", "put", full_name(), key.work_id()});
  const auto put = [&](std::uint64_t first, std::uint64_t words) {
    here().put(at(first), copy(node), first * kWord, words * kWord, &key);
  };
  put(kLeading, 1);
  put(kValue, words_);
  put(trailing(), 1);
}

void guarded_words::push_broadcast() { push_broadcast(pushes_); }

void guarded_words::push_broadcast(ack_key& key) {
  require_owner(full_name(), owner_, my_node());
  for (const NodeId node : peers()) push(node, key);
}

}  // namespace loco
