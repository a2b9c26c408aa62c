// A host's memory: bytes in pages, and the witness, i.e. who wrote each 8-byte word last. A page exists once something
// other than zero is written to it, or, with the witness, anything.
//
// A value, unless it has foreign memory. Addresses start at 64 (0 is never valid). Words are little-endian as in the
// simulating machine's memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "nic_model/engine/byte_range.hpp"
#include "nic_model/foreign_memory.hpp"
#include "nic_model/verbs.hpp"

namespace loco::nic {

class HostMemory {
 public:
  explicit HostMemory(bool witness) : witness_on_(witness) {}

  /// Allocates zeroed bytes, 64-byte aligned.
  Address allocate(std::uint64_t size);
  [[nodiscard]] bool contains(Address address, std::uint64_t size) const {
    return (address >= kFirst && size <= end_ && address <= end_ - size) || contains_foreign(address, size);
  }
  /// From kForeignMemory on, it is `memory`, which outlives this one. The witness knows the writes that are made
  /// through this class, not those that the process makes to its own memory.
  void set_foreign(ForeignMemory* memory) { foreign_ = memory; }
  [[nodiscard]] bool has_foreign() const { return foreign_ != nullptr; }
  [[nodiscard]] Piece piece(Address address) const { return foreign_ == nullptr ? Piece{} : foreign_->piece(address); }

  /// The aligned word that holds `address`.
  [[nodiscard]] std::uint64_t word(Address address) const {
    const std::uint32_t page = find(address);
    return page == kNone ? unwritten_word(address) : pages_[page][address % kPageBytes / 8];
  }
  void set_word(Address address, std::uint64_t value);
  void read(Address address, std::span<std::byte> out) const;
  /// The part of it between the first and the last page that exist; all else is zero.
  [[nodiscard]] ByteRange written(ByteRange part) const;
  void write(Address address, std::span<const std::byte> in);

  /// Prefetches what will be read or written soon into the simulating machine's cache. Changes nothing.
  void prefetch(Address address, std::uint64_t size) const;

  /// Last writer of the word that holds `address`; 0 for the initial value.
  [[nodiscard]] SubeventId writer(Address address) const { return witness_on_ ? writer_with_witness(address) : 0; }
  /// Makes `id` the last writer and returns the one before.
  SubeventId replace_writer(Address address, SubeventId id);

  /// Hash of the contents, without the witness.
  [[nodiscard]] std::uint64_t hash() const;
  bool operator==(const HostMemory&) const = default;

 private:
  static constexpr Address kFirst = 64;
  static constexpr std::uint64_t kPageWords = 128;
  static constexpr std::uint64_t kPageBytes = kPageWords * 8;
  using Page = std::array<std::uint64_t, kPageWords>;
  using WriterPage = std::array<SubeventId, kPageWords>;

  [[nodiscard]] std::uint32_t find(Address address) const {  // index of the page, or kNone
    const std::uint64_t page = address / kPageBytes;
    return page < table_.size() ? table_[page] : kNone;
  }
  std::uint32_t touch(Address address) {
    const std::uint32_t page = find(address);
    return page == kNone ? new_page(address) : page;
  }
  std::uint32_t new_page(Address address);
  // Foreign addresses have no page here.
  [[nodiscard]] bool is_foreign(Address address) const { return foreign_ != nullptr && address >= kForeignMemory; }
  [[nodiscard]] bool contains_foreign(Address address, std::uint64_t size) const {
    return is_foreign(address) && foreign_->contains(address, size);
  }
  [[nodiscard]] std::uint64_t unwritten_word(Address address) const {
    return is_foreign(address) ? foreign_word(address) : 0;
  }
  [[nodiscard]] std::uint64_t foreign_word(Address address) const;
  [[nodiscard]] SubeventId writer_with_witness(Address address) const;
  static constexpr std::uint32_t kNone = 0xffffffffU;

  std::vector<std::uint32_t> table_;
  std::vector<Page> pages_;
  std::vector<WriterPage> writers_;                // parallel to pages_ when the witness is on
  std::map<Address, WriterPage> foreign_writers_;  // by page: foreign addresses are few, and far from each other
  Address end_ = kFirst;
  ForeignMemory* foreign_ = nullptr;
  bool witness_on_ = false;
};

}  // namespace loco::nic
