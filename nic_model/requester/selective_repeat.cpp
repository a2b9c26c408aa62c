#include "nic_model/requester/selective_repeat.hpp"

#include <algorithm>

#include "probe/probe.hpp"

namespace loco::nic {

using fabric::Psn;

bool SelectiveRepeat::knows(Psn psn) const {
  const std::int32_t index = psn.distance(base_);
  return index >= 0 && static_cast<std::size_t>(index) < psns_.size();
}

void SelectiveRepeat::sent(Psn psn, std::uint32_t count, Answer answer, sim::SimTime now, std::uint16_t entropy) {
  if (psns_.empty()) base_ = there_ = psn;
  if (psn.distance(base_) < 0) return;  // it has been answered meanwhile
  const auto end = static_cast<std::size_t>(psn.distance(base_)) + count;
  // PSNs in between were answered before clear(), so nobody waits for them.
  while (psns_.size() < end) psns_.push_back({.where = Where::done, .answer = Answer::in_turn});
  for (std::uint32_t i = 0; i < count; ++i) {
    Tracked& t = at(psn + i);
    t = {now, 1, entropy, Where::on_its_way, answer, t.at != sim::SimTime{}, t.trims};
  }
  at(psn).count = count;
  requests_.push_back({psn, count, now});
  if (answer != Answer::ack) asked_[answer == Answer::as_it_comes ? 1 : 0].push_back({psn, count, now});
}

void SelectiveRepeat::forget_before(Psn una) {
  while (!psns_.empty() && una.distance(base_) > 0) {
    psns_.pop_front();
    base_ = base_ + 1;
  }
  if (psns_.empty()) return clear();
  if (there_.distance(base_) < 0) there_ = base_;
  drop_forgotten();
}

/// Removes entries from the rings whose PSNs are no longer tracked.
void SelectiveRepeat::drop_forgotten() {
  const auto drop = [this](sim::Ring<Sending>& ring) {
    while (!ring.empty() && !knows(ring.front().psn + (ring.front().count - 1))) ring.pop_front();
  };
  drop(requests_);
  for (sim::Ring<Sending>& ring : asked_) drop(ring);
  while (!repeats_.empty() && (!knows(repeats_.front()) || at(repeats_.front()).where != Where::lost)) {
    repeats_.pop_front();
  }
}

void SelectiveRepeat::clear() {
  psns_.clear();
  requests_.clear();
  for (sim::Ring<Sending>& ring : asked_) ring.clear();
  repeats_.clear();
  from_ = {};
}

/// A request has reached the responder, so it will be answered.
void SelectiveRepeat::is_there(Psn psn) {
  const std::uint32_t count = at(psn).count;
  for (std::uint32_t i = 0; i < count && knows(psn + i); ++i) {
    Tracked& t = at(psn + i);
    if (t.where == Where::on_its_way || t.where == Where::lost) {
      t.where = t.answer == Answer::ack ? Where::done : Where::there;
    }
  }
}

void SelectiveRepeat::lose(Psn psn) {
  at(psn).where = Where::lost;
  repeats_.push_back(psn);
}

namespace {
/// True if it was sent before `psn`, which was sent at `at`, by more than the tolerance.
template <class Sending>
bool sent_before(const Sending& s, Psn psn, sim::SimTime at, sim::Duration tolerance) {
  const sim::SimTime limit = s.at + tolerance;
  return limit < at || (limit == at && s.psn.distance(psn) < 0);
}
}  // namespace

/// Takes for lost the requests that were sent before `psn` and have not arrived, while `psn` has.
void SelectiveRepeat::lose_requests(Psn psn, sim::Duration tolerance) {
  const sim::SimTime seen = at(psn).at;
  while (!requests_.empty() && sent_before(requests_.front(), psn, seen, tolerance)) {
    const Sending s = requests_.front();
    requests_.pop_front();
    for (std::uint32_t i = 0; i < s.count; ++i) {
      if (!knows(s.psn + i)) continue;
      const Tracked& t = at(s.psn + i);
      if (t.where != Where::on_its_way || t.at != s.at) continue;
      LOCO_PROBE(request_taken_for_lost);
      lose(s.psn + i);
    }
  }
}

/// True if an answer to this PSN proves something about packets sent before it. It does not if it comes too soon to
/// answer the latest of several transmissions, or if it is data that was requested again, which is sent out of turn.
bool SelectiveRepeat::tells_of_others(Psn psn, sim::SimTime now) {
  const Tracked& t = at(psn);
  const sim::Duration trip = now - t.at;
  if (t.again) {
    LOCO_PROBE(answer_to_a_repetition);
    return t.answer == Answer::ack && trip >= shortest_;
  }
  if (shortest_.ps == 0 || trip < shortest_) shortest_ = trip;
  return true;
}

void SelectiveRepeat::reached(Psn psn, Psn missing, const Seen& seen) {
  for (; there_.distance(missing) < 0 && knows(there_); there_ = there_ + 1) is_there(there_);
  if (knows(psn)) {
    is_there(psn);
    if (tells_of_others(psn, seen.now)) lose_requests(psn, seen.tolerance);
  }
  drop_forgotten();
}

/// Binary exponential back-off, in round trips: at once, behind one of them, behind two, four ...
void SelectiveRepeat::trimmed(Psn psn, sim::SimTime now, sim::Duration most) {
  constexpr std::uint8_t kDoublingsMost = 10;  // as IEEE 802.3
  if (!knows(psn) || at(psn).where != Where::on_its_way) return;
  Tracked& t = at(psn);
  if (t.trims > 0) {
    LOCO_PROBE(packet_trimmed_again);
    const sim::Duration wait = (now - t.at) * (std::int64_t{1} << (t.trims - 1));
    from_ = std::max(from_, now + std::min(wait, most));
  }
  if (t.trims <= kDoublingsMost) ++t.trims;
  lose(psn);
}

void SelectiveRepeat::lose_all_of(Psn psn, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i)
    if (knows(psn + i) && at(psn + i).where == Where::on_its_way) lose(psn + i);
}

void SelectiveRepeat::answered(Psn psn) {
  if (knows(psn)) at(psn).where = Where::done;
}

void SelectiveRepeat::lose_answers(sim::Ring<Sending>& asked, Psn psn, sim::Duration tolerance) {
  const sim::SimTime seen = at(psn).at;
  while (!asked.empty() && sent_before(asked.front(), psn, seen, tolerance)) {
    Sending& s = asked.front();
    const sim::SimTime asked_at = s.at;
    for (; s.count > 0 && s.psn != psn; --s.count, s.psn = s.psn + 1) {
      if (!knows(s.psn)) continue;
      const Tracked& t = at(s.psn);
      if ((t.where != Where::on_its_way && t.where != Where::there) || t.at != asked_at) continue;
      LOCO_PROBE(answer_taken_for_lost);
      lose(s.psn);
    }
    if (s.count > 0) {  // the rest of this request is answered after this one
      --s.count;
      s.psn = s.psn + 1;
      if (s.count > 0) return;
    }
    asked.pop_front();
  }
}

void SelectiveRepeat::answer_seen(Psn psn, bool as_it_comes, const Seen& seen) {
  if (!knows(psn) || !tells_of_others(psn, seen.now)) return;
  if (!as_it_comes) lose_answers(asked_[0], psn, seen.tolerance);
  lose_answers(asked_[1], psn, seen.tolerance);
  drop_forgotten();
}

/// Everything arrived except the last ACK: repeats the newest packet, which is acknowledged again.
void SelectiveRepeat::lose_newest() {
  for (std::size_t i = psns_.size(); i > 0; --i) {
    if (psns_[i - 1].answer != Answer::ack) continue;
    LOCO_PROBE(last_ack_taken_for_lost);
    return lose(base_ + static_cast<std::uint32_t>(i - 1));
  }
}

void SelectiveRepeat::time_out(bool all) {
  requests_.clear();
  for (sim::Ring<Sending>& ring : asked_) ring.clear();
  repeats_.clear();
  for (std::size_t i = 0; i < psns_.size(); ++i) {
    const Psn psn = base_ + static_cast<std::uint32_t>(i);
    const Tracked& t = psns_[i];
    const bool known_to_have_come = t.where == Where::done && (!all || t.answer != Answer::ack);
    if (!known_to_have_come) lose(psn);
  }
  if (all) there_ = base_;
  if (repeats_.empty()) lose_newest();
}

std::uint32_t SelectiveRepeat::take(std::uint32_t most) {
  const Psn first = repeats_.front();
  std::uint32_t count = 0;
  while (count < most && knows(first + count) && at(first + count).where == Where::lost) {
    at(first + count).where = Where::on_its_way;
    ++count;
  }
  repeats_.pop_front();
  drop_forgotten();
  return count;
}

void SelectiveRepeat::hash(Hasher& h) const {
  h.add_all(psns_.size(), base_.value(), there_.value(), repeats_.size());
  for (std::size_t i = 0; i < psns_.size(); ++i) h.add_all(psns_[i].where, psns_[i].count);
  for (std::size_t i = 0; i < repeats_.size(); ++i) h.add(repeats_[i].value());
}

bool SelectiveRepeat::consistent() const {
  if (repeats_.empty()) return true;
  return knows(repeats_.front()) && at(repeats_.front()).where == Where::lost;
}

}  // namespace loco::nic
