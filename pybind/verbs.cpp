// ls.verbs: a verbs::Machine whose threads are Python generators. What one yields is a call of verbs::Thread as a
// tuple, and its result is sent back. Set-up and what a run has recorded: verbs_machine.cpp.
//
// Generators run on the stack of who called run(), never on a fiber's (Thread::call_outside), and only there is the
// interpreter lock taken.
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <pybind11/stl.h>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "loco_sim/run/run.hpp"
#include "loco_sim/verbs/machine.hpp"
#include "pybind/bindings.hpp"
#include "pybind/generator_thread.hpp"
#include "pybind/interruption.hpp"
#include "pybind/verbs_machine.hpp"

namespace loco::python {

namespace {

/// The calls of a thread; Python knows their numbers by kVerbsCallNames.
enum class Call : std::uint8_t {
  now,              ///< -> picoseconds
  compute,          ///< picoseconds
  load,             ///< address -> value
  store,            ///< address, value
  fence,            ///<
  post_send,        ///< queue pair, requests as request_of() takes them
  post_recv,        ///< queue pair, receives as receive_of() takes them
  post_srq_recv,    ///< shared receive queue, likewise
  poll_cq,          ///< completion queue -> completion or None
  wait_cq,          ///< completion queue -> completion
  wait_for_change,  ///< address, old value -> new value
  load_flag,        ///< address -> value
  compare_swap,     ///< address, expected, desired -> old value
  srq_limit,        ///< shared receive queue -> 0 or 1
  modify_qp,        ///< queue pair, attributes as attributes_of() takes them
  async_event,      ///< -> an event, or None
};

/// `_core.VERBS_CALLS`: the names, in the order of the enumeration.
constexpr std::array<const char*, static_cast<std::size_t>(Call::async_event) + 1> kVerbsCallNames = {
    "now",          "compute",       "load",      "store",      "fence",           "post_send",
    "post_recv",    "post_srq_recv", "poll_cq",   "wait_cq",    "wait_for_change", "load_flag",
    "compare_swap", "srq_limit",     "modify_qp", "async_event"};

constexpr std::array<std::string_view, 7> kOpcodes = {"rdma_write", "rdma_read", "compare_swap",      "fetch_add",
                                                      "send",       "recv",      "recv_rdma_with_imm"};

py::str text(std::string_view view) { return {view.data(), view.size()}; }

/// (opcode, wr_id, local, lkey, length, remote, rkey, imm or None, signaled, fence, inline, operand, swap, remote_qp or
/// None, qkey)
nic::Wqe request_of(const py::tuple& t) {
  nic::Wqe w;
  w.opcode = named<nic::Opcode>(kOpcodes, t[0].cast<std::string>(), "opcode");
  w.wr_id = t[1].cast<std::uint64_t>();
  w.local = t[2].cast<nic::Address>();
  w.lkey = t[3].cast<std::uint32_t>();
  w.length = t[4].cast<std::uint32_t>();
  w.remote = t[5].cast<nic::Address>();
  w.rkey = t[6].cast<std::uint32_t>();
  w.with_imm = !t[7].is_none();
  if (w.with_imm) w.imm = t[7].cast<std::uint32_t>();
  w.signaled = t[8].cast<bool>();
  w.fence = t[9].cast<bool>();
  w.inline_data = t[10].cast<bool>();
  w.compare_add = t[11].cast<std::uint64_t>();
  w.swap = t[12].cast<std::uint64_t>();
  if (!t[13].is_none()) w.remote_qp = t[13].cast<nic::QpId>();
  w.remote_qkey = t[14].cast<std::uint32_t>();
  return w;
}

/// (wr_id, address, length, lkey)
nic::RecvWqe receive_of(const py::tuple& t) {
  return {.wr_id = t[0].cast<std::uint64_t>(),
          .address = t[1].cast<nic::Address>(),
          .length = t[2].cast<std::uint32_t>(),
          .lkey = t[3].cast<std::uint32_t>()};
}

/// In the order of the fields of loco_sim.verbs.Completion.
py::tuple completion_tuple(const nic::Cqe& c) {
  return py::make_tuple(text(name(c.status)), c.wr_id, text(kOpcodes.at(static_cast<std::size_t>(c.opcode))), c.length,
                        c.with_imm ? py::object(py::int_(c.imm)) : py::none(), c.qp,
                        c.source_qp == nic::kNone ? py::none() : py::object(py::int_(c.source_qp)));
}

struct VerbsRun {
  py::object completion;   ///< makes one of the tuple above
  py::object async_event;  ///< makes one of its type's name, and the number of the queue
  py::object refused;      ///< class of the exception for calls that verbs refuse
  RaisedError error{};
  std::set<std::string> files{};  ///< of the program's lines
};

/// One thread, seen from the generator that drives it.
class Driver {
 public:
  Driver(VerbsRun& run, py::object generator) : run_(run), generator_(std::move(generator), run.error) {}

  void run(verbs::Thread& thread) {
    const std::function<void()> advance = [this] {
      generator_.advance([this] { return answer(); }, [this](const py::object& yielded) { read_call(yielded); });
    };
    for (thread.call_outside(advance); !generator_.ended(); thread.call_outside(advance)) {
      mistake_.clear();
      number_.reset();
      cqe_.reset();
      event_.reset();
      try {
        perform(thread);
      } catch (const verbs::VerbsError& e) {  // the generator may catch it
        mistake_ = e.what();
      }
    }
  }
  [[nodiscard]] const py::object& returned() const { return generator_.returned(); }

 private:
  GeneratorThread::Answer answer() {
    if (!mistake_.empty()) return {run_.refused(mistake_), true};
    return {result()};
  }

  py::object result() {
    if (number_) return py::int_(*number_);
    if (event_) return run_.async_event(text(name(event_->type)), event_->element);
    return cqe_ ? run_.completion(*completion_tuple(*cqe_)) : py::none();
  }

  void read_call(const py::object& yielded) {
    try {
      read(yielded);
    } catch (const py::cast_error&) {
      throw py::value_error("expected a call such as thread.poll_cq(cq), found one with other arguments");
    }
  }

  void read(const py::object& yielded) {
    if (!py::isinstance<py::tuple>(yielded) || py::len(yielded) == 0)
      throw std::invalid_argument("expected a call such as thread.poll_cq(cq), found " +
                                  py::repr(yielded).cast<std::string>());
    where_ = {};
    if (py::hasattr(yielded, "made")) {
      if (const py::object made = yielded.attr("made"); !made.is_none()) {
        const auto line = made.cast<std::pair<std::string, std::uint32_t>>();
        where_ = {run_.files.insert(line.first).first->c_str(), line.second};
      }
      yielded.attr("made") = py::none();  // those that nobody yields warn
    }
    const auto t = yielded.cast<py::tuple>();
    call_ = static_cast<Call>(t[0].cast<std::uint8_t>());
    for (std::size_t i = 1; i < t.size() && i <= arguments_.size(); ++i) {
      if (py::isinstance<py::tuple>(t[i])) {
        read_list(t[i].cast<py::tuple>());
      } else {
        arguments_[i - 1] = t[i].cast<std::uint64_t>();
      }
    }
  }

  void read_list(const py::tuple& list) {
    requests_.clear();
    receives_.clear();
    if (call_ == Call::modify_qp) {
      to_ = attributes_of(list, attributes_);
      return;
    }
    for (const py::handle one : list) {
      if (call_ == Call::post_send) requests_.push_back(request_of(one.cast<py::tuple>()));
      if (call_ != Call::post_send) receives_.push_back(receive_of(one.cast<py::tuple>()));
    }
  }

  void perform(verbs::Thread& thread) {
    const auto& a = arguments_;
    const auto queue = static_cast<std::uint32_t>(a[0]);
    switch (call_) {
      case Call::now:
        number_ = static_cast<std::uint64_t>(thread.now().ps);
        return;
      case Call::compute:
        return thread.compute(sim::Duration{static_cast<std::int64_t>(a[0])});
      case Call::load:
        number_ = thread.load(a[0], where_);
        return;
      case Call::store:
        return thread.store(a[0], a[1], where_);
      case Call::fence:
        return thread.fence(where_);
      case Call::post_send:
        return thread.post_sends(queue, requests_, where_);
      case Call::post_recv:
        return thread.post_recvs(queue, receives_, where_);
      case Call::post_srq_recv:
        return thread.post_srq_recvs(queue, receives_, where_);
      case Call::poll_cq:
        cqe_ = thread.poll_cq(queue, where_);
        return;
      case Call::wait_cq:
        cqe_ = thread.wait_cq(queue, where_);
        return;
      case Call::wait_for_change:
        number_ = thread.wait_for_change(a[0], a[1], where_);
        return;
      case Call::load_flag:
        number_ = thread.load_flag(a[0], where_);
        return;
      case Call::compare_swap:
        number_ = thread.compare_swap(a[0], a[1], a[2], where_);
        return;
      case Call::srq_limit:
        number_ = thread.srq_limit_reached(queue) ? 1 : 0;
        return;
      case Call::modify_qp:
        return thread.modify_qp(queue, to_, attributes_);
      case Call::async_event:
        event_ = thread.get_async_event();
        return;
    }
  }

  VerbsRun& run_;
  GeneratorThread generator_;
  Call call_ = Call::now;
  std::array<std::uint64_t, 5> arguments_{};
  verbs::Where where_;
  std::vector<nic::Wqe> requests_;
  std::vector<nic::RecvWqe> receives_;
  nic::QpState to_ = nic::QpState::reset;
  nic::QpAttributes attributes_;
  std::optional<std::uint64_t> number_;
  std::optional<nic::Cqe> cqe_;
  std::optional<verbs::AsyncEvent> event_;
  std::string mistake_;
};

/// Runs generators, each on its node; (the values they returned, the last instant in picoseconds).
py::tuple run_generators(PyMachine& m, const std::vector<std::pair<nic::NodeId, py::object>>& generators,
                         const py::object& completion, const py::object& async_event, const py::object& refused,
                         std::uint64_t events_max) {
  VerbsRun run{completion, async_event, refused};
  std::vector<std::unique_ptr<Driver>> drivers;
  for (const auto& [node, generator] : generators) {
    drivers.push_back(std::make_unique<Driver>(run, generator));
    m.machine->spawn(node, [driver = drivers.back().get()](verbs::Thread& thread) { driver->run(thread); });
  }
  const auto keep_trace = [&m] {
    if (m.recorded) m.trace = std::make_shared<trace::Trace>(m.machine->take_trace());
  };
  try {
    interruptible(
        [&](Interruption& interruption) { m.machine->run(events_max, [&] { interruption.stop_if_requested(); }); });
  } catch (const GeneratorFailed&) {
    run.error.rethrow();
    throw;
  } catch (const py::error_already_set&) {
    throw;
  } catch (const std::runtime_error& e) {  // stuck, or too many events
    keep_trace();
    throw RunError(e.what(), m.trace, {});
  }
  keep_trace();
  py::list returned;
  for (const auto& driver : drivers) returned.append(driver->returned());
  return py::make_tuple(returned, m.machine->system().now().ps);
}

}  // namespace

void bind_verbs(py::module_& m) {
  m.attr("VERBS_CALLS") = numbers_of(kVerbsCallNames);
  bind_verbs_machine(m).def("run", &run_generators);
}

}  // namespace loco::python
