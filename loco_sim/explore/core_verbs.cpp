#include "loco_sim/explore/core_verbs.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "model/litmus/implementations/assembler.hpp"

namespace loco::explore {

using namespace model::litmus;

namespace {

bool jumps(const Instruction& i) { return i.op == Op::jump || i.op == Op::branch_zero; }
/// True if it completes before its target's memory has what it writes.
bool completes_early(const Instruction& i) { return i.op == Op::put || i.op == Op::rga || i.op == Op::remote_cas; }

class Compiler : private Assembler {
 public:
  Compiler(const Program& program, const VerbsOptions& options)
      : Assembler(program), source_(program), options_(options) {
    out_.work_ids.clear();
    for (const int node : source_.nodes) out_.work_ids.push_back("$" + std::to_string(node));
    for (int t = 0; t < len(source_.threads); ++t) thread(t);
  }

  Program take() { return std::move(out_); }

 private:
  [[nodiscard]] int work_id(int node) const {
    return static_cast<int>(std::lower_bound(source_.nodes.begin(), source_.nodes.end(), node) - source_.nodes.begin());
  }

  void thread(int t) {
    thread_ = t;
    at(out_.threads, t).code.clear();
    const auto& code = at(source_.threads, t).code;
    // With jumps the text does not tell what precedes an instruction, so anything that may have happened counts as
    // having happened.
    known_ = std::none_of(code.begin(), code.end(), jumps);
    stored_ = false;
    pushed_.clear();
    if (!known_) {
      stored_ = std::any_of(code.begin(), code.end(), [](const auto& i) { return i.op == Op::write; });
      for (const Instruction& i : code)
        if (completes_early(i)) pushed_.insert(i.node);
    }
    std::vector<int> place;  // by instruction of the source
    for (const Instruction& i : code) {
      place.push_back(here());
      from_ = &i;
      statement(i);
    }
    place.push_back(here());
    for (Instruction& i : at(out_.threads, t).code)
      if (jumps(i)) i.jump = at(place, i.jump);
  }

  void statement(const Instruction& i) {
    switch (i.op) {
      case Op::read:
        fence();
        return copy(i);
      case Op::write:
        stored_ = true;
        return copy(i);
      case Op::put:
        if (options_.inline_puts) fence();
        return remote(i);
      case Op::get:
        return remote(i);
      case Op::rga:
      case Op::remote_cas:
        return atomic(i);
      case Op::flush:
        return flush(i.node);
      default:
        return copy(i);
    }
  }

  void copy(const Instruction& i) { at(out_.threads, thread_).code.push_back(i); }

  /// Before a load by the CPU: makes earlier stores leave the store buffer.
  void fence() {
    if (!stored_) return;
    emit(Op::mfence);
    if (known_) stored_ = false;
  }

  void remote(Instruction i) {
    i.work_id = work_id(i.node);
    if (completes_early(i)) pushed_.insert(i.node);
    copy(i);
  }

  void atomic(Instruction i) {
    if (options_.operands == nic::AtomicOperands::posted) {
      fence();
      i.expr = value_of(read(i.operand));
      if (i.op == Op::remote_cas) i.expr2 = value_of(read(i.operand2));
      i.operand = i.operand2 = kNone;
    }
    remote(std::move(i));
  }

  void flush(int node) {
    const bool posted =
        !known_ || std::any_of(at(out_.threads, thread_).code.begin(), at(out_.threads, thread_).code.end(),
                               [&](const Instruction& i) { return i.work_id == work_id(node); });
    if (!posted) return;
    wait(work_id(node));
    if (pushed_.count(node) == 0) return;
    if (known_) pushed_.erase(node);
    get(word_of(at(source_.threads, thread_).node), word_of(node), work_id(node));
    at(out_.threads, thread_).code.back().node = node;
    wait(work_id(node));
  }

  /// A word of the node that no statement writes; always 0.
  int word_of(int node) {
    const auto known = words_.find(node);
    if (known != words_.end()) return known->second;
    out_.locations.push_back({.name = "$flush@" + std::to_string(node), .node = node, .fresh = true});
    return words_[node] = len(out_.locations) - 1;
  }

  const Program& source_;
  const VerbsOptions options_;
  bool known_ = true;     // the text tells what precedes an instruction
  bool stored_ = false;   // there was a store since the last fence
  std::set<int> pushed_;  // nodes written to since the last READ that pushed
  std::map<int, int> words_;
};

}  // namespace

VerbsOptions verbs_options(const nic::HardwareProfile& profile) {
  return {.operands = profile.nic_atomic_operands, .inline_puts = profile.nic_inline_puts};
}

Program over_verbs(const Program& program, const VerbsOptions& options) { return Compiler(program, options).take(); }

}  // namespace loco::explore
