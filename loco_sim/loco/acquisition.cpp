#include "loco_sim/loco/acquisition.hpp"

#include <algorithm>
#include <exception>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/lock_words.hpp"
#include "loco_sim/loco/manager.hpp"

namespace loco {

using namespace lock_words;

namespace {
// Where answers land, and the name comes from.
constexpr std::uint64_t kDrawn = 0, kSeen = kWord, kSeenNext = 2 * kWord, kOld = 3 * kWord, kName = 4 * kWord;
constexpr std::uint64_t kBytes = 5 * kWord;
}  // namespace

acquisition::acquisition(mutex_array& locks, Rests rests)
    : locks_(locks), rests_(rests), answers_(locks.mgr(), kBytes), key_(locks.mgr()) {}

void acquisition::start(std::uint64_t k, std::uint32_t lane) {
  lock_ = k;
  lane_ = lane;
  Transport& transport = locks_.transport();
  local_ = &locks_.mine(k);
  transport.begin_call(
      {.library = "lock", .method = "acquire", .object = locks_.full_name(), .argument = k, .lane = lane});
  turn_ = transport.flag_add_early(local_->next, 1);
  patience_ = {};
  turn_comes_ = false;
  latest_ = 0;
  rest_ps_ = 0;
  step_ = Step::queue;
}

bool acquisition::poll() {
  try {
    return advance();
  } catch (const std::exception&) {  // a failed operation, or one that this transport does not have
    key_.forget();
    step_ = Step::held;
    locks_.give_up(*local_);
    locks_.transport().abandon_call(lane_);
    throw;
  }
}

bool acquisition::advance() {
  while (true) {
    switch (take_step()) {
      case Goes::on:
        break;
      case Goes::not_yet:
        return false;
      case Goes::held:
        step_ = Step::held;
        local_->holder.store(locks_.transport().my_thread() + 1, std::memory_order_relaxed);
        locks_.transport().end_call(0, lane_);
        return true;
    }
  }
}

/// Has what was posted been answered? The node on whose seat the name is may be one that does not answer: then nobody
/// knows whether it has the lock, and the home is asked.
bool acquisition::answered() {
  try {
    return key_.poll();
  } catch (const operation_error& error) {
    const bool asked_home = step_ == Step::draw || step_ == Step::ask || step_ == Step::give_back;
    if (asked_home || at_home_ || error.peer() == locks_.home(lock_)) throw;
    key_.forget();
    ask();
    return false;
  }
}

acquisition::Goes acquisition::take_step() {
  if (step_ == Step::queue) return queue();
  if (step_ == Step::wait) return wait();
  if (!answered()) return Goes::not_yet;
  switch (step_) {
    case Step::draw:
      return drawn();
    case Step::announce:
      return announced();
    case Step::claim:
      return claimed();
    case Step::withdraw:
      turn_comes_ = answers_.load(kOld) != answers_.load(kName);
      ask();
      return Goes::on;
    case Step::ask:
      return asked();
    default:  // given back, or not
      locks_.require_hope(lock_, answers_.load(kOld) == local_->drawn + share_of(locks_.my_node()), serving_ + latest_,
                          patience_);
      ask();
      return Goes::on;
  }
}

acquisition::Goes acquisition::queue() {
  if (locks_.transport().flag_peek(local_->serving) != turn_) return Goes::not_yet;
  local_->turn = turn_;
  if (local_->handed_over) return Goes::held;
  locks_.draw(lock_, answers_.address() + kDrawn, answers_.address() + kSeen, key_);
  step_ = Step::draw;
  return Goes::on;
}

acquisition::Goes acquisition::drawn() {
  local_->drawn = answers_.load(kDrawn);
  serving_ = answers_.load(kSeen);
  const bool free = serving_ == local_->drawn;
  const bool alone = free && answers_.load(kSeenNext) == local_->drawn + share_of(locks_.my_node());
  // What is served and what is drawn next have been read in any order: others may have drawn when this ticket was
  // served at last, and have seen that it was not. If this thread's own put served it, before it drew, nobody has.
  const bool own = local_->freed == local_->drawn && local_->freed_by == locks_.transport().my_thread() + 1;
  using Others = mutex_array::Others;
  local_->others = !alone ? Others::some : own ? Others::none : Others::unseen;
  if (free) return Goes::held;
  announce();
  return Goes::on;
}

/// May the one before be a holder who looks at its own seat only? Who is further behind has one before that waits.
bool acquisition::is_next() const { return ticket_of(local_->drawn) == ticket_of(serving_ + 1); }

void acquisition::announce() {
  manager& mgr = locks_.mgr();
  const NodeId before = node_of(local_->drawn - serving_);
  // Who asks needs no name. The own node has let go, if it is the one before: what it has put is on its way.
  if (locks_.any_lost() || (is_next() && before == locks_.my_node())) return ask();
  at_home_ = !is_next();
  name_ = at_home_ ? locks_.name_word(lock_, local_->drawn) : locks_.seat_word(before, lock_, kLink);
  const mutex_array::word_at look =
      at_home_ ? locks_.home_word(lock_, kServing) : locks_.seat_word(before, lock_, kReleased);
  answers_.store(name_of(local_->drawn, locks_.my_node()), kName);
  mgr.put(answers_.address() + kName, name_.region, name_.offset, kWord, &key_, {.fenced = false, .more = true});
  mgr.get(answers_.address() + kSeen, look.region, look.offset, kWord, &key_);
  step_ = Step::announce;
}

acquisition::Goes acquisition::announced() {
  const std::uint64_t seen = answers_.load(kSeen);
  step_ = Step::wait;
  if (!at_home_ && seen == local_->drawn) ask();  // what the one before has put on the home, or here, is on its way
  if (!at_home_) return Goes::on;
  serving_ = seen;
  if (seen == local_->drawn || is_next())
    take_name_back(Step::claim);  // whoever passes the lock on may have seen it all the same
  return Goes::on;
}

void acquisition::take_name_back(Step step) {
  locks_.mgr().compare_swap(answers_.address() + kOld, name_.region, name_.offset, answers_.load(kName), 0, &key_,
                            {.fenced = false});
  step_ = step;
}

acquisition::Goes acquisition::claimed() {
  if (answers_.load(kOld) != answers_.load(kName)) {  // the one before has taken it: the turn is on its way
    step_ = Step::wait;
    return Goes::on;
  }
  if (serving_ == local_->drawn) return Goes::held;
  announce();  // to the holder, who has come to be the only one before
  return Goes::on;
}

acquisition::Goes acquisition::wait() {
  if (locks_.transport().load(locks_.my_seat(lock_, kTurn)) == local_->drawn) return Goes::held;
  if (!locks_.any_lost()) return Goes::not_yet;
  take_name_back(Step::withdraw);
  return Goes::on;
}

void acquisition::ask() {
  const mutex_array::word_at home = locks_.home_word(lock_, kServing);
  asked_ps_ = locks_.transport().now_ps();
  locks_.mgr().get(answers_.address() + kSeen, home.region, home.offset, kServingAndNext, &key_);
  step_ = Step::ask;
}

acquisition::Goes acquisition::asked() {
  if (locks_.transport().load(locks_.my_seat(lock_, kTurn)) == local_->drawn) return Goes::held;
  serving_ = answers_.load(kSeen);
  if (serving_ == local_->drawn && !turn_comes_) return Goes::held;
  // Turns are passed on without the home's knowledge; who draws again has let go before. Tickets given back don't
  // count.
  latest_ = std::max(latest_, ticket_of(answers_.load(kSeenNext)));
  if (locks_.lost_with(serving_ + latest_, patience_, 1)) {
    locks_.give_back(lock_, local_->drawn, answers_.address() + kOld, key_);
    step_ = Step::give_back;
    return Goes::on;
  }
  rest();
  ask();
  return Goes::on;
}

/// Longer each time, from a round trip on, but a sixteenth of what an operation takes to fail at most: so that
/// questions are few beside the time-outs of packets that are lost, and add little to them. A thread with other tasks,
/// which rest as well, begins when so many round trips have gone by that something must be lost, and rests for less.
void acquisition::rest() {
  constexpr std::int64_t kAtOnce = 64;  // round trips
  constexpr std::int64_t kSooner = 64;
  Transport& transport = locks_.transport();
  const std::int64_t now = transport.now_ps();
  if (rest_ps_ == 0) {
    rest_ps_ = now - asked_ps_;
    rests_from_ps_ = rests_ == Rests::yes ? now : now + kAtOnce * rest_ps_;
  }
  if (now < rests_from_ps_) return;
  transport.compute(rest_ps_);
  rest_ps_ = std::min(2 * rest_ps_, locks_.longest_rest_ps() / (rests_ == Rests::yes ? 1 : kSooner));
}

}  // namespace loco
