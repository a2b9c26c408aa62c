// The conductor: runs foreign programs on a simulated machine, one thread of one of them at a time.
//
// It drives threads like loco_sim/verbs/machine.hpp: each thread of a program has a fiber, which waits for the
// program's next request, carries it out in simulated time, and replies. The machine takes the earliest event; a
// program's code runs only while its fiber does. Work that makes the machine grow (set-up calls) or wakes others is
// done between its steps. Nothing simulated depends on real time, except for programs that wait for processes which are
// not conducted (children).
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "exec/channel_end.hpp"
#include "exec/costs.hpp"
#include "exec/leaps.hpp"
#include "exec/options.hpp"
#include "exec/outputs.hpp"
#include "exec/program_memory.hpp"
#include "exec/recorder.hpp"
#include "exec/system.hpp"
#include "exec/tracing.hpp"
#include "nic_model/observer.hpp"
#include "nic_model/system.hpp"
#include "sim/fiber.hpp"

namespace loco::exec {

/// What a thread that has handed over waits for; other threads end the wait.
enum class Wait : std::uint8_t { nothing, sleep, io, process, cq_event, async_event };

struct Program;

struct ProgramThread {
  Program& program;
  std::uint32_t index;  ///< among all threads that the program has started
  ChannelEnd channel;
  nic::ThreadId id = 0;
  sim::FiberId fiber{};
  bool ended = false;
  Wait wait = Wait::nothing;
  bool over = false;                ///< its deadline came first
  std::uint64_t io_seen = 0;        ///< Conductor::io_changes_ at its last reply, after which it looked
  std::uint64_t releases_seen = 0;  ///< the same for Program::releases
  std::uint32_t wait_channel = 0;
  Request last = Request::none;
  std::string waits_for{};       ///< for the report of a deadlock
  std::uint64_t polls_paid = 0;  ///< empty polls whose time has been charged
  std::vector<char> posts{};     ///< the posts being made
  std::int64_t silent_from_us = 0;
  std::int64_t silence_us = 0;
  int blocked_looks = 0;
  std::pair<std::uint64_t, std::uint64_t> looked{};  ///< address and instruction of its last look at a flag
  std::uint64_t seen = 0;                            ///< there
};

struct AsyncNews {
  AsyncEvent event;
  std::uint32_t object;
};

/// A timerfd of a program.
struct ProgramTimer {
  std::pair<std::int64_t, std::uint64_t> pending{};  ///< its entry in the conductor's timers; number 0: none
  std::int64_t again_ps = 0;
};

/// Scatter/gather lists of the requests of one queue. A request is done once more requests have been posted after it
/// than the queue has room for.
struct QueueLists {
  std::uint64_t posted = 0;
  std::deque<std::pair<std::uint64_t, nic::Address>> lists{};  ///< number of the request, and its list
};

/// Memory on the NIC (ibv_alloc_dm). Freed memory is reused for requests of the same size.
struct DeviceMemory {
  nic::Address base = 0;
  std::uint64_t bytes = 0;
  bool used = false;
};

/// A process: a host's program, or a child that it has forked.
struct Program {
  std::uint32_t host = 0;
  std::uint32_t number = 0;   ///< among the processes of the host
  Program* parent = nullptr;  ///< null: it is the host's program
  nic::Address base = 0;      ///< where its address space begins in the machine's
  pid_t process = 0;
  bool started = false;  ///< its shim has handed over once
  bool running = false;  ///< it has begun, so another start means another image (exec)
  bool ended = false;
  std::uint64_t releases = 0;    ///< releases of locks and conditions of the process, and ends of its threads
  bool stopped = false;          ///< its host has stopped
  std::uint32_t ports_down = 0;  ///< a bit for each NIC of the host whose cable is down
  bool debugged = false;
  nic::CqId no_cq = nic::kNone;                           ///< for queue pairs without a CQ
  std::uint32_t spinning = 0;                             ///< threads that wait for other threads of the process
  std::vector<std::unique_ptr<ProgramThread>> threads{};  ///< the first thread, and all others that have not ended
  std::uint32_t threads_begun = 0;
  ProgramMemory memory{};
  std::vector<nic::QpId> queue_pairs{};
  std::map<std::uint32_t, std::deque<nic::CqId>> cq_events{};  ///< by completion channel
  std::set<nic::SrqId> armed_srqs{};                           ///< with an armed limit event
  std::set<nic::QpId> refused{};                               ///< already notified that they refused a request
  std::map<std::uint32_t, ProgramTimer> timers{};
  std::deque<AsyncNews> async_events{};
  std::deque<CmMessage> messages{};
  std::vector<std::uint32_t> news{};            ///< descriptors of the process to signal with the next reply
  nic::Address inline_slot = 0;                 ///< where the CPU finds inline payloads
  std::map<std::uint64_t, QueueLists> lists{};  ///< of a queue's requests, by list_key
  std::vector<DeviceMemory> device_memory{};
};

class Conductor final : public nic::ThreadRunner, public nic::Observer, public nic::MessageObserver {
 public:
  explicit Conductor(const Options& options);
  ~Conductor() override;
  Conductor(const Conductor&) = delete;
  Conductor& operator=(const Conductor&) = delete;

  /// Starts the programs and runs them to their ends.
  Result run();

  void run(nic::Cpu& cpu) override;
  [[nodiscard]] bool follows_accesses() const override { return tracing_ != nullptr; }
  void on_subevent(const nic::Subevent& subevent) override { tracing_->observer().on_subevent(subevent); }
  void on_subevent_finish(const nic::SubeventFinish& f) override { tracing_->observer().on_subevent_finish(f); }
  void on_subevent_repeated(const nic::Subevent& s) override { tracing_->observer().on_subevent_repeated(s); }
  void on_receives_known(std::uint32_t queue, nic::ThreadId thread, std::uint32_t count) override {
    if (tracing_) tracing_->observer().on_receives_known(queue, thread, count);
  }
  void on_packet(nic::PacketStep step, const fabric::Packet& packet, sim::SimTime at) override;
  void on_message(const nic::MessageArrival& message) override;
  void on_placed(nic::OpId message, std::uint32_t bytes, sim::SimTime at) override;
  void on_request_packet(nic::PacketStep, const fabric::Packet&) override {}
  void on_cqe(nic::NodeId node, nic::CqId cq, const nic::Cqe& cqe, sim::SimTime at) override;
  void on_cq_overrun(nic::NodeId node, nic::CqId cq, const nic::Cqe& cqe, sim::SimTime at) override;

 private:
  struct CqState {
    Program* program = nullptr;
    std::uint32_t channel = kNoQueue;
    bool armed = false;
    bool solicited_only = false;
    bool overrun = false;
  };
  struct Region {
    std::uint32_t host = 0;
    std::uint64_t io_offset = 0;  ///< offset from addresses in requests to those of the program
  };
  using Timer = std::pair<std::int64_t, std::uint64_t>;  ///< time and number

  // conductor.cpp: programs and turns
  [[nodiscard]] HostFacts facts_of(std::uint32_t host) const;
  void start_programs();
  void main_loop();
  void look_at_limits();
  bool wait_for_the_world();
  void serve(ProgramThread& thread);
  bool give_turn(ProgramThread& thread);
  bool await(ProgramThread& thread);
  void break_silence(ProgramThread& thread);
  void await_debugger(Program& program);
  void interrupted();
  bool blocked(ProgramThread& thread);
  void stop_host(std::uint32_t host);
  void kill_now(Program& program);
  void look_for_deaths();
  void ended(Program& program, int wait_status);
  [[nodiscard]] static bool is_gone(const Program& program, int& wait_status);
  [[nodiscard]] bool all_ended() const;
  [[nodiscard]] std::string name_of(const Program& program) const;
  /// Calls `f` with each process, in order: the hosts' programs, then their children.
  template <typename F>
  void for_each_program(F f) const {
    for (const auto& program : programs_)
      if (program) f(*program);
    for (const auto& child : children_) f(*child);
  }
  void thread_ended(ProgramThread& thread);
  /// Forgets a thread that nobody refers to any more; another thread of its host reuses its place in the machine.
  void forget(ProgramThread& thread);
  [[nodiscard]] nic::ThreadId machine_thread(std::uint32_t host);
  [[nodiscard]] std::string deadlock() const;
  void finish(Result& result);

  // time: the machine's, and what has been left out
  [[nodiscard]] sim::SimTime now() const { return system_.now() + left_out_; }
  [[nodiscard]] sim::SimTime machine_time(std::int64_t at_ps) const { return sim::SimTime{at_ps} - left_out_; }
  [[nodiscard]] nic::Counters counters() const;
  void leap();

  // waiting, for the thread of the current step
  void compute(sim::Duration time);
  void between_steps(ProgramThread& thread, const std::function<void()>& f);
  /// True if its alarm is due, which its program is to see now.
  [[nodiscard]] bool alarm_is_due(const ProgramThread& thread) const;
  bool wait(ProgramThread& thread, Wait what, std::int64_t deadline_ps);
  /// Ends a turn of a polling loop; the thread's watch set has what it looked at.
  void pause(ProgramThread& thread, sim::Duration turn);
  void wake(ProgramThread& thread);
  void released(Program& program);
  /// Some descriptor may have become ready: in one process, or in any.
  void notify_io(const Program* only = nullptr);
  void wake_for_io(const Program* only = nullptr);
  void wake_all(Wait what, const Program* program = nullptr);
  Timer add_timer(std::int64_t at, std::function<void()> f);

  // requests.cpp, queues.cpp, regions.cpp
  void handle(ProgramThread& thread, Request request);
  void replay_posts(ProgramThread& thread);
  int post_sends(ProgramThread& thread, const PostHeader& header, const char* records);
  int post_receives(ProgramThread& thread, const PostHeader& header, const char* records);
  nic::Wqe request_of(Program& program, QueueLists& lists, const SendRecord& record, const char* more,
                      std::uint64_t inline_at);
  [[nodiscard]] nic::Address machine_address(std::uint32_t key, std::uint64_t address) const;
  nic::Piece place(Program& program, QueueLists& lists, const char* elements, std::uint64_t count);
  void write_header(nic::NodeId host, const nic::Cqe& cqe);
  void room_in_store_buffer();
  void register_memory(ProgramThread& thread);
  void change_memory(ProgramThread& thread);
  void alloc_device(ProgramThread& thread);
  void copy_device(ProgramThread& thread);
  void register_device(ProgramThread& thread);
  std::int64_t new_region(const Program& program, nic::Address base, std::uint64_t bytes, std::uint8_t access,
                          nic::RegionKind kind, std::uint64_t io_offset);
  void take_runs(Program& program, const Channel& channel, std::uint64_t count);
  void alloc_window(ProgramThread& thread);
  void bind(const Program& program, const SendRecord& record, const Element& to);
  bool invalidate(std::uint32_t host, std::uint32_t key);
  std::uint32_t receives_xrc(const nic::Cqe& cqe);
  bool was_invalidated(const nic::Cqe& cqe);
  void watch_ports();
  // groups.cpp
  void change_group(ProgramThread& thread);
  void make_copier(nic::QpId qp);
  nic::QpId first_receiver(nic::QpId from, const SendRecord& record) const;
  void send_copies(nic::QpId from, const SendRecord& record, nic::Wqe wqe);
  [[nodiscard]] nic::QpId original_of(nic::QpId qp) const;
  [[nodiscard]] std::vector<nic::QpId> receivers(nic::QpId from, const SendRecord& record) const;
  void create_qp(ProgramThread& thread);
  void modify_qp(ProgramThread& thread);
  void reset(nic::QpId qp);
  void poll(ProgramThread& thread);
  void wait_memory(ProgramThread& thread);
  void access(ProgramThread& thread);
  void spin(ProgramThread& thread);
  void get_cq_event(ProgramThread& thread);
  void get_async_event(ProgramThread& thread);
  void tell(Program& program, AsyncEvent event, std::uint32_t object);
  void look_at_srqs(nic::Cpu& cpu);
  void refused(const fabric::Packet& nak);
  void set_timer(ProgramThread& thread);
  void arm_timer(Program& program, std::uint32_t number, std::int64_t at);
  void note_race(ProgramThread& thread);
  void leave(ProgramThread& thread);
  void begin_again(Program& program);
  void start_thread(ProgramThread& thread);
  void start_process(ProgramThread& thread);
  void begin_thread(Program& program, ChannelEnd channel);
  void move(ProgramThread& thread);
  /// What a process has on its host: an address space, and a place for payloads that go with requests.
  void settle(Program& program, std::uint32_t host);
  void send_message(ProgramThread& thread);
  void deliver(const CmMessage& message);
  void listen(ProgramThread& thread);
  [[nodiscard]] Program* receiver_of(const CmMessage& message) const;
  void remember(std::vector<std::string>& list, std::string line) const;
  [[nodiscard]] const nic::HardwareProfile& profile(std::uint32_t host) const { return system_.profile(host); }

  const Options& options_;
  const WallTime began_{};
  const std::uint64_t memory_before_;
  std::vector<std::unique_ptr<HostProcesses>> processes_;  ///< by host; other members refer to it
  nic::System system_;
  std::vector<std::unique_ptr<Program>> programs_;  ///< by host; null where there is none
  std::vector<std::unique_ptr<Program>> children_;  ///< that they have made by fork
  std::vector<std::uint32_t> children_begun_;       ///< by host
  std::vector<ProgramThread*> threads_;             ///< by number in the machine; null: not a program's
  nic::ThreadId clock_ = 0;                         ///< steps when a timer is due
  std::map<Timer, std::function<void()>> timers_;
  std::uint64_t timer_number_ = 1;
  std::vector<std::function<void()>> after_step_;
  std::uint64_t io_changes_ = 0;  ///< how often some descriptor may have become ready
  nic::Cpu* cpu_ = nullptr;
  std::vector<CqState> cqs_;
  std::vector<bool> shares_receives_;                                 ///< by queue pair: uses a shared receive queue
  std::vector<bool> is_xrc_;                                          ///< by queue pair
  std::vector<Program*> owners_;                                      ///< by queue pair
  std::map<std::uint32_t, std::vector<nic::ThreadId>> free_threads_;  ///< by host: of ended programs
  std::vector<bool> written_to_;                             ///< by host: others write to its memory without telling it
  std::map<nic::QpId, std::deque<nic::RecvWqe>> datagrams_;  ///< receives that datagrams are being written to
  std::map<nic::QpId, std::deque<nic::SrqId>> xrc_messages_;  ///< whose completions have not been polled
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<nic::QpId>> groups_;  ///< by GID
  std::map<nic::QpId, nic::QpId> copiers_;  ///< for each queue pair, the one that sends copies to the rest of a group
  std::map<nic::QpId, nic::QpId> copied_;   ///< the inverse of copiers_
  std::set<nic::QpId> not_to_itself_;
  nic::QpId nobody_ = nic::kNone;                ///< receives and drops datagrams to an empty group
  std::vector<Region> regions_;                  ///< by the upper bits of their keys
  std::map<std::uint64_t, Program*> listeners_;  ///< of connection managers, by host and port
  /// Keys that SENDs invalidate, by receiving queue pair: in flight, and arrived but not polled.
  std::multiset<std::pair<nic::QpId, std::uint32_t>> invalidations_, invalidated_;
  std::uint64_t idle_pauses_ = 0;  ///< pauses without news since the last news
  int idle_spins_ = 0;
  int idle_waits_ = 0;  ///< the same for waits in real time
  std::uint32_t network_ = 1;
  int network_lock_ = -1;
  int board_ = -1;                       ///< descriptor of the Board of streams, shared by all programs
  std::vector<std::uint64_t> requests_;  ///< by kind
  std::set<std::tuple<std::uint32_t, std::uint64_t, std::uint64_t, std::string>> races_seen_;
  Recorder recorder_;
  std::unique_ptr<Tracing> tracing_;  ///< null: no trace is kept
  std::unique_ptr<Leaps> leaps_;      ///< null: every packet is simulated
  sim::Duration left_out_{};
  Outputs outputs_;
  Result result_;
  bool ending_ = false;
  bool some_ended_ = false;  ///< some process has ended
  sim::FiberPool pool_;      ///< last: its destructor unwinds code that uses the other members
};

}  // namespace loco::exec
