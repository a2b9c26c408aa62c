// msw, mixed-size writes (LOCO paper, Appendix H.6 and D): a successful read returns a tuple that some write wrote.
//
// A tuple is its words, by address, and the checksum that the call recorded: a read has to have both from one
// write (puts and gets carry tuples from variable to variable), or find words that are all 0, as before any write. The
// relations are those of the words that a tuple is made of, between the finishes of its calls; reads that failed are
// ignored, as the specification says.
#include <algorithm>
#include <utility>
#include <vector>

#include "model/flat_map.hpp"
#include "model/library_checker.hpp"
#include "model/shared_memory.hpp"
#include "model/stamps.hpp"
#include "model/words.hpp"
#include "model/work_ids.hpp"

namespace loco::model {
namespace {

class MswChecker final : public LibraryChecker {
 public:
  explicit MswChecker(const CheckContext& context) : context_(context), memory_(context_) {}

  void begin_thread(std::uint32_t /*thread*/) override {
    memory_.begin_thread();
    work_.begin_thread();
  }

  void subevents(Event& event) override {
    if (event.call->method == Method::msw_tryread && event.call->returned && event.call->result == 0) return;
    const Seq waited = context_.take_visible(event, event.call->end);
    if (event.call->method == Method::msw_wait && event.call->returned)
      context_.synthesise(event, Stamp::aWT, 0, waited);
  }

  void visit(Event& event) override {
    Order& order = context_.order;
    for (const Node& node : event.nodes) {
      if (node.subevent == 0) continue;
      (void)memory_.access(node);
      if (node.stamp == Stamp::aNLW && event.call->work_id != 0 && !node.given_up) {
        WorkIds::Outstanding& out = work_.of(event.call->work_id);
        out.finished = order.join(out.finished, node.finish);
      }
    }
    if (event.call->method == Method::msw_wait)
      for (const Node& node : event.nodes) order.edge(work_.take(event.call->work_id).finished, node.finish, Rule::pfg);
    if (event.call->method == Method::msw_write) written_[tuple(event, event.call->argument)] = true;
    if (event.call->method == Method::msw_tryread && event.call->returned && event.call->result != 0) note_read(event);
  }

  void finish() override {
    memory_.finish();
    for (const Read& read : reads_)
      if (written_.find(read.tuple) == nullptr)
        context_.reports.add(Rule::torn_read, [&] {
          const Trace& trace = context_.index.trace();
          return thread_text(trace, trace.calls[read.call - 1].thread) + ": " + call_text(trace, read.call) +
                 " returned a tuple that nobody wrote";
        });
  }

 private:
  struct Tuple {
    std::uint64_t checksum = 0;
    std::uint64_t words = 0;  // of their values, one after the other
    friend bool operator==(const Tuple&, const Tuple&) = default;
    [[nodiscard]] std::uint64_t hash() const { return mix(checksum ^ mix(words)); }
  };

  struct Read {
    CallId call = 0;
    Tuple tuple;
  };

  /// The words that the call wrote, or read, by address: guards are read in the other direction.
  Tuple tuple(const Event& event, std::uint64_t checksum) {
    const bool writes = event.call->method == Method::msw_write;
    words_.clear();
    for (const Node& node : event.nodes) {
      if (node.subevent == 0 || !(writes ? is_write(node.stamp) : is_read(node.stamp))) continue;
      const Subevent& s = context_.index.subevent(node.subevent);
      words_.emplace_back(s.address, s.value);
    }
    std::ranges::sort(words_);
    Tuple found{checksum, 0};
    for (const auto& [address, value] : words_) found.words = mix(found.words ^ value);
    return found;
  }

  /// The writes may be those of threads yet to come.
  void note_read(const Event& event) {
    const Tuple read = tuple(event, event.call->result);
    const auto is_zero = [](const auto& word) { return word.second == 0; };
    const bool initial = !words_.empty() && std::ranges::all_of(words_, is_zero);
    if (!initial && written_.find(read) == nullptr) reads_.push_back({event.id, read});
  }

  CheckContext context_;
  SharedMemory memory_;
  WorkIds work_;
  FlatMap<Tuple, bool> written_;
  std::vector<Read> reads_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> words_;  // address and value, of the call in question
};

}  // namespace

std::unique_ptr<LibraryChecker> make_msw_checker(const CheckContext& context) {
  return std::make_unique<MswChecker>(context);
}

}  // namespace loco::model
