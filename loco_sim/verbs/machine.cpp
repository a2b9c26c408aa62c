#include "loco_sim/verbs/machine.hpp"

#include <fmt/format.h>

namespace loco::verbs {

namespace {
hosts::Config runtime_config(Config&& c) {
  const bool has_times = !c.profile.link_ideal;
  if (!has_times && c.schedule == Schedule::timed)
    throw std::invalid_argument(
        "schedule: expected random or adversarial for hardware without times, which says what may happen and not when; "
        "found timed");
  hosts::Config config;
  config.profile = std::move(c.profile);
  config.hosts = std::move(c.hosts);
  config.topology = c.topology;
  config.network = std::move(c.network);
  config.nodes = c.nodes;
  config.path_mtu = std::move(c.path_mtu);
  config.seed = c.seed;
  config.schedule = c.schedule.value_or(has_times ? Schedule::timed : Schedule::random);
  config.record = c.record || c.record_activities;
  config.record_activities = c.record_activities;
  config.budget = c.budget;
  config.stops = std::move(c.stops);
  return config;
}
}  // namespace

Machine::Machine(Config config) : runtime_(runtime_config(std::move(config))) {}

Machine::~Machine() { runtime_.threads().unwind(); }

void Machine::spawn(nic::NodeId node, Program program) {
  while (taken_.size() <= node) taken_.push_back(std::make_shared<TakenEvents>());
  threads_.push_back(std::make_unique<Thread>(runtime_.threads(), node, taken_[node]));
  Thread& thread = *threads_.back();
  std::string name = fmt::format("thread {} of host {}", spawned_, node);
  if (runtime_.recorder()) runtime_.recorder()->add_thread(node, name);
  runtime_.threads().add(
      node, spawned_++, std::move(name), [&thread, program = std::move(program)] { program(thread); }, false);
}

std::string Machine::look_text(const hosts::Look& look) const {
  if (look.what == hosts::Look::What::word) return fmt::format("a change of the word at {:#x}", look.where);
  const nic::System& system = runtime_.system();
  const auto cq = static_cast<nic::CqId>(look.where);
  const bool overrun = cq < system.completion_queues() && system.cq_overrun(cq);
  return fmt::format("a completion in completion queue {}{}", cq,
                     overrun ? fmt::format(", which has overrun its {} entries (CQ_ERR)", system.cq_entries(cq)) : "");
}

std::string Machine::waiting() const {
  std::string waiting;
  for (const auto& thread : runtime_.threads().all()) {
    if (thread->ended) continue;
    waiting += fmt::format("{}{} waits for {}", waiting.empty() ? "" : "; ", thread->name,
                           thread->looked_count == 0
                               ? "nothing"
                               : look_text(thread->looked.at((thread->looked_count - 1) % hosts::kLooksKept)));
  }
  return waiting;
}

void Machine::run(std::uint64_t events_max, const std::function<void()>& poll) {
  hosts::Fibers& threads = runtime_.threads();
  if (runtime_.recorder()) runtime_.recorder()->record_verbs(runtime_.system());
  runtime_.set_events_max(events_max);
  sim::Budget asks({.interrupted = [&poll] {
    if (poll) poll();
    return false;
  }});
  if (runtime_.config().budget == nullptr) runtime_.set_budget(&asks);
  try {
    runtime_.run([] { return std::string(); });
  } catch (const hosts::EventLimit&) {
    throw std::runtime_error(fmt::format("no end after {} events{}", events_max, runtime_.refused_text()));
  }
  if (threads.failed()) threads.rethrow_failure();
  if (threads.unfinished() == 0) return;
  throw Stuck("nothing is left to happen: " + waiting() + runtime_.refused_text() + runtime_.paused_text());
}

trace::Trace Machine::take_trace() {
  trace::Trace trace = runtime_.take_trace();
  if (trace.verbs)
    for (const auto& flag : flags_) trace.verbs->flags.push_back(flag);
  return trace;
}

}  // namespace loco::verbs
