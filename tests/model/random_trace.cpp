#include "tests/model/random_trace.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "model/stamps.hpp"

namespace loco::model::test {
namespace {

bool writes(Stamp s) { return s == Stamp::aCW || s == Stamp::aCAS || s == Stamp::aNLW || s == Stamp::aNRW; }
bool reads(Stamp s) { return s == Stamp::aCR || s == Stamp::aCAS || s == Stamp::aNLR || s == Stamp::aNRR; }

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  Trace run() {
    t_.nodes = static_cast<std::uint32_t>(1 + below(3));
    const std::uint64_t threads = 1 + below(3);
    slack_ = below(4) == 0 ? 0 : below(12);
    for (std::uint64_t i = 0; i < threads; ++i) t_.threads.push_back({static_cast<std::uint32_t>(below(t_.nodes)), ""});
    Object barrier{"bar", {}, below(2) == 0};
    for (std::uint32_t i = 0; i < threads; ++i) barrier.participants.push_back(i);
    t_.objects.push_back(barrier);
    t_.node_sets.emplace_back();
    for (std::uint32_t n = 0; n < t_.nodes; ++n) {
      t_.node_sets.push_back({n});
      t_.node_sets[1].push_back(n);
    }
    const bool barriers = below(2) == 0;
    for (std::uint32_t i = 0; i < threads; ++i) {
      const std::uint64_t calls = 1 + below(5);
      const std::uint64_t at = barriers ? below(calls) : calls;
      for (std::uint64_t k = 0; k < calls; ++k) k == at&& below(20) != 0 ? barrier_call(i) : program_call(i);
    }
    lost_ = below(3) == 0 ? 5 + below(20) : 0;
    execute();
    brackets();
    values();
    return std::move(t_);
  }

 private:
  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  std::uint32_t node_of(std::uint32_t thread) const { return t_.threads[thread].node; }

  CallId call(std::uint32_t thread, Library library, Method method, CallId parent, std::uint64_t work_id = 0,
              std::uint32_t node_set = 0) {
    Call c;
    c.parent = parent;
    c.thread = thread;
    c.library = library;
    c.method = method;
    c.work_id = work_id;
    c.node_set = node_set;
    c.object = method == Method::barrier ? 1 : 0;
    c.returned = below(25) != 0;
    t_.calls.push_back(c);
    return static_cast<CallId>(t_.calls.size());
  }
  SubeventId sub(CallId c, Stamp stamp, std::uint32_t peer, std::uint32_t node, std::uint64_t address) {
    Subevent s;
    s.call = c;
    s.stamp = stamp;
    s.peer = static_cast<std::uint16_t>(peer);
    s.node = static_cast<std::uint16_t>(node);
    s.address = address;
    t_.subevents.push_back(s);
    return static_cast<SubeventId>(t_.subevents.size());
  }

  void base_call(std::uint32_t thread, CallId parent, Method m, std::uint64_t address, std::uint32_t peer,
                 std::uint64_t d, std::uint64_t remote_address) {
    const std::uint32_t here = node_of(thread);
    const CallId c = call(thread, Library::rdmawait, m, parent, d);
    switch (m) {
      case Method::write:
        sub(c, Stamp::aCW, 0, here, address);
        break;
      case Method::read:
        sub(c, Stamp::aCR, 0, here, address);
        break;
      case Method::mfence:
        sub(c, Stamp::aMF, 0, 0, 0);
        break;
      case Method::wait:
        sub(c, Stamp::aWT, 0, 0, 0);
        break;
      case Method::rfence:
        sub(c, Stamp::aRF, peer, 0, 0);
        break;
      case Method::cas:
        if (below(2) == 0) {
          sub(c, Stamp::aCAS, 0, here, address);
        } else {
          sub(c, Stamp::aMF, 0, 0, 0);
          sub(c, Stamp::aCR, 0, here, address);
        }
        break;
      case Method::put:
      case Method::get: {
        const std::uint64_t words = below(6) == 0 ? 2 : 1;
        const bool put = m == Method::put;
        for (std::uint64_t w = 0; w < words; ++w) {
          const std::uint64_t local = address + 256 * w, remote = remote_address + 256 * w;
          sub(c, put ? Stamp::aNLR : Stamp::aNRR, peer, put ? here : peer, put ? local : remote);
          sub(c, put ? Stamp::aNRW : Stamp::aNLW, peer, put ? peer : here, put ? remote : local);
        }
        break;
      }
      default:
        break;
    }
  }

  void program_call(std::uint32_t thread) {
    constexpr Method kBase[] = {Method::write, Method::read, Method::cas,  Method::mfence,
                                Method::get,   Method::put,  Method::wait, Method::rfence};
    const auto peer = static_cast<std::uint32_t>(below(t_.nodes));
    const std::uint64_t d = below(3);
    if (below(3) != 0) {
      const Method m = kBase[below(8)];
      const bool waits = m == Method::wait || m == Method::get || m == Method::put;
      return base_call(thread, 0, m, 8 * below(2), peer, waits ? d : 0, 8 * below(2));
    }
    sv_call(thread, 0, below(5), 64 + 8 * below(2));
  }

  void sv_call(std::uint32_t thread, CallId parent, std::uint64_t kind, std::uint64_t address) {
    const std::uint64_t d = 1 + below(2);
    const auto set = static_cast<std::uint32_t>(1 + below(t_.node_sets.size() - 1));
    switch (kind) {
      case 0:
        return base_call(thread, call(thread, Library::sv, Method::sv_write, parent), Method::write, address, 0, 0, 0);
      case 1:
        return base_call(thread, call(thread, Library::sv, Method::sv_read, parent), Method::read, address, 0, 0, 0);
      case 2: {
        const CallId c = call(thread, Library::sv, Method::bcast, parent, d, set);
        for (const std::uint32_t n : t_.node_sets[set]) base_call(thread, c, Method::put, address, n, d, address);
        return;
      }
      case 3:
        return base_call(thread, call(thread, Library::sv, Method::sv_wait, parent, d), Method::wait, 0, 0, d, 0);
      default: {
        const CallId c = call(thread, Library::sv, Method::gf, parent, 0, set);
        for (const std::uint32_t n : t_.node_sets[set]) base_call(thread, c, Method::get, 136, n, 9, 128);
        if (below(8) != 0) base_call(thread, c, Method::wait, 0, 0, 9, 0);
        return;
      }
    }
  }

  void barrier_call(std::uint32_t thread) {
    const CallId c = call(thread, Library::bal, Method::barrier, 0, 0, 1);
    if (below(6) != 0) sv_call(thread, c, 4, 0);
    if (below(2) == 0) sv_call(thread, c, 0, 192);
    if (below(2) == 0) sv_call(thread, c, 2, 192);
    if (below(3) != 0) sv_call(thread, c, 1, 192);
  }

  /// Are all subevents done that must take effect before s?
  bool enabled(SubeventId id, const std::vector<bool>& done) const {
    const Subevent& s = t_.subevents[id - 1];
    for (SubeventId e = 1; e <= t_.subevents.size(); ++e) {
      const Subevent& x = t_.subevents[e - 1];
      if (done[e - 1] || e == id) continue;
      if (x.call == s.call) {
        if (e < id) return false;
        continue;
      }
      if (t_.calls[x.call - 1].thread != t_.calls[s.call - 1].thread || x.call > s.call) continue;
      const bool same_node = is_family(x.stamp) && is_family(s.stamp) && x.peer == s.peer;
      if (kStampOrder.ordered(x.stamp, s.stamp, same_node)) return false;
    }
    return true;
  }

  /// Does a NIC's subevent not begin in this run? What a read feeds does not begin without it.
  bool is_lost(SubeventId id) {
    const Subevent& s = t_.subevents[id - 1];
    if (s.stamp < Stamp::aNLR) return false;
    const bool fed = s.stamp == Stamp::aNRW || s.stamp == Stamp::aNLW;  // by what is in front of it
    return below(100) < lost_ || (fed && is_unbegun(t_.subevents[id - 2]));
  }

  /// Calls that contain what they do. Of some threads, the software learns that what was lost has failed.
  void brackets() {
    std::vector<Seq> first(t_.calls.size(), kNever), last(t_.calls.size(), 0);
    for (const Subevent& s : t_.subevents) {
      if (is_unbegun(s)) continue;
      first[s.call - 1] = std::min(first[s.call - 1], s.start);
      if (s.stamp < Stamp::aNLR) last[s.call - 1] = std::max(last[s.call - 1], s.start);
    }
    for (std::size_t i = t_.calls.size(); i-- > 0;)
      if (const CallId parent = t_.calls[i].parent; parent != 0) {
        first[parent - 1] = std::min(first[parent - 1], first[i]);
        last[parent - 1] = std::max(last[parent - 1], last[i]);
      }
    for (std::size_t i = 0; i < t_.calls.size(); ++i) {
      Call& c = t_.calls[i];
      const Seq from = c.parent == 0 ? 0 : t_.calls[c.parent - 1].begin;
      const Seq to = first[i] == kNever ? from + below(40) : first[i];
      c.begin = from + below(to - from + 1);
      c.end = std::max(c.begin, last[i]) + below(40);
    }
    for (std::uint32_t thread = 0; thread < t_.threads.size(); ++thread) {
      if (below(6) != 0) continue;
      const Seq known = 1 + below(60);
      for (Subevent& s : t_.subevents)
        if (is_unbegun(s) && t_.calls[s.call - 1].thread == thread) s.finish = known;
    }
  }

  using Word = std::pair<std::uint16_t, std::uint64_t>;
  static Word word(const Subevent& s) { return {s.node, s.address}; }

  void read(SubeventId id, const std::vector<bool>& done) {
    Subevent& s = t_.subevents[id - 1];
    const auto& order = memory_[word(s)];
    s.source = order.empty() ? 0 : order.back();
    if (s.stamp == Stamp::aCR && below(100) >= slack_)
      for (SubeventId e = id - 1; e > 0; --e) {  // the thread's newest write that is still in its store buffer
        const Subevent& x = t_.subevents[e - 1];
        const bool own = x.stamp == Stamp::aCW && t_.calls[x.call - 1].thread == t_.calls[s.call - 1].thread;
        if (own && word(x) == word(s) && x.call < s.call && !done[e - 1]) {  // written before it is read
          t_.subevents[e - 1].start = 1;
          s.source = e;
          break;
        }
      }
    if (below(100) < 2 * slack_) {  // an odd source: any write of the word, or none
      std::vector<SubeventId> sources = {0};
      const bool future = below(20) == 0;  // no execution
      for (SubeventId e = 1; e <= t_.subevents.size(); ++e)
        if (writes(t_.subevents[e - 1].stamp) && word(t_.subevents[e - 1]) == word(s) && e != id &&
            (future || (done[e - 1] && !is_unbegun(t_.subevents[e - 1]))))
          sources.push_back(e);
      s.source = sources[below(sources.size())];
    }
  }

  void execute() {
    std::vector<bool> done(t_.subevents.size(), false);
    std::vector<SubeventId> left;
    for (SubeventId id = 1; id <= t_.subevents.size(); ++id) left.push_back(id);
    Seq now = 1;
    while (!left.empty()) {
      const std::size_t pick = below(left.size());
      const SubeventId id = left[pick];
      if (!enabled(id, done) && below(100) >= slack_) continue;
      Subevent& s = t_.subevents[id - 1];
      if (is_lost(id)) {
        s.start = s.finish = kNever;
        done[id - 1] = true;
        left.erase(left.begin() + static_cast<std::ptrdiff_t>(pick));
        continue;
      }
      const bool buffered = s.start != 0;  // it has been read from the store buffer
      s.finish = ++now;
      if (!buffered) s.start = now;
      if (reads(s.stamp)) read(id, done);
      const bool instant = s.stamp != Stamp::aCW && s.stamp != Stamp::aNLW && s.stamp != Stamp::aNRW;
      if (!instant && !buffered) s.start = now - below(2);
      if (!instant && below(60) == 0) {
        s.finish = kNever;
      } else if (writes(s.stamp)) {
        auto& order = memory_[word(s)];
        const bool odd = below(100) < slack_;
        const std::size_t at = odd ? below(order.size() + 1) : order.size();
        order.insert(order.begin() + static_cast<std::ptrdiff_t>(at), id);
      }
      done[id - 1] = true;
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(pick));
    }
    for (const auto& [where, order] : memory_)
      for (std::size_t i = 0; i < order.size(); ++i) t_.subevents[order[i] - 1].overwrote = i == 0 ? 0 : order[i - 1];
  }

  /// The value a write wrote or a read saw; 0 where values go round in a circle.
  std::uint64_t value(SubeventId id) {
    if (id == 0) return 0;
    auto& known = known_[id];
    if (known) return *known;
    known = 0;
    const Subevent& s = t_.subevents[id - 1];
    std::uint64_t v = 1000 + id;
    if (s.stamp == Stamp::aNLW || s.stamp == Stamp::aNRW) {
      v = value(id - 1);  // a NIC write is generated right after the read that feeds it
    } else if (reads(s.stamp) && s.stamp != Stamp::aCAS) {
      v = value(s.source);
    }
    known_[id] = v;
    return v;
  }

  void values() {
    // A circle of NIC copies has the one value 0 all around, whoever is asked first.
    for (SubeventId id = 1; id <= t_.subevents.size(); ++id) {
      Subevent& s = t_.subevents[id - 1];
      if (is_unbegun(s)) continue;
      s.value = writes(s.stamp) || reads(s.stamp) ? value(id) : 0;
      if (s.stamp == Stamp::aCAS) s.value_read = value(s.source);
      Call& c = t_.calls[s.call - 1];
      if (c.method == Method::write) c.argument = s.value;
      if (c.method == Method::read || (c.method == Method::cas && s.stamp == Stamp::aCR)) c.result = s.value;
      if (s.stamp == Stamp::aCAS) {
        c.argument = s.value;
        c.result = s.value_read;
      }
    }
  }

  std::mt19937_64 random_;
  std::uint64_t slack_ = 0;  // percent of steps that break a rule
  std::uint64_t lost_ = 0;   // percent of the NICs' steps that do not begin before the run ends
  Trace t_;
  std::map<Word, std::vector<SubeventId>> memory_;
  std::map<SubeventId, std::optional<std::uint64_t>> known_;
};

}  // namespace

Trace random_trace(std::uint64_t seed) { return Generator(seed).run(); }

}  // namespace loco::model::test
