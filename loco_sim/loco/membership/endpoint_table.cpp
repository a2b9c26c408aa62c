#include "loco_sim/loco/membership/endpoint_table.hpp"

#include <algorithm>

#include "loco_sim/loco/membership/endpoint_state.hpp"

namespace loco {

bool endpoint_table::add(endpoint_state& endpoint) {
  if (!by_name_.emplace(endpoint.full_name(), &endpoint).second) return false;
  endpoint.begin_life(++lives_);
  living_.push_back({endpoint.life(), &endpoint});
  return true;
}

void endpoint_table::remove(const endpoint_state& endpoint) {
  by_name_.erase(endpoint.full_name());
  living_.erase(std::ranges::lower_bound(living_, endpoint.life(), {}, &Living::life));
  if (not_ready_ == &endpoint) not_ready_ = nullptr;
}

endpoint_state* endpoint_table::of_life(std::uint32_t life) const {
  if (living_.empty() || life < living_.front().life) return nullptr;
  const std::size_t guess = std::min<std::size_t>(life - living_.front().life, living_.size() - 1);
  if (living_[guess].life == life) return living_[guess].endpoint;  // true if no earlier one has gone
  const auto found = std::ranges::lower_bound(living_, life, {}, &Living::life);
  return found == living_.end() || found->life != life ? nullptr : found->endpoint;
}

endpoint_state* endpoint_table::named(const std::string& name, std::uint32_t likely) const {
  if (endpoint_state* const endpoint = of_life(likely); endpoint != nullptr && endpoint->full_name() == name)
    return endpoint;
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

/// Called after every message, of which there are many. Usually the endpoint that was not ready last time still is not.
/// Once it is, the search continues after it, because those before it were ready.
bool endpoint_table::all_ready() {
  if (not_ready_ != nullptr) {
    if (!not_ready_->connected()) return false;
    for (auto at = by_name_.upper_bound(not_ready_->full_name()); at != by_name_.end(); ++at)
      if (!at->second->connected()) {
        not_ready_ = at->second;
        return false;
      }
  }
  not_ready_ = unready();
  return not_ready_ == nullptr;
}

const endpoint_state* endpoint_table::unready() const {
  const auto found = std::ranges::find_if(by_name_, [](const auto& named) { return !named.second->connected(); });
  return found == by_name_.end() ? nullptr : found->second;
}

const endpoint_state* endpoint_table::unready_below(const endpoint_state& endpoint, ByName::const_iterator from) const {
  const std::string below = endpoint.full_name() + "/";
  for (; from != by_name_.end() && from->first.starts_with(below); ++from)
    if (!from->second->connected()) return from->second;
  return nullptr;
}

const endpoint_state* endpoint_table::unready_part(const endpoint_state& endpoint) const {
  if (!endpoint.connected()) return &endpoint;
  return unready_below(endpoint, by_name_.lower_bound(endpoint.full_name() + "/"));
}

const endpoint_state* endpoint_table::unready_from(const endpoint_state& endpoint, std::uint32_t life) const {
  if (const endpoint_state* const last = of_life(life); last != nullptr) {
    if (!last->connected()) return last;
    const endpoint_state* const next = unready_below(endpoint, by_name_.upper_bound(last->full_name()));
    if (next != nullptr) return next;
  }
  return unready_part(endpoint);
}

}  // namespace loco
