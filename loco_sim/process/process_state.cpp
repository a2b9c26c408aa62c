// What a node's process has without threads of its own: network memory, flags, what has come for poll() and of set-up
// messages.
#include <new>
#include <stdexcept>
#include <sys/mman.h>
#include <utility>

#include "loco_sim/process/process_transport.hpp"

namespace loco::process {

// --- memory ----------------------------------------------------------------------------------------------------------

Region ProcessTransport::allocate(std::uint64_t size) {
  constexpr std::uint64_t kPage = 4096;
  const std::uint64_t bytes = round_up(size, kPage);
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  Registered keys;
  try {
    keys = register_memory(memory, bytes);
  } catch (...) {
    ::munmap(memory, bytes);
    throw;
  }
  const std::lock_guard lock(memory_mutex_);
  const std::uint32_t index = pieces_made_;
  if (index == kPiecesMax) throw std::length_error("more registrations than " + std::to_string(kPiecesMax));
  const auto base = reinterpret_cast<Address>(memory);
  pieces_[index] = {base, bytes, keys};
  pieces_made_.store(index + 1, std::memory_order_release);
  return {.node = my_node(), .base = base, .size = size, .rkey = keys.remote_key};
}

const ProcessTransport::Registered& ProcessTransport::registered(Address address) const {
  for (std::uint32_t i = pieces_made_.load(std::memory_order_acquire); i > 0; --i)
    if (address - pieces_[i - 1].base < pieces_[i - 1].size) return pieces_[i - 1].keys;
  throw std::out_of_range("address " + std::to_string(address) + " is in no network memory of this node");
}

bool ProcessTransport::is_registered(Address address, std::uint64_t size) const {
  for (std::uint32_t i = pieces_made_.load(std::memory_order_acquire); i > 0; --i)
    if (address - pieces_[i - 1].base < pieces_[i - 1].size)
      return size <= pieces_[i - 1].size - (address - pieces_[i - 1].base);
  return false;
}

std::uint64_t ProcessTransport::load(Address address) { return word(address).load(std::memory_order_acquire); }

void ProcessTransport::store(Address address, std::uint64_t value) {
  word(address).store(value, std::memory_order_release);
  acts();
  ring();  // another thread of this node may wait for it
}

std::uint64_t ProcessTransport::compare_swap_local(Address address, std::uint64_t expected, std::uint64_t desired) {
  word(address).compare_exchange_strong(expected, desired);
  acts();
  ring();
  return expected;
}

// --- completions that the network does not tell of ------------------------------------------------------------------

void ProcessTransport::tell(const Completion& completion) {
  {
    const std::lock_guard lock(told_mutex_);
    told_.push_back(completion);
    told_size_.fetch_add(1);
  }
  ring();
}

std::size_t ProcessTransport::take_told(std::span<Completion> out) {
  if (told_size_.load() == 0) return 0;
  const std::lock_guard lock(told_mutex_);
  std::size_t taken = 0;
  for (; taken < out.size() && !told_.empty(); ++taken) {
    out[taken] = told_.front();
    told_.pop_front();
    told_size_.fetch_sub(1);
  }
  return taken;
}

std::size_t ProcessTransport::poll(std::span<Completion> out) {
  check_closing();
  polls();
  const std::size_t told = take_told(out);
  return told != 0 ? told : look(out);
}

// --- flags -----------------------------------------------------------------------------------------------------------

Flag ProcessTransport::make_flag(std::uint64_t initial) {
  const std::lock_guard lock(flags_mutex_);
  Flag made = 0;
  if (!free_flags_.empty()) {
    made = free_flags_.back();
    free_flags_.pop_back();
  } else {
    made = flags_made_;
    if (made / kFlagsEach == kFlagPiecesMax) throw std::length_error("too many flags");
    auto& piece = flags_[made / kFlagsEach];
    if (piece.load() == nullptr) piece.store(new FlagPiece{}, std::memory_order_release);
    ++flags_made_;
  }
  flag(made).store(initial);
  return made;
}

void ProcessTransport::release_flag(Flag flag) {
  const std::lock_guard lock(flags_mutex_);
  free_flags_.push_back(flag);
}

std::uint64_t ProcessTransport::flag_fetch_or(Flag flag, std::uint64_t bits) {
  const std::uint64_t old = this->flag(flag).fetch_or(bits);
  ring();
  return old;
}

std::uint64_t ProcessTransport::flag_fetch_and(Flag flag, std::uint64_t bits) {
  const std::uint64_t old = this->flag(flag).fetch_and(bits);
  ring();
  return old;
}

std::uint64_t ProcessTransport::flag_fetch_add(Flag flag, std::uint64_t value) {
  const std::uint64_t old = this->flag(flag).fetch_add(value);
  ring();
  return old;
}

bool ProcessTransport::flag_compare_exchange(Flag flag, std::uint64_t expected, std::uint64_t desired) {
  const bool changed = this->flag(flag).compare_exchange_strong(expected, desired);
  if (changed) ring();
  return changed;
}

// --- set-up messages -------------------------------------------------------------------------------------------------

void ProcessTransport::send_control(NodeId to, std::string body) {
  if (to != my_node()) return mesh_.send(to, Kind::control, body);
  {
    const std::lock_guard lock(inbox_mutex_);
    inbox_.push_back({to, std::move(body)});
    inbox_size_.fetch_add(1);
  }
  ring();
}

std::optional<ControlMessage> ProcessTransport::receive_control() {
  if (inbox_size_.load() == 0) return std::nullopt;
  const std::lock_guard lock(inbox_mutex_);
  if (inbox_.empty()) return std::nullopt;
  ControlMessage message = std::move(inbox_.front());
  inbox_.pop_front();
  inbox_size_.fetch_sub(1);
  return message;
}

}  // namespace loco::process
