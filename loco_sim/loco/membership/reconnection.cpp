#include "loco_sim/loco/membership/reconnection.hpp"

#include <algorithm>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/membership/endpoint_state.hpp"
#include "probe/probe.hpp"

namespace loco {

reconnection::reconnection(Transport& transport, setup& channels, completions& acks, connections& present,
                           network_memory& memory)
    : transport_(transport), channels_(channels), acks_(acks), present_(present), memory_(memory) {
  channels_.on_again([this](NodeId from, const setup_message& message) { handle(from, message); });
}

void reconnection::say(NodeId to, Step step, std::uint32_t number, std::uint32_t by) {
  setup_message message{.kind = setup_message::Kind::again,
                        .channel = own_->full_name(),
                        .life = number,
                        .use = static_cast<std::uint32_t>(step),
                        .by = step == Step::told ? by : own_->life()};
  if (step == Step::meet) message.offers = own_->offers();
  channels_.send(to, message);
}

void reconnection::handle(NodeId from, const setup_message& message) {
  Peer& peer = peers_[from];
  switch (static_cast<Step>(message.use)) {
    case Step::ask:
      peer.asked = message.life;
      break;
    case Step::meet:
      peer.met = message.life;
      if (own_ != nullptr) channels_.meet(*own_, from, message);
      break;
    case Step::done:
      peer.done = message.life;
      channels_.heed_joins(from);
      break;
    case Step::off:
      peer.asked = 0;
      break;
    case Step::told:
      channels_.when_free([this, from, by = message.by, number = message.life] {
        acks_.note_taken_back(from, by, number);  // deferred: its stores to shared memory take time
      });
      break;
  }
}

bool reconnection::asked_back(NodeId node) const {
  const auto lock = channels_.holding();
  const auto found = peers_.find(node);
  return found != peers_.end() && found->second.asked != 0 && !found->second.busy;
}

void reconnection::require_time(const Attempt& attempt) const {
  if (!attempt.until_ps || transport_.now_ps() < *attempt.until_ps) return;
  throw operation_error(Status::retry_exc_err,
                        "node " + std::to_string(transport_.my_node()) + ": node " + std::to_string(attempt.node) +
                            " has not taken this one back (reconnect) within the time that it was given",
                        attempt.node);
}

void reconnection::wait(const Attempt& attempt, const std::function<bool()>& ready) {
  const std::string what = "node " + std::to_string(attempt.node) + " takes this one back";
  const auto ready_or_ended = [&] {
    if (!transport_.has_ended(attempt.node)) return ready();
    throw operation_error(Status::retry_exc_err,
                          "node " + std::to_string(transport_.my_node()) + ": node " + std::to_string(attempt.node) +
                              " will not take this one back (reconnect): it has ended",
                          attempt.node);
  };
  if (!channels_.wait_for(ready_or_ended, what, attempt.until_ps)) require_time(attempt);
}

std::uint32_t reconnection::agreed(const Attempt& attempt) {
  const std::uint32_t asked = peers_[attempt.node].asked;
  return asked == 0 ? 0 : std::max(attempt.asks_for, asked);
}

/// On return nothing of this or an earlier connection is in flight.
void reconnection::end_connection(const Attempt& attempt) {
  transport_.disconnect(attempt.node);
  while (!transport_.disconnected(attempt.node)) {
    require_time(attempt);
    transport_.compute(kLookAgainPs);
  }
}

void reconnection::begin(Attempt& attempt) {
  acks_.give_up(attempt.node);
  channels_.ignore_joins(attempt.node);
  end_connection(attempt);
  {
    const auto lock = channels_.holding();
    const Peer& peer = peers_[attempt.node];
    attempt.asks_for = 1 + std::max({peer.asked, peer.met, present_.number(attempt.node), acks_.latest_of(attempt.node),
                                     acks_.latest_of(transport_.my_node())});
  }
  say(attempt.node, Step::ask, attempt.asks_for);
}

bool reconnection::heard(const Attempt& attempt, std::uint32_t number, std::uint32_t Peer::*step) {
  wait(attempt, [&] { return peers_[attempt.node].*step == number || agreed(attempt) != number; });
  const auto lock = channels_.holding();
  return peers_[attempt.node].*step == number;
}

/// Tries the new connection: reads a word from the peer.
void reconnection::reach(const Attempt& attempt, std::uint32_t number) {
  if (!landing_) landing_ = memory_.allocate(transport_.num_nodes() * kWord);
  Region there = attempt.fence(attempt.node);
  there.connection = number;
  const Flag word = acks_.acquire_word();
  transport_.flag_add_early(word, 1);
  transport_.get(landing_->base + attempt.node * kWord, there, 0, kWord, {.token = ack_word::token(word, 0)});
  while ((transport_.flag_load(word) & ack_word::kInFlight) != 0) transport_.pause();
  const bool reached = ack_word::status(transport_.flag_load(word)) == Status::success;
  if (!reached) acks_.throw_failure(word);
  acks_.release_word(word);
}

std::optional<std::uint32_t> reconnection::connect(const Attempt& attempt) {
  wait(attempt, [&] { return agreed(attempt) != 0; });
  std::uint32_t number = 0;
  {
    const auto lock = channels_.holding();
    number = agreed(attempt);
  }
  if (number == 0) return std::nullopt;
  transport_.connect(attempt.node, number);
  say(attempt.node, Step::meet, number);
  if (!heard(attempt, number, &Peer::met)) return std::nullopt;
  reach(attempt, number);
  {
    const auto lock = channels_.holding();  // held over both steps, so that no endpoint is made between them
    present_.renew(attempt.node, number, channels_.lives());
    say(attempt.node, Step::done, number);
  }
  return heard(attempt, number, &Peer::done) ? std::optional(number) : std::nullopt;
}

void reconnection::finish(const Attempt& attempt, std::uint32_t number) {
  {
    const auto lock = channels_.holding();
    Peer& peer = peers_[attempt.node];
    if (peer.asked <= number) peer.asked = 0;
  }
  acks_.take_back(attempt.node, number);
  for (NodeId node = 0; node < transport_.num_nodes(); ++node)
    if (node != attempt.node && node != transport_.my_node()) say(node, Step::told, number, attempt.node);
}

void reconnection::reconnect(const std::function<Region(NodeId)>& fence, NodeId node,
                             std::optional<std::int64_t> limit_ps) {
  if (node >= transport_.num_nodes() || node == transport_.my_node())
    throw setup_error("node " + std::to_string(transport_.my_node()) + " cannot reconnect to node " +
                      std::to_string(node) + ": expected another one of " + std::to_string(transport_.num_nodes()));
  Attempt attempt{.node = node, .until_ps = std::nullopt, .asks_for = 0, .fence = fence};
  if (limit_ps) attempt.until_ps = transport_.now_ps() + *limit_ps;
  {
    const auto lock = channels_.holding();
    if (std::exchange(peers_[node].busy, true))
      throw setup_error("node " + std::to_string(transport_.my_node()) + ": two threads reconnect to node " +
                        std::to_string(node) + " at once");
  }
  try {
    LOCO_PROBE(reconnection);
    begin(attempt);
    std::optional<std::uint32_t> number = connect(attempt);
    while (!number) {
      LOCO_PROBE(reconnection_begins_again);
      end_connection(attempt);
      number = connect(attempt);
    }
    finish(attempt, *number);
  } catch (const operation_error&) {
    LOCO_PROBE(reconnection_fails);
    transport_.disconnect(node);
    say(node, Step::off, attempt.asks_for);
    const auto lock = channels_.holding();
    peers_[node].busy = false;
    throw;
  }
  const auto lock = channels_.holding();
  peers_[node].busy = false;
}

}  // namespace loco
