// Finds which accesses of a litmus program race with no other, so that the explorer may run them at once.
//
// An access commutes with every access that another part of the machine can still make if none of these conflicts with
// it (same location, one of them a write). The program's text shows this in the following cases:
//   - The location always holds one value: nothing writes it, or only copies of others that hold this value (what a
//     global fence reads). Its reads and writes commute.
//   - Only the thread itself writes it, with stores. The thread's own loads see its newest store wherever that is.
//   - One store writes it, and it is read only by the same thread's loads and by payload reads of puts that the thread
//     posts after the store. Their doorbells queue behind it in the store buffer, so no order is left open.
//   - There is one write, and all reads are conditions of waiting loops. A turn that fails changes nothing, so nothing
//     is lost if the write comes first.
//   - Nothing reads it, and its final value is not asked for or it is written once.
#pragma once

#include <vector>

#include "model/litmus/language/program.hpp"

namespace loco::explore {

class Sharing {
 public:
  explicit Sharing(const model::litmus::Program& program);

  /// True if loads by instruction `pc` of the thread commute.
  [[nodiscard]] bool cpu_read_commutes(int thread, int pc) const;
  /// True if the backward jump at `pc` of the thread ends a waiting loop whose loads commute.
  [[nodiscard]] bool loop_commutes(int thread, int pc) const;
  /// True if reads of the location by NICs commute; false for kNone.
  [[nodiscard]] bool nic_reads_commute(int location) const;
  /// True if writes to the location commute when they become visible, whoever makes them; false for kNone.
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
    operand,       // of a remote atomic; the NIC reads it
    remote_atomic  // target of one
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
  /// True if there is one store, which only loads and later puts of the same thread read.
  [[nodiscard]] static bool handed_on_in_order(const Location& l);
  [[nodiscard]] static bool only_waited_for(const Location& l);

  std::vector<Location> locations_;
  std::vector<std::vector<char>> commuting_reads_;  // by thread, by pc
  std::vector<std::vector<int>> waits_on_;          // by thread, by pc of the jump: pc of the waiting load, or kNone
};

}  // namespace loco::explore
