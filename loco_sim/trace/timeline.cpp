#include "loco_sim/trace/timeline.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "model/check.hpp"
#include "model/poll.hpp"
#include "model/stamps.hpp"
#include "text/json.hpp"
#include "trace/file.hpp"

namespace loco {

namespace {

using trace::Activity;
using trace::Call;
using trace::Stamp;
using trace::Subevent;

constexpr std::int64_t kDrawnMin = 1'000;  // picoseconds
constexpr std::uint32_t kPcieTrack = 1'000'000;
constexpr std::uint32_t kMissingTrack = 1'000'001;      // packets that did not arrive
constexpr std::uint32_t kFirstSharedTrack = 1'000'100;  // NIC engines and links, numbered as they occur

std::string quoted(const std::string& text) { return text::json_text_replacing(text); }

/// Picoseconds as microseconds, exactly.
std::string us(std::int64_t ps) {
  const bool negative = ps < 0;
  const auto magnitude = negative ? 0 - static_cast<std::uint64_t>(ps) : static_cast<std::uint64_t>(ps);
  return fmt::format("{}{}.{:06}", negative ? "-" : "", magnitude / 1'000'000, magnitude % 1'000'000);
}

std::uint32_t process(std::uint32_t node) { return node + 1; }
std::uint32_t thread_track(std::uint32_t thread) { return thread + 1; }

/// What one call does through one NIC with one kind of access.
struct NicAccess {
  trace::CallId call = 0;
  Stamp stamp = Stamp::aNLR;
  std::uint16_t node = 0;
  std::uint16_t peer = 0;
  std::uint64_t address = 0;
  std::uint64_t words = 0;
  std::int64_t start_ps = 0;
  std::int64_t finish_ps = 0;
  bool finished = true;
};

/// Something that occupies a stretch of a track.
struct Slice {
  std::int64_t start_ps = 0;
  std::int64_t drawn_end_ps = 0;
  std::string text;  ///< the event in JSON without pid, tid and ts
  trace::CallId call = 0;
};

const char* engine_name(Stamp stamp) {
  switch (stamp) {
    case Stamp::aNLR:
      return "NIC payload reads";
    case Stamp::aNRW:
      return "NIC remote writes";
    case Stamp::aNRR:
    case Stamp::aNAR:
      return "NIC remote reads";
    default:
      return "NIC response writes";
  }
}

std::string_view packet_name(std::uint8_t opcode) {
  return opcode < rdma::kPacketOpcodeNames.size() ? rdma::kPacketOpcodeNames[opcode] : "packet";
}

std::string call_name(const trace::Trace& trace, const Call& call) {
  std::string name = fmt::format("{}.{}", trace::name(call.library), trace::name(call.method));
  if (call.object > 0 && call.object < trace.objects.size()) name += " " + trace.objects[call.object].name;
  return name;
}

class Timeline {
 public:
  Timeline(std::ostream& out, const trace::Trace& trace, const std::function<void()>& poll)
      : out_(out), trace_(trace), poll_(poll) {
    for (const Call& call : trace.calls) last_ps_ = std::max({last_ps_, call.begin_ps, call.end_ps});
    for (const Subevent& s : trace.subevents) last_ps_ = std::max({last_ps_, s.start_ps, s.finish_ps});
  }

  void write() {
    out_ << "{\"displayTimeUnit\": \"ns\", \"otherData\": {\"scenario\": " << quoted(trace_.scenario)
         << ", \"seed\": " << trace_.seed << "}, \"traceEvents\": [";
    names();
    calls();
    cpu_accesses();
    gather_nic_accesses();
    for (const NicAccess& a : accesses_) {
      poll_();
      add_access(a);
    }
    activities();
    tracks();
    operations();
    out_ << "\n]}\n";
  }

 private:
  void event(const std::string& text) {
    out_ << (first_ ? "\n" : ",\n") << text;
    first_ = false;
  }

  void name_track(std::uint32_t node, std::uint32_t track, const std::string& name) {
    event(fmt::format(R"({{"ph": "M", "name": "thread_name", "pid": {}, "tid": {}, "args": {{"name": {}}}}})",
                      process(node), track, quoted(name)));
    event(
        fmt::format(R"({{"ph": "M", "name": "thread_sort_index", "pid": {}, "tid": {}, "args": {{"sort_index": {}}}}})",
                    process(node), track, track));
  }

  void names() {
    for (std::uint32_t node = 0; node < trace_.nodes; ++node) {
      event(fmt::format(R"({{"ph": "M", "name": "process_name", "pid": {}, "args": {{"name": "node {}"}}}})",
                        process(node), node));
    }
    for (std::uint32_t i = 0; i < trace_.threads.size(); ++i) {
      name_track(trace_.threads[i].node, thread_track(i), "CPU " + trace_.threads[i].name);
    }
  }

  void calls() {
    for (std::size_t i = 0; i < trace_.calls.size(); ++i) {
      const Call& c = trace_.calls[i];
      const std::int64_t end = c.returned ? c.end_ps : last_ps_;
      event(fmt::format(
          R"({{"ph": "X", "cat": "call", "name": {}, "pid": {}, "tid": {}, "ts": {}, "dur": {}, "args": {{"call": {}, )"
          R"("begin_ps": {}, "end_ps": {}, "argument": {}, "result": {}, "work_id": {}}}}})",
          quoted(call_name(trace_, c)), process(trace_.threads[c.thread].node), thread_track(c.thread), us(c.begin_ps),
          us(std::max<std::int64_t>(end - c.begin_ps, 0)), i + 1, c.begin_ps,
          c.returned ? fmt::format("{}", c.end_ps) : "null", c.argument, c.result, c.work_id));
    }
  }

  void cpu_accesses() {
    for (std::size_t i = 0; i < trace_.subevents.size(); ++i) {
      const Subevent& s = trace_.subevents[i];
      if ((s.stamp >= Stamp::aNLR && s.stamp <= Stamp::aNLW) || is_unbegun(s)) continue;
      const std::uint32_t thread = trace_.calls[s.call - 1].thread;
      event(fmt::format(
          R"({{"ph": "i", "s": "t", "cat": "access", "name": "{}", "pid": {}, "tid": {}, "ts": {}, "args": )"
          R"({{"subevent": {}, "node": {}, "address": "{:#x}", "value": {}, "start_ps": {}, "finish_ps": {}}}}})",
          trace::name(s.stamp), process(trace_.threads[thread].node), thread_track(thread), us(s.start_ps), i + 1,
          s.node, s.address, s.value, s.start_ps, s.finish == trace::kNever ? "null" : fmt::format("{}", s.finish_ps)));
    }
  }

  /// One NicAccess for each call, kind and node, in that order.
  void gather_nic_accesses() {
    std::map<std::tuple<trace::CallId, Stamp, std::uint16_t>, NicAccess> by_key;
    for (const Subevent& s : trace_.subevents) {
      poll_();
      if (s.stamp < Stamp::aNLR || s.stamp > Stamp::aNLW || is_unbegun(s)) continue;
      const auto [found, fresh] = by_key.try_emplace({s.call, s.stamp, s.node});
      NicAccess& a = found->second;
      if (fresh) a = {s.call, s.stamp, s.node, s.peer, s.address, 0, s.start_ps, s.start_ps, true};
      ++a.words;
      a.address = std::min(a.address, s.address);
      a.start_ps = std::min(a.start_ps, s.start_ps);
      a.finished = a.finished && s.finish != trace::kNever;
      a.finish_ps = std::max(a.finish_ps, s.finish == trace::kNever ? s.start_ps : s.finish_ps);
    }
    for (const auto& entry : by_key) accesses_.push_back(entry.second);
  }

  void add_access(const NicAccess& a) {
    Slice slice{.start_ps = a.start_ps,
                .drawn_end_ps = std::max(a.finish_ps, a.start_ps + kDrawnMin),
                .text = {},
                .call = a.call};
    slice.text = fmt::format(
        R"("cat": "nic", "name": "{} of {}", "args": {{"call": {}, "words": {}, "address": "{:#x}", "start_ps": {}, )"
        R"("finish_ps": {}}})",
        trace::name(a.stamp), model_call(a.call), a.call, a.words, a.address, a.start_ps,
        a.finished ? fmt::format("{}", a.finish_ps) : "null");
    shared_[{a.node, 0, static_cast<std::uint32_t>(a.stamp), engine_name(a.stamp)}].push_back(std::move(slice));
  }

  std::string model_call(trace::CallId id) const { return std::string(trace::name(trace_.calls[id - 1].method)); }

  void activities() {
    std::set<std::pair<std::uint32_t, std::uint32_t>> named;
    const auto track = [&](const Activity& a, std::uint32_t number, const char* name) {
      if (named.emplace(a.node, number).second) name_track(a.node, number, name);
    };
    for (const Activity& a : trace_.activities) {
      poll_();
      if (a.kind != Activity::Kind::packet) {
        track(a, kPcieTrack, "PCIe");
        add_pcie(a);
      } else if (a.finish_ps >= 0) {
        add_packet(a);
      } else {
        track(a, kMissingTrack, "did not arrive");
        add_missing(a);
      }
    }
  }

  void add_pcie(const Activity& a) {
    event(fmt::format(R"({{"ph": "i", "s": "t", "cat": "pcie", "name": "{}", "pid": {}, "tid": {}, "ts": {}, )"
                      R"("args": {{"qp": {}, "bytes": {}, "at_ps": {}}}}})",
                      trace::name(a.kind), process(a.node), kPcieTrack, us(a.start_ps), a.qp, a.bytes, a.start_ps));
  }

  /// Packets that did not arrive: lost, or in flight when the run ended. A trace does not say which.
  void add_missing(const Activity& a) {
    event(fmt::format(R"({{"ph": "i", "s": "t", "cat": "packet", "name": "{} to node {}", "pid": {}, "tid": {}, )"
                      R"("ts": {}, "args": {{"qp": {}, "psn": {}, "bytes": {}, "at_ps": {}}}}})",
                      packet_name(a.opcode), a.peer, process(a.node), kMissingTrack, us(a.start_ps), a.qp, a.number,
                      a.bytes, a.start_ps));
  }

  void add_packet(const Activity& a) {
    Slice slice{.start_ps = a.start_ps, .drawn_end_ps = std::max(a.finish_ps, a.start_ps + kDrawnMin), .text = {}};
    slice.text = fmt::format(
        R"("cat": "packet", "name": "{}", "args": {{"qp": {}, "psn": {}, "bytes": {}, "start_ps": {}, "finish_ps": {}}})",
        packet_name(a.opcode), a.qp, a.number, a.bytes, a.start_ps, a.finish_ps);
    shared_[{a.node, 1, a.peer, fmt::format("link to node {}", a.peer)}].push_back(std::move(slice));
  }

  /// Tracks of NIC engines and links. Slices that overlap go to further tracks.
  void tracks() {
    std::vector<std::uint32_t> next(trace_.nodes, kFirstSharedTrack);
    for (auto& [key, slices] : shared_) {
      const auto& [node, group, number, name] = key;
      std::stable_sort(slices.begin(), slices.end(), [this](const Slice& a, const Slice& b) {
        poll_();
        return std::tie(a.start_ps, a.drawn_end_ps) < std::tie(b.start_ps, b.drawn_end_ps);
      });
      std::vector<std::int64_t> free;  // by lane, when it is free
      for (const Slice& slice : slices) {
        const auto lane = std::find_if(free.begin(), free.end(), [&](std::int64_t at) { return at <= slice.start_ps; });
        const auto index = static_cast<std::uint32_t>(lane - free.begin());
        if (lane == free.end()) {
          free.push_back(0);
          name_track(node, next[node] + index, index == 0 ? name : fmt::format("{} ({})", name, index + 1));
        }
        free[index] = slice.drawn_end_ps;
        event(fmt::format(R"({{"ph": "X", "pid": {}, "tid": {}, "ts": {}, "dur": {}, {}}})", process(node),
                          next[node] + index, us(slice.start_ps), us(slice.drawn_end_ps - slice.start_ps), slice.text));
        if (slice.call != 0) steps_[slice.call].push_back({slice.start_ps, node, next[node] + index});
      }
      next[node] += static_cast<std::uint32_t>(free.size());
    }
  }

  /// For each remote operation an asynchronous track and an arrow along its accesses.
  void operations() {
    std::map<trace::CallId, std::int64_t> last;
    for (const NicAccess& a : accesses_) {
      auto [found, fresh] = last.try_emplace(a.call, a.finish_ps);
      found->second = std::max(found->second, a.finish_ps);
    }
    for (auto& [call, steps] : steps_) {
      const Call& c = trace_.calls[call - 1];
      const std::uint32_t node = trace_.threads[c.thread].node;
      const std::int64_t end = std::max({last[call], c.begin_ps, c.returned ? c.end_ps : c.begin_ps});
      const std::string what = fmt::format(R"("cat": "operation", "id": {}, "name": "{}", "pid": {}, "tid": {})", call,
                                           model_call(call), process(node), thread_track(c.thread));
      event(fmt::format(R"({{"ph": "b", {}, "ts": {}, "args": {{"call": {}, "begin_ps": {}, "end_ps": {}}}}})", what,
                        us(c.begin_ps), call, c.begin_ps, end));
      event(fmt::format(R"({{"ph": "e", {}, "ts": {}}})", what, us(end)));
      std::sort(steps.begin(), steps.end());
      arrow("s", call, node, thread_track(c.thread), c.begin_ps);
      for (std::size_t i = 0; i < steps.size(); ++i) {
        const auto& [at, step_node, track] = steps[i];
        arrow(i + 1 == steps.size() ? "f" : "t", call, step_node, track, at);
      }
    }
  }

  void arrow(const char* phase, trace::CallId call, std::uint32_t node, std::uint32_t track, std::int64_t at) {
    event(
        fmt::format(R"({{"ph": "{}", {}"cat": "flow", "name": "accesses", "id": {}, "pid": {}, "tid": {}, "ts": {}}})",
                    phase, *phase == 'f' ? R"("bp": "e", )" : "", call, process(node), track, us(at)));
  }

  std::ostream& out_;
  const trace::Trace& trace_;
  const model::Poll poll_;
  bool first_ = true;
  std::int64_t last_ps_ = 0;
  std::vector<NicAccess> accesses_;
  /// Ordered by node, engines before links, number, name.
  std::map<std::tuple<std::uint32_t, int, std::uint32_t, std::string>, std::vector<Slice>> shared_;
  /// Where each call's accesses are drawn: time, node, track.
  std::map<trace::CallId, std::vector<std::tuple<std::int64_t, std::uint32_t, std::uint32_t>>> steps_;
};

}  // namespace

void write_timeline(std::ostream& out, const trace::Trace& trace, const std::function<void()>& poll) {
  if (!trace.calls_have_times)
    throw ExportError("expected a trace with the times of its calls, found none: please record it again");
  require_places(trace);
  Timeline(out, trace, poll).write();
}

}  // namespace loco
