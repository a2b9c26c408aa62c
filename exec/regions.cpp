// Memory that NICs can reach: regions, memory on the NIC, memory windows.
#include <algorithm>
#include <cerrno>
#include <fmt/format.h>
#include <stdexcept>

#include "exec/conductor.hpp"
#include "exec/records.hpp"

namespace loco::exec {

void Conductor::take_runs(Program& program, const Channel& c, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) program.memory.add(record_at<PageRun>(c.data + i * sizeof(PageRun)));
}

/// Makes a region and returns its key, or -1 if there is no room.
std::int64_t Conductor::new_region(const Program& program, nic::Address base, std::uint64_t bytes, std::uint8_t access,
                                   nic::RegionKind kind, std::uint64_t io_offset) {
  try {
    const nic::MemoryRegion region = system_.register_memory(program.host, base, bytes, access, kind);
    regions_.resize(region.lkey >> 8U);
    regions_.push_back({.host = program.host, .io_offset = io_offset});
    return region.lkey;
  } catch (const std::invalid_argument&) {
    return -1;
  }
}

void Conductor::register_memory(ProgramThread& thread) {
  Channel& c = *thread.channel;
  take_runs(thread.program, c, c.arguments[4]);
  const bool relaxed = (c.arguments[2] & kRelaxedRight) != 0;
  c.replies[0] =
      new_region(thread.program, thread.program.base + c.arguments[0], c.arguments[1], rights_of(c.arguments[2]),
                 {.relaxed_ordering = relaxed, .domain = static_cast<std::uint16_t>(c.arguments[5])},
                 c.arguments[3] + nic::kForeignMemory - thread.program.base);
}

void Conductor::change_memory(ProgramThread& thread) {
  Channel& c = *thread.channel;
  take_runs(thread.program, c, c.arguments[4]);
  const auto key = static_cast<std::uint32_t>(c.arguments[0]);
  try {
    system_.change_memory(key, thread.program.base + c.arguments[1], c.arguments[2], rights_of(c.arguments[3]), key);
    system_.change_domain(key, static_cast<std::uint16_t>(c.arguments[5]));
    regions_[key >> 8U].io_offset = nic::kForeignMemory - thread.program.base;
  } catch (const std::invalid_argument&) {
    c.replies[0] = ENOMEM;
  }
}

void Conductor::alloc_device(ProgramThread& thread) {
  Channel& c = *thread.channel;
  std::vector<DeviceMemory>& all = thread.program.device_memory;
  const std::uint64_t bytes = c.arguments[0];
  std::uint64_t used = 0;
  for (const DeviceMemory& m : all) used += m.used ? m.bytes : 0;
  c.replies[0] = -1;
  if (used + bytes > c.facts.device_memory) return;
  auto free = std::ranges::find_if(all, [&](const DeviceMemory& m) { return !m.used && m.bytes == bytes; });
  if (free == all.end()) free = all.insert(all.end(), {system_.allocate(thread.program.host, bytes), bytes, false});
  free->used = true;
  const std::vector<std::byte> zeroes(bytes);
  system_.write_memory(thread.program.host, free->base, zeroes);
  c.replies[0] = free - all.begin();
}

/// Loads or stores of the CPU over PCIe, a word each.
void Conductor::copy_device(ProgramThread& thread) {
  Channel& c = *thread.channel;
  const nic::Address at = thread.program.device_memory.at(c.arguments[0]).base + c.arguments[1];
  const auto bytes = std::as_writable_bytes(std::span(c.data, c.arguments[2]));
  const bool to_device = c.arguments[3] != 0;
  if (to_device) {
    system_.write_memory(thread.program.host, at, bytes);
  } else {
    system_.read_memory(thread.program.host, at, bytes);
  }
  const auto words = static_cast<std::int64_t>((bytes.size() + 7) / 8);
  compute((to_device ? profile(thread.program.host).cpu_store : profile(thread.program.host).cpu_load) * words);
}

void Conductor::register_device(ProgramThread& thread) {
  Channel& c = *thread.channel;
  // requests address it from 0 on
  const nic::Address base = thread.program.device_memory.at(c.arguments[0]).base + c.arguments[1];
  c.replies[0] = new_region(thread.program, base, c.arguments[2], rights_of(c.arguments[3]),
                            {.device = true,
                             .domain = static_cast<std::uint16_t>(c.arguments[4]),
                             .nic = static_cast<std::uint8_t>(c.arguments[4] >> kNicBit)},
                            nic::kForeignMemory - base);
}

/// The machine's address for an address that a request gives within a region.
nic::Address Conductor::machine_address(std::uint32_t key, std::uint64_t address) const {
  const std::size_t index = key >> 8U;
  return nic::kForeignMemory + address - (index < regions_.size() ? regions_[index].io_offset : 0);
}

// --- memory windows (IBTA volume 1, 10.6.7): regions that requests bind
// ---------------------------------------------------

/// Makes an unbound window and returns its key, or -1.
void Conductor::alloc_window(ProgramThread& thread) {
  Channel& c = *thread.channel;
  c.replies[0] =
      new_region(thread.program, nic::kForeignMemory, 0, 0, {.domain = static_cast<std::uint16_t>(c.arguments[0])}, 0);
}

/// Binds a window, at the moment of posting. record.remote_key is its key until then; the new key has another tag.
void Conductor::bind(const Program& program, const SendRecord& record, const Element& to) {
  const bool zero_based = record.swap != 0;
  const nic::Address base = to.length == 0 ? nic::kForeignMemory : machine_address(to.key, to.address);
  try {
    const auto access = static_cast<std::uint8_t>(rights_of(record.compare_add) | nic::kLocalWrite);
    system_.change_memory(record.remote_key, base, to.length, to.length == 0 ? std::uint8_t{0} : access, record.imm);
    // requests use the program's addresses, or count from 0
    regions_[record.remote_key >> 8U].io_offset = nic::kForeignMemory + (zero_based ? 0 : to.address) - base;
  } catch (const std::invalid_argument&) {  // remote accesses will be refused
    remember(result_.unsupported, fmt::format("host {}: a memory window that does not lie in a region", program.host));
  }
  remember(result_.approximations,
           fmt::format("host {}: memory windows are bound and invalidated when the request is posted", program.host));
}

/// Makes a window unreachable until it is bound again. Returns false if the host has no such window.
bool Conductor::invalidate(std::uint32_t host, std::uint32_t key) {
  if (key >> 8U >= regions_.size() || regions_[key >> 8U].host != host) return false;
  try {
    system_.change_memory(key, nic::kForeignMemory, 0, 0, key);
    return true;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

}  // namespace loco::exec
