#include "exec/shim/check.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "exec/shim/memory.hpp"

namespace loco::shim {

namespace {

enum class Queue : std::uint8_t { send, receive, shared };

/// Memory that a request in progress uses.
struct Held {
  std::uintptr_t from, to;
  std::uintptr_t caller;
  std::uint64_t wr_id;
  std::uint32_t queue, place;
  Queue kind;
  bool written;  ///< written by the NIC; otherwise read
  const char* what;
};

Held* held = nullptr;
std::size_t count = 0;
std::size_t room = 0;
std::uintptr_t lowest = ~std::uintptr_t{0};
std::uintptr_t highest = 0;

constexpr const char* kNames[] = {"WRITE", "READ", "compare-and-swap", "fetch-and-add", "SEND"};

/// True if this pair of places has been reported in these words. The conductor checks all reports; this saves most
/// calls.
bool told(std::uintptr_t where, std::uintptr_t caller, char word) {
  constexpr std::size_t kKept = 256;
  struct Pair {
    std::uintptr_t where, caller;
    char word;
  };
  static Pair pairs[kKept];
  Pair& p = pairs[(where * 31 + caller * 17 + static_cast<unsigned char>(word)) % kKept];
  if (p.where == where && p.caller == caller && p.word == word) return true;
  p = {where, caller, word};
  return false;
}

void tell(std::uintptr_t where, const char* what, const Held& by) {
  Channel* const c = channel();
  if (c == nullptr || told(where, by.caller, what[5])) return;
  std::snprintf(c->data, kDataBytes, "%s the %s that was posted at @%lx@: no poll of its completion between", what,
                by.what, static_cast<unsigned long>(by.caller));
  call(Request::note, static_cast<std::uint64_t>(Note::race), where, by.caller);
}

/// Checks a request against the others in progress.
void check_against_others(const Held& one) {
  for (std::size_t i = 0; i < count; ++i) {
    const Held& other = held[i];
    if (other.to <= one.from || one.to <= other.from || !(other.written || one.written)) continue;
    if (other.caller == one.caller && other.kind == one.kind && other.kind != Queue::send)
      continue;  // a ring that consists of one buffer
    char text[160];
    std::snprintf(text, sizeof(text), "a %s %s memory that is also %s by", one.what,
                  one.written ? "writes to" : "reads", other.written ? "written" : "read");
    tell(one.caller, text, other);
    return;
  }
}

void add(const Held& one) {
  if (one.from >= one.to) return;
  check_against_others(one);
  if (count == room) {
    const std::size_t more = 2 * room + 64;
    auto* const grown = static_cast<Held*>(std::realloc(held, more * sizeof(Held)));
    if (grown == nullptr) return;
    held = grown;
    room = more;
  }
  held[count++] = one;
  if (one.from < lowest) lowest = one.from;
  if (one.to > highest) highest = one.to;
}

template <typename Is>
void drop(Is is, bool only_first = false) {
  std::size_t kept = 0;
  bool dropped = false;
  for (std::size_t i = 0; i < count; ++i) {
    const bool gone = is(held[i]) && !(only_first && dropped);
    dropped = dropped || gone;
    if (!gone) held[kept++] = held[i];
  }
  count = kept;
  if (count != 0) return;
  lowest = ~std::uintptr_t{0};
  highest = 0;
}

}  // namespace

namespace {

/// A store of the calling thread that has been made by now.
struct Store {
  std::uintptr_t address, where;
  std::size_t bytes;
  std::uint64_t kind;
};
thread_local Store made __attribute__((tls_model("initial-exec"))) = {};

/// To the trace (Request::access), if NICs reach it. A store is told once the program has made it.
void trace(Channel& c, std::uintptr_t address, std::size_t bytes, bool writes, bool flag, std::uintptr_t where) {
  if (!is_registered(address, bytes)) return;
  const std::uint64_t kind = (writes ? kAccessWrites : 0) | (flag ? kAccessFlag : 0);
  if (!writes) {
    call(Request::access, address, bytes, kind, where);
    return;
  }
  if (c.posts_bytes != 0) call(Request::sync);  // what was posted before it
  made = {address, where, bytes, kind};
}

}  // namespace

void tell_of_store() {
  if (made.bytes == 0) return;
  const Store store = made;
  made = {};
  call(Request::access, store.address, store.bytes, store.kind, store.where);
}

bool checks() {
  const Channel* const c = channel();
  return c != nullptr && c->facts.checks != 0;
}

void check_send(const Qp& qp, std::uint32_t place, const SendRecord& record, const char* elements,
                std::uintptr_t caller) {
  if (record.operation > static_cast<std::uint32_t>(Operation::send) || record.is_inline) return;
  const auto operation = static_cast<Operation>(record.operation);
  const bool written = operation != Operation::write && operation != Operation::send;
  for (std::uint32_t i = 0; i < record.elements; ++i) {
    Element e;
    std::memcpy(&e, elements + i * sizeof(e), sizeof(e));
    const std::uint32_t bytes =
        operation == Operation::compare_swap || operation == Operation::fetch_add ? 8 : e.length;
    add({e.address, e.address + bytes, caller, record.wr_id, qp.number, place, Queue::send, written,
         kNames[record.operation]});
  }
}

// A receive with several parts has several entries with the same number.
void check_receive(std::uint32_t queue, bool shared, std::uint64_t wr_id, const ibv_sge* list, int parts,
                   std::uintptr_t caller) {
  static std::uint32_t number = 0;
  ++number;
  for (int i = 0; i < parts; ++i)
    add({list[i].addr, list[i].addr + list[i].length, caller, wr_id, queue, number,
         shared ? Queue::shared : Queue::receive, true, "receive"});
}

void check_sends_done(std::uint32_t qp, std::uint32_t place) {
  drop([&](const Held& h) {
    return h.kind == Queue::send && h.queue == qp && static_cast<std::int32_t>(place - h.place) >= 0;
  });
}

void check_receive_done(std::uint32_t queue, bool shared, std::uint64_t wr_id) {
  const Queue kind = shared ? Queue::shared : Queue::receive;
  const Held* first = nullptr;
  for (std::size_t i = 0; i < count && first == nullptr; ++i)
    if (held[i].kind == kind && held[i].queue == queue && (!shared || held[i].wr_id == wr_id)) first = &held[i];
  if (first == nullptr) return;
  const std::uint32_t number = first->place;
  drop([&](const Held& h) { return h.kind == kind && h.queue == queue && h.place == number; });
}

void check_forget(std::uint32_t qp) {
  drop([&](const Held& h) { return h.kind != Queue::shared && h.queue == qp; });
}

}  // namespace loco::shim

using namespace loco::shim;

/// A load or store of the program, which is about to be made. `where`: its code address. `flag`: volatile or atomic.
LOCO_EXPORT void loco_sim_access(std::uintptr_t address, std::size_t bytes, int writes, int flag,
                                 std::uintptr_t where) {
  Channel* const c = channel();
  if (c == nullptr) return;
  if (c->facts.traced != 0) {
    tell_of_store();
    trace(*c, address, bytes, writes != 0, flag != 0, where);
  }
  if (flag != 0) return;
  if (address >= highest || address + bytes <= lowest || count == 0 || !checks()) return;
  for (std::size_t i = 0; i < count; ++i) {
    const Held& h = held[i];
    if (h.to <= address || address + bytes <= h.from || (writes == 0 && !h.written)) continue;
    tell(where,
         writes == 0 ? "this load may see the old value, before"
         : h.written ? "this store may be lost to"
                     : "this store may change what is sent by",
         h);
    return;
  }
}

/// The program was compiled to report accesses.
LOCO_EXPORT void loco_sim_accesses_are_told() {
  if (Channel* const c = channel()) c->accesses_told = 1;
}
