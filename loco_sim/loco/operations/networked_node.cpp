#include "loco_sim/loco/operations/networked_node.hpp"

#include <array>
#include <stdexcept>
#include <string>
#include <utility>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/memory/bounds.hpp"
#include "loco_sim/loco/operations/ack_key.hpp"

namespace loco {

networked_node::networked_node(std::shared_ptr<node_state> state)
    : local_node(std::move(state)), can_fence_(transport().lacks(Capability::reads_push_puts).empty()) {}

// ---- operations ---------------------------------------------------------------------------------------------------

void networked_node::require_words(std::string_view what, Address local, const Region& remote, std::uint64_t offset,
                                   std::uint64_t size) {
#ifndef NDEBUG
  if (blocks()->is_free(local))
    throw std::logic_error("node " + std::to_string(my_node()) + ": " + std::string(what) +
                           " with the memory of a mem_ref that has been given back");
#endif
  if (local % kWord != 0)
    throw size_error("node " + std::to_string(my_node()) + ": " + std::string(what) + " at local address " +
                     std::to_string(local) + ": expected whole words, from a multiple of " + std::to_string(kWord));
  if (whole_words_inside(offset, size, remote.size)) return;
  throw size_error("node " + std::to_string(my_node()) + ": " + std::string(what) + " of " + std::to_string(size) +
                   " bytes at offset " + std::to_string(offset) + " of a region of " + std::to_string(remote.size) +
                   " bytes on node " + std::to_string(remote.node) + ": expected whole words inside of it");
}

OperationTag networked_node::tag(Address local, const Region& remote, Posting posting, ack_key* key) {
  state().threads.note_operation(remote, posting.fenced);
  if (key == nullptr)
    return {.token = posting.quiet ? ack_word::kQuietToken : 0,
            .tell = posting.more ? Tell::with_next : Tell::if_failed};
  const OperationTag tag = posting.more ? key->begin_listed() : key->begin_operation();
  key->note_use(local, remote.node, tag.token);
  return tag;
}

void networked_node::put(Address local, const Region& remote, std::uint64_t offset, std::uint64_t size, ack_key* key,
                         Posting posting) {
  require_words("a put", local, remote, offset, size);
  transport().put(local, remote, offset, size, tag(local, remote, posting, key));
}

void networked_node::get(Address local, const Region& remote, std::uint64_t offset, std::uint64_t size, ack_key* key,
                         Posting posting) {
  require_words("a get", local, remote, offset, size);
  posting.fenced = false;  // a get leaves no remote write to wait for
  transport().get(local, remote, offset, size, tag(local, remote, posting, key));
}

void networked_node::fetch_add(Address local, const Region& remote, std::uint64_t offset, std::uint64_t add,
                               ack_key* key, Posting posting) {
  require_words("a fetch-and-add", local, remote, offset, kWord);
  transport().fetch_add(local, remote, offset, add, tag(local, remote, posting, key));
}

void networked_node::compare_swap(Address local, const Region& remote, std::uint64_t offset, std::uint64_t expected,
                                  std::uint64_t desired, ack_key* key, Posting posting) {
  require_words("a compare-and-swap", local, remote, offset, kWord);
  transport().compare_swap(local, remote, offset, expected, desired, tag(local, remote, posting, key));
}

void networked_node::require_network(std::string_view who, Capability what) const {
  constexpr std::array<std::string_view, 5> kNeeds = {
      "ordered puts (a put is in memory before a later one to the same node)",
      "gets that push puts (a get reads behind earlier puts to the same node)", "remote atomics",
      "remote atomics that are atomic with CPUs", "the words of a put or get in the order of addresses"};
  const std::string why = transport().lacks(what);
  if (!why.empty())
    throw setup_error("node " + std::to_string(my_node()) + ": " + std::string(who) + " needs " +
                      std::string(kNeeds.at(static_cast<std::size_t>(what))) + ", which this network lacks: " + why);
}

// ---- peers --------------------------------------------------------------------------------------------------------

void networked_node::check() {
  blocks()->require_none_too_early();
  state().acks.check();
}

void networked_node::tell_later(const operation_error& error) { state().acks.tell_later(error); }

std::string_view networked_node::why_failed(NodeId node) const {
  return state().acks.gave_up_this_one(node) ? "which has given up this node" : "which does not answer";
}

void networked_node::require_answers(std::string_view object, std::span<const NodeId> nodes) const {
  for (const NodeId node : nodes)
    if (failed(node))
      throw operation_error(Status::retry_exc_err,
                            "node " + std::to_string(my_node()) + ": '" + std::string(object) + "' waits for node " +
                                std::to_string(node) + ", " + std::string(why_failed(node)),
                            node);
}

void networked_node::pause_for(std::string_view object, std::span<const NodeId> nodes) {
  if (any_failed()) require_answers(object, nodes);
  const waiting_for note(transport(), [object] { return "'" + std::string(object) + "' lets it go on"; });
  transport().pause();
}

// ---- fences -------------------------------------------------------------------------------------------------------

Address networked_node::fence_landing(NodeId node) {
  thread_records::record& thread = state().threads.mine();
  if (thread.landing.size == 0) thread.landing = memory().allocate(num_nodes() * sizeof(std::uint64_t));
  return thread.landing.base + node * sizeof(std::uint64_t);
}

std::vector<NodeId> networked_node::unplaced() {
  const std::vector<bool>& marks = state().threads.mine().unplaced;
  std::vector<NodeId> nodes;
  for (NodeId n = 0; n < marks.size(); ++n)
    if (marks[n]) nodes.push_back(n);
  return nodes;
}

void networked_node::note_placed(NodeId node) {
  std::vector<bool>& marks = state().threads.mine().unplaced;
  if (node < marks.size()) marks[node] = false;
}

void networked_node::note_fenced(std::span<const NodeId> nodes) {
  state().threads.note_fenced(nodes);
  const std::vector<std::uint32_t> over = settled_by_fence(nodes);
  if (!over.empty()) state().threads.forget(over);
}

}  // namespace loco
