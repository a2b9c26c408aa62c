#include "hosts/verbs_calls.hpp"

namespace loco::hosts {

trace::CallId Caller::begin(trace::Method method, std::uint64_t argument, std::uint64_t work_id, bool flag) const {
  const trace::CallId call = recorder.begin_operation(thread, method, argument, work_id, system.seq(), ps);
  recorder.verbs()->set_place(call, place);
  if (flag) recorder.verbs()->set_flag(call);
  return call;
}

void begin_request(const Caller& by, nic::Wqe& wqe) {
  if (wqe.fence) by.finish(wqe.fence_op = by.begin(trace::Method::rfence));
  wqe.op = by.begin(method_of(wqe.opcode), argument_of(wqe), wqe.wr_id);
}

void posted_receive(const Caller& by, std::uint32_t queue, const nic::RecvWqe& wqe) {
  by.recorder.verbs()->posted_receive(by.recorder.thread_in_trace(by.thread), by.recorder.calls(), by.place, queue,
                                      wqe);
}

void took_completion(const Caller& by, nic::Cpu& cpu, nic::CqId cq, const nic::Cqe& cqe) {
  const trace::CallId call = by.begin(trace::Method::wait, 0, cqe.wr_id);
  cpu.record(nic::Stamp::aWT, call);
  by.finish(call);
  by.recorder.verbs()->polled(call, cq, cqe);
}

}  // namespace loco::hosts
