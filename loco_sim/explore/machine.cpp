#include "loco_sim/explore/machine.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <stdexcept>

#include "loco_sim/explore/interpreter.hpp"
#include "loco_sim/explore/recording.hpp"
#include "model/litmus/answers/litmus.hpp"
#include "model/litmus/implementations/implementations.hpp"
#include "model/litmus/language/parser.hpp"
#include "nic_model/delivery/transports.hpp"
#include "text/input_error.hpp"

namespace loco::explore {

using namespace model::litmus;

namespace {

constexpr std::uint32_t kQueueEntries = 64;
constexpr int kNodesMax = 32;  // ThreadState::fences has a bit for each node, or queue pair
constexpr std::int64_t kInlineMax = 512;

constexpr std::uint64_t mix(std::uint64_t x) {  // finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014)
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

nic::SystemConfig config_for(const Program& program, const nic::HardwareProfile& profile, bool recorded) {
  return {.profile = profile,
          .nodes = static_cast<std::uint32_t>(std::max<std::size_t>(program.nodes.size(), 1)),
          .witness = recorded};
}

/// Upper bound on READs that are outstanding at once.
std::uint32_t reads_at_once(const Program& program) {
  std::uint32_t most = 0;
  for (const Thread& t : program.threads) {
    std::uint32_t gets = 0;
    for (int pc = 0; pc < len(t.code); ++pc) {
      const Instruction& i = at(t.code, pc);
      const auto reads = [&program](const Instruction& k) {
        const bool get = k.op == Op::verbs && at(program.verbs.posts, k.object).kind == PostKind::read;
        return k.op == Op::get || get || is_atomic(program, k);
      };
      if (reads(i)) ++gets;
      if ((i.op == Op::jump || i.op == Op::branch_zero) && i.jump <= pc &&
          std::any_of(t.code.begin() + i.jump, t.code.begin() + pc, reads)) {
        return kQueueEntries;
      }
    }
    most = std::max(most, gets);
  }
  return most;
}

/// True for hardware without deliberate faults, for which footprints say which events commute.
bool regular(const nic::HardwareProfile& profile) { return profile.faults.none(); }

/// Links are queues shared by packets of different queue pairs. Without fences, only a packet's arrival depends on when
/// it was sent, so it may as well be sent when it arrives. Then no packet is behind another.
bool links_order_nothing(const Program& program, const nic::HardwareProfile& profile) {
  return regular(profile) && std::none_of(program.threads.begin(), program.threads.end(), [&](const Thread& t) {
           return std::any_of(t.code.begin(), t.code.end(), [&](const Instruction& i) { return fences(program, i); });
         });
}

nic::HardwareProfile as_searched(const Program& program, nic::HardwareProfile profile, Network network) {
  const bool many_paths = nic::reliable_order(profile).overtakes();  // such NICs are made for networks with many paths
  if (network == Network::simplest && (many_paths || links_order_nothing(program, profile))) profile.link_ideal = true;
  // The models assume this of every NIC.
  if (program.model == "verbs") profile.nic_inline_max = std::max(profile.nic_inline_max, sim::Bytes{kInlineMax});
  if (std::ranges::any_of(program.locations, &Location::device)) profile.nic_device_own_path = true;
  // The content of a NIC's caches and the tags and credits in use affect when something happens, never the order.
  // Copying them would take most of the time.
  profile.nic_context_entries = 0;
  profile.nic_translation_entries = 0;
  profile.nic_read_state_entries = 0;
  profile.pcie_tags = profile.pcie_nonposted_credits = 0;
  profile.pcie_posted_credits = profile.pcie_completion_credits = {0};
  return profile;
}

/// True if everything that the thread knows to be complete is pushed into memory before it continues. Then nobody can
/// tell when a write that its target has taken becomes visible (docs/exploring.md, "Paths").
bool pushes(const Thread& t) {
  std::set<int> written;  // work ids of puts and atomics that no READ has pushed yet
  for (int pc = 0; pc < len(t.code); ++pc) {
    const Instruction& i = at(t.code, pc);
    if (i.op == Op::poll || i.op == Op::verbs || i.op == Op::jump || i.op == Op::branch_zero || i.op == Op::rfence)
      return false;
    if (i.op == Op::put || is_remote_atomic(i.op)) written.insert(i.work_id);
    if (i.op != Op::wait || written.count(i.work_id) == 0) continue;
    if (pc + 2 >= len(t.code)) return false;
    const Instruction& read = at(t.code, pc + 1);
    const Instruction& wait = at(t.code, pc + 2);
    if (read.op != Op::get || wait.op != Op::wait || read.work_id != i.work_id || wait.work_id != i.work_id)
      return false;
    written.erase(i.work_id);
    pc += 2;
  }
  return true;
}

bool is_atomic(const Instruction& i) { return is_remote_atomic(i.op); }
bool remote_operation(const Instruction& i) { return i.op == Op::put || i.op == Op::get || is_atomic(i); }

}  // namespace

std::uint64_t Configuration::hash() const {
  std::uint64_t h = system.behaviour_hash();
  const auto add = [&h](std::uint64_t v) { h = mix(h ^ v) + 0x9e3779b97f4a7c15U; };
  for (const ThreadState& t : threads) {
    add(static_cast<std::uint64_t>(t.pc));
    add(t.fences);
    add(t.turns);
    for (const Value v : t.registers) add(static_cast<std::uint64_t>(v));
    for (const std::uint16_t n : t.in_flight) add(n);
    add(t.kept.size());
    for (const nic::Cqe& cqe : t.kept) add(mix(cqe.wr_id) + cqe.qp);
    add(t.violated.size());
    for (const std::int32_t pc : t.violated) add(static_cast<std::uint64_t>(pc));
    add(static_cast<std::uint64_t>(t.turn_end));
    for (const Value v : t.turn_registers) add(static_cast<std::uint64_t>(v));
  }
  return h;
}

std::vector<Choice> Trails::way_to(std::uint32_t last) const {
  std::vector<Choice> way;
  for (; last != kStart; last = steps_[last].before) way.push_back(steps_[last].choice);
  std::ranges::reverse(way);
  return way;
}

Machine::Machine(const Program& program, const nic::HardwareProfile& profile, Network network, bool recorded)
    : program_(program),
      sharing_(program),
      loops_(program),
      verbs_(program.model == "verbs"),
      unreliable_(
          std::ranges::any_of(program.verbs.queue_pairs, [](const QueuePair& q) { return q.type != Transport::rc; })),
      regular_(regular(profile) && profile.nic_max_rd_atomic >= reads_at_once(program)),
      shared_pcie_(profile.pcie_ordering_domain != nic::OrderingDomain::qp),
      late_(nic::reliable_order(profile).overtakes()),
      pushed_(std::ranges::all_of(program.threads, pushes)),
      inline_puts_(profile.nic_inline_puts),
      stale_(profile.nic_stale_operands != nic::StaleOperands::none),
      shared_links_(!as_searched(program, profile, network).link_ideal),
      initial_{nic::System(config_for(program, as_searched(program, profile, network), recorded)), {}} {
  if (len(program_.nodes) > kNodesMax)
    throw text::InputError({program_.file, program_.at}, "",
                           fmt::format("at most {} nodes of a test that runs on hardware", kNodesMax),
                           fmt::format("{}", program_.nodes.size()));
  if (verbs_ && len(program_.verbs.queue_pairs) > kNodesMax)
    throw text::InputError({program_.file, program_.at}, "",
                           fmt::format("at most {} queue pairs of a test that runs on hardware", kNodesMax),
                           fmt::format("{}", program_.verbs.queue_pairs.size()));
  for (const Thread& t : program_.threads)
    for (const Instruction& i : t.code)
      if (is_atomic(program_, i) && profile.nic_atomic_cap == nic::AtomicCap::none)
        throw text::InputError({program_.file, i.at}, "", "hardware with remote atomics",
                               fmt::format("'{}' and nic.atomic_cap: none", i.text));
  place_locations(initial_.system);
  for (const Thread& t : program_.threads) {
    const nic::ThreadId id = initial_.system.create_thread(static_cast<nic::NodeId>(node_position(t.node)));
    if (id != initial_.threads.size()) throw std::logic_error("thread numbers do not follow creation");
    ThreadState state;
    state.registers.assign(t.registers.size(), 0);
    state.in_flight.assign(program_.work_ids.size(), 0);
    initial_.threads.push_back(std::move(state));
  }
  const auto position = [this](int node) { return static_cast<nic::NodeId>(node_position(node)); };
  if (verbs_)
    queues_.create(program_, position, initial_.system);
  else
    connect(initial_.system);
  count_answered();
}

int Machine::node_position(int node) const {
  return static_cast<int>(std::lower_bound(program_.nodes.begin(), program_.nodes.end(), node) -
                          program_.nodes.begin());
}

const Machine::Place& Machine::remote_place(const Instruction& i) const {
  return place(i.op == Op::put ? i.location : i.source);
}

void Machine::place_locations(nic::System& system) {
  locations_.resize(program_.nodes.size());
  places_.resize(program_.locations.size());
  if (const std::string refused = refusal(program_); !refused.empty()) throw std::invalid_argument(refused);
  for (const std::vector<int>& run : side_by_side(program_).runs) {
    const Location& first = at(program_.locations, kind_of(program_, run));
    const auto node = static_cast<nic::NodeId>(node_position(first.node));
    const std::uint64_t header = takes_datagrams(program_, run.front()) ? nic::kGrhBytes : 0;
    const std::uint64_t size = header + 8 * run.size();
    nic::Address address = system.allocate(node, size);
    const nic::RegionKind kind{.device = first.device, .relaxed_ordering = first.relaxed};
    const std::uint32_t key = system.register_memory(node, address, size, nic::kAllAccess, kind).lkey;
    address += header;
    for (const int l : run) {
      const Location& location = at(program_.locations, l);
      if (location.kind != LocationKind::word)
        throw std::invalid_argument("location " + location.name + " is not a single word");
      system.set_word(node, address, static_cast<std::uint64_t>(location.init));
      auto& words = locations_[node];
      words.resize(address / 8 + 1, kNone);
      words[address / 8] = l;
      at(places_, l) = {node, address, key};
      address += 8;
    }
  }
  if (verbs_) return;
  // An atomic names one region for its operands and its result.
  for (int n = 0; n < len(program_.nodes); ++n) {
    const auto node = static_cast<nic::NodeId>(n);
    const auto& words = locations_[node];
    const auto first =
        static_cast<nic::Address>(std::ranges::find_if(words, [](int l) { return l != kNone; }) - words.begin());
    whole_.push_back(words.empty() ? 0 : system.register_memory(node, first * 8, (words.size() - first) * 8).lkey);
  }
}

void Machine::connect(nic::System& system) {
  qps_.resize(program_.threads.size() * program_.nodes.size());
  cqs_.resize(qps_.size());
  passive_.resize(qps_.size());
  used_nodes_.resize(program_.threads.size());
  for (int t = 0; t < len(program_.threads); ++t) {
    std::set<int> nodes;
    for (const Instruction& i : at(program_.threads, t).code) {
      if (remote_operation(i)) nodes.insert(static_cast<int>(remote_place(i).node));
      if (i.op == Op::poll) nodes.insert(node_position(i.node));
    }
    const auto home = static_cast<nic::NodeId>(node_position(at(program_.threads, t).node));
    for (const int n : nodes) {
      const auto peer = static_cast<nic::NodeId>(n);
      const nic::CqId cq = system.create_cq(home, kQueueEntries);
      const nic::QpId qp = system.create_qp(home, cq, kQueueEntries, static_cast<nic::ThreadId>(t));
      const nic::QpId passive = system.create_qp(peer, system.create_cq(peer, 1), 1, static_cast<nic::ThreadId>(t));
      system.connect(qp, passive);
      links_.resize(passive + 1, kNone);
      answered_.resize(passive + 1, 0);
      at(passive_, link(t, n)) = passive;
      at(links_, static_cast<int>(qp)) = link(t, n);
      at(qps_, link(t, n)) = qp;
      at(cqs_, link(t, n)) = cq;
      at(used_nodes_, t).push_back(n);
    }
  }
}

int Machine::location_at(nic::NodeId node, nic::Address address) const {
  const auto& words = locations_[node];
  return address / 8 < words.size() ? words[address / 8] : kNone;
}

bool Machine::local_step(const Configuration& c, int thread) const {
  const ThreadState& t = at(c.threads, thread);
  const auto& code = at(program_.threads, thread).code;
  // Instructions without an access come first in a step. The target of a branch is known until a register changes.
  int pc = t.pc;
  bool registers_known = true;
  for (; pc < len(code); ++pc) {
    const Instruction& i = at(code, pc);
    if (i.op == Op::branch_zero && registers_known && number(evaluate(program_, t.registers, i.expr)) != 0) continue;
    if (i.op != Op::assign && i.op != Op::assertion) break;
    registers_known = registers_known && i.op != Op::assign;
  }
  if (pc == len(code)) return true;
  const Instruction& i = at(code, pc);
  switch (i.op) {
    case Op::read:
      return sharing_.cpu_read_commutes(thread, pc);
    case Op::cas:
      return false;
    case Op::verbs:
      return local_verb(at(program_.verbs.posts, i.object));
    case Op::put:
      return !inline_puts_ || sharing_.nic_reads_commute(i.source);  // inline: the CPU reads memory as with a load
    case Op::jump:
    case Op::branch_zero:
      // A backward jump ends a turn of a loop. After a forward one follows an access that would have to be examined.
      return registers_known && i.jump <= pc && sharing_.loop_commutes(thread, pc);
    default:
      return true;  // accesses only the store buffer, a queue pair or a completion queue of the thread's own
  }
}

bool Machine::local_verb(const Post& post) const {
  if (post.kind == PostKind::poll) return queues_.one_poller(post.completion_queue);
  return !post.is_inline ||
         std::ranges::all_of(post.words, [this](const Post::Word& w) { return sharing_.nic_reads_commute(w.local); });
}

bool Machine::response_races(const Configuration& c, const nic::Footprint& f) const {
  if (f.requests_waiting || at(links_, static_cast<int>(f.qp)) == kNone) return true;
  const int nodes = len(program_.nodes);
  const int thread = at(links_, static_cast<int>(f.qp)) / nodes;
  const int node = at(links_, static_cast<int>(f.qp)) % nodes;
  const auto& code = at(program_.threads, thread).code;
  for (int pc = at(c.threads, thread).pc; pc < len(code); ++pc) {
    const Instruction& i = at(code, pc);
    if (i.op == Op::wait && static_cast<std::uint64_t>(i.work_id) == f.wr_id) return false;
    if (i.op == Op::jump || i.op == Op::branch_zero) return true;
    if (i.op == Op::put && static_cast<int>(place(i.location).node) == node) return true;
  }
  return false;
}

bool Machine::alone(const nic::Footprint& f) const { return !late_ || at(answered_, static_cast<int>(f.qp)) < 2; }

void Machine::count_answered() {
  one_atomic_.assign(program_.nodes.size(), true);
  std::vector<int> atomics(program_.nodes.size(), 0);
  for (int t = 0; t < len(program_.threads); ++t) {
    std::set<int> targets;
    for (const Instruction& i : at(program_.threads, t).code) {
      if (!is_atomic(i) && i.op != Op::get) continue;
      const int node = static_cast<int>(remote_place(i).node);
      if (is_atomic(i)) targets.insert(node);
      // A flush's read is alone: all earlier ones are complete, and the thread waits for it.
      const bool flush = i.op == Op::get && at(program_.locations, i.source).fresh;
      if (!flush) ++at(answered_, static_cast<int>(at(passive_, link(t, node))));
    }
    for (const int n : targets) ++at(atomics, n);
  }
  for (int n = 0; n < len(atomics); ++n) one_atomic_[static_cast<std::size_t>(n)] = at(atomics, n) < 2;
}

bool Machine::commutes(const Configuration& c, Choice choice) const {
  using Kind = nic::Footprint::Kind;
  using Enters = nic::Footprint::Enters;
  if ((choice & kLost) != 0) return false;
  const nic::Footprint f = c.system.footprint(choice);
  if (f.kind == Kind::thread_step) return local_step(c, static_cast<int>(f.thread));
  if (!regular_) return false;
  if ((shared_links_ || stale_) && f.enters == Enters::link) return false;
  if (shared_links_ && f.on_link) return false;
  if (verbs_) return verbs_commutes(f);
  switch (f.kind) {
    case Kind::internal:
      return !f.loose || alone(f);
    case Kind::request:
      // If it may still be overtaken, nothing has happened yet. In a domain of its own it is behind the earlier
      // requests of its queue pair, and only they are in front of it.
      if (late_ && !f.loose) return true;
      return (!shared_pcie_ && !late_) || sharing_.writes_commute(location_at(f.node, f.address));
    case Kind::atomic_request:
      return (late_ && !f.loose) || (!shared_pcie_ && alone(f) && one_atomic_[f.node]);
    case Kind::response:
      return sharing_.writes_commute(location_at(f.node, f.address)) || (!shared_pcie_ && !response_races(c, f));
    case Kind::memory_read:
      return !stale_ && sharing_.nic_reads_commute(location_at(f.node, f.address));
    case Kind::memory_write:
      if (late_ && pushed_ && !shared_pcie_ && f.placed) return true;
      return sharing_.writes_commute(location_at(f.node, f.address));
    default:
      return false;
  }
}

bool Machine::verbs_commutes(const nic::Footprint& f) const {
  using Kind = nic::Footprint::Kind;
  if (f.queues || f.loose || f.may_be_lost) return false;
  switch (f.kind) {
    case Kind::internal:
      return true;
    case Kind::request:
      return !shared_pcie_ && !late_;
    case Kind::memory_read:
      // Words leave in the order in which they are read. If they can be lost, that affects which of them arrive.
      return !stale_ && !unreliable_ && f.bytes <= 8 && sharing_.nic_reads_commute(location_at(f.node, f.address));
    case Kind::memory_write:
      return f.bytes <= 8 && sharing_.writes_commute(location_at(f.node, f.address));
    default:
      return false;
  }
}

void Machine::settle(Configuration& c, Recording* recording) const {
  if (c.trails != nullptr) c.trail = c.trails->add(c.trail, Trails::kSettle);
  // A single pending event of the hardware is no choice either. A single thread may be in a loop, where each turn is a
  // state.
  const auto no_choice = [&](std::size_t i) {
    return commutes(c, i) || (!verbs_ && c.system.pending_events() == 1 &&
                              c.system.footprint(i).kind != nic::Footprint::Kind::thread_step);
  };
  for (std::size_t i = 0; i < c.system.pending_events();) {
    if (no_choice(i)) {
      run(c, i, recording);
      i = 0;
    } else {
      ++i;
    }
  }
}

void Machine::choices(const Configuration& c, std::vector<Choice>& to) const {
  to.clear();
  for (std::size_t i = 0; i < c.system.pending_events(); ++i) {
    if (!enabled(c, i)) continue;
    to.push_back(i);
    if (unreliable_ && c.system.footprint(i).may_be_lost) to.push_back(i | kLost);
  }
}

sim::Event Machine::event(const Configuration& c, Choice choice) {
  sim::Event e = c.system.pending_event(choice & ~kLost);
  if ((choice & kLost) != 0) e.a = ~e.a;
  return e;
}

bool Machine::over(const Configuration& c) const {
  for (std::size_t i = 0; i < c.system.pending_events(); ++i)
    if (enabled(c, i)) return false;
  return true;
}

void Machine::step(Configuration& c, Choice choice, Recording* recording) const {
  if (c.trails != nullptr) c.trail = c.trails->add(c.trail, choice);
  run(c, choice, recording);
}

void Machine::run(Configuration& c, Choice choice, Recording* recording) const {
  Interpreter interpreter(*this, c.threads, recording);
  if (recording != nullptr) recording->now(c.system);
  nic::Context context{.runner = interpreter,
                       .observer = recording == nullptr ? nullptr : recording->observer(),
                       .lose = (choice & kLost) != 0};
  c.system.step(context, choice & ~kLost);
}

trace::Trace Machine::record(const std::vector<Choice>& choices) const {
  Configuration c = initial_;
  Recording recording(*this, c.system);
  for (const Choice choice : choices) {
    if (choice == Trails::kSettle)
      settle(c, &recording);
    else
      step(c, choice, &recording);
  }
  return recording.take(c.system);
}

bool Machine::finished(const Configuration& c) const {
  return c.system.idle() &&
         std::all_of(c.threads.begin(), c.threads.end(), [](const ThreadState& t) { return t.finished; });
}

void Machine::name_failed_assertions(const Configuration& c, std::set<std::string>& failed) const {
  for (std::size_t t = 0; t < c.threads.size(); ++t)
    for (const std::int32_t pc : c.threads[t].violated)
      failed.insert(model::litmus::assertion_text(program_, static_cast<int>(t), pc));
}

Outcome Machine::outcome(const Configuration& c) const {
  Outcome values;
  const auto word = [&](int location) {
    const Place& p = place(location);
    return static_cast<Value>(c.system.word(p.node, p.address));
  };
  for (const Observable& o : program_.observables) {
    if (o.reg != kNone) {
      values.push_back(at(at(c.threads, o.thread).registers, o.reg));
    } else if (o.cells.empty()) {
      values.push_back(word(o.location));
    } else {
      std::vector<Value> cells;
      for (const int cell : o.cells) cells.push_back(word(cell));
      values.push_back(whole_tuple(program_, cells));
    }
  }
  return values;
}

}  // namespace loco::explore
