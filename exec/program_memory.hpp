// The registered memory of programs as NICs reach it: page runs that both sides map, and everything else through the
// kernel.
//
// Each process of a host has its own address space: the machine's addresses are those of the process plus a base,
// nic::kForeignMemory for the first one. Scatter/gather lists (nic::kScatteredMemory) belong to the host. Runs are kept
// until the process maps other memory there.
#pragma once

#include <map>
#include <span>
#include <sys/types.h>
#include <vector>

#include "exec/protocol.hpp"
#include "nic_model/foreign_memory.hpp"

namespace loco::exec {

/// The memory of one process, by its own addresses.
class ProgramMemory {
 public:
  ProgramMemory() = default;
  ProgramMemory(const ProgramMemory&) = delete;
  ProgramMemory& operator=(const ProgramMemory&) = delete;
  ~ProgramMemory();

  void set_process(pid_t process) { process_ = process; }
  /// Adds a run that the program reports, and replaces what was there.
  void add(const PageRun& run);
  /// The process has another image now, or has ended.
  void forget();
  /// The program's memory is gone: NICs read zeroes, and their writes are lost.
  void leave() { gone_ = true; }

  [[nodiscard]] bool contains(std::uint64_t address, std::uint64_t size) const;
  [[nodiscard]] bool copy_from(std::uint64_t address, std::span<std::byte> out) const;
  bool copy_to(std::uint64_t address, std::span<const std::byte> in);
  /// The bytes from an address on, as far as they are mapped here in one piece; empty if they are not.
  [[nodiscard]] std::span<std::byte> mapped(std::uint64_t address) const;

 private:
  struct Run {
    std::uint64_t bytes = 0;
    std::byte* mapped = nullptr;  ///< null: accessed through the kernel
  };
  using Runs = std::map<std::uint64_t, Run>;

  [[nodiscard]] Runs::const_iterator find(std::uint64_t address) const;
  void cut(std::uint64_t from, std::uint64_t to);

  pid_t process_ = 0;
  bool gone_ = false;
  Runs runs_;
  mutable Runs::const_iterator last_ = runs_.end();
};

/// The memory of all processes of a host, by the machine's addresses.
class HostProcesses final : public nic::ForeignMemory {
 public:
  /// Adds an address space, which must outlive this. Returns its base.
  nic::Address add(ProgramMemory& space);

  /// Adds a scatter/gather list and returns the address that stands for it. No piece may be empty.
  [[nodiscard]] nic::Address add_list(nic::NodeId host, std::vector<nic::Piece> pieces);
  void drop_list(nic::Address list) { lists_.erase(list); }

  [[nodiscard]] nic::Piece piece(nic::Address address) const override;
  [[nodiscard]] bool contains(nic::Address address, std::uint64_t size) const override;
  void read(nic::Address address, std::span<std::byte> out) const override;
  void write(nic::Address address, std::span<const std::byte> in) override;
  /// Takes over bytes of another host, neither to nor from a list.
  void take(nic::Address to, const HostProcesses& other, nic::Address from, std::uint64_t bytes);

 private:
  [[nodiscard]] std::span<std::byte> mapped(nic::Address address) const;
  /// Null if there is none.
  [[nodiscard]] ProgramMemory* space_of(nic::Address address) const;

  std::vector<ProgramMemory*> spaces_;
  std::map<nic::Address, std::vector<nic::Piece>> lists_;
  std::uint64_t next_list_ = 0;
};

}  // namespace loco::exec
