// Host memory: what it holds, whatever has been written over what; and what takes none of the simulating machine's; and
// which bytes of payload were written.
#include "nic_model/host/memory.hpp"

#include <malloc.h>
#include <random>
#include <vector>

#include "nic_model/engine/payloads.hpp"
#include "nic_model/system.hpp"
#include "tests/catch.hpp"

using namespace loco;
using nic::Address;
using nic::ByteRange;
using nic::HostMemory;
using nic::Payloads;

namespace {

std::size_t in_use() {
  const struct mallinfo2 m = mallinfo2();
  return m.uordblks + m.hblkhd;
}

}  // namespace

TEST_CASE("memory reads back what was written last, zeroes and others, in pieces of any size") {
  // Against an array of bytes: pieces cross pages, and about half of them are zero.
  const bool witness = GENERATE(false, true);
  std::mt19937 draw(7);
  constexpr std::size_t kBytes = 10'000;
  HostMemory memory(witness);
  const Address base = memory.allocate(kBytes);
  std::vector<std::byte> expected(kBytes);
  for (int i = 0; i < 2000; ++i) {
    const std::size_t at = draw() % kBytes;
    const std::size_t size = draw() % std::min<std::size_t>(kBytes - at, 3000) + 1;
    const auto value = static_cast<std::byte>(draw() % 2 == 0 ? 0 : draw() % 256);
    const std::vector<std::byte> piece(size, value);
    memory.write(base + at, piece);
    std::copy(piece.begin(), piece.end(), expected.begin() + static_cast<std::ptrdiff_t>(at));
    std::vector<std::byte> found(kBytes, std::byte{0xff});
    memory.read(base, found);
    REQUIRE(found == expected);
  }
}

TEST_CASE("memory of equal contents has one hash, however it came to them") {
  HostMemory fresh(false), rewritten(false);
  const Address base = fresh.allocate(4096);
  REQUIRE(rewritten.allocate(4096) == base);
  rewritten.set_word(base + 1024, 5);
  CHECK(rewritten.hash() != fresh.hash());
  rewritten.set_word(base + 1024, 0);
  CHECK(rewritten.hash() == fresh.hash());
}

TEST_CASE("zeroes upon memory that was never written take no memory") {
  HostMemory memory(false);
  constexpr std::size_t kBytes = 8U << 20U;
  const Address base = memory.allocate(kBytes);
  const std::vector<std::byte> zeroes(kBytes);
  std::vector<std::byte> one(kBytes);
  one[kBytes / 2] = std::byte{1};
  const std::size_t before = in_use();
  memory.write(base, zeroes);
  CHECK(in_use() - before < kBytes / 100);
  // One byte that differs: its page, and no other.
  memory.write(base, one);
  CHECK(in_use() - before < kBytes / 100);
  CHECK(memory.word(base + kBytes / 2) == 1);
}

namespace {

/// The memory of a process: bytes at addresses of its own.
struct Process final : nic::ForeignMemory {
  std::vector<std::byte> bytes = std::vector<std::byte>(64);
  Address at = nic::kForeignMemory + 0x7fff'0000'1004;

  [[nodiscard]] bool contains(Address address, std::uint64_t size) const override {
    return address >= at && address + size <= at + bytes.size();
  }
  void read(Address address, std::span<std::byte> out) const override {
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = contains(address + i, 1) ? bytes[address + i - at] : std::byte{};
  }
  void write(Address address, std::span<const std::byte> in) override {
    for (std::size_t i = 0; i < in.size(); ++i)
      if (contains(address + i, 1)) bytes[address + i - at] = in[i];
  }
};

}  // namespace

TEST_CASE("foreign memory is read and written where it is, and lies beside a host's own") {
  Process process;
  HostMemory memory(false);
  const Address own = memory.allocate(64);
  memory.set_foreign(&process);
  CHECK(memory.contains(process.at, 64));
  CHECK_FALSE(memory.contains(process.at, 65));
  const std::vector<std::byte> in(13, std::byte{7});
  memory.write(process.at + 3, in);
  CHECK(process.bytes[2] == std::byte{0});
  CHECK(process.bytes[3] == std::byte{7});
  CHECK(process.bytes[15] == std::byte{7});
  const Address word = (process.at + 8) / 8 * 8;
  memory.set_word(word, 0x0102'0304'0506'0708);
  CHECK(memory.word(word) == 0x0102'0304'0506'0708);
  memory.set_word(word, 0);  // a zero is written, too
  CHECK(memory.word(word) == 0);
  CHECK_FALSE(memory.written({process.at, process.at + 8}).empty());
  memory.set_word(own, 5);
  CHECK(memory.word(own) == 5);
  CHECK_THROWS_AS(memory.hash(), std::logic_error);
}

TEST_CASE("the witness knows who wrote a word of foreign memory, where others have not been") {
  Process process;
  HostMemory memory(true);
  memory.set_foreign(&process);
  const Address word = (process.at + 8) / 8 * 8;
  CHECK(memory.writer(word) == 0);
  CHECK(memory.replace_writer(word + 3, 7) == 0);
  CHECK(memory.replace_writer(word, 9) == 7);
  CHECK(memory.writer(word) == 9);
  CHECK(memory.writer(word + 8) == 0);
  CHECK(memory.writer(word + 1024) == 0);  // of another page
}

TEST_CASE("a system whose hosts have foreign memory is no value") {
  Process process;
  nic::System system(nic::SystemConfig{});
  system.set_foreign_memory(1, &process);
  CHECK_THROWS_AS(nic::System(system), std::logic_error);
  CHECK_THROWS_AS(static_cast<void>(system == system), std::logic_error);
  CHECK_THROWS_AS(system.behaviour_hash(), std::logic_error);
}

TEST_CASE("a payload buffer knows which 64ths of it were written, also by an earlier message in its storage") {
  constexpr std::uint32_t kSize = 8U << 20U, kPart = kSize / 64;
  Payloads payloads;
  const std::uint32_t buffer = payloads.acquire(kSize);
  CHECK(payloads.blank(buffer, 0, kSize));
  payloads.edit(buffer, 0, 8)[0] = std::byte{1};
  payloads.edit(buffer, kSize - 8, 8)[0] = std::byte{1};
  CHECK_FALSE(payloads.blank(buffer, kPart - 1, 1));
  CHECK(payloads.blank(buffer, kPart, kSize - 2 * kPart));
  const ByteRange all = payloads.written(buffer, {0, kSize});
  CHECK((all.from == 0 && all.to == kSize));
  const ByteRange first = payloads.written(buffer, {8, kSize / 2});
  CHECK((first.from == 8 && first.to == kPart));
  payloads.release(buffer);

  const std::uint32_t shorter = payloads.acquire(1000);  // in the same storage
  CHECK_FALSE(payloads.blank(shorter, 0, 1000));
  payloads.release(shorter);
  const std::uint32_t longer = payloads.acquire(2 * kSize);  // in a new one
  CHECK(payloads.blank(longer, 0, 2 * kSize));
  const std::uint32_t part = payloads.acquire(100, 4096);  // bytes 4096 to 4195 of a message: 64ths of 2 bytes
  payloads.edit(part, 4100, 4)[0] = std::byte{1};
  const ByteRange set = payloads.written(part, {4096, 4196});
  CHECK((set.from == 4100 && set.to == 4104));
}
