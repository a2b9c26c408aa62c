// Completions of one node: the words behind ack_key objects, and what the polling thread does with a completion
// (LOCO paper, App. C.1).
//
// An ack word is a Flag of 56 bits, one an operation in flight, and the status of the first failed operation in the
// top byte. The posting thread sets a bit, the polling thread alone clears bits and writes the status, so neither
// waits for the other. A completion token names the word and the bit, so that the polling thread needs no table.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>

#include "loco_sim/loco/transport.hpp"

namespace loco {

namespace ack_word {
inline constexpr unsigned kOperations = 56;
inline constexpr std::uint64_t kInFlight = (std::uint64_t{1} << kOperations) - 1;

[[nodiscard]] constexpr Status status(std::uint64_t word) { return static_cast<Status>(word >> kOperations); }
/// Tokens are never 0: 0 is the token of an operation that nobody waits for.
[[nodiscard]] constexpr std::uint64_t token(Flag flag, unsigned bit) { return (std::uint64_t{flag} + 1) << 6U | bit; }
}  // namespace ack_word

class completions {
 public:
  explicit completions(Transport& transport) : transport_(transport), unwaited_(transport.make_flag()) {}

  /// An idle ack word: recycled if an abandoned one has become idle, new otherwise.
  Flag acquire_word();
  /// Gives a word back; its operations may still be in flight.
  void release_word(Flag word);

  /// The polling thread's work for one completion.
  void finish(const Completion& completion);

  /// Status of the first failed operation that nobody waited for; success if none.
  [[nodiscard]] Status unwaited_status() { return ack_word::status(transport_.flag_load(unwaited_)); }

  /// A fresh work id, never 0.
  std::uint64_t next_work_id();

 private:
  void record(Flag word, Status status);

  Transport& transport_;
  Flag unwaited_;
  std::mutex mutex_;
  std::deque<Flag> released_;
  std::uint64_t work_ids_ = 0;
};

}  // namespace loco
