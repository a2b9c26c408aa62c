#include "exec/tracing.hpp"

#include <fmt/format.h>

#include "exec/places.hpp"
#include "text/words.hpp"

namespace loco::exec {

namespace {

/// `main.c:23` taken apart; what has no line of source keeps its text.
trace::Verbs::Place place_of(const CodePlace& code) {
  const std::string text = source_line(code);
  const std::size_t colon = text.rfind(':');
  const auto line = colon == std::string::npos ? std::nullopt : text::parse_integer(text.substr(colon + 1));
  if (!line) return {text, 0};
  return {text.substr(0, colon), static_cast<std::uint32_t>(*line)};
}

}  // namespace

Tracing::Tracing(const nic::System& system, std::uint64_t seed) : system_(system), recorder_(system.config().nodes) {
  recorder_.trace().seed = seed;
  recorder_.record_verbs(system);
}

void Tracing::begin_thread(nic::ThreadId thread, nic::NodeId host, const std::string& name) {
  if (thread < threads_) return recorder_.restart_thread(thread, name);
  recorder_.add_thread(host, name);
  threads_ = thread + 1;
}

std::uint32_t Tracing::place(const Caller& by) {
  if (by.code == 0) return 0;
  const auto [found, fresh] = places_.try_emplace({by.process, by.code}, 0);
  if (fresh) {  // the line comes when the run has ended: until then each place is a line of a file of no name
    code_.push_back(code_place(by.process, by.code));
    found->second = recorder_.verbs()->place("", static_cast<std::uint32_t>(code_.size()));
  }
  return found->second;
}

hosts::Caller Tracing::call_of(const Caller& by) {
  return {recorder_, by.thread, place(by), system_, system_.now().ps};
}

trace::CallId Tracing::begin(const Caller& by, trace::Method method, std::uint64_t argument, bool flag) {
  return call_of(by).begin(method, argument, 0, flag);
}

void Tracing::begin_requests(const Caller& by, std::span<nic::Wqe> wqes) {
  const hosts::Caller caller = call_of(by);
  for (nic::Wqe& wqe : wqes) hosts::begin_request(caller, wqe);
}

void Tracing::posted(nic::QpId qp, std::span<const nic::Wqe> wqes) {
  for (const nic::Wqe& wqe : wqes) {
    recorder_.finish(wqe.op, 0, system_.seq(), system_.now().ps);
    recorder_.verbs()->posted(wqe.op, qp, wqe);
  }
}

void Tracing::posted_receives(const Caller& by, std::uint32_t queue, std::span<const nic::RecvWqe> wqes) {
  const hosts::Caller caller = call_of(by);
  for (const nic::RecvWqe& wqe : wqes) hosts::posted_receive(caller, queue, wqe);
}

void Tracing::polled(const Caller& by, nic::Cpu& cpu, nic::CqId cq, std::span<const nic::Cqe> cqes) {
  const hosts::Caller caller = call_of(by);
  for (const nic::Cqe& cqe : cqes) hosts::took_completion(caller, cpu, cq, cqe);
}

void Tracing::reset(nic::QpId qp) { recorder_.verbs()->reset(system_, qp); }

void Tracing::load(const Caller& by, nic::Cpu& cpu, nic::Address word, bool flag) {
  const trace::CallId call = begin(by, trace::Method::read, 0, flag);
  const std::uint64_t value = cpu.load(word, call);
  recorder_.finish(call, value, system_.seq(), system_.now().ps);
}

void Tracing::stored(const Caller& by, nic::Cpu& cpu, nic::Address word, bool flag) {
  const trace::CallId call = begin(by, trace::Method::write, 0, flag);
  cpu.stored(word, call);
  trace::Trace& t = recorder_.trace();
  t.calls[call - 1].argument = t.subevents.back().value;
  recorder_.finish(call, 0, system_.seq(), system_.now().ps);
}

std::uint64_t Tracing::bytes() {
  const trace::Trace& t = recorder_.trace();
  return t.subevents.size() * sizeof(trace::Subevent) + t.calls.size() * sizeof(trace::Call);
}

trace::Trace Tracing::take(std::vector<CodePlace>& code) {
  recorder_.verbs()->end(system_);
  code = std::move(code_);
  return std::move(recorder_.trace());
}

void name_places(trace::Trace& trace, const std::vector<CodePlace>& code) {
  for (std::size_t i = 0; i < code.size(); ++i) trace.verbs->places[i + 1] = place_of(code[i]);
}

}  // namespace loco::exec
