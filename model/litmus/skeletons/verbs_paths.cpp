// Posts and polls as events of a path (docs/verbs-model.md, "Events and stamps").
#include "model/litmus/skeletons/path_writer.hpp"

namespace loco::model::litmus {
namespace {

class VerbsStatement {
 public:
  VerbsStatement(const PathWriter& writer, PathState& s, const Instruction& i, PendingPaths& pending)
      : writer_(writer),
        s_(s),
        p_(s.path),
        post_(at(writer.program().verbs.posts, i.object)),
        pending_(pending),
        of_cpu_(post_.queue_pair == kNone) {}

  void write() {
    const int operand = post_.operand == kNone ? kNone : writer_.evaluate(p_, post_.operand);
    const int operand2 = post_.operand2 == kNone ? kNone : writer_.evaluate(p_, post_.operand2);
    writer_.begin_event(p_, s_.pc);
    switch (post_.kind) {
      case PostKind::poll:
        return poll();
      case PostKind::receive:
        add(VerbsStamp::aRP);
        return;
      case PostKind::fence:
        add(VerbsStamp::aRF);
        return;
      case PostKind::read:
        fence();
        remote_read(VerbsStamp::aNRR);
        return complete();
      case PostKind::cas:
      case PostKind::faa:
        fence();
        return atomic(operand, operand2);
      default:
        return message();
    }
  }

 private:
  [[nodiscard]] SubEvent make(VerbsStamp stamp) const {
    SubEvent s = writer_.make(p_, stamp <= VerbsStamp::aGF ? static_cast<Stamp>(stamp) : Stamp::aMF, Library::rdmawait);
    s.verbs = stamp;
    s.queue = static_cast<std::int16_t>(of_cpu_ ? kNone : post_.queue_pair);
    return s;
  }
  int add(VerbsStamp stamp) { return PathWriter::add(p_, make(stamp)); }

  void fence() {
    if (post_.fence) add(VerbsStamp::aRF);
  }
  void complete() {
    if (post_.signaled) add(VerbsStamp::aSC);
  }

  /// The registers get values that the order of completions decides: the symbols are filled in by then.
  void poll() {
    const int sub = add(VerbsStamp::aWT);
    const auto later = [&] {
      Symbol s;
      s.kind = Symbol::Kind::read;
      s.a = sub;
      return PathWriter::symbol(p_, s);
    };
    const int name = later(), immediate = later();
    at(p_.subevents, sub).value = static_cast<std::int16_t>(name);
    if (post_.target != kNone) at(p_.registers, post_.target) = name;
    if (post_.target2 != kNone) at(p_.registers, post_.target2) = immediate;
  }

  int remote_read(VerbsStamp stamp) {
    const int v = PathWriter::add_read(p_, make(stamp), writer_.cell(post_.words.front().remote));
    if (stamp == VerbsStamp::aNRR) result(v);
    return v;
  }
  void result(int value) {
    PathWriter::add_write(p_, make(VerbsStamp::aNLW), writer_.cell(post_.words.front().local), value);
  }

  void atomic(int operand, int operand2) {
    const int old = remote_read(VerbsStamp::aNAR);
    if (post_.kind == PostKind::faa) {
      finish_atomic(p_, old, PathWriter::operation(p_, ExprOp::add, old, operand));
      return;
    }
    const int equal = PathWriter::operation(p_, ExprOp::eq, old, operand);
    PathState fails = s_;
    fails.path.conditions.push_back({equal, false});
    {
      VerbsStatement other(*this, fails);
      other.finish_atomic(fails.path, old, kNone);
    }
    ++fails.pc;
    pending_.push_back(std::move(fails));
    p_.conditions.push_back({equal, true});
    finish_atomic(p_, old, operand2);
  }
  VerbsStatement(const VerbsStatement& same, PathState& s)
      : writer_(same.writer_), s_(s), p_(s.path), post_(same.post_), pending_(same.pending_), of_cpu_(same.of_cpu_) {}

  void finish_atomic(ThreadPath& p, int old, int written) {
    if (written != kNone)
      PathWriter::add_write(p, make(VerbsStamp::aNRW), writer_.cell(post_.words.front().remote), written);
    PathWriter::add_write(p, make(VerbsStamp::aNLW), writer_.cell(post_.words.front().local), old);
    complete();
  }

  /// WRITE and SEND. The copy that `inline` makes is the CPU's, before the request is in the queue. An unreliable
  /// message may vanish: no receive is taken, and memory gets any of its words, of a SEND none.
  void message() {
    std::vector<int> values;
    if (post_.is_inline) read_sources(VerbsStamp::aCR, values);
    fence();
    if (!post_.is_inline) read_sources(VerbsStamp::aNLR, values);
    if (at(writer_.program().verbs.queue_pairs, post_.queue_pair).type != Transport::rc) {
      const unsigned subsets = post_.is_send() ? 1U : 1U << values.size();
      const unsigned arrives = post_.kind == PostKind::write ? subsets - 1 : subsets;  // with all words, it has arrived
      for (unsigned words = 0; words < arrives; ++words) vanish(values, words);
    }
    arrive(values);
  }

  void arrive(const std::vector<int>& values) {
    for (std::size_t k = 0; k < values.size(); ++k) place(k, values[k]);
    if (post_.kind != PostKind::write) {
      add(VerbsStamp::aRX);
      add(VerbsStamp::aRC);
    }
    complete();
  }
  void vanish(const std::vector<int>& values, unsigned words) {
    PathState other = s_;
    VerbsStatement lost(*this, other);
    for (std::size_t k = 0; k < values.size(); ++k)
      if ((words >> k & 1U) != 0) lost.place(k, values[k]);
    lost.complete();
    ++other.pc;
    pending_.push_back(std::move(other));
  }
  /// A SEND's payload goes where the receive says that it gets: a cell that is not known yet.
  void place(std::size_t word, int value) {
    PathWriter::add_write(p_, make(VerbsStamp::aNRW), post_.is_send() ? kNone : writer_.cell(post_.words[word].remote),
                          value);
  }
  void read_sources(VerbsStamp stamp, std::vector<int>& values) {
    for (const Post::Word& w : post_.words)
      values.push_back(PathWriter::add_read(p_, make(stamp), writer_.cell(w.local)));
  }

  const PathWriter& writer_;
  PathState& s_;
  ThreadPath& p_;
  const Post& post_;
  PendingPaths& pending_;
  const bool of_cpu_;
};

}  // namespace

void write_verbs_statement(const PathWriter& writer, PathState& s, const Instruction& i, PendingPaths& pending) {
  VerbsStatement(writer, s, i, pending).write();
}

}  // namespace loco::model::litmus
