#include "nic_model/host/memory.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "nic_model/engine/hash.hpp"

namespace loco::nic {

namespace {

bool all_zero(std::span<const std::byte> bytes) {
  return bytes.empty() ||
         (bytes[0] == std::byte{0} && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

/// True for one aligned word, which is the size of many messages and of all atomics.
bool is_word(Address address, std::size_t bytes) { return bytes == sizeof(std::uint64_t) && address % bytes == 0; }

}  // namespace

Address HostMemory::allocate(std::uint64_t size) {
  const Address base = end_;
  end_ += (size + 63) / 64 * 64;
  return base;
}

[[gnu::noinline]] std::uint32_t HostMemory::new_page(Address address) {
  const std::uint64_t page = address / kPageBytes;
  if (page >= table_.size()) table_.resize(page + 1, kNone);
  table_[page] = static_cast<std::uint32_t>(pages_.size());
  pages_.emplace_back();
  if (witness_on_) writers_.emplace_back();
  return table_[page];
}

std::uint64_t HostMemory::foreign_word(Address address) const {
  std::uint64_t value = 0;
  foreign_->read(address / 8 * 8, std::as_writable_bytes(std::span(&value, 1)));
  return value;
}

void HostMemory::set_word(Address address, std::uint64_t value) {
  std::uint32_t page = find(address);
  if (page == kNone) {
    if (is_foreign(address)) return foreign_->write(address / 8 * 8, std::as_bytes(std::span(&value, 1)));
    if (value == 0) return;  // it is zero already
    page = new_page(address);
  }
  pages_[page][address % kPageBytes / 8] = value;
}

void HostMemory::read(Address address, std::span<std::byte> out) const {
  if (is_word(address, out.size())) {
    const std::uint64_t value = word(address);
    std::memcpy(out.data(), &value, sizeof(value));
    return;
  }
  for (std::size_t done = 0; done < out.size();) {
    const Address at = address + done;
    const std::size_t part = std::min<std::size_t>(out.size() - done, kPageBytes - at % kPageBytes);
    const std::uint32_t page = find(at);
    if (page == kNone) {
      if (is_foreign(at)) return foreign_->read(at, out.subspan(done));
      // Usually `out` is zero already; not writing it may save memory of the simulating machine.
      if (!all_zero(out.subspan(done, part))) std::memset(out.data() + done, 0, part);
    } else {
      std::memcpy(out.data() + done, std::as_bytes(std::span(pages_[page])).data() + at % kPageBytes, part);
    }
    done += part;
  }
}

ByteRange HostMemory::written(ByteRange part) const {
  if (is_foreign(part.from)) return part;
  Address from = part.from / kPageBytes * kPageBytes;
  while (from < part.to && find(from) == kNone) from += kPageBytes;
  if (from >= part.to) return {part.to, part.to};
  Address to = (part.to + kPageBytes - 1) / kPageBytes * kPageBytes;
  while (find(to - 1) == kNone) to -= kPageBytes;
  return common_part(part, {from, to});
}

void HostMemory::write(Address address, std::span<const std::byte> in) {
  if (is_word(address, in.size())) {
    std::uint64_t value = 0;
    std::memcpy(&value, in.data(), sizeof(value));
    return set_word(address, value);
  }
  for (std::size_t done = 0; done < in.size();) {
    const Address at = address + done;
    const std::size_t part = std::min<std::size_t>(in.size() - done, kPageBytes - at % kPageBytes);
    if (is_foreign(at)) return foreign_->write(at, in.subspan(done));
    // Zeroes written to a page that does not exist change nothing, so traffic whose bytes nobody set costs no memory.
    if (find(at) != kNone || !all_zero(in.subspan(done, part))) {
      std::byte* const page = std::as_writable_bytes(std::span(pages_[touch(at)])).data();
      std::memcpy(page + at % kPageBytes, in.data() + done, part);
    }
    done += part;
  }
}

void HostMemory::prefetch(Address address, std::uint64_t size) const {
  constexpr Address kLine = 64;
  for (Address at = address / kLine * kLine; at < address + size; at += kLine) {
    const std::uint32_t page = find(at);
    if (page != kNone) __builtin_prefetch(&pages_[page][at % kPageBytes / 8]);
  }
}

SubeventId HostMemory::writer_with_witness(Address address) const {
  if (is_foreign(address)) {
    const auto page = foreign_writers_.find(address / kPageBytes);
    return page == foreign_writers_.end() ? 0 : page->second[address % kPageBytes / 8];
  }
  const std::uint32_t page = find(address);
  return page == kNone ? 0 : writers_[page][address % kPageBytes / 8];
}

SubeventId HostMemory::replace_writer(Address address, SubeventId id) {
  if (!witness_on_) return 0;
  WriterPage& page = is_foreign(address) ? foreign_writers_[address / kPageBytes] : writers_[touch(address)];
  SubeventId& writer = page[address % kPageBytes / 8];
  const SubeventId before = writer;
  writer = id;
  return before;
}

std::uint64_t HostMemory::hash() const {
  if (has_foreign()) throw std::logic_error("foreign memory has no hash");
  std::uint64_t sum = 0;  // commutative, because pages are kept in order of first touch
  for (std::size_t page = 0; page < table_.size(); ++page) {
    if (table_[page] == kNone) continue;
    for (std::size_t i = 0; i < kPageWords; ++i) {
      const std::uint64_t v = pages_[table_[page]][i];
      if (v != 0) sum += mix(v ^ mix(page * kPageWords + i));
    }
  }
  return sum;
}

}  // namespace loco::nic
