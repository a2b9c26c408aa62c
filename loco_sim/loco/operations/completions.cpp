#include "loco_sim/loco/operations/completions.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "loco_sim/loco/errors.hpp"
#include "probe/probe.hpp"

namespace loco {

std::string_view name(Operation operation) {
  constexpr std::array<std::string_view, 4> kNames = {"put", "get", "fetch-and-add", "compare-and-swap"};
  return kNames.at(static_cast<std::size_t>(operation));
}

Flag completions::acquire_word() {
  std::optional<Flag> oldest;
  {
    const std::lock_guard lock(mutex_);
    if (!released_.empty()) {
      oldest = released_.front();
      released_.pop_front();
    }
  }
  if (!oldest) return transport_.make_flag();
  if ((transport_.flag_load(*oldest) & ack_word::kInFlight) != 0) {
    LOCO_PROBE(ack_word_still_in_use);
    release_word(*oldest);
    return transport_.make_flag();
  }
  transport_.flag_fetch_and(*oldest, 0);  // drops the status left by its previous key
  return *oldest;
}

void completions::release_word(Flag word) {
  const std::lock_guard lock(mutex_);
  released_.push_back(word);
}

void completions::finish(const Completion& completion) {
  if (completion.token == ack_word::kQuietToken) {
    if (completion.status != Status::success) {
      LOCO_PROBE(quiet_operation_fails);
      note_cause(completion);
    }
    return;
  }
  if (completion.token == 0) {
    if (completion.status != Status::success) record(unwaited_, completion);
    return;
  }
  if (completion.token == kEndedToken) return give_up(completion.peer);
  const auto word = static_cast<Flag>((completion.token >> 6U) - 1);
  const auto bit = static_cast<unsigned>(completion.token & 63U);
  if (completion.status != Status::success) record(word, completion);
  if (bit != ack_word::kNoBit) transport_.flag_fetch_and(word, ~(std::uint64_t{1} << bit));
}

void completions::give_up(NodeId node, bool told) {
  if (given_up_[node].exchange(true)) return;
  LOCO_PROBE(node_given_up);
  if (announcements_.given_up) announcements_.given_up(node);
  told_[node].store(told, std::memory_order_release);
  failed_[node].store(true, std::memory_order_release);
  note_suspect(node);
}

void completions::note_suspect(NodeId node) {
  std::uint32_t nobody = 0;
  if (suspect_.compare_exchange_strong(nobody, node + 1) && announcements_.suspect) announcements_.suspect(node);
  any_failed_ = true;
  transport_.wake_all();
}

void completions::take_back(NodeId node, std::uint32_t number) {
  bool forget = false;
  {
    const std::lock_guard lock(mutex_);
    causes_.erase(node);
    if (to_tell_ && to_tell_->peer() == node) to_tell_.reset();
    const auto unwaited = failures_.find(unwaited_);
    forget = unwaited != failures_.end() && unwaited->second.peer == node;
  }
  if (forget) {
    LOCO_PROBE(failure_forgotten_as_a_node_is_taken_back);
    transport_.flag_fetch_and(unwaited_, ack_word::kInFlight);
  }
  LOCO_PROBE(node_taken_back);
  told_[node] = false;
  failed_[node].store(false, std::memory_order_release);
  given_up_[node] = false;
  note_taken_back(transport_.my_node(), node, number);
}

void completions::note_taken_back(NodeId one, NodeId other, std::uint32_t number) {
  {
    const std::lock_guard lock(mutex_);
    for (const NodeId node : {one, other}) latest_[node] = std::max(latest_[node], number);
  }
  std::uint32_t suspect = suspect_;
  if (suspect == one + 1 || suspect == other + 1) suspect_.compare_exchange_strong(suspect, 0);
  reconsider();
  transport_.wake_all();
}

void completions::reconsider() {
  any_failed_ = suspect_ != 0;  // cleared before the scan, so that a concurrent give_up() sets it again
  for (NodeId node = 0; node < failed_.size(); ++node)
    if (failed_[node]) note_suspect(node);
}

std::uint32_t completions::latest_of(NodeId node) const {
  const std::lock_guard lock(mutex_);
  const auto found = latest_.find(node);
  return found == latest_.end() ? 0 : found->second;
}

void completions::forget_failures() {
  {
    const std::lock_guard lock(mutex_);
    to_tell_.reset();
  }
  transport_.flag_fetch_and(unwaited_, ack_word::kInFlight);
}

void completions::note_cause(const Completion& completion) {
  if (completion.connection < present_.number(completion.peer)) {  // it belongs to a connection that has ended
    LOCO_PROBE(completion_of_a_past_connection);
    return;
  }
  const bool silent = completion.status == Status::retry_exc_err || completion.status == Status::rnr_retry_exc_err;
  if (silent) give_up(completion.peer);
  if (completion.status != Status::wr_flush_err) {
    const std::lock_guard lock(mutex_);
    causes_.try_emplace(completion.peer, completion);
  }
}

void completions::record(Flag word, const Completion& completion) {
  note_cause(completion);
  if (ack_word::status(transport_.flag_load(word)) != Status::success) return;
  {
    const std::lock_guard lock(mutex_);
    failures_.insert_or_assign(word, completion);
  }
  transport_.flag_fetch_or(word, static_cast<std::uint64_t>(completion.status) << ack_word::kOperations);
}

operation_error failure(NodeId node, std::string_view what, NodeId peer, Status status) {
  return {status,
          "node " + std::to_string(node) + ": " + std::string(what) + " to node " + std::to_string(peer) +
              " failed: " + std::string(text(status)),
          peer};
}

operation_error completions::failure_of(Flag word, const std::string& which) {
  const std::lock_guard lock(mutex_);
  const Completion& failed = failures_.at(word);
  const operation_error error =
      failure(transport_.my_node(), which + std::string(name(failed.operation)), failed.peer, failed.status);
  if (failed.connection < present_.number(failed.peer))
    return {error.status(),
            std::string(error.what()) + ": node " + std::to_string(failed.peer) +
                " has been taken back since (reconnect), and what was made before does not reach it",
            error.peer()};
  const auto cause = causes_.find(failed.peer);
  if (failed.status != Status::wr_flush_err || cause == causes_.end()) return error;
  return {error.status(),
          std::string(error.what()) + ", since a " + std::string(name(cause->second.operation)) +
              " failed before: " + std::string(text(cause->second.status)),
          error.peer()};
}

void completions::throw_failure(Flag word) { throw failure_of(word, ""); }

void completions::tell_later(const operation_error& error) {
  const std::lock_guard lock(mutex_);
  if (!to_tell_) to_tell_ = error;
}

void completions::check() {
  if (any_failed()) {
    std::unique_lock lock(mutex_);
    if (const auto error = std::exchange(to_tell_, std::nullopt)) throw operation_error(*error);
  }
  if (ack_word::status(transport_.flag_load(unwaited_)) == Status::success) return;
  transport_.flag_fetch_and(unwaited_, ack_word::kInFlight);
  throw failure_of(unwaited_, "an operation that nobody waited for, a ");
}

std::uint64_t completions::next_work_id() {
  const std::lock_guard lock(mutex_);
  return ++work_ids_;
}

}  // namespace loco
