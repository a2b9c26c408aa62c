#include "loco_sim/explore/state_map.hpp"

#include "nic_model/engine/hash.hpp"

namespace loco::explore {

namespace {
std::uint64_t name(const sim::Event& e) {
  nic::Hasher h;
  h.add_all(e.what, e.where, e.a, e.b);
  return h.value();
}
}  // namespace

std::uint32_t StateMap::find(const Configuration& c) {
  const std::uint64_t hash = c.hash();
  if (const auto at = index_.find(hash); at != index_.end()) return at->second;
  if (states_.size() == kStatesMax) return kUnknown;
  const auto number = static_cast<std::uint32_t>(states_.size());
  index_.emplace(hash, number);
  states_.push_back({.first = static_cast<std::uint32_t>(choices_.size())});
  machine_.choices(c, enabled_);
  for (const explore::Choice i : enabled_) add_choice(number, Machine::event(c, i));
  if (enabled_.empty()) {
    Ends& ends = machine_.finished(c) ? ends_[machine_.outcome(c)] : stuck_;
    ends.states.push_back(number);
    states_.back().open = ends.shown ? 0 : 1;
    states_.back().fresh = states_.back().open;
  }
  return number;
}

void StateMap::add_choice(std::uint32_t state, const sim::Event& event) {
  const bool twin = choice_of(state, event) != kUnknown;  // two events that do the same count as one choice
  choices_.push_back({.event = name(event), .from = state, .closed = twin});
  State& s = states_[state];
  ++s.choices;
  if (twin) {
    ++s.tried;
  } else {
    ++s.open;
  }
}

void StateMap::visit(std::uint32_t state, std::uint32_t run) {
  ++states_[state].visits;
  states_[state].last_visit = run;
}

std::uint32_t StateMap::choice_of(std::uint32_t state, const sim::Event& event) const {
  const State& s = states_[state];
  const std::uint64_t wanted = name(event);
  for (std::uint32_t i = s.first; i < s.first + s.choices; ++i) {
    if (choices_[i].event == wanted) return i;
  }
  return kUnknown;
}

void StateMap::connect(std::uint32_t choice, std::uint32_t to) {
  Choice& c = choices_[choice];
  if (c.to != kUnknown || c.closed) return;
  c.to = to;
  ++states_[c.from].tried;
  c.next_into = states_[to].into;
  states_[to].into = choice;
  if (closed(to)) return close_choice(choice);
  if (fresh(to) && ++states_[c.from].fresh == 1) refresh(c.from);
}

void StateMap::close_choice(std::uint32_t choice) {
  Choice& c = choices_[choice];
  if (c.closed) return;
  c.closed = true;
  if (--states_[c.from].open == 0) close(c.from);
}

/// Walks from the state to those that lead to it, and on from each for whose open choice `goes_on`.
template <typename GoesOn>
void StateMap::walk_up(std::uint32_t state, GoesOn goes_on) {
  work_.assign(1, state);
  while (!work_.empty()) {
    const std::uint32_t s = work_.back();
    work_.pop_back();
    for (std::uint32_t i = states_[s].into; i != kUnknown; i = choices_[i].next_into) {
      if (!choices_[i].closed && goes_on(choices_[i])) work_.push_back(choices_[i].from);
    }
  }
}

/// A way from the state to something new has become known, and hence from all states that lead to it.
void StateMap::refresh(std::uint32_t state) {
  walk_up(state, [this](const Choice& c) { return ++states_[c.from].fresh == 1; });
}

/// The last known way from the state to something new is gone.
void StateMap::wither(std::uint32_t state) {
  walk_up(state, [this](const Choice& c) { return --states_[c.from].fresh == 0; });
}

/// Closes choices and states that lead only to closed states.
void StateMap::close(std::uint32_t state) {
  walk_up(state, [this](Choice& c) {
    c.closed = true;
    return --states_[c.from].open == 0;
  });
}

void StateMap::show(const model::litmus::Outcome& outcome) { show(ends_[outcome]); }
void StateMap::show_stuck() { show(stuck_); }

void StateMap::show(Ends& ends) {
  if (ends.shown) return;
  ends.shown = true;
  for (const std::uint32_t s : ends.states) {
    states_[s].fresh = 0;
    wither(s);
    states_[s].open = 0;
    close(s);
  }
}

}  // namespace loco::explore
