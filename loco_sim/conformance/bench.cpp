#include "loco_sim/conformance/bench.hpp"

#include <algorithm>
#include <new>
#include <pthread.h>
#include <random>
#include <sys/mman.h>
#include <thread>
#include <time.h>

namespace loco::conformance {

using namespace model::litmus;

namespace {

constexpr std::int64_t kPatienceNs = 1'000'000'000;
constexpr std::uint64_t kDelayNs = 2'000;  // limit on the delay after which threads of a run begin
constexpr std::uint64_t kNobody = ~std::uint64_t{0};
constexpr std::uint32_t kSendEntries = 256;

/// A thread waits in vain, or its operation has failed.
struct GivenUp {};

std::int64_t clock_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

Value as_value(std::uint64_t word) { return static_cast<Value>(word); }
std::uint64_t as_word(Value value) { return static_cast<std::uint64_t>(value); }

bool is_put(const Instruction& i) { return i.op == Op::put; }
bool is_remote(const Instruction& i) { return i.op == Op::put || i.op == Op::get || is_remote_atomic(i.op); }
int remote_location(const Instruction& i) { return is_put(i) ? i.location : i.source; }
int local_location(const Instruction& i) { return is_put(i) ? i.source : i.location; }

}  // namespace

std::string refusal(const libibverbs::Device& device, const Program& program) {
  for (const Location& location : program.locations)
    if (location.kind != LocationKind::word) return "it is not over words";
  for (const Observable& observable : program.observables)
    if (!observable.cells.empty()) return "its outcomes are of several words";
  for (const Thread& thread : program.threads)
    for (const Instruction& i : thread.code) {
      switch (i.op) {
        case Op::assign:
        case Op::read:
        case Op::write:
        case Op::cas:
        case Op::mfence:
        case Op::put:
        case Op::get:
        case Op::wait:
        case Op::poll:
        case Op::rfence:
        case Op::jump:
        case Op::branch_zero:
        case Op::assertion:
          break;
        case Op::rcas:
        case Op::rfaa:
          if (device.attributes().atomic_cap == IBV_ATOMIC_NONE) return "the device has no remote atomics";
          break;
        default:
          return "'" + i.text + "' is not run on devices";
      }
    }
  return {};
}

// --- one thread ------------------------------------------------------------------------------------------------------

class Bench::Worker {
 public:
  Worker(Bench& bench, int thread)
      : bench_(bench), thread_(thread), code_(bench.program_.threads[static_cast<std::size_t>(thread)].code) {}

  /// Runs the program once, until it has no operation in flight.
  void run(std::uint64_t seed) {
    failed_ = false;
    fences_ = 0;
    registers_.assign(bench_.program_.threads[static_cast<std::size_t>(thread_)].registers.size(), 0);
    in_flight_.assign(bench_.program_.work_ids.size(), 0);
    under_way_.assign(bench_.program_.nodes.size(), 0);
    kept_.assign(bench_.program_.nodes.size(), {});
    deadline_ = clock_ns() + kPatienceNs;
    try {
      begin_late(seed);
      for (int pc = 0; pc < len(code_);) pc = step(pc);
    } catch (const GivenUp&) {
      failed_ = true;
    }
    try {
      deadline_ = clock_ns() + kPatienceNs;
      finish();
    } catch (const GivenUp&) {
      failed_ = true;
    }
  }
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] Value register_value(int reg) const { return at(registers_, reg); }

 private:
  void begin_late(std::uint64_t seed) const {
    std::mt19937_64 draw(seed * 64 + static_cast<std::uint64_t>(thread_));
    const std::int64_t end = clock_ns() + static_cast<std::int64_t>(draw() % kDelayNs);
    while (clock_ns() < end) {
    }
  }

  int step(int pc) {
    const Instruction& i = at(code_, pc);
    switch (i.op) {
      case Op::assign:
        set(i.target, evaluate(i.expr));
        break;
      case Op::read:
        set(i.target, as_value(ref(i.location).load(std::memory_order_relaxed)));
        break;
      case Op::write:
        ref(i.location).store(as_word(evaluate(i.expr)), std::memory_order_relaxed);
        break;
      case Op::cas:
        set(i.target, as_value(compare_swap(i)));
        break;
      case Op::mfence:
        std::atomic_thread_fence(std::memory_order_seq_cst);
        break;
      case Op::rfence:
        fences_ |= std::uint64_t{1} << position(i.node);
        break;
      case Op::wait:
        while (at(in_flight_, i.work_id) != 0) take_any();
        break;
      case Op::poll:
        set(i.target, bench_.program_.identifier(oldest(position(i.node))));
        break;
      case Op::jump:
        return jump(pc, i.jump);
      case Op::branch_zero:
        if (number(evaluate(i.expr)) == 0) return jump(pc, i.jump);
        break;
      case Op::assertion:
        if (number(evaluate(i.expr)) == 0) throw GivenUp{};
        break;
      default:
        post(i);
    }
    return pc + 1;
  }

  int jump(int from, int to) {
    if (to <= from) {
      check_time();
      for (std::size_t node = 0; node < under_way_.size(); ++node) poll(node);  // a turn of waiting
    }
    return to;
  }
  void check_time() const {
    if (clock_ns() > deadline_) throw GivenUp{};
  }

  [[nodiscard]] std::atomic_ref<std::uint64_t> ref(int location) const {
    return std::atomic_ref<std::uint64_t>(bench_.word(location));
  }
  std::uint64_t compare_swap(const Instruction& i) {
    if (i.expr == kNone) return ref(i.location).exchange(as_word(evaluate(i.expr2)));
    std::uint64_t old = as_word(evaluate(i.expr));
    ref(i.location).compare_exchange_strong(old, as_word(evaluate(i.expr2)));
    return old;
  }

  void post(const Instruction& i) {
    const int node = at(bench_.program_.locations, remote_location(i)).node;
    const std::size_t place = position(node);
    while (under_way_[place] >= kSendEntries) keep_one(place);
    ibv_sge piece = bench_.sge(local_location(i));
    ibv_send_wr request{};
    request.wr_id = i.work_id == kNone ? kNobody : as_word(i.work_id);
    request.sg_list = &piece;
    request.num_sge = 1;
    request.send_flags = IBV_SEND_SIGNALED;
    if ((fences_ >> place & 1U) != 0) request.send_flags |= IBV_SEND_FENCE;
    fences_ &= ~(std::uint64_t{1} << place);
    const auto there = reinterpret_cast<std::uint64_t>(&bench_.word(remote_location(i)));
    if (is_remote_atomic(i.op)) {
      request.opcode = i.op == Op::rfaa ? IBV_WR_ATOMIC_FETCH_AND_ADD : IBV_WR_ATOMIC_CMP_AND_SWP;
      request.wr.atomic = {.remote_addr = there,
                           .compare_add = as_word(evaluate(i.expr)),
                           .swap = i.expr2 == kNone ? 0 : as_word(evaluate(i.expr2)),
                           .rkey = bench_.region_->rkey};
    } else {
      request.opcode = is_put(i) ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ;
      request.wr.rdma = {.remote_addr = there, .rkey = bench_.region_->rkey};
    }
    send(place, request);
    if (i.work_id != kNone) ++at(in_flight_, i.work_id);
  }

  void send(std::size_t place, ibv_send_wr& request) {
    ibv_send_wr* refused = nullptr;
    if (ibv_post_send(bench_.link(thread_, static_cast<int>(place)).qp.get(), &request, &refused) != 0) throw GivenUp{};
    ++under_way_[place];
  }

  /// Takes one completion and keeps it until the program asks for it. Returns false if there is none.
  bool poll(std::size_t place) {
    if (under_way_[place] == 0) return false;
    ibv_wc done{};
    const int count = ibv_poll_cq(bench_.link(thread_, static_cast<int>(place)).cq.get(), 1, &done);
    if (count == 0) return false;
    --under_way_[place];
    if (count < 0 || done.status != IBV_WC_SUCCESS) throw GivenUp{};
    kept_[place].push_back(done.wr_id);
    return true;
  }
  void keep_one(std::size_t place) {
    while (!poll(place)) check_time();
  }
  void complete(std::uint64_t id) {
    if (id != kNobody) --at(in_flight_, static_cast<int>(id));
  }
  void take_any() {
    check_time();
    for (std::size_t place = 0; place < kept_.size(); ++place) {
      poll(place);
      for (const std::uint64_t id : kept_[place]) complete(id);
      kept_[place].clear();
    }
  }
  /// The work id of the oldest completion from a node.
  int oldest(std::size_t place) {
    while (kept_[place].empty()) keep_one(place);
    const std::uint64_t id = kept_[place].front();
    kept_[place].erase(kept_[place].begin());
    complete(id);
    return id == kNobody ? kNone : static_cast<int>(id);
  }

  /// Posts a READ after everything else: when it is answered, earlier writes are in memory.
  void finish() {
    for (std::size_t place = 0; place < under_way_.size(); ++place) {
      if (bench_.links_[bench_.index(thread_, static_cast<int>(place))] == nullptr) continue;
      while (under_way_[place] != 0) keep_one(place);
      ibv_sge piece{.addr = reinterpret_cast<std::uint64_t>(&bench_.scratch(thread_)),
                    .length = sizeof(std::uint64_t),
                    .lkey = bench_.region_->lkey};
      ibv_send_wr request{};
      request.wr_id = kNobody;
      request.sg_list = &piece;
      request.num_sge = 1;
      request.send_flags = IBV_SEND_SIGNALED;
      request.opcode = IBV_WR_RDMA_READ;
      request.wr.rdma = {.remote_addr = piece.addr, .rkey = bench_.region_->rkey};
      send(place, request);
      keep_one(place);
    }
  }

  [[nodiscard]] std::size_t position(int node) const {
    return static_cast<std::size_t>(std::ranges::find(bench_.program_.nodes, node) - bench_.program_.nodes.begin());
  }
  [[nodiscard]] Value evaluate(int expr) const {
    const Expr& e = at(bench_.program_.exprs, expr);
    switch (e.op) {
      case ExprOp::constant:
        return e.constant;
      case ExprOp::reg:
        return at(registers_, e.reg);
      case ExprOp::negate:
      case ExprOp::logical_not:
        return apply(e.op, evaluate(e.lhs), 0);
      default:
        return apply(e.op, evaluate(e.lhs), evaluate(e.rhs));
    }
  }
  void set(int reg, Value value) {
    if (reg != kNone) at(registers_, reg) = value;
  }

  Bench& bench_;
  int thread_;
  const std::vector<Instruction>& code_;
  bool failed_ = false;
  std::uint64_t fences_ = 0;  ///< bit n: to node position n
  std::int64_t deadline_ = 0;
  std::vector<Value> registers_;
  std::vector<std::uint32_t> in_flight_;          ///< by work id
  std::vector<std::uint32_t> under_way_;          ///< by node position
  std::vector<std::vector<std::uint64_t>> kept_;  ///< by node position: completions not asked for yet
};

// --- all of them -----------------------------------------------------------------------------------------------------

Bench::Bench(const libibverbs::Device& device, const Program& program) : device_(device), program_(program) {
  constexpr std::size_t kPage = 4096;
  bytes_ = ((program.locations.size() + program.threads.size()) * kApart * sizeof(std::uint64_t) + kPage - 1) / kPage *
           kPage;
  void* const memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  memory_ = static_cast<std::uint64_t*>(memory);
  region_ = device.register_memory(memory, bytes_);
  links_.resize(program.threads.size() * program.nodes.size());
  for (int thread = 0; thread < len(program.threads); ++thread) {
    for (const Instruction& i : at(program.threads, thread).code)
      if (is_remote(i)) connect(thread, at(program.locations, remote_location(i)).node);
    workers_.push_back(std::make_unique<Worker>(*this, thread));
  }
  pthread_barrier_init(&turn_, nullptr, static_cast<unsigned>(workers_.size() + 1));
  for (const auto& worker : workers_) threads_.emplace_back([this, &worker] { serve(*worker); });
}

void Bench::serve(Worker& worker) {
  while (true) {
    pthread_barrier_wait(&turn_);
    if (!seed_) return;
    worker.run(*seed_);
    pthread_barrier_wait(&turn_);
  }
}

Bench::~Bench() {
  seed_.reset();
  pthread_barrier_wait(&turn_);
  for (std::thread& thread : threads_) thread.join();
  pthread_barrier_destroy(&turn_);
  workers_.clear();
  links_.clear();
  region_.reset();
  ::munmap(memory_, bytes_);
}

std::uint64_t& Bench::scratch(int thread) const { return word(len(program_.locations) + thread); }
std::size_t Bench::index(int thread, int place) const {
  return static_cast<std::size_t>(thread) * program_.nodes.size() + static_cast<std::size_t>(place);
}
Bench::Link& Bench::link(int thread, int place) const { return *links_[index(thread, place)]; }
ibv_sge Bench::sge(int location) const {
  return {
      .addr = reinterpret_cast<std::uint64_t>(&word(location)), .length = sizeof(std::uint64_t), .lkey = region_->lkey};
}

void Bench::connect(int thread, int node) {
  const auto place = static_cast<int>(std::ranges::find(program_.nodes, node) - program_.nodes.begin());
  std::unique_ptr<Link>& link = links_[index(thread, place)];
  if (link) return;
  link = std::make_unique<Link>();
  link->cq = device_.create_cq(static_cast<int>(kSendEntries) + 1);
  link->passive_cq = device_.create_cq(1);
  link->qp = device_.create_qp(*link->cq, kSendEntries + 1);
  link->passive = device_.create_qp(*link->passive_cq, 1);
  device_.connect(*link->passive, device_.address_of(*link->qp));
  device_.connect(*link->qp, device_.address_of(*link->passive));
}

std::optional<Outcome> Bench::run(std::uint64_t seed) {
  for (int i = 0; i < len(program_.locations); ++i)
    std::atomic_ref<std::uint64_t>(word(i)).store(as_word(at(program_.locations, i).init));
  seed_ = seed;
  pthread_barrier_wait(&turn_);
  pthread_barrier_wait(&turn_);
  if (std::ranges::any_of(workers_, [](const auto& worker) { return worker->failed(); })) return std::nullopt;
  Outcome outcome;
  for (const Observable& o : program_.observables)
    outcome.push_back(o.reg != kNone ? at(workers_, o.thread)->register_value(o.reg)
                                     : as_value(std::atomic_ref<std::uint64_t>(word(o.location)).load()));
  return outcome;
}

}  // namespace loco::conformance
