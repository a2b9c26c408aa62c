#include "loco_sim/loco/completions.hpp"

#include <array>
#include <string_view>

#include "loco_sim/loco/errors.hpp"

namespace loco {

std::string_view name(Status status) {
  constexpr std::array<std::string_view, 9> kNames = {
      "success",
      "local length error",
      "local protection error",
      "Work Request Flushed Error",
      "remote invalid request error",
      "remote access error",
      "remote operation error",
      "transport retry counter exceeded",
      "RNR retry counter exceeded",
  };
  return kNames.at(static_cast<std::size_t>(status));
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
  if (completion.token == 0) {
    if (completion.status != Status::success) record(unwaited_, completion.status);
    return;
  }
  const auto word = static_cast<Flag>((completion.token >> 6U) - 1);
  const std::uint64_t bit = std::uint64_t{1} << (completion.token & 63U);
  if (completion.status != Status::success) record(word, completion.status);
  transport_.flag_fetch_and(word, ~bit);
}

void completions::record(Flag word, Status status) {
  if (ack_word::status(transport_.flag_load(word)) != Status::success) return;
  transport_.flag_fetch_or(word, static_cast<std::uint64_t>(status) << ack_word::kOperations);
}

std::uint64_t completions::next_work_id() {
  const std::lock_guard lock(mutex_);
  return ++work_ids_;
}

}  // namespace loco
