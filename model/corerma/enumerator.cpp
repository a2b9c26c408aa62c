#include "model/corerma/enumerator.hpp"

#include <algorithm>

namespace loco::model::corerma {
bool ProgramEnumerator::run(int size, const Program* after, const Visit& visit) {
  if (after != nullptr && after->size() > size) return true;
  after_ = after != nullptr && after->size() == size ? after : nullptr;
  visit_ = &visit;
  at_edge_ = after_ != nullptr;
  program_ = Program();
  program_.processes = space_.processes;
  hosts_seen_ = space_.processes;
  balance_.fill(0);
  deficit_.fill(0);
  needed_ = 0;
  any_needed_ = std::any_of(space_.needed.begin(), space_.needed.end(), [](bool b) { return b; });
  needed_actions_ = kSizeMax;
  for (int k = 0; k < kKinds; ++k)
    if (space_.needed[index(k)] && space_.statements[index(k)])
      needed_actions_ = std::min(needed_actions_, kActions[index(k)]);
  variables_left_ = size;
  actions_left_ = 0;
  return run_lengths(0, size, size);
}

/// Chooses the number of actions of each process; the rest of the size is variables.
bool ProgramEnumerator::run_lengths(int process, int most, int left) {
  if (process == space_.processes) {
    if (left == 0) return true;
    variables_left_ = left;
    actions_left_ = 0;
    equal_lengths_ = false;
    for (int p = 0; p < process; ++p) {
      left_[index(p)] = length_[index(p)];
      actions_left_ += length_[index(p)];
      equal_lengths_ = equal_lengths_ || (p > 0 && length_[index(p)] == length_[index(p - 1)]);
    }
    return variables_left_ > actions_left_ || extend(0);
  }
  const int others = space_.processes - process - 1;
  for (int n = 1; n <= std::min(most, left - others - 1); ++n) {
    length_[index(process)] = n;
    const bool edge = at_edge_;
    if (edge) {
      const int wanted = after_->actions_of(process);
      if (n < wanted) continue;
      at_edge_ = n == wanted;
    }
    if (!run_lengths(process + 1, n, left - n)) return false;
    at_edge_ = false;  // whatever follows comes later
  }
  return true;
}

bool ProgramEnumerator::extend(int process) {
  if (left_[index(process)] == 0) {
    program_.end[index(process)] = static_cast<std::int8_t>(program_.count);
    return process + 1 == space_.processes ? leaf() : extend(process + 1);
  }
  for (int k = 0; k < kKinds; ++k) {
    const auto kind = static_cast<Kind>(k);
    if (space_.has(kind) && actions(kind) <= left_[index(process)] && !choose(process, kind)) return false;
  }
  return true;
}

/// Every variable of the process, and a fresh one.
template <class Then>
bool ProgramEnumerator::each_local(int process, const Then& then) {
  for (int v = 0; v < program_.variables; ++v)
    if (program_.home_of(v) == process && !then(static_cast<std::int8_t>(v))) return false;
  if (variables_left_ == 0) return true;
  const int fresh = program_.variables++;
  --variables_left_;
  program_.home[index(fresh)] = static_cast<std::int8_t>(process);
  balance_[index(fresh)] = 0;
  const bool on = then(static_cast<std::int8_t>(fresh));
  --program_.variables;
  ++variables_left_;
  return on;
}

/// Every variable, and a fresh one on each host.
template <class Then>
bool ProgramEnumerator::each_remote(const Then& then) {
  for (int v = 0; v < program_.variables; ++v)
    if (!then(static_cast<std::int8_t>(v), program_.home[index(v)])) return false;
  if (variables_left_ == 0) return true;
  const int fresh = program_.variables++;
  --variables_left_;
  balance_[index(fresh)] = 0;
  bool on = true;
  for (int h = 0; on && h < std::min(space_.hosts, hosts_seen_ + 1); ++h) {
    program_.home[index(fresh)] = static_cast<std::int8_t>(h);
    const int seen = hosts_seen_;
    hosts_seen_ = std::max(hosts_seen_, h + 1);
    on = then(static_cast<std::int8_t>(fresh), static_cast<std::int8_t>(h));
    hosts_seen_ = seen;
  }
  --program_.variables;
  ++variables_left_;
  return on;
}

bool ProgramEnumerator::choose(int process, Kind kind) {
  Statement s;
  s.kind = kind;
  if (kind == Kind::flush) {
    for (int h = 0; h < std::min(space_.hosts, hosts_seen_ + 1); ++h) {
      s.host = static_cast<std::int8_t>(h);
      const int seen = hosts_seen_;
      hosts_seen_ = std::max(hosts_seen_, h + 1);
      const bool on = place(process, s);
      hosts_seen_ = seen;
      if (!on) return false;
    }
    return true;
  }
  return each_local(process, [&](std::int8_t local) {
    s.local = local;
    if (!is_remote(kind)) return place(process, s);
    return each_remote([&](std::int8_t remote, std::int8_t host) {
      s.remote = remote;
      s.host = host;
      if (kind == Kind::get || kind == Kind::put) return place(process, s);
      return each_local(process, [&](std::int8_t operand) {
        s.operand = operand;
        if (kind == Kind::rga) return place(process, s);
        return each_local(process, [&](std::int8_t operand2) {
          s.operand2 = operand2;
          return place(process, s);
        });
      });
    });
  });
}

bool ProgramEnumerator::place(int process, const Statement& s) {
  const bool edge = at_edge_;
  if (edge) {
    const auto order = s <=> after_->statement(program_.count);
    if (order < 0) return true;
    at_edge_ = order == 0;
  }
  program_.statements[index(program_.count++)] = s;
  left_[index(process)] -= actions(s.kind);
  actions_left_ -= actions(s.kind);
  account(s, 1);
  const bool on = !may_complete(process) || extend(process);
  account(s, -1);
  actions_left_ += actions(s.kind);
  left_[index(process)] += actions(s.kind);
  --program_.count;
  if (edge) at_edge_ = false;
  return on;
}

/// Enters a statement into the balances, or takes it out again.
void ProgramEnumerator::account(const Statement& s, int sign) {
  if (space_.needed[static_cast<std::size_t>(s.kind)]) needed_ += sign;
  if (s.kind == Kind::read) change(s.local, sign);
  if (s.kind == Kind::write || s.kind == Kind::get || s.kind == Kind::rga || s.kind == Kind::cas)
    change(s.local, -sign);
  if (s.kind == Kind::put || s.kind == Kind::rga || s.kind == Kind::cas) change(s.remote, -sign);
}

void ProgramEnumerator::change(int variable, int by) {
  int& balance = balance_[index(variable)];
  int& deficit = deficit_[index(program_.home_of(variable))];
  deficit -= std::max(0, -balance);
  balance += by;
  deficit += std::max(0, -balance);
}

/// Whether the statements so far can be completed to a program in which every writer is read.
bool ProgramEnumerator::may_complete(int process) const {
  int missing = variables_left_;
  for (int h = 0; h < space_.hosts; ++h) {
    const int here = h >= space_.processes || h < process ? 0 : left_[index(h)];
    if (deficit_[index(h)] > here) return false;
    missing += deficit_[index(h)];
  }
  if (missing > actions_left_) return false;
  if (!any_needed_ || needed_ > 0) return true;
  int most = left_[index(process)];
  for (int p = process + 1; p < space_.processes; ++p) most = std::max(most, left_[index(p)]);
  return most >= needed_actions_;
}

bool ProgramEnumerator::leaf() {
  if (at_edge_) return true;  // `after_` itself
  if (variables_left_ != 0 || (any_needed_ && needed_ == 0)) return true;
  if (equal_lengths_ && !is_canonical(program_)) return true;
  return (*visit_)(program_);
}

}  // namespace loco::model::corerma
