#include "loco_sim/loco/completions.hpp"

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "loco_sim/loco/errors.hpp"

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
    release_word(*oldest);
    return transport_.make_flag();
  }
  transport_.flag_fetch_and(*oldest, 0);  // forget the status of its former life
  return *oldest;
}

void completions::release_word(Flag word) {
  const std::lock_guard lock(mutex_);
  released_.push_back(word);
}

void completions::finish(const Completion& completion) {
  if (completion.token == ack_word::kQuietToken) {
    if (completion.status != Status::success) note_cause(completion);
    return;
  }
  if (completion.token == 0) {
    if (completion.status != Status::success) record(unwaited_, completion);
    return;
  }
  const auto word = static_cast<Flag>((completion.token >> 6U) - 1);
  const auto bit = static_cast<unsigned>(completion.token & 63U);
  if (completion.status != Status::success) record(word, completion);
  if (bit != ack_word::kNoBit) transport_.flag_fetch_and(word, ~(std::uint64_t{1} << bit));
}

void completions::give_up(NodeId node, bool told) {
  if (given_up_[node].exchange(true)) return;
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

void completions::note_cause(const Completion& completion) {
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
