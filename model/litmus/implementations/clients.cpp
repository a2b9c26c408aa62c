#include "model/litmus/implementations/clients.hpp"

#include <algorithm>

#include "model/litmus/language/program.hpp"

namespace loco::model::litmus {
namespace {

using Kind = ClientCall::Kind;

std::string all_but(int thread, int threads) {
  std::string s;
  for (int t = 0; t < threads; ++t)
    if (t != thread) s += (s.empty() ? "" : ", ") + std::to_string(t + 1);
  return s;
}

bool meet(const std::vector<int>& a, const std::vector<int>& b) {
  return std::any_of(a.begin(), a.end(), [&](int x) { return std::find(b.begin(), b.end(), x) != b.end(); });
}

}  // namespace

/// Threads on nodes of their own put to, get from and add to the next one's word; d and e tell apart what is waited
/// for.
ClientAlphabet rdmawait_clients(int threads) {
  ClientAlphabet a;
  a.head = "locations: {";
  for (int t = 1; t <= threads; ++t) {
    const std::string n = std::to_string(t);
    a.head += std::string(t > 1 ? ", " : "") + "x" + n + ": {node: " + n + "}, l" + n + ": {node: " + n + "}";
  }
  a.head += "}\n";
  for (int t = 0; t < threads; ++t) {
    const std::string own = std::to_string(t + 1), next = std::to_string((t + 1) % threads + 1);
    a.nodes.push_back(t + 1);
    a.calls.push_back({{"wait(d)", true, false},
                       {"R = x" + own, true, true},
                       {"R = l" + own, true, true},
                       {"x" + own + " = V", true, false},
                       {"put(x" + next + ", x" + own + ") as d", true, false},
                       {"put(x" + next + ", x" + own + ") as e", true, false},
                       {"get(l" + own + ", x" + next + ") as d", true, false},
                       {"get(l" + own + ", x" + next + ") as e", true, false},
                       {"rfaa(l" + own + ", x" + next + ", 1) as d", true, false},
                       {"rfence(" + next + ")", true, false}});
  }
  return a;
}

/// Each write writes a value of its own. The specification and I_SV move values and never look at them, so where two
/// writes write the same value the outcomes are those of this client with the two values made one.
ClientAlphabet sv_clients(int threads) {
  ClientAlphabet a;
  a.head = "locations: {s: {shared: true}, t: {shared: true}}\n";
  a.alike = a.described = true;
  for (int t = 0; t < threads; ++t) {
    std::vector<ClientCall> calls;
    std::vector<int> renamed;
    for (const int l : {0, 1}) {
      const std::string name = l == 0 ? "s" : "t";
      const int own = l * threads + t;
      std::vector<int> copies;
      for (int k = 0; k < threads; ++k)
        if (k != t) copies.push_back(l * threads + k);
      const int first = len(calls);
      calls.push_back({name + " = V", true, false, Kind::write, {}, {own}});
      calls.push_back({"R = " + name, true, true, Kind::read, {own}, {}});
      calls.push_back(
          {"bcast(" + name + ", {" + std::to_string(t + 1) + "}) as e", true, false, Kind::transfer, {own}, {own}});
      if (threads > 1)
        calls.push_back({"bcast(" + name + ", {" + all_but(t, threads) + "}) as d",
                         true,
                         false,
                         Kind::transfer,
                         {own},
                         copies,
                         true});
      const int each = len(calls) - first;
      for (int i = first; i < len(calls); ++i) renamed.push_back(l == 0 ? i + each : i - each);
    }
    if (threads > 1) {
      calls.push_back({"wait(d)", true, false, Kind::wait});
      calls.push_back({"gf({" + all_but(t, threads) + "})", true, false, Kind::global_fence});
    }
    calls.push_back({"mfence", false, false, Kind::fence});
    for (int i = len(renamed); i < len(calls); ++i) renamed.push_back(i);
    a.nodes.push_back(t + 1);
    a.calls.push_back(std::move(calls));
    a.renamings = {std::move(renamed)};
  }
  return a;
}

ClientAlphabet bal_clients(int threads, bool transitive) {
  ClientAlphabet a;
  a.head = "locations: {";
  std::string participants;
  for (int t = 0; t < threads; ++t) {
    a.head += (t > 0 ? ", x" : "x") + std::to_string(t + 1) + ": {node: " + std::to_string(t + 1) + "}";
    a.head += ", l" + std::to_string(t + 1) + ": {node: " + std::to_string(t + 1) + "}";
    participants += (t > 0 ? ", " : "") + std::to_string(t);
  }
  a.head +=
      "}\nbarriers: {z: {threads: [" + participants + "], transitive: " + (transitive ? "true" : "false") + "}}\n";
  for (int t = 0; t < threads; ++t) {
    const std::string own = std::to_string(t + 1);
    std::vector<ClientCall> calls = {
        {"barrier(z)", true, false}, {"R = x" + own, false, true}, {"x" + own + " = 1", false, false}};
    for (int k = 0; k < threads; ++k)  // the thread's own first: threads are then alike up to turning them round
      calls.push_back({"put(x" + std::to_string((t + k) % threads + 1) + ", 1)", false, false});
    for (int k = 1; k < threads; ++k)
      calls.push_back({"get(l" + own + ", x" + std::to_string((t + k) % threads + 1) + ") as k; wait(k); R = l" + own,
                       false, true});
    a.nodes.push_back(t + 1);
    a.calls.push_back(std::move(calls));
  }
  return a;
}

ClientAlphabet rbl_clients(int threads) {
  ClientAlphabet a;
  a.head = "locations: {x1: {node: 1}, x2: {node: 2}}\nringbuffers: {q: {writer: 0, readers: [";
  a.round = false;
  for (int t = 1; t < std::max(threads, 2); ++t) a.head += (t > 1 ? ", " : "") + std::to_string(t % threads);
  a.head += "]}}\n";
  for (int t = 0; t < threads; ++t) {
    std::vector<ClientCall> calls;
    if (t == 0) calls = {{"R = submit(q, 1)", true, true}, {"R = submit(q, 2)", true, true}};
    if (t > 0 || threads == 1) calls.push_back({"R = receive(q)", true, true});
    if (t < 2) {
      calls.push_back({"put(x" + std::to_string(2 - t) + ", 1)", false, false});
      calls.push_back({"R = x" + std::to_string(t + 1), false, true});
    }
    a.nodes.push_back(t + 1);
    a.calls.push_back(std::move(calls));
  }
  return a;
}

/// A hash tells a torn value, whoever tore it. Guards tell it if one thread writes, and no NIC copies meanwhile.
ClientAlphabet msw_clients(int threads, bool guards) {
  const int m = 0, k = 1;  // the locations, by their names in the clients
  ClientAlphabet a;
  a.head = "locations: {m: {node: 1, init: [0, 0]}, k: {node: 1, init: [0, 0]}}\n";
  a.round = a.alike = !guards;
  a.tuples = a.described = a.flushes = true;
  const std::vector<ClientCall> reads = {{"R = tryread(m)", true, true, Kind::read, {m}, {}},
                                         {"R = tryread(k)", true, true, Kind::read, {k}, {}}};
  const std::vector<ClientCall> writes = {{"write(m, [1, 1])", true, false, Kind::write, {}, {m}},
                                          {"write(m, [2, 2])", true, false, Kind::write, {}, {m}},
                                          {"write(k, [1, 1])", true, false, Kind::write, {}, {k}}};
  const std::vector<ClientCall> copies = {{"put(k, m) as d", true, false, Kind::transfer, {m}, {k}, true},
                                          {"get(k, m) as d", true, false, Kind::transfer, {m}, {k}, true},
                                          {"wait(d)", true, false, Kind::wait}};
  for (int t = 0; t < threads; ++t) {
    std::vector<ClientCall> calls = reads;
    if (!guards || t == 0) calls.insert(calls.end(), writes.begin(), writes.end());
    if (!guards) calls.insert(calls.end(), copies.begin(), copies.end());
    a.nodes.push_back(1);
    a.calls.push_back(std::move(calls));
  }
  a.renamings = {{0, 1, 3, 2, kNone, 5, 6, 7},           // 1 and 2 exchanged
                 {1, 0, 4, kNone, 2, kNone, kNone, 7}};  // m and k exchanged
  return a;
}

/// Calls that order nothing that is not ordered without them (Fig. 10), and that no other call can tell. The
/// specification then allows the smaller client as much; the implementation can do nothing with the call that it
/// could not do without, since leaving the subevents of such a call out of a consistent execution leaves it consistent.
bool idle_thread(const ClientAlphabet& a, int thread, const std::vector<int>& calls) {
  bool started = false;  // a transfer that nothing has waited for
  bool wrote = false;    // aCW before
  bool moved = false;    // aCW or a NIC's subevents before
  for (int i = 0; i < len(calls); ++i) {
    const auto& own = at(a.calls, thread);
    const ClientCall& c = at(own, at(calls, i));
    const bool last = i + 1 == len(calls);
    const Kind before = i > 0 ? at(own, at(calls, i - 1)).kind : Kind::other;
    const Kind after = last ? Kind::other : at(own, at(calls, i + 1)).kind;
    switch (c.kind) {
      case Kind::wait:  // orders the operations waited for before later calls
        if (!started || last) return true;
        started = false;
        break;
      case Kind::fence: {  // orders an earlier aCW before a later aCR or aWT, as a global fence beside it does
        const bool read_later = std::any_of(calls.begin() + i, calls.end(), [&](int j) {
          return at(own, j).kind == Kind::read || at(own, j).kind == Kind::wait;
        });
        if (!wrote || !read_later || after == Kind::fence || before == Kind::global_fence ||
            after == Kind::global_fence)
          return true;
        break;
      }
      case Kind::global_fence:  // orders earlier aCW and NIC subevents before what comes later
        if (!moved || last || after == Kind::global_fence) return true;
        break;
      case Kind::write:
        wrote = moved = true;
        break;
      case Kind::transfer:
        started = started || c.waited;
        moved = true;
        break;
      default:
        break;
    }
  }
  return false;
}

namespace {

/// The client's calls, each with the calls before and after it.
class Surroundings {
 public:
  Surroundings(const ClientAlphabet& a, const Client& client) : a_(a), client_(client) {}

  /// Does the call neither show nor change anything? The reasons are those of idle_thread.
  /// - A read of a copy that nobody can have written before: always the initial value.
  /// - A write of a copy that nobody can read. It may take its place in mo as late as anything else.
  /// - The same for a transfer that is not waited for (a wait would order what was before it). Where NIC reads push NIC
  ///   writes, only at the end of its thread: there it can come after everything, earlier it might push something.
  [[nodiscard]] bool without_effect(int thread, int i) const {
    const ClientCall& c = call(thread, i);
    if (c.kind == Kind::read)
      return !any([&](int t, int j) { return (t != thread || j < i) && meet(call(t, j).to, c.from); });
    if (c.kind == Kind::transfer) {
      const auto& calls = at(client_, thread);
      for (int j = i + 1; j < len(calls); ++j)
        if (a_.flushes || (c.waited && call(thread, j).kind == Kind::wait)) return false;
    } else if (c.kind != Kind::write) {
      return false;
    }
    // A CPU reads what was written before in program order; a NIC may read for an earlier call, later.
    return !any([&](int t, int j) {
      return (t != thread || j > i || (j < i && call(t, j).kind == Kind::transfer)) && meet(call(t, j).from, c.to);
    });
  }

  /// Two groups of threads, of which neither writes what the other one uses: the outcomes are all pairs of an outcome
  /// of each, and each group alone is a smaller client.
  [[nodiscard]] bool falls_apart() const {
    const int threads = len(client_);
    std::vector<int> group(client_.size());
    for (int t = 0; t < threads; ++t) at(group, t) = t;
    for (int t = 0; t < threads; ++t)
      for (int u = 0; u < threads; ++u)
        if (affects(t, u)) {
          const int gone = at(group, u);
          for (int& g : group)
            if (g == gone) g = at(group, t);
        }
    int found = kNone;
    for (int t = 0; t < threads; ++t) {
      if (at(client_, t).empty()) continue;
      if (found != kNone && at(group, t) != found) return true;
      found = at(group, t);
    }
    return false;
  }

 private:
  [[nodiscard]] const ClientCall& call(int thread, int i) const {
    return at(at(a_.calls, thread), at(at(client_, thread), i));
  }
  template <class Predicate>
  [[nodiscard]] bool any(Predicate holds) const {
    for (int t = 0; t < len(client_); ++t)
      for (int j = 0; j < len(at(client_, t)); ++j)
        if (holds(t, j)) return true;
    return false;
  }
  [[nodiscard]] bool affects(int writer, int other) const {
    for (int i = 0; i < len(at(client_, writer)); ++i)
      for (int j = 0; j < len(at(client_, other)); ++j)
        if (meet(call(writer, i).to, call(other, j).from) || meet(call(writer, i).to, call(other, j).to)) return true;
    return false;
  }

  const ClientAlphabet& a_;
  const Client& client_;
};

/// Is there an earlier client that differs by the names of threads, nodes, locations or values only?
bool has_earlier_twin(const ClientAlphabet& a, const Client& client) {
  if (!a.alike) {
    for (std::size_t k = 1; a.round && k < client.size(); ++k) {
      Client turned = client;
      std::rotate(turned.begin(), turned.begin() + static_cast<std::ptrdiff_t>(k), turned.end());
      if (turned < client) return true;
    }
  } else if (!std::is_sorted(client.begin(), client.end())) {
    return true;
  }
  return std::any_of(a.renamings.begin(), a.renamings.end(), [&](const std::vector<int>& renaming) {
    Client twin = client;
    for (auto& calls : twin)
      for (int& c : calls) {
        c = at(renaming, c);
        if (c == kNone) return false;
      }
    if (a.alike) std::sort(twin.begin(), twin.end());
    return twin < client;
  });
}

}  // namespace

bool covered(const ClientAlphabet& a, const Client& client) {
  if (has_earlier_twin(a, client)) return true;
  if (!a.described) return false;
  const Surroundings around(a, client);
  for (int t = 0; t < len(client); ++t)
    for (int i = 0; i < len(at(client, t)); ++i)
      if (around.without_effect(t, i)) return true;
  return around.falls_apart();
}

}  // namespace loco::model::litmus
