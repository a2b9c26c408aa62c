#include "loco_sim/loco/membership/setup.hpp"

#include <algorithm>
#include <utility>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/membership/endpoint_state.hpp"
#include "probe/probe.hpp"

namespace loco {

namespace {
bool is_name(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '/';
  };
  return !name.empty() && name.front() != '/' && name.back() != '/' && std::ranges::all_of(name, allowed);
}
}  // namespace

setup::setup(Transport& transport, network_memory& memory, const connections& present)
    : transport_(transport),
      changed_(transport.make_flag()),
      present_(present),
      departures_(transport, memory, [this](NodeId node, const std::string& name, std::uint32_t life) {
        send(node, {.kind = setup_message::Kind::gone, .channel = name, .life = life});
      }) {}

void setup::add(endpoint_state& endpoint) {
  if (departures_.any()) {  // memory that is reclaimed now can serve this endpoint
    catch_up();
    const std::lock_guard lock(mutex_);
    departures_.settle();
  }
  if (!is_name(endpoint.full_name()))
    throw setup_error("channel name '" + endpoint.full_name() + "': expected letters, digits, '_' and '-'");
  const std::lock_guard lock(mutex_);
  if (!endpoints_.add(endpoint))
    throw setup_error("channel name '" + endpoint.full_name() + "' is used twice on node " +
                      std::to_string(transport_.my_node()));
}

void setup::remove(const endpoint_state& endpoint) {
  {
    const std::lock_guard lock(mutex_);
    if (endpoints_.of_life(endpoint.life()) != &endpoint) return;  // it has left already
  }
  catch_up();
  const std::lock_guard lock(mutex_);
  endpoints_.remove(endpoint);
  departures_.left(endpoint.life(), endpoint.full_name(), endpoint.offered(), endpoint.reached());
  ++ended_[std::hash<std::string_view>{}(endpoint.full_name())];
}

std::size_t setup::endpoints() const {
  const std::lock_guard lock(mutex_);
  std::size_t early = 0;
  for (const auto& [name, joins] : early_) early += joins.size();
  return endpoints_.size() + early + departures_.size();
}

void setup::destroyed(std::uint32_t life, std::vector<departures::piece> memory, std::vector<departures::use> uses) {
  const std::lock_guard lock(mutex_);
  departures_.destroyed(life, std::move(memory), std::move(uses));
}

std::vector<std::uint32_t> setup::note_fenced(std::span<const NodeId> nodes) {
  if (!departures_.any()) return {};
  const std::lock_guard lock(mutex_);
  departures_.fenced(transport_.my_thread(), nodes);
  departures_.settle();
  return departures_.take_done();
}

std::uint32_t setup::use_of(std::string_view name) const {
  const auto found = ended_.find(std::hash<std::string_view>{}(name));
  return found == ended_.end() ? 1 : found->second + 1;
}

template <typename Work>
void setup::work_and_tell(Work work) {
  bool news = false;
  std::vector<std::function<void()>> later;
  {
    const std::lock_guard lock(mutex_);
    news_ = false;
    work();
    news = news_;
    later.swap(later_);
  }
  for (const auto& rest : later) rest();
  if (news) transport_.flag_fetch_add(changed_, 1);
}

void setup::join(endpoint_state& endpoint) {
  work_and_tell([&] {
    endpoint.note_joined();
    const auto [first, end] = endpoint.peers_joined();
    for (NodeId peer = first; peer < end; ++peer)
      if (endpoint.joins(peer)) send_join(endpoint, peer);
    if (const auto early = early_.extract(endpoint.full_name()); !early.empty())
      for (const auto& [from, message] : early.mapped()) consider(endpoint, from, message);
  });
}

void setup::send_join(endpoint_state& endpoint, NodeId to) {
  send(to, {.kind = setup_message::Kind::join,
            .channel = endpoint.full_name(),
            .life = endpoint.life(),
            .use = use_of(endpoint.full_name()),
            .requests = endpoint.requests_to(to),
            .terms = endpoint.terms()});
}

void setup::send(NodeId to, const setup_message& message) { transport_.send_control(to, encode(message)); }

bool setup::handle_next() {
  bool any = false;
  work_and_tell([&] {  // receives under the lock, so that messages are handled in the order of their arrival
    const std::optional<ControlMessage> message = transport_.receive_control();
    any = message.has_value();
    if (message) handle(*message);
  });
  return any;
}

void setup::catch_up() {
  try {
    work_and_tell([&] {
      bool news = false;
      while (const std::optional<ControlMessage> message = transport_.take_control()) {
        handle(*message);
        news |= news_;
      }
      news_ = news;
    });
  } catch (...) {  // a transport that is being torn down throws, but an endpoint must be destroyed without throwing
  }
}

void setup::handle(const ControlMessage& message) {
  try {
    const setup_message decoded = decode(message.body);
    switch (decoded.kind) {
      case setup_message::Kind::join:
        handle_join(message.from, decoded);
        break;
      case setup_message::Kind::connect:
        handle_connect(message.from, decoded);
        break;
      case setup_message::Kind::refuse:
        handle_refuse(decoded);
        break;
      case setup_message::Kind::fail:
        keep(decoded.reason);
        break;
      case setup_message::Kind::gone:
        handle_gone(decoded);
        break;
      case setup_message::Kind::again:
        if (again_) again_(message.from, decoded);
        news_ = true;
        break;
    }
  } catch (const std::exception& error) {
    keep(error.what());
  }
}

void setup::keep(const std::string& reason) {
  if (failure_.empty()) failure_ = reason;
  news_ = true;
}

void setup::fail(const std::string& channel, const std::string& reason) {
  if (!failure_.empty()) return;
  keep(reason);
  for (NodeId node = 0; node < transport_.num_nodes(); ++node)
    if (node != transport_.my_node())
      send(node, {.kind = setup_message::Kind::fail, .channel = channel, .reason = reason});
}

void setup::begin() {
  const std::lock_guard lock(mutex_);
  failure_.clear();
}

void setup::ignore_joins(NodeId from) {
  const std::lock_guard lock(mutex_);
  ignored_.insert(from);
}

void setup::heed_joins(NodeId from) {
  const std::lock_guard lock(mutex_);
  ignored_.erase(from);
  for (auto& [name, joins] : early_) joins.erase(from);
  std::erase_if(early_, [](const auto& named) { return named.second.empty(); });
}

void setup::meet(endpoint_state& endpoint, NodeId from, const setup_message& again) {
  const std::lock_guard lock(mutex_);
  const bool met_before = endpoint.meet_again(from, again);
  if (!met_before) note_met(endpoint, from);
  static_cast<void>(endpoint.tell_connected(from));
}

void setup::handle_join(NodeId from, const setup_message& message) {
  if (ignored_.contains(from)) {
    LOCO_PROBE(join_of_a_node_given_up);
    return;
  }
  endpoint_state* const found = endpoints_.named(message.channel, message.life);
  if (found != nullptr && found->has_joined())
    consider(*found, from, message);
  else
    early_[message.channel].insert_or_assign(from, message);
}

void setup::consider(endpoint_state& endpoint, NodeId from, const setup_message& message) {
  const std::string problem = endpoint.mismatch(from, message);
  if (endpoint.answered_by(from) || present_.outdated(endpoint.life(), from) ||
      (!problem.empty() && message.use > use_of(message.channel)))
    early_[message.channel].insert_or_assign(from, message);
  else
    answer(endpoint, from, message, problem);
}

void setup::answer(endpoint_state& endpoint, NodeId from, const setup_message& message, const std::string& problem) {
  if (!problem.empty()) {
    send(from,
         {.kind = setup_message::Kind::refuse, .channel = message.channel, .life = message.life, .reason = problem});
    return;
  }
  if (!message.requests.empty()) endpoint.note_offered();
  send(from, {.kind = setup_message::Kind::connect,
              .channel = message.channel,
              .life = message.life,
              .by = endpoint.life(),
              .offers = endpoint.offers(message.requests)});
  if (endpoint.note_answered(from)) note_met(endpoint, from);
}

void setup::note_met(endpoint_state& endpoint, NodeId peer) {
  const bool called_back = endpoint.note_met(peer);
  if (called_back || endpoint.connected()) news_ = true;
}

endpoint_state* setup::answered(const setup_message& message) const { return endpoints_.of_life(message.life); }

void setup::handle_connect(NodeId from, const setup_message& message) {
  endpoint_state* const endpoint = answered(message);
  if (endpoint == nullptr) {
    LOCO_PROBE(join_answered_too_late);
    if (!message.offers.empty()) departures_.told_too_late(message.life, message.channel, {from, message.by});
    return;
  }
  endpoint->accept(from, message);
  if (endpoint->tell_connected(from)) news_ = true;
  note_met(*endpoint, from);
}

void setup::handle_refuse(const setup_message& message) {
  if (answered(message) != nullptr) fail(message.channel, message.reason);
}

void setup::handle_gone(const setup_message& message) {
  endpoint_state* const endpoint = answered(message);
  if (endpoint == nullptr)
    departures_.peer_gone(message.life);
  else
    endpoint->note_peer_gone();
}

template <typename Ready>
bool setup::wait(Ready ready, std::function<std::string()> what, std::optional<Flag> stop,
                 std::optional<std::int64_t> until_ps) {
  const waiting_for note(transport_, std::move(what));
  while (true) {
    transport_.flag_load(changed_);  // before the check, so that pause() returns for any later change
    if (stop && transport_.flag_peek(*stop) != 0) return false;
    {
      const std::lock_guard lock(mutex_);
      if (ready()) return true;
    }
    if (!until_ps)
      transport_.pause();
    else if (transport_.now_ps() >= *until_ps)
      return false;
    else
      transport_.compute(std::min(kLookAgainPs, *until_ps - transport_.now_ps()));
  }
}

template <typename Ready>
bool setup::wait_for_joins(Ready ready, const std::function<const endpoint_state*()>& missing,
                           std::optional<Flag> stop) {
  const auto ready_or_failed = [&] {
    if (!failure_.empty()) throw setup_error(failure_);
    if (ready()) return true;
    if (!transport_.any_ended()) return false;
    catch_up();  // a node's messages from before its end still count
    if (ready()) return true;
    require_joiners(missing());
    return false;
  };
  const auto what = [&missing] {
    const endpoint_state* endpoint = missing();
    return endpoint == nullptr ? "it has seen that all have joined" : endpoint->missing();
  };
  return wait(ready_or_failed, what, stop, {});
}

void setup::require_joiners(const endpoint_state* endpoint) const {
  if (endpoint == nullptr) return;
  if (const std::optional<NodeId> lost = endpoint->lost_joiner())
    throw operation_error(Status::retry_exc_err,
                          "node " + std::to_string(transport_.my_node()) + ": '" + endpoint->full_name() +
                              "' waits for node " + std::to_string(*lost) + ", which has ended before it joined",
                          *lost);
}

bool setup::wait_for(const std::function<bool()>& ready, const std::string& what,
                     std::optional<std::int64_t> until_ps) {
  return wait(
      ready, [&what] { return what; }, {}, until_ps);
}

void setup::wait_for_ready() {
  wait_for_joins([this] { return endpoints_.all_ready(); }, [this] { return endpoints_.unready(); }, {});
}

bool setup::ready(const endpoint_state& endpoint) const {
  const std::lock_guard lock(mutex_);
  return endpoints_.unready_part(endpoint) == nullptr;
}

bool setup::wait_for_part(const endpoint_state& endpoint, std::optional<Flag> stop) {
  std::uint32_t life = 0;  // the incarnation that was unready last time
  const auto ready = [&] {
    const endpoint_state* const missing = endpoints_.unready_from(endpoint, life);
    if (missing != nullptr) life = missing->life();
    return missing == nullptr;
  };
  return wait_for_joins(
      ready, [&] { return endpoints_.unready_part(endpoint); }, stop);
}

void setup::wait_for_ready(const endpoint_state& endpoint) { static_cast<void>(wait_for_part(endpoint, {})); }

bool setup::wait_for_ready(const endpoint_state& endpoint, Flag stop) { return wait_for_part(endpoint, stop); }

}  // namespace loco
