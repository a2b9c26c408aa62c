#include "loco_sim/run/result_bytes.hpp"

#include <cstring>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "trace/file.hpp"

namespace loco {

namespace {

class Writer {
 public:
  void number(std::uint64_t n) { raw(&n, sizeof n); }
  void signed_number(std::int64_t n) { raw(&n, sizeof n); }
  void text(std::string_view s) {
    number(s.size());
    raw(s.data(), s.size());
  }
  void numbers(const std::vector<std::int64_t>& all) {
    number(all.size());
    raw(all.data(), all.size() * sizeof(std::int64_t));
  }
  void raw(const void* from, std::size_t bytes) { out_.append(static_cast<const char*>(from), bytes); }
  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}
  std::uint64_t number() {
    std::uint64_t n = 0;
    raw(&n, sizeof n);
    return n;
  }
  std::int64_t signed_number() {
    std::int64_t n = 0;
    raw(&n, sizeof n);
    return n;
  }
  std::string_view text() {
    const std::uint64_t size = number();
    need(size);
    const std::string_view s = left_.substr(0, size);
    left_.remove_prefix(size);
    return s;
  }
  std::vector<std::int64_t> numbers() {
    const std::uint64_t size = number();
    need(size * sizeof(std::int64_t));
    std::vector<std::int64_t> all(size);
    raw(all.data(), size * sizeof(std::int64_t));
    return all;
  }
  void raw(void* into, std::size_t bytes) {
    need(bytes);
    if (bytes != 0) std::memcpy(into, left_.data(), bytes);
    left_.remove_prefix(bytes);
  }
  void need(std::uint64_t bytes) const {
    if (bytes > left_.size()) throw std::logic_error("the bytes of a result are cut short");
  }
  [[nodiscard]] bool done() const { return left_.empty(); }

 private:
  std::string_view left_;
};

static_assert(std::is_trivially_copyable_v<nic::Counters>);
static_assert(std::is_trivially_copyable_v<workloads::flows::FlowRecord>);

}  // namespace

std::string to_bytes(const RunResult& result) {
  Writer out;
  out.number(result.operations.size());
  for (const OperationTimes& operation : result.operations) {
    out.text(operation.name);
    out.numbers(operation.samples_ps);
    out.numbers(operation.ends_ps);
  }
  out.number(result.operations_done);
  out.signed_number(result.measured_ps);
  out.signed_number(result.simulated_ps);
  out.raw(&result.counters, sizeof result.counters);
  out.number(result.busiest.size());
  for (const nic::Usage& usage : result.busiest) {
    out.text(usage.resource);
    out.raw(&usage.share, sizeof usage.share);
  }
  out.number(result.workload_counters.names().size());
  for (const std::string& name : result.workload_counters.names()) {
    out.text(name);
    out.number(result.workload_counters.value(name));
  }
  out.number(result.broken.size());
  for (const std::string& broken : result.broken) out.text(broken);
  for (const std::uint64_t n : {result.bus.bytes, result.bus.times, result.bus.over}) out.number(n);
  out.number(result.parts.size());
  for (const PartResult& part : result.parts) {
    out.text(part.name);
    out.text(part.kind);
    for (const std::uint64_t n : {part.bus.bytes, part.bus.times, part.bus.over, part.flows}) out.number(n);
    out.signed_number(part.median_ps);
    out.signed_number(part.alone_ps);
  }
  out.number(result.flows.size());
  out.raw(result.flows.data(), result.flows.size() * sizeof(workloads::flows::FlowRecord));
  out.number(result.trace ? 1 : 0);
  if (result.trace) out.text(trace::encode_trace(*result.trace));
  return out.take();
}

RunResult result_from_bytes(std::string_view bytes) {
  Reader in(bytes);
  RunResult result;
  for (std::uint64_t left = in.number(); left != 0; --left) {
    OperationTimes& operation = result.operations.emplace_back();
    operation.name = in.text();
    operation.samples_ps = in.numbers();
    operation.ends_ps = in.numbers();
  }
  result.operations_done = in.number();
  result.measured_ps = in.signed_number();
  result.simulated_ps = in.signed_number();
  in.raw(&result.counters, sizeof result.counters);
  for (std::uint64_t left = in.number(); left != 0; --left) {
    nic::Usage& usage = result.busiest.emplace_back();
    usage.resource = in.text();
    in.raw(&usage.share, sizeof usage.share);
  }
  for (std::uint64_t left = in.number(); left != 0; --left) {
    const sim::CounterId id = result.workload_counters.id(in.text());
    result.workload_counters.add(id, in.number());
  }
  for (std::uint64_t left = in.number(); left != 0; --left) result.broken.emplace_back(in.text());
  for (std::uint64_t* n : {&result.bus.bytes, &result.bus.times, &result.bus.over}) *n = in.number();
  for (std::uint64_t left = in.number(); left != 0; --left) {
    PartResult& part = result.parts.emplace_back();
    part.name = in.text();
    part.kind = in.text();
    for (std::uint64_t* n : {&part.bus.bytes, &part.bus.times, &part.bus.over, &part.flows}) *n = in.number();
    part.median_ps = in.signed_number();
    part.alone_ps = in.signed_number();
  }
  const std::uint64_t flows = in.number();
  in.need(flows * sizeof(workloads::flows::FlowRecord));
  result.flows.resize(flows);
  in.raw(result.flows.data(), flows * sizeof(workloads::flows::FlowRecord));
  if (in.number() != 0) result.trace = trace::decode_trace(in.text());
  if (!in.done()) throw std::logic_error("the bytes of a result are followed by others");
  return result;
}

}  // namespace loco
