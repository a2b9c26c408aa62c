#include "loco_sim/loco/operations/ack_key.hpp"

#include <algorithm>
#include <bit>
#include <exception>
#include <stdexcept>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/operations/call_scope.hpp"
#include "loco_sim/loco/operations/completions.hpp"
#include "loco_sim/loco/operations/local_node.hpp"

namespace loco {

ack_key::ack_key(local_node& node)
    : transport_(node.transport()),
      completions_(node.completion_service()),
      work_id_(completions_->next_work_id()),
      blocks_(node.blocks()) {
  blocks_->add(*this);
}

ack_key::~ack_key() {
  if (std::uncaught_exceptions() == 0)  // a transport that is being torn down cannot be asked
    for (const Use& use : uses_)
      if (in_flight(use)) blocks_->note_unfollowed(use.local, use.node);
  blocks_->remove(*this);
  for (const Flag word : words_) completions_->release_word(word);
}

void ack_key::forget() {
  for (const Flag word : words_) completions_->release_word(word);
  words_.clear();
  uses_.clear();
  listed_ = false;
  work_id_ = completions_->next_work_id();
}

OperationTag ack_key::begin_operation() {
  listed_ = false;
  for (auto word = words_.rbegin(); word != words_.rend(); ++word) {  // clang 14 has no std::views with libstdc++ 12
    const std::uint64_t free = free_bits(*word);  // they stay free: the polling thread only clears bits
    if (free == 0) continue;
    const auto bit = static_cast<unsigned>(std::countr_zero(free));
    transport_.flag_add_early(*word, std::uint64_t{1} << bit);
    return begun(ack_word::token(*word, bit));
  }
  words_.push_back(completions_->acquire_word());
  fresh_ = 0;
  transport_.flag_add_early(words_.back(), 1);
  return begun(ack_word::token(words_.back(), 0));
}

/// Finds the uses that the new operation makes stale: a reused bit means that its previous operation is complete. With
/// many operations in flight most bits are fresh, which needs no search. The listed operations before this one share
/// its completion, so they take over its token.
OperationTag ack_key::begun(std::uint64_t token) {
  if (token == ack_word::token(words_.back(), fresh_))
    ++fresh_;
  else
    std::erase_if(uses_, [token](const Use& use) { return use.token == token; });
  for (auto use = uses_.rbegin(); use != uses_.rend() && is_listed(*use); ++use) use->token = token;
  return {token, work_id_};
}

bool ack_key::is_listed(const Use& use) { return (use.token & 63U) == ack_word::kNoBit; }

bool ack_key::in_flight(const Use& use) const {
  if (is_listed(use)) return true;
  const auto word = static_cast<Flag>((use.token >> 6U) - 1);
  return (transport_.flag_peek(word) >> (use.token & 63U) & 1U) != 0;
}

bool ack_key::in_flight(const Region& block) const {
  return std::ranges::any_of(uses_,
                             [&](const Use& use) { return use.local - block.base < block.size && in_flight(use); });
}

/// A listed operation has no bit of its own, so it borrows the word of the next operation. That operation's bit keeps
/// the word from being recycled until a failure of either has been reported.
OperationTag ack_key::begin_listed() {
  listed_ = true;
  if (words_.empty() || free_bits(words_.back()) == 0) {
    words_.push_back(completions_->acquire_word());
    fresh_ = 0;
  }
  return {ack_word::token(words_.back(), ack_word::kNoBit), work_id_, Tell::with_next};
}

std::uint64_t ack_key::free_bits(Flag word) const { return ~transport_.flag_peek(word) & ack_word::kInFlight; }

void ack_key::require_posted() const {
  if (listed_)
    throw std::logic_error("a key waits for an operation that was to be followed by another one with the same key");
}

bool ack_key::complete() const {
  return std::ranges::all_of(words_,
                             [this](Flag word) { return (transport_.flag_peek(word) & ack_word::kInFlight) == 0; });
}

Status ack_key::status() const {
  for (const Flag word : words_)
    if (const Status s = ack_word::status(transport_.flag_load(word)); s != Status::success) return s;
  return Status::success;
}

void ack_key::note_complete() {
  for (const Flag word : words_)
    if (ack_word::status(transport_.flag_peek(word)) != Status::success) completions_->throw_failure(word);
  uses_.clear();
  const call_scope call(transport_, {.library = "rdmawait", .method = "wait", .work_id = work_id_});
  transport_.note_waited(work_id_);
}

void ack_key::wait_innermost() {
  require_posted();
  while (!complete()) transport_.pause();
  note_complete();
}

void ack_key::wait() {
  const call_scope call(transport_, {.library = library_, .method = "wait", .work_id = work_id_});
  wait_innermost();
}

bool ack_key::poll() {
  require_posted();
  if (!complete()) return false;
  const call_scope call(transport_, {.library = library_, .method = "wait", .work_id = work_id_});
  note_complete();
  return true;
}

}  // namespace loco
