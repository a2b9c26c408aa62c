// Which accesses of a litmus program nobody can race with: what the explorer may run at once.
//
// An access commutes with every access that another part of the machine can still make if no such access conflicts
// with it (same location, one of them a write). The program's text tells, once and for all:
//   - the location always holds one value: nothing writes it, or only copies of others that hold this value (what a
//     global fence reads): its reads and writes commute;
//   - only the thread itself writes it, by stores: the thread's own loads see its newest store wherever that is;
//   - one store writes it, and it is read only by the same thread's loads and by the payload reads of puts that the
//     thread posts after the store: their doorbells queue behind it in the store buffer, so no order is left open;
//   - one write, and all reads are the conditions of waiting loops: a turn that fails changes nothing, so nothing is
//     lost if the write comes first;
//   - nothing reads it, and its final value is not asked for or it is written once.
#pragma once

#include <vector>

#include "model/litmus/program.hpp"

namespace loco::explore {

class Sharing {
 public:
  explicit Sharing(const model::litmus::Program& program);

  /// Loads by instruction `pc` of the thread.
  [[nodiscard]] bool cpu_read_commutes(int thread, int pc) const;
  /// The backward jump at `pc` of the thread ends a waiting loop whose loads commute.
  [[nodiscard]] bool loop_commutes(int thread, int pc) const;
  /// Reads of the location by NICs; false for kNone.
  [[nodiscard]] bool nic_reads_commute(int location) const;
  /// Writes becoming visible at the location, whoever makes them; false for kNone.
  [[nodiscard]] bool writes_commute(int location) const;

 private:
  enum class Kind : std::uint8_t {
    load,
    waiting_load,
    store,
    compare_swap,
    put_source,
    get_source,
    put_target,
    get_target,
    operand,       // of a remote atomic, read by the NIC
    remote_atomic  // its target
  };
  struct Access {
    int thread = 0;
    int pc = 0;
    Kind kind = Kind::load;
    bool repeated = false;  // in a loop
  };
  struct Location {
    std::vector<Access> reads;
    std::vector<Access> writes;
    bool observed = false;
    bool nic_reads_commute = false;
    bool writes_commute = false;
  };

  void collect(const model::litmus::Program& program, int thread, int pc);
  void add(int location, const Access& access);
  void add(const model::litmus::Post& post, Access access);
  /// One store, read by the same thread's loads and later puts only.
  [[nodiscard]] static bool handed_on_in_order(const Location& l);
  [[nodiscard]] static bool only_waited_for(const Location& l);

  std::vector<Location> locations_;
  std::vector<std::vector<char>> commuting_reads_;  // by thread, by pc
  std::vector<std::vector<int>> waits_on_;          // by thread, by pc of the jump: pc of the waiting load, or kNone
};

}  // namespace loco::explore
