// A program's registered memory, as NICs reach it: page runs that both map, and the rest through the kernel.
//
// Addresses are the program's plus nic::kForeignMemory, or those of scatter/gather lists (nic::kScatteredMemory). Runs
// are kept until the program's mapping is another one.
#pragma once

#include <map>
#include <span>
#include <sys/types.h>
#include <vector>

#include "exec/protocol.hpp"
#include "nic_model/foreign_memory.hpp"

namespace loco::exec {

class ProgramMemory final : public nic::ForeignMemory {
 public:
  ProgramMemory() = default;
  ProgramMemory(const ProgramMemory&) = delete;
  ProgramMemory& operator=(const ProgramMemory&) = delete;
  ~ProgramMemory() override;

  void set_process(pid_t process) { process_ = process; }
  /// A run as the program tells it, in place of what was there.
  void add(const PageRun& run);
  /// The process has another image now, or none.
  void forget();
  /// The program's memory has gone with it: NICs read zeroes, and what they write is lost.
  void leave() { gone_ = true; }

  /// A scatter/gather list: the address that stands for it from now on. `pieces`: none is empty.
  [[nodiscard]] nic::Address add_list(nic::NodeId host, std::vector<nic::Piece> pieces);
  void drop_list(nic::Address list) { lists_.erase(list); }

  [[nodiscard]] nic::Piece piece(nic::Address address) const override;
  [[nodiscard]] bool contains(nic::Address address, std::uint64_t size) const override;
  void read(nic::Address address, std::span<std::byte> out) const override;
  void write(nic::Address address, std::span<const std::byte> in) override;

  // by the program's own addresses
  [[nodiscard]] bool copy_from(std::uint64_t address, std::span<std::byte> out) const;
  bool copy_to(std::uint64_t address, std::span<const std::byte> in);

 private:
  struct Run {
    std::uint64_t bytes = 0;
    std::byte* mapped = nullptr;  ///< null: through the kernel
  };
  using Runs = std::map<std::uint64_t, Run>;

  [[nodiscard]] Runs::const_iterator find(std::uint64_t address) const;
  void cut(std::uint64_t from, std::uint64_t to);

  pid_t process_ = 0;
  bool gone_ = false;
  std::map<nic::Address, std::vector<nic::Piece>> lists_;
  std::uint64_t next_list_ = 0;
  Runs runs_;
  mutable Runs::const_iterator last_ = runs_.end();
};

}  // namespace loco::exec
