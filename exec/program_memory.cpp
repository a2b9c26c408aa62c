#include "exec/program_memory.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "sim/prefetch.hpp"

namespace loco::exec {

namespace {

void unmap(std::byte* from, std::uint64_t bytes) {
  if (from != nullptr) munmap(from, bytes);
}

}  // namespace

ProgramMemory::~ProgramMemory() { forget(); }

void ProgramMemory::forget() {
  for (const auto& [address, run] : runs_) unmap(run.mapped, run.bytes);
  runs_.clear();
  last_ = runs_.end();
}

/// Removes [from, to) from the runs; both are page boundaries.
void ProgramMemory::cut(std::uint64_t from, std::uint64_t to) {
  auto it = runs_.upper_bound(from);
  if (it != runs_.begin()) --it;
  while (it != runs_.end() && it->first < to) {
    const auto [address, run] = *it;
    const std::uint64_t end = address + run.bytes;
    if (end <= from) {
      ++it;
      continue;
    }
    it = runs_.erase(it);
    const auto part = [&](std::uint64_t at) { return run.mapped == nullptr ? nullptr : run.mapped + (at - address); };
    const std::uint64_t gap_from = std::max(address, from);
    const std::uint64_t gap_to = std::min(end, to);
    unmap(part(gap_from), gap_to - gap_from);
    if (address < from) runs_[address] = {from - address, run.mapped};
    if (end > to) runs_[to] = {end - to, part(to)};
  }
  last_ = runs_.end();
}

void ProgramMemory::add(const PageRun& run) {
  if (run.known != 0 && find(run.address) != runs_.end()) return;
  cut(run.address, run.address + run.bytes);
  std::byte* mapped = nullptr;
  if (run.file >= 0) {
    const int file = open(fmt::format("/proc/{}/fd/{}", process_, run.file).c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0) throw std::system_error(errno, std::generic_category(), "registered memory");
    void* const memory = mmap(nullptr, run.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    const int error = errno;
    close(file);
    if (memory == MAP_FAILED) throw std::system_error(error, std::generic_category(), "registered memory");
    mapped = static_cast<std::byte*>(memory);
  }
  runs_[run.address] = {run.bytes, mapped};
  last_ = runs_.end();
}

ProgramMemory::Runs::const_iterator ProgramMemory::find(std::uint64_t address) const {
  if (last_ != runs_.end() && address - last_->first < last_->second.bytes) return last_;
  auto it = runs_.upper_bound(address);
  if (it == runs_.begin()) return runs_.end();
  --it;
  if (address - it->first >= it->second.bytes) return runs_.end();
  return last_ = it;
}

bool ProgramMemory::contains(std::uint64_t address, std::uint64_t size) const {
  for (std::uint64_t at = address, end = at + size; at < end;) {
    const auto it = find(at);
    if (it == runs_.end()) return false;
    at = it->first + it->second.bytes;
  }
  return true;
}

bool ProgramMemory::copy_from(std::uint64_t address, std::span<std::byte> out) const {
  for (std::size_t done = 0; done < out.size();) {
    const std::uint64_t at = address + done;
    const auto it = find(at);
    if (it == runs_.end() || gone_) return false;
    const auto [from, run] = *it;
    const std::size_t part = std::min<std::size_t>(out.size() - done, from + run.bytes - at);
    if (run.mapped != nullptr) {
      std::memcpy(out.data() + done, run.mapped + (at - from), part);
      sim::prefetch_ahead(run.mapped + (at - from) + part, part, from + run.bytes - at - part);
    } else {
      const iovec mine{out.data() + done, part};
      const iovec theirs{reinterpret_cast<void*>(at), part};  // NOLINT(performance-no-int-to-ptr): not ours
      if (process_vm_readv(process_, &mine, 1, &theirs, 1, 0) != static_cast<ssize_t>(part)) return false;
    }
    done += part;
  }
  return true;
}

bool ProgramMemory::copy_to(std::uint64_t address, std::span<const std::byte> in) {
  for (std::size_t done = 0; done < in.size();) {
    const std::uint64_t at = address + done;
    const auto it = find(at);
    if (it == runs_.end() || gone_) return false;
    const auto [from, run] = *it;
    const std::size_t part = std::min<std::size_t>(in.size() - done, from + run.bytes - at);
    if (run.mapped != nullptr) {
      std::memcpy(run.mapped + (at - from), in.data() + done, part);
      sim::prefetch_ahead(run.mapped + (at - from) + part, part, from + run.bytes - at - part);
    } else {
      const iovec mine{const_cast<std::byte*>(in.data()) + done, part};
      const iovec theirs{reinterpret_cast<void*>(at), part};  // NOLINT(performance-no-int-to-ptr): not ours
      if (process_vm_writev(process_, &mine, 1, &theirs, 1, 0) != static_cast<ssize_t>(part)) return false;
    }
    done += part;
  }
  return true;
}

std::span<std::byte> ProgramMemory::mapped(std::uint64_t address) const {
  const auto it = find(address);
  if (it == runs_.end() || it->second.mapped == nullptr || gone_) return {};
  const std::uint64_t offset = address - it->first;
  return {it->second.mapped + offset, it->second.bytes - offset};
}

// --- all processes of a host -----------------------------------------------------------------------------------------

namespace {

std::uint64_t own_address(nic::Address address) { return address % nic::kForeignMemory; }

}  // namespace

nic::Address HostProcesses::add(ProgramMemory& space) {
  spaces_.push_back(&space);
  return nic::kForeignMemory * spaces_.size();
}

ProgramMemory* HostProcesses::space_of(nic::Address address) const {
  const std::uint64_t number = address / nic::kForeignMemory - 1;
  return number < spaces_.size() ? spaces_[number] : nullptr;
}

nic::Address HostProcesses::add_list(nic::NodeId host, std::vector<nic::Piece> pieces) {
  constexpr std::uint64_t kGap = 4096;  // adjacent lists get pages of their own
  std::uint64_t bytes = 0;
  for (const nic::Piece& piece : pieces) bytes += piece.bytes;
  const std::uint64_t room = (bytes / kGap + 2) * kGap;
  constexpr std::uint64_t kAll = std::uint64_t{1} << nic::kScatteredNodeBit;
  if (next_list_ + room > kAll) next_list_ = 0;
  const nic::Address list = nic::kScatteredMemory + (std::uint64_t{host} << nic::kScatteredNodeBit) + next_list_;
  next_list_ += room;
  lists_.insert_or_assign(list, std::move(pieces));
  return list;
}

nic::Piece HostProcesses::piece(nic::Address address) const {
  auto it = lists_.upper_bound(address);
  if (it == lists_.begin()) return {};
  --it;
  std::uint64_t offset = address - it->first;
  for (const nic::Piece& piece : it->second) {
    if (offset < piece.bytes) return {piece.address + offset, piece.bytes - offset, piece.key};
    offset -= piece.bytes;
  }
  return {};
}

bool HostProcesses::contains(nic::Address address, std::uint64_t size) const {
  const ProgramMemory* const space = space_of(address);
  return space != nullptr && space->contains(own_address(address), size);
}

namespace {

/// Calls `f` with each part of [address, address + bytes) that lies in one piece: its address in the machine, its
/// offset, its length.
template <typename F>
void for_each_part(const HostProcesses& memory, nic::Address address, std::size_t bytes, F f) {
  if (!nic::is_scattered(address)) return f(address, std::size_t{0}, bytes);
  for (std::size_t done = 0; done < bytes;) {
    const nic::Piece piece = memory.piece(address + done);
    if (piece.bytes == 0) return;
    const std::size_t part = std::min<std::size_t>(bytes - done, piece.bytes);
    f(piece.address, done, part);
    done += part;
  }
}

}  // namespace

void HostProcesses::read(nic::Address address, std::span<std::byte> out) const {
  for_each_part(*this, address, out.size(), [&](nic::Address from, std::size_t at, std::size_t bytes) {
    const auto part = out.subspan(at, bytes);
    const ProgramMemory* const space = space_of(from);
    if (space == nullptr || !space->copy_from(own_address(from), part)) std::memset(part.data(), 0, part.size());
  });
}

void HostProcesses::write(nic::Address address, std::span<const std::byte> in) {
  for_each_part(*this, address, in.size(), [&](nic::Address to, std::size_t at, std::size_t bytes) {
    if (ProgramMemory* const space = space_of(to)) space->copy_to(own_address(to), in.subspan(at, bytes));
  });
}

std::span<std::byte> HostProcesses::mapped(nic::Address address) const {
  const ProgramMemory* const space = space_of(address);
  return space == nullptr ? std::span<std::byte>{} : space->mapped(own_address(address));
}

/// What is the same already is not written: programs often send the same bytes again, and reading is what their memory
/// allows most of.
void HostProcesses::take(nic::Address to, const HostProcesses& other, nic::Address from, std::uint64_t bytes) {
  std::array<std::byte, 4096> between;
  for (std::uint64_t part = 0; bytes != 0; to += part, from += part, bytes -= part) {
    part = std::min<std::uint64_t>(bytes, between.size());
    const std::span<const std::byte> there = other.mapped(from);
    const std::span<std::byte> here = mapped(to);
    if (there.size() >= part && here.size() >= part) {
      if (std::memcmp(here.data(), there.data(), part) != 0) std::memcpy(here.data(), there.data(), part);
    } else {
      other.read(from, std::span(between).first(part));
      write(to, std::span(between).first(part));
    }
  }
}

}  // namespace loco::exec
