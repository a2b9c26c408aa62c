#include "loco_sim/loco/locks/acquisition.hpp"

#include <algorithm>
#include <exception>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/locks/lock_words.hpp"
#include "loco_sim/loco/operations/networked_node.hpp"
#include "probe/probe.hpp"

namespace loco {

using namespace lock_words;

namespace {
// Offsets in answers_: values read from the home, then the name and sign to put.
constexpr std::uint64_t kDrawn = 0, kOld = kWord, kSeenSign = 2 * kWord;
constexpr std::uint64_t kName = 3 * kWord, kOwnSign = 4 * kWord;   // adjacent: one put writes both
constexpr std::uint64_t kSeen = 5 * kWord, kSeenNext = 6 * kWord;  // adjacent: one get reads both
/// The served ticket and a sign are read with one get if they lie within this many bytes, the payload of a PCIe
/// completion.
constexpr std::uint64_t kAtOnce = 256;
}  // namespace

acquisition::acquisition(lock_array& locks, Rests rests)
    : locks_(locks),
      rests_(rests),
      answers_(locks.here(), kSeen + std::min(locks.home_bytes(), kAtOnce)),
      key_(locks.here()) {}

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
  } catch (const std::exception&) {  // a failed operation, or one that the transport does not support
    key_.forget();
    step_ = Step::held;
    LOCO_PROBE(lock_acquisition_fails);
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

/// True if the posted operations have completed. If the node whose seat was to take the name does not answer, it may
/// hold the lock or not, so the home is asked.
bool acquisition::answered() {
  try {
    return key_.poll();
  } catch (const operation_error& error) {
    const bool asked_home = step_ == Step::draw || step_ == Step::ask || step_ == Step::give_back;
    if (asked_home || at_home_ || error.peer() == locks_.home(lock_)) throw;
    LOCO_PROBE(lock_holder_does_not_answer);
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
    default:  // Step::give_back
      locks_.require_hope(lock_, answers_.load(kOld) == local_->drawn + share_of(locks_.my_node()), serving_ + latest_,
                          patience_);
      ask();
      return Goes::on;
  }
}

acquisition::Goes acquisition::queue() {
  if (locks_.transport().flag_peek(local_->serving) != turn_) return Goes::not_yet;
  local_->turn = turn_;
  if (local_->handed_over) {
    LOCO_PROBE(lock_handed_over_within_a_node);
    return Goes::held;
  }
  locks_.draw(lock_, answers_.address() + kDrawn, answers_.address() + kSeen, key_);
  step_ = Step::draw;
  return Goes::on;
}

acquisition::Goes acquisition::drawn() {
  local_->drawn = answers_.load(kDrawn);
  serving_ = answers_.load(kSeen);
  const bool free = serving_ == local_->drawn;
  // One get reads both words of the home in any order. Others may have drawn while this ticket came to be served, and
  // may have seen an older served ticket. They keep looking until they find this thread served or its sign (see
  // acquisition.hpp).
  local_->contended = !free || answers_.load(kSeenNext) != local_->drawn + share_of(locks_.my_node());
  if (free) return Goes::held;
  announce();
  return Goes::on;
}

/// True if the predecessor may be the holder, who looks for names on its own seat only. Otherwise the predecessor is
/// waiting.
bool acquisition::is_next() const { return ticket_of(local_->drawn) == ticket_of(serving_ + 1); }

void acquisition::announce() {
  networked_node& mgr = locks_.here();
  const NodeId before = node_of(local_->drawn - serving_);
  // A thread that asks the home needs no name. If the predecessor was on this node, it has released the lock and its
  // put to the home is in flight. With non-atomic tickets (lock_fault) the words may name no node at all.
  const bool gone = before == locks_.my_node() || before >= mgr.num_nodes();
  if (locks_.any_lost() || (is_next() && gone)) return ask();
  answers_.store(name_of(local_->drawn, locks_.my_node()), kName);
  at_home_ = !is_next();
  if (at_home_) {
    LOCO_PROBE(lock_has_several_waiting);
    return announce_at_home();
  }
  name_ = locks_.seat_word(before, lock_, kLink);
  const lock_array::word_at look = locks_.seat_word(before, lock_, kReleased);
  const lock_array::word_at sign = locks_.sign_word(lock_, local_->drawn);
  mgr.put(answers_.address() + kName, name_.region, name_.offset, kWord, &key_, {.fenced = false, .more = true});
  mgr.get(answers_.address() + kSeen, look.region, look.offset, kWord, &key_);
  // Nothing waits for this put. Its source is this node's seat; if a later sign overwrites the source first, that one
  // serves as well.
  const Address own = locks_.my_seat(lock_, kSign);
  locks_.transport().store(own, answers_.load(kName));
  mgr.put(own, sign.region, sign.offset, kWord, nullptr, {.fenced = false, .quiet = true});
  step_ = Step::announce;
}

void acquisition::announce_at_home() {
  name_ = locks_.name_word(lock_, local_->drawn);
  looks_ = 0;
  answers_.store(answers_.load(kName), kOwnSign);
  locks_.here().put(answers_.address() + kName, name_.region, name_.offset, kPlaceBytes, &key_,
                    {.fenced = false, .more = true});
  look_at_home();
}

void acquisition::look_at_home() {
  const lock_array::word_at home = locks_.home_word(lock_, kServing);
  const lock_array::word_at sign = locks_.sign_word(lock_, local_->drawn - 1);
  const std::uint64_t both = sign.offset + kWord - home.offset;
  asked_ps_ = locks_.transport().now_ps();
  if (both <= kAtOnce) {
    seen_sign_ = kSeen + both - kWord;
    locks_.here().get(answers_.address() + kSeen, home.region, home.offset, both, &key_);
  } else {
    seen_sign_ = kSeenSign;
    locks_.here().get(answers_.address() + kSeen, home.region, home.offset, kWord, &key_, {.more = true});
    locks_.here().get(answers_.address() + kSeenSign, sign.region, sign.offset, kWord, &key_);
  }
  step_ = Step::announce;
}

acquisition::Goes acquisition::announced() {
  const std::uint64_t seen = answers_.load(kSeen);
  step_ = Step::wait;
  if (!at_home_) {
    if (seen == local_->drawn) {  // the predecessor's put to the home, or to this seat, is in flight
      LOCO_PROBE(lock_released_while_announced);
      ask();
    }
    return Goes::on;
  }
  serving_ = seen;
  if (seen == local_->drawn || is_next()) {
    take_name_back(Step::claim);  // the predecessor may have seen the name all the same
    return Goes::on;
  }
  if (is_before(answers_.load(seen_sign_), local_->drawn)) return Goes::on;
  const Goes goes = wait();
  if (goes != Goes::not_yet) return goes;
  if (looks_++ != 0) rest();
  look_at_home();
  return Goes::on;
}

void acquisition::take_name_back(Step step) {
  locks_.here().compare_swap(answers_.address() + kOld, name_.region, name_.offset, answers_.load(kName), 0, &key_,
                             {.fenced = false});
  step_ = step;
}

acquisition::Goes acquisition::claimed() {
  if (answers_.load(kOld) != answers_.load(kName)) {  // the predecessor has taken it and will tell this seat
    LOCO_PROBE(lock_name_taken_before_it_was_claimed);
    step_ = Step::wait;
    return Goes::on;
  }
  if (serving_ == local_->drawn) return Goes::held;
  announce();  // on the seat of the holder, which is now the predecessor
  return Goes::on;
}

acquisition::Goes acquisition::wait() {
  if (locks_.transport().load(locks_.my_seat(lock_, kTurn)) == local_->drawn) return Goes::held;
  if (!locks_.any_lost()) return Goes::not_yet;
  LOCO_PROBE(lock_waits_for_a_node_that_may_be_lost);
  take_name_back(Step::withdraw);
  return Goes::on;
}

void acquisition::ask() {
  const lock_array::word_at home = locks_.home_word(lock_, kServing);
  asked_ps_ = locks_.transport().now_ps();
  locks_.here().get(answers_.address() + kSeen, home.region, home.offset, kServingAndNext, &key_);
  step_ = Step::ask;
}

acquisition::Goes acquisition::asked() {
  if (locks_.transport().load(locks_.my_seat(lock_, kTurn)) == local_->drawn) return Goes::held;
  serving_ = answers_.load(kSeen);
  if (serving_ == local_->drawn && !turn_comes_) return Goes::held;
  // Nodes pass turns on without writing to the home, so new tickets are the sign of progress: a node draws again only
  // after it has released. Returned tickets do not count.
  latest_ = std::max(latest_, ticket_of(answers_.load(kSeenNext)));
  if (locks_.lost_with(serving_ + latest_, patience_, 1)) {
    LOCO_PROBE(lock_waiter_gives_up);
    locks_.give_back(lock_, local_->drawn, answers_.address() + kOld, key_);
    step_ = Step::give_back;
    return Goes::on;
  }
  rest();
  ask();
  return Goes::on;
}

/// Rests longer each time, from one round trip up to a sixteenth of the time in which an operation fails, so that polls
/// are few compared with retransmission timeouts and add little to them. A thread with other tasks, which would rest as
/// well, starts only after so many round trips that a packet must have been lost, and rests for less.
void acquisition::rest() {
  constexpr std::int64_t kSoon = 64;  // round trips
  constexpr std::int64_t kSooner = 64;
  Transport& transport = locks_.transport();
  const std::int64_t now = transport.now_ps();
  if (rest_ps_ == 0) {
    rest_ps_ = now - asked_ps_;
    rests_from_ps_ = rests_ == Rests::yes ? now : now + kSoon * rest_ps_;
  }
  if (now < rests_from_ps_) return;
  transport.compute(rest_ps_);
  rest_ps_ = std::min(2 * rest_ps_, locks_.longest_rest_ps() / (rests_ == Rests::yes ? 1 : kSooner));
}

}  // namespace loco
