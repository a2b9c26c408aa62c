// The names of everything that a checker can object to: the relations that a cycle is made of, and the
// predicates that an execution must satisfy on its own (well-formedness).
//
// LOCO/Mowgli paper: Sections 3.4, 4 and 5, Appendix G.2; docs/checking.md says what is done with them.
#pragma once

#include <cstdint>
#include <string_view>

namespace loco::model {

enum class Rule : std::uint8_t {
  // Relations: each labels an edge of a cycle.
  ppo,     ///< preserved program order (Fig. 10)
  ippo,    ///< issue order only: cells B1, B5, G10, I10
  iso,     ///< parts of one call: reads before it writes, fences before it reads
  rf,      ///< a write before the reads from it
  rb,      ///< a read before the writes that follow, in mo, the one it read
  rb_i,    ///< rb between a CPU read and a CPU write of one thread, in issue order
  mo,      ///< order in which writes reach one word
  nfo,     ///< NIC flush order
  pfg,     ///< a get's write before the wait for it
  pfp,     ///< a put's write is issued before the wait for it ends
  pf,      ///< sv: a broadcast has read its value before the wait for it ends
  bal_so,  ///< entering a barrier before leaving it
  rbl_rf,  ///< a submit before the receive of its message
  rbl_fb,  ///< an empty receive before the submits it did not see
  rao,     ///< an atomic before the next one of the same node
  starts,  ///< a write starts before it finishes
  // Predicates: each is a violation on its own.
  structure,         ///< indices, nesting, kinds: the trace is not an execution at all
  stamps,            ///< a call has a subevent that its method does not have, or returned without one that it has
  respects_nodes,    ///< local arguments are local, remote ones on the named node
  rf_source,         ///< a read names, as its source, no write of the same word and value
  initial_value,     ///< a read from no write does not see 0
  mo_total,          ///< the overwritten writes do not form one chain a word
  copied_value,      ///< a put, get or broadcast writes another value than it read
  returned_value,    ///< a call returned, or wrote, another value than its subevent says
  rao_total,         ///< the atomics of a node have no total order
  atomicity,         ///< another atomic came between the halves of a remote atomic, or it wrote what does not follow
  once,              ///< a remote atomic was executed more than once
  mixed_access,      ///< a write that is no atomic's came between the halves of a remote atomic, and is lost
  incomplete,        ///< a wait returned for an operation that has not written
  disjoint,          ///< a call reads a word that another call wrote for its own use
  own_write,         ///< sv: a thread does not see its own write
  participants,      ///< a barrier or ring buffer is used by a thread that does not take part
  barrier_count,     ///< a thread passed a barrier that another participant has not reached
  message_order,     ///< rbl: a message received twice, out of order, or skipped
  message_value,     ///< rbl: a message received that was not the one submitted
  torn_read,         ///< msw: a successful read of a tuple that nobody wrote
  mutual_exclusion,  ///< two holders of one lock
  lock_class,        ///< a lock is of a weaker class than the accesses under it need
  linearisability,   ///< kvstore: no order of the calls explains the results
  promise,           ///< tower: a library call's stamp or so is not in the lower level's hb
  budget,            ///< the question was too large to decide within the stated bound
};

[[nodiscard]] std::string_view name(Rule rule);
/// The rule's demand in one sentence.
[[nodiscard]] std::string_view meaning(Rule rule);

}  // namespace loco::model
