#include "model/trace_index.hpp"

#include <algorithm>
#include <tuple>

#include "model/flat_map.hpp"

namespace loco::model {

TraceIndex::TraceIndex(const Trace& trace, const Poll& poll) : trace_(&trace), poll_(&poll) {
  index_calls();
  index_words();
  index_mo();
  index_unbegun();
  index_finishes();
}

void TraceIndex::index_calls() {
  const Trace& t = *trace_;
  thread_begin_.assign(t.threads.size() + 1, 0);
  FlatMap<WordKey, bool> broadcast;  // (work id, thread)
  for (const Call& c : t.calls) {
    poll();
    ++thread_begin_[c.thread + 1];
    if (c.method == Method::bcast) broadcast[WordKey{c.work_id, c.thread}] = true;
  }
  call_kinds_.reserve(t.calls.size());
  for (const Call& c : t.calls)
    call_kinds_.push_back({c.parent, c.library, c.method,
                           c.method == Method::sv_wait && broadcast.find(WordKey{c.work_id, c.thread}) != nullptr});
  for (std::size_t i = 1; i < thread_begin_.size(); ++i) thread_begin_[i] += thread_begin_[i - 1];
  thread_calls_.resize(t.calls.size());
  std::vector<std::uint32_t> at(thread_begin_.begin(), thread_begin_.end() - 1);
  for (std::uint32_t i = 0; i < t.calls.size(); ++i) thread_calls_[at[t.calls[i].thread]++] = i + 1;

  call_begin_.assign(t.calls.size() + 2, 0);
  for (const Subevent& s : t.subevents) ++call_begin_[s.call + 1];
  for (std::size_t i = 1; i < call_begin_.size(); ++i) call_begin_[i] += call_begin_[i - 1];
  call_subevents_.resize(t.subevents.size());
  // call_begin_[c] is now where call c (from 1) starts; filling moves it to where it ends, which is what
  // subevents_of(c) needs at index c, and index c - 1 then holds where it starts.
  for (std::uint32_t i = 0; i < t.subevents.size(); ++i) call_subevents_[call_begin_[t.subevents[i].call]++] = i + 1;
}

void TraceIndex::index_words() {
  const Trace& t = *trace_;
  word_.assign(t.subevents.size(), kNoWord);
  FlatMap<WordKey, std::uint32_t> numbers;  // word number + 1
  std::uint32_t words = 0;
  for (std::size_t i = 0; i < t.subevents.size(); ++i) {
    poll();
    const Subevent& s = t.subevents[i];
    if (!is_access(s.stamp)) continue;
    std::uint32_t& number = numbers[WordKey{s.address, s.node}];
    if (number == 0) number = ++words;
    word_[i] = number - 1;
  }
  first_.assign(words, 0);
}

void TraceIndex::index_mo() {
  const Trace& t = *trace_;
  next_.assign(t.subevents.size(), 0);
  position_.assign(t.subevents.size(), 0);
  const auto broken = [&](std::size_t i) {
    if (broken_mo_ == 0) broken_mo_ = static_cast<SubeventId>(i + 1);
  };
  for (std::size_t i = 0; i < t.subevents.size(); ++i) {
    poll();
    const Subevent& s = t.subevents[i];
    if (!is_write(s.stamp) || !has_finished(s)) continue;
    SubeventId& after = s.overwrote == 0 ? first_[word_[i]] : next_[s.overwrote - 1];
    const bool same_word = s.overwrote == 0 || (is_write(subevent(s.overwrote).stamp) &&
                                                word(s.overwrote) == word_[i] && has_finished(subevent(s.overwrote)));
    if (after != 0 || !same_word) {
      broken(i);
    } else {
      after = static_cast<SubeventId>(i + 1);
    }
  }
  std::vector<SubeventId> last(first_.size(), 0);
  for (std::size_t w = 0; w < first_.size(); ++w) {
    std::uint32_t position = 0;
    for (SubeventId id = first_[w]; id != 0; id = next_[id - 1]) {
      if (position_[id - 1] != 0) return broken(id - 1);
      position_[id - 1] = ++position;
      last[w] = id;
    }
  }
  for (std::size_t i = 0; i < t.subevents.size(); ++i)
    if (is_write(t.subevents[i].stamp) && has_finished(t.subevents[i]) && position_[i] == 0) return broken(i);
  if (broken_mo_ == 0) append_unfinished(last);
}

void TraceIndex::index_finishes() {
  const std::vector<Subevent>& subevents = trace_->subevents;
  finish_.resize(subevents.size());
  kinds_.resize(subevents.size());
  for (std::size_t i = 0; i < subevents.size(); ++i) {
    poll();
    const Subevent& s = subevents[i];
    kinds_[i] = {s.stamp, is_unbegun(s), s.peer};
    finish_[i] = 2 + (is_unbegun(s)        ? (std::uint64_t{3} << 62) | i
                      : s.finish == kNever ? (std::uint64_t{1} << 63) | (2 * s.start + 1)
                                           : 2 * s.finish + (is_instant(s.stamp) ? 0 : 1));
  }
}

void TraceIndex::index_unbegun() {
  const Trace& t = *trace_;
  for (std::size_t i = 0; i < t.subevents.size(); ++i) {
    const Subevent& s = t.subevents[i];
    if (!is_unbegun(s)) continue;
    has_unbegun_ = true;
    if (is_write(s.stamp)) unbegun_writes_.push_back({word_[i], static_cast<SubeventId>(i + 1)});
    if (!is_given_up(s)) continue;
    if (gave_up_.empty()) gave_up_.assign(t.threads.size(), kNever);
    Seq& first = gave_up_[t.calls[s.call - 1].thread];
    first = std::min(first, s.finish);
  }
  std::stable_sort(unbegun_writes_.begin(), unbegun_writes_.end(),
                   [](const UnbegunWrite& a, const UnbegunWrite& b) { return a.word < b.word; });
}

std::span<const TraceIndex::UnbegunWrite> TraceIndex::unbegun_writes(std::uint32_t word) const {
  if (unbegun_writes_.empty()) return {};
  const auto [first, last] =
      std::equal_range(unbegun_writes_.begin(), unbegun_writes_.end(), UnbegunWrite{word, 0},
                       [](const UnbegunWrite& a, const UnbegunWrite& b) { return a.word < b.word; });
  return {first, last};
}

void TraceIndex::append_unfinished(std::vector<SubeventId>& last) {
  const Trace& t = *trace_;
  std::vector<std::tuple<Seq, SubeventId>> unfinished;
  for (std::size_t i = 0; i < t.subevents.size(); ++i)
    if (is_write(t.subevents[i].stamp) && !is_unbegun(t.subevents[i]) && t.subevents[i].finish == kNever)
      unfinished.emplace_back(t.subevents[i].start, static_cast<SubeventId>(i + 1));
  std::sort(unfinished.begin(), unfinished.end());
  for (const auto& [start, id] : unfinished) {
    const std::uint32_t w = word(id);
    (last[w] == 0 ? first_[w] : next_[last[w] - 1]) = id;
    position_[id - 1] = mo_position(last[w]) + 1;
    last[w] = id;
  }
}

}  // namespace loco::model
