#include "loco_sim/explore/seek.hpp"

namespace loco::explore {

void Seeker::run(Configuration& c) {
  ++runs_;
  length_ = 0;
  machine_.settle(c);
  std::uint32_t at = map_.find(c);
  for (std::uint64_t steps = 0; !machine_.over(c) && steps < machine_.steps_max(); ++steps) {
    const bool known = at != StateMap::kUnknown;
    if (!known || map_.state(at).last_visit == runs_) {  // not on the map, or in a cycle
      machine_.choices(c, choices_);
      machine_.step(c, choices_[stream_.below(choices_.size())]);
      machine_.settle(c);
      if (known) at = map_.find(c);
      continue;
    }
    map_.visit(at, runs_);
    push(at, c);
    const Choice i = pick(c, at);
    const std::uint32_t choice = map_.choice_of(at, Machine::event(c, i));
    machine_.step(c, i);
    machine_.settle(c);
    at = map_.find(c);
    if (at == StateMap::kUnknown || choice == StateMap::kUnknown) continue;
    if (map_.state(at).last_visit == runs_) {
      map_.close_choice(choice);
    } else {
      map_.connect(choice, at);
    }
  }
  look_ahead();
}

/// Chooses among the choices that are known to lead to something new, or otherwise among the open ones, the one whose
/// state has had the fewest visits.
Choice Seeker::pick(const Configuration& c, std::uint32_t state) {
  machine_.choices(c, choices_);
  const Choice none = c.system.pending_events();
  Choice best = none;
  constexpr std::uint64_t kLast = std::uint64_t{1} << 63U;
  std::uint64_t least = ~std::uint64_t{0};
  for (const Choice i : choices_) {
    const std::uint32_t number = map_.choice_of(state, Machine::event(c, i));
    if (number == StateMap::kUnknown) continue;
    const StateMap::Choice& choice = map_.choice(number);
    if (choice.closed) continue;
    const bool known = choice.to != StateMap::kUnknown;
    const std::uint64_t visits = known ? map_.state(choice.to).visits : 0;
    const bool fresh = known && map_.fresh(choice.to);
    const std::uint64_t rank = (fresh ? 0 : kLast) | visits << 32U | stream_() >> 32U;
    if (rank >= least) continue;
    least = rank;
    best = i;
  }
  return best != none ? best : choices_[stream_.below(choices_.size())];
}

void Seeker::push(std::uint32_t state, const Configuration& c) {
  if (length_ == kPathMax) return;
  if (length_ == path_.size()) {
    path_.push_back({state, c});
  } else {
    path_[length_].state = state;
    path_[length_].configuration = c;
  }
  ++length_;
}

bool Seeker::on_path(std::uint32_t state) const {
  for (std::size_t i = 0; i < length_; ++i) {
    if (path_[i].state == state) return true;
  }
  return false;
}

Choice Seeker::untried(const Place& place) {
  const std::size_t pending = place.configuration.system.pending_events();
  if (map_.closed(place.state) || map_.expanded(place.state)) return pending;
  machine_.choices(place.configuration, choices_);
  for (const Choice i : choices_) {
    const std::uint32_t number = map_.choice_of(place.state, Machine::event(place.configuration, i));
    if (number == StateMap::kUnknown) continue;
    const StateMap::Choice& choice = map_.choice(number);
    if (!choice.closed && choice.to == StateMap::kUnknown) return i;
  }
  return pending;
}

void Seeker::look_ahead() {
  left_ += kAhead;
  while (length_ > 0 && left_ > 0) {
    const Place& place = path_[length_ - 1];
    const Choice i = untried(place);
    if (i == place.configuration.system.pending_events()) {
      --length_;
      continue;
    }
    if (--left_ % kAskEvery == 0 && (enough_known() || out_of_time_())) return;
    const std::uint32_t choice = map_.choice_of(place.state, Machine::event(place.configuration, i));
    next_ = place.configuration;
    machine_.step(next_, i);
    machine_.settle(next_);
    const std::size_t known = map_.outcomes();
    const std::uint32_t to = map_.find(next_);
    if (to == StateMap::kUnknown) return;  // the map is full
    if (map_.outcomes() != known) left_ += kFound;
    if (on_path(to)) {
      map_.close_choice(choice);
      continue;
    }
    map_.connect(choice, to);
    if (!map_.closed(to) && !map_.expanded(to)) push(to, next_);
  }
}

}  // namespace loco::explore
