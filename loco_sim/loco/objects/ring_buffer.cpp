#include "loco_sim/loco/objects/ring_buffer.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/membership/node_list.hpp"
#include "loco_sim/loco/memory/checksum.hpp"
#include "loco_sim/loco/operations/call_scope.hpp"
#include "loco_sim/loco/operations/networked_node.hpp"
#include "probe/probe.hpp"

namespace loco {

namespace {
constexpr std::uint64_t cells_of(std::uint64_t bytes) { return (bytes + 7) / 8; }

/// The only peer that a node joins. Readers need nothing from each other, so n rings on n nodes join n^2 pairs, not
/// n^3.
std::optional<NodeId> partner(NodeId me, NodeId writer) { return me == writer ? std::nullopt : std::optional(writer); }
}  // namespace

ring_options ring_buffer::checked(ring_options options) const {
  const std::string ring = "ring buffer '" + full_name() + "'";
  if (options.bytes % kCell != 0 || options.bytes < 2 * kCell)
    throw setup_error(ring + " of " + std::to_string(options.bytes) + " bytes: expected a multiple of 8, at least 16");
  if (options.heads == 0) throw setup_error(ring + " without a head: expected at least 1");
  if (options.threads_per_node == 0) throw setup_error(ring + " without reading threads: expected at least 1 a node");
  require_node(writer_, "the writer");
  for (const NodeId node : options.readers) require_node(node, "a reader");
  return options;
}

std::uint32_t ring_buffer::peers() const {
  if (my_node() != writer_) return 1;
  return readers_.place_of(writer_) ? readers_.count() - 1 : readers_.count();
}

/// The writer holds the tails of all reading threads, grouped by reader; a reader holds its own only.
ring_buffer::Positions ring_buffer::my_tails() {
  const std::string name = full_name() + "/tails";
  const std::uint32_t threads = options_.threads_per_node;
  if (my_node() != writer_) {
    const std::optional<std::uint32_t> place = readers_.place_of(my_node());
    if (!place)
      throw ownership_error("ring buffer '" + full_name() + "': node " + std::to_string(my_node()) +
                            " is neither its writer, node " + std::to_string(writer_) + ", nor declared as a reader, " +
                            text_of(readers_.list()));
    return {tails_region_, name, my_node(), *place * threads, threads};
  }
  std::vector<NodeId> owners;
  for (const NodeId node : readers_.list()) owners.insert(owners.end(), threads, node);
  return {tails_region_, name, owners};
}

void ring_buffer::start() {
  require_network({Capability::ordered_puts});
  if (const auto place = readers_.place_of(my_node())) first_tail_ = *place * options_.threads_per_node;
  const std::vector<NodeId>& named = readers_.named();
  set_terms("written by node " + std::to_string(writer_) + ", read by " +
            (named.empty() ? "all others" : nodes_text(named)) + ", " + std::to_string(options_.threads_per_node) +
            " thread(s) each");
  expect_peers(peers());
  if (my_node() == writer_) {
    for (std::uint32_t i = 0; i < options_.heads; ++i) under_way_.push_back(std::make_unique<ack_key>(here()));
  } else {
    readers_ = {{}, writer_, num_nodes()};  // only the writer needs the list from here on
  }
  join();
}

ring_buffer::ring_buffer(within where, std::string_view name, NodeId writer, ring_options options)
    : channel(where, name, expect_num{0, partner(where.my_node(), writer)}),
      writer_(writer),
      options_(checked(std::move(options))),
      readers_(std::exchange(options_.readers, {}), writer, num_nodes()),
      cells_count_(options_.bytes / kCell),
      cells_name_(without_spare(full_name() + "/cells")),
      cells_(*this, cells_name_, "cells", options_.bytes),
      heads_region_(*this, full_name(), "heads", Positions::bytes_of(options_.heads)),
      tails_region_(*this, full_name(), "tails", Positions::bytes_of(readers_.count() * options_.threads_per_node)),
      heads_(heads_region_, full_name() + "/heads", std::vector<NodeId>(options_.heads, writer)),
      tails_(my_tails()) {
  start();
}

// --- writer ----------------------------------------------------------------------------------------------------------

void ring_buffer::require_sender(std::uint64_t bytes) {
  if (my_node() != writer_)
    throw ownership_error("ring buffer '" + full_name() + "' is written by node " + std::to_string(writer_) +
                          ": node " + std::to_string(my_node()) + " may not send");
  const std::uint32_t me = transport().my_thread();
  std::uint32_t sender = kNobody;
  if (!sender_.compare_exchange_strong(sender, me) && sender != me)
    throw ownership_error("ring buffer '" + full_name() + "': thread " + std::to_string(sender) + " of node " +
                          std::to_string(writer_) + " sends: thread " + std::to_string(me) + " may not");
  if (bytes > capacity())
    throw size_error("ring buffer '" + full_name() + "': a message of " + std::to_string(bytes) +
                     " bytes never fits, the longest is " + std::to_string(capacity()));
}

void ring_buffer::look_at_tails() {
  least_tail_ = sent_;
  for (auto& tail : tails_)
    if (!options_.leave_out_failed || !lost(tail.owner())) least_tail_ = std::min(least_tail_, tail.load());
}

bool ring_buffer::received_by_all(std::uint64_t position) {
  require_sender(0);
  if (least_tail_ >= position || tails_.size() == 0) return true;
  // For the specification this is a Submit that fails, as any Submit may: it reads the tails and sends nothing.
  const call_scope call(transport(), {.library = "rbl", .method = "submit", .object = full_name()});
  look_at_tails();
  return least_tail_ >= position;
}

bool ring_buffer::received_by(NodeId reader, std::uint64_t position) {
  require_sender(0);
  const std::optional<std::uint32_t> place = readers_.place_of(reader);
  if (!place) return true;
  const call_scope call(transport(), {.library = "rbl", .method = "submit", .object = full_name()});
  bool all = true;
  for (std::uint32_t i = 0; i < options_.threads_per_node; ++i)
    all &= tails_[*place * options_.threads_per_node + i].load() >= position;
  return all;
}

/// Tails only grow, so the least tail seen last time may already prove that there is room.
bool ring_buffer::room_for(std::uint64_t cells) {
  if (sent_ - least_tail_ + cells > cells_count_) look_at_tails();
  return sent_ - least_tail_ + cells <= cells_count_;
}

std::span<const NodeId> ring_buffer::receivers() {
  const std::vector<NodeId>& all = cells_.peers();
  if (!options_.leave_out_failed || !any_lost()) return all;
  LOCO_PROBE(ring_buffer_leaves_readers_out);
  answering_.clear();
  for (const NodeId node : all)
    if (!lost(node)) answering_.push_back(node);
  return answering_;
}

void ring_buffer::wait_for_head(ack_key& under_way) {
  try {
    under_way.wait();
  } catch (const operation_error& error) {
    if (!options_.leave_out_failed || !lost(error.peer())) throw;
    under_way.forget();
  }
}

void ring_buffer::write_cells(std::uint64_t position, std::span<const std::uint64_t> words) {
  const std::uint64_t first = position % cells_count_;
  const std::uint64_t until_end = std::min<std::uint64_t>(words.size(), cells_count_ - first);
  const auto put = [this](std::uint64_t cell, std::span<const std::uint64_t> part) {
    if (part.empty()) return;
    cells_.store_part(cell * kCell, std::as_bytes(part));
    cells_.push_part(cell * kCell, part.size_bytes(), receivers());
  };
  if (until_end < words.size()) LOCO_PROBE(ring_buffer_message_wraps);
  put(first, words.first(until_end));
  put(0, words.subspan(until_end));
}

bool ring_buffer::try_send(std::span<const std::byte> text) {
  require_sender(text.size());
  call_scope call(transport(),
                  {.library = "rbl", .method = "submit", .object = full_name(), .argument = checksum(text)});
  words_.assign(1 + cells_of(text.size()), 0);
  words_[0] = text.size();
  if (!text.empty()) std::memcpy(words_.data() + 1, text.data(), text.size());
  if (!room_for(words_.size())) {
    LOCO_PROBE(ring_buffer_full);
    return false;
  }
  write_cells(sent_, words_);
  const std::size_t turn = messages_ % options_.heads;  // advanced only after the wait, which may throw
  // The NIC reads the head's source when it sends. If the source changed earlier, the previous push would announce this
  // message too.
  if (options_.wait_for_previous_head) wait_for_head(*under_way_[turn]);
  ++messages_;
  sent_ += words_.size();
  heads_[turn].store(sent_);
  heads_[turn].push(receivers(), under_way_[turn].get());
  call.set_result(1);
  return true;
}

void ring_buffer::send(std::span<const std::byte> text) {
  // If failed readers are left out, the wait needs nobody: the failure of a reader ends the pause, and the next attempt
  // finds room.
  const std::span<const NodeId> needed =
      options_.leave_out_failed ? std::span<const NodeId>() : std::span<const NodeId>(cells_.peers());
  while (!try_send(text)) pause_for(needed);
}

// --- readers ---------------------------------------------------------------------------------------------------------

ring_buffer::seat& ring_buffer::my_seat() {
  const std::lock_guard lock(mutex_);
  const std::uint32_t me = transport().my_thread();
  if (const auto found = std::ranges::find(seats_, me, &seat::thread); found != seats_.end()) return *found;
  if (!first_tail_)
    throw ownership_error("ring buffer '" + full_name() + "': node " + std::to_string(my_node()) +
                          " is not declared as a reader, " + text_of(readers_.list()));
  if (seats_.size() == options_.threads_per_node)
    throw ownership_error("ring buffer '" + full_name() + "': node " + std::to_string(my_node()) + " has " +
                          std::to_string(options_.threads_per_node) +
                          " reading thread(s): another one may not receive");
  seats_.reserve(options_.threads_per_node);
  return seats_.emplace_back(seat{.thread = me, .index = *first_tail_ + seats_.size()});
}

void ring_buffer::read_cells(std::uint64_t position, std::span<std::byte> out) {
  const std::uint64_t first = position % cells_count_ * kCell;
  const std::uint64_t until_end = std::min<std::uint64_t>(out.size(), options_.bytes - first);
  if (until_end != 0) cells_.load_part(first, out.first(until_end));
  if (until_end < out.size()) cells_.load_part(0, out.subspan(until_end));
}

bool ring_buffer::try_receive(const Apply& look) {
  const bool lost = any_lost();  // read first: messages of a lost writer are received before its loss is reported
  if (receive_if_there(look)) return true;
  if (lost) {
    LOCO_PROBE(ring_buffer_looks_for_its_writer);
    require_answers(std::span(&writer_, 1));
  }
  return false;
}

bool ring_buffer::receive_if_there(const Apply& look) {
  seat& me = my_seat();
  call_scope call(transport(), {.library = "rbl", .method = "receive", .object = full_name()});
  // A thread that reads its own messages must see them in memory, as the others do, not in its store buffer (rbl: rf is
  // in so).
  if (my_node() == writer_ && sender_ == transport().my_thread()) transport().memory_fence();
  // The head may announce later messages as well; they arrive in order.
  const std::uint64_t head = heads_[me.count % options_.heads].load();
  if (head <= me.tail) return false;
  std::uint64_t bytes = 0;
  read_cells(me.tail, std::as_writable_bytes(std::span(&bytes, 1)));
  // Bounded by what the head has announced, which only a broken ring can exceed.
  bytes = std::min(bytes, std::min(head - me.tail - 1, cells_count_ - 1) * kCell);
  me.text.resize(cells_of(bytes) * kCell);
  read_cells(me.tail + 1, me.text);
  const auto text = std::span<const std::byte>(me.text).first(bytes);
  look(text);
  me.tail += 1 + cells_of(bytes);
  ++me.count;
  auto& tail = tails_[me.index];
  tail.store(me.tail);
  if (my_node() != writer_ && !lost(writer_)) tail.push(writer_);
  call.set_result(checksum(text));
  return true;
}

std::optional<ring_buffer::Message> ring_buffer::try_receive() {
  std::optional<Message> result;
  try_receive([&result](std::span<const std::byte> text) { result.emplace(text.begin(), text.end()); });
  return result;
}

void ring_buffer::receive(const Apply& look) {
  for (bool lost = any_lost(); !try_receive(look); lost = any_lost())
    if (lost || !any_lost()) pause_for(std::span(&writer_, 1));
}

ring_buffer::Message ring_buffer::receive() {
  Message result;
  receive([&result](std::span<const std::byte> text) { result.assign(text.begin(), text.end()); });
  return result;
}

}  // namespace loco
