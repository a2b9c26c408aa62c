#include "tests/model/trace_builder.hpp"

#include <algorithm>
#include <numeric>

namespace loco::model::test {
namespace {

Library owner(Method m) {
  if (m <= Method::remote_cas) return Library::rdmawait;
  if (m <= Method::gf) return Library::sv;
  if (m == Method::barrier) return Library::bal;
  if (m <= Method::receive) return Library::rbl;
  if (m <= Method::msw_wait) return Library::msw;
  return m <= Method::release ? Library::lock : Library::kvstore;
}

}  // namespace

TraceBuilder::TraceBuilder(std::uint32_t nodes) {
  trace.nodes = nodes;
  for (std::uint32_t n = 0; n < nodes; ++n) (void)thread(n);
}

std::uint32_t TraceBuilder::thread(std::uint32_t node) {
  const auto t = static_cast<std::uint32_t>(trace.threads.size());
  trace.threads.push_back({node, "T" + std::to_string(t)});
  open_.emplace_back();
  return t;
}

std::uint32_t TraceBuilder::node_set(std::vector<std::uint32_t> nodes) {
  trace.node_sets.push_back(std::move(nodes));
  return static_cast<std::uint32_t>(trace.node_sets.size() - 1);
}

std::uint32_t TraceBuilder::everywhere() {
  if (everywhere_ == 0) {
    std::vector<std::uint32_t> all(trace.nodes);
    std::iota(all.begin(), all.end(), 0U);
    everywhere_ = node_set(std::move(all));
  }
  return everywhere_;
}

std::uint32_t TraceBuilder::object(Object object) {
  trace.objects.push_back(std::move(object));
  return static_cast<std::uint32_t>(trace.objects.size() - 1);
}

CallId TraceBuilder::open(std::uint32_t thread, Method method, Call fields) {
  fields.parent = open_[thread].empty() ? 0 : open_[thread].back();
  fields.thread = thread;
  fields.method = method;
  fields.library = owner(method);
  if (fields.node_set == 0 && (method == Method::bcast || method == Method::gf || method == Method::barrier))
    fields.node_set = everywhere();
  fields.begin = tick();
  trace.calls.push_back(fields);
  const auto id = static_cast<CallId>(trace.calls.size());
  open_[thread].push_back(id);
  return id;
}

void TraceBuilder::close(CallId id, std::uint64_t result) {
  Call& c = call(id);
  c.returned = true;
  c.result = result;
  c.end = tick();
  std::erase(open_[c.thread], id);
}

CallId TraceBuilder::leaf(std::uint32_t thread, Method method, Call fields) {
  const CallId id = open(thread, method, fields);
  close(id);
  return id;
}

SubeventId TraceBuilder::add(CallId call, Stamp stamp, std::uint16_t peer, Place place) {
  Subevent s;
  s.call = call;
  s.stamp = stamp;
  s.peer = peer;
  s.node = place.node;
  s.address = place.address;
  s.start = s.finish = tick();
  if (stamp < Stamp::aNLR) trace.calls[call - 1].end = s.start;  // what a CPU does is within its call
  trace.subevents.push_back(s);
  return static_cast<SubeventId>(trace.subevents.size());
}

SubeventId TraceBuilder::write(std::uint32_t thread, Place place, std::uint64_t value) {
  Call fields;
  fields.argument = value;
  const SubeventId id = add(leaf(thread, Method::write, fields), Stamp::aCW, 0, place);
  at(id).value = value;
  at(id).finish = kNever;
  return id;
}

void TraceBuilder::commit(SubeventId write) {
  Subevent& s = at(write);
  SubeventId& last = memory_[{s.node, s.address}];
  s.overwrote = last;
  s.finish = tick();
  last = write;
}

SubeventId TraceBuilder::read(std::uint32_t thread, Place place) { return read_from(thread, place, memory_[place]); }

SubeventId TraceBuilder::read_from(std::uint32_t thread, Place place, SubeventId source) {
  const CallId c = leaf(thread, Method::read);
  const SubeventId id = add(c, Stamp::aCR, 0, place);
  at(id).source = source;
  at(id).value = source == 0 ? 0 : at(source).value;
  call(c).result = at(id).value;
  return id;
}

SubeventId TraceBuilder::cas(std::uint32_t thread, Place place, std::uint64_t expected, std::uint64_t desired) {
  const SubeventId source = memory_[place];
  const std::uint64_t old = source == 0 ? 0 : at(source).value;
  Call fields;
  fields.argument = desired;
  const CallId c = leaf(thread, Method::cas, fields);
  call(c).result = old;
  if (old != expected) {
    (void)add(c, Stamp::aMF, 0, {});
    const SubeventId id = add(c, Stamp::aCR, 0, place);
    at(id).source = source;
    at(id).value = old;
    return id;
  }
  const SubeventId id = add(c, Stamp::aCAS, 0, place);
  at(id).source = source;
  at(id).value_read = old;
  at(id).value = desired;
  at(id).overwrote = source;
  memory_[place] = id;
  return id;
}

SubeventId TraceBuilder::mfence(std::uint32_t thread) { return add(leaf(thread, Method::mfence), Stamp::aMF, 0, {}); }

SubeventId TraceBuilder::wait(std::uint32_t thread, std::uint64_t work_id) {
  Call fields;
  fields.work_id = work_id;
  return add(leaf(thread, Method::wait, fields), Stamp::aWT, 0, {});
}

SubeventId TraceBuilder::rfence(std::uint32_t thread, std::uint16_t peer) {
  return add(leaf(thread, Method::rfence), Stamp::aRF, peer, {});
}

CallId TraceBuilder::put(std::uint32_t thread, std::uint64_t work_id) {
  Call fields;
  fields.work_id = work_id;
  return leaf(thread, Method::put, fields);
}

CallId TraceBuilder::get(std::uint32_t thread, std::uint64_t work_id) {
  Call fields;
  fields.work_id = work_id;
  return leaf(thread, Method::get, fields);
}

SubeventId TraceBuilder::nlr(CallId put, std::uint16_t peer, Place local) {
  const SubeventId id = add(put, Stamp::aNLR, peer, local);
  at(id).source = memory_[local];
  at(id).value = at(id).source == 0 ? 0 : at(at(id).source).value;
  carried_[put] = at(id).value;
  return id;
}

SubeventId TraceBuilder::nrw(CallId put, Place remote) {
  const SubeventId id = add(put, Stamp::aNRW, remote.node, remote);
  at(id).value = carried_[put];
  at(id).finish = kNever;
  return id;
}

SubeventId TraceBuilder::nrr(CallId get, Place remote) {
  const SubeventId id = add(get, Stamp::aNRR, remote.node, remote);
  at(id).source = memory_[remote];
  at(id).value = at(id).source == 0 ? 0 : at(at(id).source).value;
  carried_[get] = at(id).value;
  return id;
}

SubeventId TraceBuilder::nar(CallId atomic, Place remote) {
  const SubeventId id = nrr(atomic, remote);
  at(id).stamp = Stamp::aNAR;
  at(id).value_read = ++atomics_[remote.node];
  return id;
}

SubeventId TraceBuilder::nlw(CallId get, std::uint16_t peer, Place local) {
  const SubeventId id = add(get, Stamp::aNLW, peer, local);
  at(id).value = carried_[get];
  at(id).finish = kNever;
  return id;
}

CallId TraceBuilder::put_now(std::uint32_t thread, Place remote, std::uint64_t local, std::uint64_t work_id) {
  const CallId c = put(thread, work_id);
  (void)nlr(c, remote.node, {static_cast<std::uint16_t>(trace.threads[thread].node), local});
  commit(nrw(c, remote));
  return c;
}

CallId TraceBuilder::get_now(std::uint32_t thread, std::uint64_t local, Place remote, std::uint64_t work_id) {
  const CallId c = get(thread, work_id);
  (void)nrr(c, remote);
  commit(nlw(c, remote.node, {static_cast<std::uint16_t>(trace.threads[thread].node), local}));
  return c;
}

bool names_rule(const Verdict& verdict, Library library, Rule rule) {
  for (const LibraryResult& r : verdict.results) {
    if (r.library != library) continue;
    for (const Violation& v : r.violations) {
      if (v.rule == rule) return true;
      if (std::any_of(v.cycle.begin(), v.cycle.end(), [&](const Step& s) { return s.rule == rule; })) return true;
    }
  }
  return false;
}

}  // namespace loco::model::test
