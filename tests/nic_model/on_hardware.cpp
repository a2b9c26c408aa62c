// Programs on the NIC model: an interpreter that makes one shared access a step, and random scheduling.
#include <algorithm>
#include <array>
#include <random>

#include "nic_model/system.hpp"
#include "program.hpp"

namespace loco::test {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

struct Actor {
  std::size_t pc = 0;
  std::vector<bool> fence;             // by node: the next operation carries the fence flag
  std::vector<nic::QpId> qp;           // by node
  std::vector<nic::CqId> cq;           // by node
  std::vector<std::vector<int>> owed;  // by node: ids of operations that are not polled yet
};

/// The interpreter: a value, so that it can be reset between runs.
class Interpreter : public nic::ThreadRunner {
 public:
  explicit Interpreter(const Program& p) : program(&p) {}
  const Program* program;
  std::vector<Actor> actors;
  std::vector<nic::Address> address;
  std::vector<std::uint32_t> key;
  std::vector<std::uint64_t> registers;

  void run(nic::Cpu& cpu) override {
    Actor& a = actors[cpu.thread()];
    const auto& code = program->threads[cpu.thread()].code;
    if (a.pc == code.size()) return cpu.stop();
    if (!execute(cpu, a, code[a.pc])) return;
    ++a.pc;
    if (a.pc == code.size()) return cpu.stop();
    cpu.resume_after({});
  }

 private:
  /// False when it has to wait; then it has said until when.
  bool execute(nic::Cpu& cpu, Actor& a, const Statement& s) {
    switch (s.what) {
      case Do::write:
        cpu.store(address[at(s.location)], s.reg >= 0 ? registers[at(s.reg)] : s.value);
        return true;
      case Do::read:
        registers[at(s.reg)] = cpu.load(address[at(s.location)]);
        return true;
      case Do::mfence:
      case Do::cas:
        if (!cpu.store_buffer_empty()) {
          cpu.resume_when_drained();
          return false;
        }
        if (s.what == Do::mfence) {
          cpu.fence();
        } else {
          registers[at(s.reg)] = cpu.compare_swap(address[at(s.location)], s.value, s.desired);
        }
        return true;
      case Do::put:
      case Do::get:
        post(cpu, a, s);
        return true;
      case Do::rfence:
        a.fence[at(s.node)] = true;
        return true;
      case Do::poll:
        return poll(cpu, a, s.node);
      case Do::wait:
        for (int node = 1; node <= program->nodes(); ++node) {
          const auto& owed = a.owed[at(node)];
          if (std::find(owed.begin(), owed.end(), s.id) == owed.end()) continue;
          if (poll(cpu, a, node)) cpu.resume_after({});
          return false;
        }
        return true;
    }
    return true;
  }

  void post(nic::Cpu& cpu, Actor& a, const Statement& s) {
    const bool put = s.what == Do::put;
    const int local = put ? s.other : s.location;
    const int remote = put ? s.location : s.other;
    const int node = program->locations[at(remote)].node;
    const nic::Wqe wqe{.opcode = put ? nic::Opcode::rdma_write : nic::Opcode::rdma_read,
                       .fence = a.fence[at(node)],
                       .length = static_cast<std::uint32_t>(8 * s.words),
                       .lkey = key[at(cpu.node() == 0 ? 1 : static_cast<int>(cpu.node()) + 1)],
                       .rkey = key[at(node)],
                       .local = address[at(local)],
                       .remote = address[at(remote)]};
    a.fence[at(node)] = false;
    if (cpu.post_send(a.qp[at(node)], {&wqe, 1}) != nic::PostResult::ok) throw std::logic_error("post failed");
    a.owed[at(node)].push_back(s.id);
  }

  bool poll(nic::Cpu& cpu, Actor& a, int node) {
    std::array<nic::Cqe, 1> cqe;
    if (cpu.poll_cq(a.cq[at(node)], cqe) == 0) {
      cpu.pause({});
      return false;
    }
    if (cqe[0].status != nic::Status::success) throw std::logic_error("a completion failed");
    a.owed[at(node)].erase(a.owed[at(node)].begin());
    return true;
  }
};

nic::System build(const Program& program, const nic::HardwareProfile& profile, Interpreter& run) {
  const int nodes = program.nodes();
  nic::System system(
      {.profile = profile, .topology = fabric::Topology::star, .nodes = static_cast<std::uint32_t>(nodes)});
  run.key.resize(at(nodes) + 1);
  run.registers.resize(program.registers.size());
  std::vector<nic::Address> base(at(nodes) + 1);
  for (int node = 1; node <= nodes; ++node) {
    const auto id = static_cast<nic::NodeId>(node - 1);
    base[at(node)] = system.allocate(id, 8 * program.locations.size());
    run.key[at(node)] = system.register_memory(id, base[at(node)], 8 * program.locations.size()).rkey;
  }
  for (std::size_t l = 0; l < program.locations.size(); ++l) {
    const Location& location = program.locations[l];
    run.address.push_back(base[at(location.node)] + 8 * l);
    system.set_word(static_cast<nic::NodeId>(location.node - 1), run.address.back(), location.initial);
  }
  for (const ThreadCode& code : program.threads) {
    const auto node = static_cast<nic::NodeId>(code.node - 1);
    const nic::ThreadId thread = system.create_thread(node);
    Actor& a = run.actors.emplace_back();
    a.fence.resize(at(nodes) + 1);
    a.qp.resize(at(nodes) + 1);
    a.cq.resize(at(nodes) + 1);
    a.owed.resize(at(nodes) + 1);
    for (int peer = 1; peer <= nodes; ++peer) {
      if (peer == code.node) continue;
      const auto other = static_cast<nic::NodeId>(peer - 1);
      a.cq[at(peer)] = system.create_cq(node, 64);
      a.qp[at(peer)] = system.create_qp(node, a.cq[at(peer)], 64, thread);
      system.connect(a.qp[at(peer)], system.create_qp(other, system.create_cq(other, 1), 1, thread));
    }
  }
  return system;
}

/// Picks among pending events: uniformly, or with random preferences between components that change now and then, so
/// that some parts of the machine are much slower than others.
class Scheduler {
 public:
  explicit Scheduler(std::uint64_t seed) : random_(seed), preference_(random_()), uniform_(random_() % 3 == 0) {}
  std::size_t pick(const nic::System& system) {
    const std::size_t n = system.pending_events();
    if (uniform_) return random_() % n;
    if (random_() % 16 == 0) preference_ = random_();
    std::size_t best = 0;
    std::uint64_t most = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const sim::Event& e = system.pending_event(i);
      std::uint64_t h =
          (preference_ ^ (std::uint64_t{e.what} << 32U) ^ e.where ^ (e.a << 48U) ^ (e.b << 40U)) * 0x9e3779b97f4a7c15U;
      h ^= h >> 29U;
      h *= 0xbf58476d1ce4e5b9U;
      h ^= h >> 32U;
      if (h >= most) {
        most = h;
        best = i;
      }
    }
    return best;
  }

 private:
  std::mt19937_64 random_;
  std::uint64_t preference_;
  bool uniform_;
};

}  // namespace

Outcomes sample_hardware(const Program& program, const nic::HardwareProfile& profile, std::uint64_t seed, int runs) {
  Interpreter fresh(program);
  const nic::System start = build(program, profile, fresh);
  Outcomes outcomes;
  nic::System system = start;
  for (int i = 0; i < runs; ++i) {
    system = start;
    Interpreter run = fresh;
    nic::Context context{run};
    Scheduler scheduler(seed * 1'000'003 + static_cast<std::uint64_t>(i));
    while (!system.idle()) system.step(context, scheduler.pick(system));
    bool finished = true;
    for (std::size_t t = 0; t < run.actors.size(); ++t) finished &= run.actors[t].pc == program.threads[t].code.size();
    if (!finished) continue;  // a poll without anything to poll
    Outcome o;
    for (std::size_t r = 0; r < run.registers.size(); ++r) o[program.registers[r]] = run.registers[r];
    for (std::size_t l = 0; l < program.locations.size(); ++l) {
      const Location& location = program.locations[l];
      if (std::find(program.final.begin(), program.final.end(), location.name) == program.final.end()) continue;
      o[location.name] = system.word(static_cast<nic::NodeId>(location.node - 1), run.address[l]);
    }
    outcomes.insert(o);
  }
  return outcomes;
}

}  // namespace loco::test
