#include "loco_sim/run/result_bytes.hpp"

#include <cstring>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "trace/file.hpp"

namespace loco {

namespace {

/// One description of a result serves for both: Out writes it, In reads it.
class Out {
 public:
  static constexpr bool kReads = false;
  template <typename T>
  void plain(const T& value) {
    raw(&value, sizeof(value));
  }
  template <typename T>
  void size(const T& list) {
    plain(std::uint64_t{list.size()});
  }
  void text(const std::string& text) {
    size(text);
    raw(text.data(), text.size());
  }
  template <typename T>
  void array(const std::vector<T>& all) {
    size(all);
    raw(all.data(), all.size() * sizeof(T));
  }
  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  void raw(const void* from, std::size_t bytes) { out_.append(static_cast<const char*>(from), bytes); }

  std::string out_;
};

class In {
 public:
  static constexpr bool kReads = true;
  explicit In(std::string_view bytes) : left_(bytes) {}
  template <typename T>
  void plain(T& value) {
    raw(&value, 1);
  }
  /// Gives the list the size of the one that was written.
  template <typename T>
  void size(T& list) {
    std::uint64_t size = 0;
    plain(size);
    need(size);
    list.resize(size);
  }
  void text(std::string& text) {
    size(text);
    raw(text.data(), text.size());
  }
  template <typename T>
  void array(std::vector<T>& all) {
    size(all);
    raw(all.data(), all.size());
  }
  [[nodiscard]] bool done() const { return left_.empty(); }

 private:
  template <typename T>
  void raw(T* into, std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    need(count * sizeof(T));
    if (count != 0) std::memcpy(into, left_.data(), count * sizeof(T));
    left_.remove_prefix(count * sizeof(T));
  }
  void need(std::uint64_t bytes) const {
    if (bytes > left_.size()) throw std::logic_error("the bytes of a result are cut short");
  }

  std::string_view left_;
};

template <typename Io, typename Result>
void describe(Io& io, Result& r) {
  io.size(r.operations);
  for (auto& operation : r.operations) {
    io.text(operation.name);
    io.array(operation.samples_ps);
    io.array(operation.ends_ps);
  }
  io.plain(r.operations_done);
  io.plain(r.measured_ps);
  io.plain(r.simulated_ps);
  io.plain(r.counters);
  io.size(r.busiest);
  for (auto& usage : r.busiest) {
    io.text(usage.resource);
    io.plain(usage.share);
  }
  std::vector<std::string> names = r.workload_counters.names();
  io.size(names);
  for (std::string& name : names) {
    io.text(name);
    std::uint64_t value = r.workload_counters.value(name);
    io.plain(value);
    if constexpr (Io::kReads) r.workload_counters.add(r.workload_counters.id(name), value);
  }
  io.size(r.broken);
  for (auto& broken : r.broken) io.text(broken);
  io.plain(r.bus);
  io.size(r.parts);
  for (auto& part : r.parts) {
    io.text(part.name);
    io.text(part.kind);
    io.plain(part.bus);
    io.plain(part.flows);
    io.plain(part.median_ps);
    io.plain(part.alone_ps);
  }
  io.array(r.flows);
  std::string recorded = r.trace && !Io::kReads ? trace::encode_trace(*r.trace) : "";
  io.text(recorded);
  if constexpr (Io::kReads)
    if (!recorded.empty()) r.trace = trace::decode_trace(recorded);
}

}  // namespace

std::string to_bytes(const RunResult& result) {
  Out out;
  describe(out, result);
  return out.take();
}

RunResult result_from_bytes(std::string_view bytes) {
  In in(bytes);
  RunResult result;
  describe(in, result);
  if (!in.done()) throw std::logic_error("the bytes of a result are followed by others");
  return result;
}

}  // namespace loco
