#include "model/litmus/search/verbs_skeletons.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include "model/litmus/search/order_graph.hpp"

namespace loco::model::litmus {

const Post* post_of(const Skeleton& x, int i) {
  const Instruction& instruction = x.instruction(x.sub(i).event);
  return instruction.op == Op::verbs ? &at(x.program->verbs.posts, instruction.object) : nullptr;
}

VerbsStamp verbs_stamp(const Skeleton& x, int i) {
  return post_of(x, i) != nullptr ? x.sub(i).verbs : static_cast<VerbsStamp>(x.sub(i).stamp);
}

namespace {

using Graph = OrderGraph<4>;

bool is_started(VerbsStamp s) {
  return s == VerbsStamp::aCW || s == VerbsStamp::aNLW || s == VerbsStamp::aNRW || s == VerbsStamp::aRP ||
         s == VerbsStamp::aRC || s == VerbsStamp::aSC;
}

/// The fixed relations of a skeleton: cells of the table, and iso. Words whose place is not known yet (`cell` kNone)
/// are taken for relaxed ones of another memory, which are ordered least.
class Fixed {
 public:
  Fixed(const Skeleton& x, const VerbsOrder& order) : so(x.n), ib(x.n), iso(x.n), x_(x), order_(order) {
    for (int i = 0; i < x.n; ++i) stamps_[static_cast<std::size_t>(i)] = verbs_stamp(x, i);
    for (int i = 0; i < x.n; ++i) {
      x.po.row(i).for_each([&](int j) { order_pair(i, j); });
      for (int j = i + 1; j < x.n && x.sub(j).event == x.sub(i).event; ++j) inside(i, j);
    }
  }
  [[nodiscard]] VerbsStamp stamp(int i) const { return stamps_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] const Post* post(int i) const { return post_of(x_, i); }
  [[nodiscard]] bool of_atomic(int i) const {
    const Post* p = post(i);
    return p != nullptr && p->is_atomic();
  }
  /// The transport of its request.
  [[nodiscard]] Transport type(int i) const {
    const Post* p = post(i);
    return p == nullptr || p->queue_pair == kNone ? Transport::rc
                                                  : at(x_.program->verbs.queue_pairs, p->queue_pair).type;
  }
  [[nodiscard]] bool of_send(int i) const {
    const Post* p = post(i);
    return p != nullptr && p->is_send();
  }
  /// Are the words of one memory?
  [[nodiscard]] bool one_memory(int i, int j) const {
    const int a = x_.sub(i).cell, b = x_.sub(j).cell;
    return a != kNone && b != kNone && location(a).device == location(b).device;
  }

  Relation so;   ///< between finishes
  Relation ib;   ///< between starts, so's pairs included
  Relation iso;  ///< of both

 private:
  [[nodiscard]] const Location& location(int cell) const { return at(x_.program->locations, x_.cells->location(cell)); }
  [[nodiscard]] bool relaxed(int i) const {
    const int cell = x_.sub(i).cell;
    return cell == kNone || location(cell).relaxed;
  }
  /// The word that the READ or atomic of this event reads.
  [[nodiscard]] int read_of(int i) const {
    const EventInfo& e = x_.event_of(i);
    for (int k = e.first; k < e.first + e.count; ++k)
      if (stamp(k) == VerbsStamp::aNRR || stamp(k) == VerbsStamp::aNAR) return k;
    return i;
  }

  void order_pair(int i, int j) {
    const VerbsStamp s = stamp(i), t = stamp(j);
    char c = order_.cell(s, t);
    const bool of_queue = c == 'n' || c == 'i';
    if (of_queue && (x_.sub(i).queue == kNone || x_.sub(i).queue != x_.sub(j).queue)) return;
    if (of_queue && unordered(j, s, t)) return;
    if (c == 'n' && weakened(i, j, s, t)) c = 'i';
    if (c == '.') return;
    if (c == 'Y' || c == 'n') so.add(i, j);
    ib.add(i, j);
  }
  /// Unreliable transports: nothing answers, so a send CQE only says that sources were read; datagrams come each for
  /// itself.
  [[nodiscard]] bool unordered(int j, VerbsStamp s, VerbsStamp t) const {
    using enum VerbsStamp;
    if (type(j) == Transport::rc) return false;
    const auto remote = [](VerbsStamp k) { return k == aNRW || k == aRX || k == aRC; };
    if (t == aSC) return remote(s);
    return type(j) == Transport::ud && (remote(s) || t == aRX || t == aRC);
  }
  /// Regions: relaxed ordering, and memories that are ordering domains of their own.
  [[nodiscard]] bool weakened(int i, int j, VerbsStamp s, VerbsStamp t) const {
    if (s == VerbsStamp::aNLW && t == VerbsStamp::aNLW) return relaxed(j) || !one_memory(i, j);
    if (s != VerbsStamp::aNRW) return false;
    if (t == VerbsStamp::aNRW) return (relaxed(j) && !of_atomic(i) && !of_atomic(j)) || !one_memory(i, j);
    if (t == VerbsStamp::aNRR || t == VerbsStamp::aNAR) return !one_memory(i, j);
    return t == VerbsStamp::aNLW && !one_memory(i, read_of(j));
  }

  /// iso of an event's subevents, i written down before j.
  void inside(int i, int j) {
    const VerbsStamp s = stamp(i), t = stamp(j);
    using enum VerbsStamp;
    const auto both = [&] {
      iso.add(i, j);
      so.add(i, j);
      ib.add(i, j);
    };
    const Post* const p = post(i);
    if (p == nullptr) {  // a failing CAS fences before it reads
      if (s == aMF && t == aCR) both();
      return;
    }
    if (s == aRF) return both();
    const bool source = s == aNLR || s == aCR, send = of_send(i);
    if (source && t == aNRW && x_.sub(j).value == read_value_of(i)) return both();
    if (source && t == aRX && send) return both();
    if (type(i) != Transport::rc && t == aSC) {
      if (source) both();
      return;
    }
    if (s == aNRW && t == aRX) {
      if (send)
        iso.add(j, i), so.add(j, i), ib.add(j, i);
      else
        ib.add(i, j);
    } else if (s == aNRW && t == aSC) {
      ib.add(i, j);
    } else if ((s == aNRW && t == aRC) || (s == aRX && (t == aRC || t == aSC)) || (s == aNRR && t == aNLW) ||
               (s == aNAR && (t == aNRW || t == aNLW)) || (s == aNLW && t == aSC)) {
      both();
    }
  }
  /// The symbol of the value that a subevent reads: that of the write of the same word.
  [[nodiscard]] int read_value_of(int i) const {
    const auto& symbols = at(x_.paths, x_.sub(i).thread)->symbols;
    const int own = i - at(x_.offset, x_.sub(i).thread);
    for (int k = 0; k < len(symbols); ++k)
      if (at(symbols, k).kind == Symbol::Kind::read && at(symbols, k).a == own) return k;
    return kNone;
  }

  const Skeleton& x_;
  const VerbsOrder& order_;
  std::array<VerbsStamp, kSubeventsMax> stamps_{};
};

/// One of the orders, to be built: the k-th of them goes with the k-th of `partner`.
struct Line {
  enum class Kind { receives, messages, polls, completions, atomics } kind;
  std::vector<std::vector<int>> streams;  ///< each in its own order already
  int places = 0;                         ///< that matter
  int partner = kNone;                    ///< the line of receives, or of polls
  std::vector<int> chosen{};
};

class Orders {
 public:
  Orders(const Program& program, const Cells& cells, const std::vector<const ThreadPath*>& chosen,
         const ModelOptions& options, const VerbsVisit& visit)
      : program_(program), cells_(cells), options_(options), visit_(visit) {
    for (const ThreadPath* p : chosen) paths_.push_back(*p);
  }

  bool run() {
    if (!build()) return true;
    fixed_ = std::make_unique<Fixed>(*x_, options_.verbs_order);
    if (!collect_lines()) return true;
    Graph g(nodes_);
    for (int i = 0; i < x_->n; ++i) {
      if (start(i) != i) g.set(start(i), i);
      fixed_->so.row(i).for_each([&](int j) { g.set(i, j); });
      fixed_->ib.row(i).for_each([&](int j) { g.set(start(i), start(j)); });
    }
    return !g.close() || choose(0, g);
  }

 private:
  bool build() {
    x_ = std::make_unique<Skeleton>();
    std::vector<const ThreadPath*> pointers;
    for (const ThreadPath& p : paths_) pointers.push_back(&p);
    if (!x_->build(program_, cells_, pointers, options_.order)) return false;
    nodes_ = x_->n;
    for (int i = 0; i < x_->n; ++i)
      start_[static_cast<std::size_t>(i)] = is_started(verbs_stamp(*x_, i)) ? nodes_++ : i;
    return true;
  }
  [[nodiscard]] int start(int i) const { return start_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] const Verbs& verbs() const { return program_.verbs; }

  /// The subevents with a stamp for which `queue` gives this number, by thread or by queue pair.
  template <class Queue, class Stream>
  std::vector<std::vector<int>> streams(VerbsStamp stamp, int number, Queue queue, Stream stream) const {
    std::vector<std::vector<int>> all;
    std::vector<int> keys;
    const char own = options_.verbs_order.cell(stamp, stamp);
    const bool kept = own == 'Y' || own == 'n';  // else nothing orders those of one stream
    for (int i = 0; i < x_->n; ++i) {
      if (fixed_->stamp(i) != stamp || fixed_->post(i) == nullptr || queue(i) != number) continue;
      const auto k = kept ? std::find(keys.begin(), keys.end(), stream(i)) : keys.end();
      if (k == keys.end()) {
        keys.push_back(stream(i));
        all.push_back({i});
      } else {
        all[static_cast<std::size_t>(k - keys.begin())].push_back(i);
      }
    }
    return all;
  }
  static int count(const std::vector<std::vector<int>>& streams) {
    int n = 0;
    for (const auto& s : streams) n += len(s);
    return n;
  }

  /// False if no execution gives every message a receive and every poll a completion.
  bool collect_lines() {
    const auto queue_pair = [&](int i) -> const QueuePair& {
      return at(verbs().queue_pairs, fixed_->post(i)->queue_pair);
    };
    const auto by_thread = [&](int i) { return static_cast<int>(x_->sub(i).thread); };
    const auto by_queue_pair = [&](int i) { return fixed_->post(i)->queue_pair; };
    const auto by_message = [&](int i) { return fixed_->type(i) == Transport::ud ? -1 - i : by_queue_pair(i); };
    for (int r = 0; r < len(verbs().receive_queues); ++r) {
      Line posted{Line::Kind::receives,
                  streams(
                      VerbsStamp::aRP, r, [&](int i) { return fixed_->post(i)->receive_queue; }, by_thread)};
      Line taken{Line::Kind::messages,
                 streams(
                     VerbsStamp::aRX, r,
                     [&](int i) { return at(verbs().queue_pairs, queue_pair(i).peer).receive_queue; }, by_message)};
      posted.places = taken.places = count(taken.streams);
      if (count(posted.streams) < posted.places) return false;
      taken.partner = len(lines_);
      lines_.push_back(std::move(posted));
      lines_.push_back(std::move(taken));
    }
    for (int c = 0; c < len(verbs().completion_queues); ++c) {
      Line polls{Line::Kind::polls,
                 streams(
                     VerbsStamp::aWT, c, [&](int i) { return fixed_->post(i)->completion_queue; }, by_thread)};
      Line done{Line::Kind::completions,
                streams(
                    VerbsStamp::aSC, c, [&](int i) { return queue_pair(i).send_cq; }, by_queue_pair)};
      for (auto& more : streams(
               VerbsStamp::aRC, c, [&](int i) { return at(verbs().queue_pairs, queue_pair(i).peer).receive_cq; },
               by_message))
        done.streams.push_back(std::move(more));
      polls.places = done.places = count(polls.streams);
      if (count(done.streams) < done.places) return false;
      done.partner = len(lines_);
      lines_.push_back(std::move(polls));
      lines_.push_back(std::move(done));
    }
    for (const int node : program_.nodes) {
      Line atomics{Line::Kind::atomics,
                   streams(
                       VerbsStamp::aNAR, node, [&](int i) { return queue_pair(i).peer_node; }, by_queue_pair)};
      atomics.places = count(atomics.streams);
      lines_.push_back(std::move(atomics));
    }
    return true;
  }

  /// Chooses the next element of the line, then the lines behind it.
  bool choose(std::size_t l, const Graph& g) {
    if (l == lines_.size()) return finish();
    Line& line = lines_[l];
    if (len(line.chosen) == line.places) {
      Graph next = g;
      return !close_line(line, next) || choose(l + 1, next);
    }
    for (std::size_t s = 0; s < line.streams.size(); ++s) {
      if (line.streams[s].empty()) continue;
      const int i = line.streams[s].front();
      Graph next = g;
      if (!add(line, i, next)) continue;
      line.streams[s].erase(line.streams[s].begin());
      line.chosen.push_back(i);
      const bool on = choose(l, next);
      line.chosen.pop_back();
      line.streams[s].insert(line.streams[s].begin(), i);
      if (!on) return false;
    }
    return true;
  }

  static bool in_ib(Line::Kind kind) { return kind == Line::Kind::messages || kind == Line::Kind::polls; }
  bool join(const Line& line, int before, int i, Graph& g) const {
    if (line.kind != Line::Kind::atomics) return in_ib(line.kind) ? g.add(start(before), start(i)) : g.add(before, i);
    const int w = write_of(before);
    return g.add(before, i) && (w == kNone || g.add(w, i));
  }
  bool add(const Line& line, int i, Graph& g) const {
    if (!line.chosen.empty() && !join(line, line.chosen.back(), i, g)) return false;
    if (line.kind == Line::Kind::messages) return g.add(partner(line), i);
    return line.kind != Line::Kind::completions || g.add(i, partner(line));
  }
  /// The receive or the poll that goes with the next element.
  [[nodiscard]] int partner(const Line& line) const { return at(at(lines_, line.partner).chosen, len(line.chosen)); }
  /// Closes a line: elements that have no place in it come after the last chosen one. It only ends a hopeless choice
  /// early; `relate` gives these edges to the model.
  bool close_line(const Line& line, Graph& g) const {
    if (line.chosen.empty()) return true;
    for (const auto& stream : line.streams)
      for (const int i : stream)
        if (!join(line, line.chosen.back(), i, g)) return false;
    return true;
  }
  /// The write of an atomic, by its read.
  [[nodiscard]] int write_of(int read) const {
    const EventInfo& e = x_->event_of(read);
    for (int k = e.first; k < e.first + e.count; ++k)
      if (fixed_->stamp(k) == VerbsStamp::aNRW) return k;
    return kNone;
  }

  /// All orders are chosen: completes the skeleton with the targets of SENDs and the results of polls.
  bool finish() {
    Orders decided(*this, 0);
    return decided.tell();
  }
  Orders(const Orders& o, int)
      : program_(o.program_),
        cells_(o.cells_),
        options_(o.options_),
        visit_(o.visit_),
        paths_(o.paths_),
        lines_(o.lines_) {}

  bool tell() {
    if (!build()) return true;
    fixed_ = std::make_unique<Fixed>(*x_, options_.verbs_order);
    VerbsFacts facts;
    match(facts);
    // The words that SENDs write are known now, and with them the accesses that they are ordered with.
    if (!build()) return true;
    fixed_ = std::make_unique<Fixed>(*x_, options_.verbs_order);
    Axioms a(x_->n);
    facts.so = fixed_->so;
    facts.ib = fixed_->ib;
    Relation more_so(x_->n), more_ib(x_->n);
    for (const Line& line : lines_) relate(line, facts, more_so, more_ib);
    fill(a, facts, more_so, more_ib);
    x_->facts = &facts;
    return visit_(*x_, a, facts);
  }

  /// Cells of payloads, values of polls.
  void match(VerbsFacts& facts) {
    const auto n = static_cast<std::size_t>(x_->n);
    facts.poll_of.assign(n, kNone);
    facts.payload_of.assign(n, kNone);
    facts.receive_cqe.assign(n, kNone);
    for (const Line& line : lines_) {
      if (line.kind != Line::Kind::messages) continue;
      for (int k = 0; k < len(line.chosen); ++k) {
        const int message = at(line.chosen, k), receive = at(at(lines_, line.partner).chosen, k);
        const EventInfo& e = x_->event_of(message);
        for (int s = e.first; s < e.first + e.count; ++s) {
          if (fixed_->stamp(s) == VerbsStamp::aRC) at(facts.receive_cqe, receive) = s;
          if (fixed_->stamp(s) != VerbsStamp::aNRW || !fixed_->of_send(s)) continue;
          at(facts.payload_of, receive) = s;
          own(s).cell =
              cells_.cell(fixed_->post(receive)->buffer, at(x_->program->threads, x_->sub(receive).thread).node);
        }
      }
    }
    for (const Line& line : lines_) {
      if (line.kind != Line::Kind::completions) continue;
      for (int k = 0; k < len(line.chosen); ++k)
        give(at(line.chosen, k), at(at(lines_, line.partner).chosen, k), facts);
    }
  }
  SubEvent& own(int i) {
    const int t = x_->sub(i).thread;
    return at(at(paths_, t).subevents, i - at(x_->offset, t));
  }
  void give(int cqe, int poll, VerbsFacts& facts) {
    at(facts.poll_of, cqe) = poll;
    int name = fixed_->post(cqe)->name;
    Value immediate = 0;
    if (fixed_->stamp(cqe) == VerbsStamp::aRC) {
      const auto receive = std::find(facts.receive_cqe.begin(), facts.receive_cqe.end(), cqe);
      name = fixed_->post(static_cast<int>(receive - facts.receive_cqe.begin()))->name;
      immediate = fixed_->post(cqe)->immediate;
    }
    const int symbol = own(poll).value;
    auto& symbols = at(paths_, x_->sub(poll).thread).symbols;
    const auto set = [&](int s, Value v) {
      at(symbols, s) = Symbol{};
      at(symbols, s).constant = v;
    };
    set(symbol, name == kNone ? kNoName : kFirstName + name);
    set(symbol + 1, immediate);
  }

  /// The edges of one order. mt, pf and plo are facts; the others are accidents.
  void relate(const Line& line, VerbsFacts& facts, Relation& so, Relation& ib) const {
    const auto next = [&](int before, int i) {
      if (line.kind == Line::Kind::polls) {
        facts.ib.add(before, i);
      } else if (line.kind == Line::Kind::messages) {
        ib.add(before, i);
      } else {
        so.add(before, i);
        if (line.kind == Line::Kind::atomics)
          if (const int w = write_of(before); w != kNone) so.add(w, i);
      }
    };
    for (int k = 0; k < len(line.chosen); ++k) {
      for (int later = k + 1; later < len(line.chosen); ++later) next(at(line.chosen, k), at(line.chosen, later));
      if (line.kind != Line::Kind::messages && line.kind != Line::Kind::completions) continue;
      const int i = at(line.chosen, k), other = at(at(lines_, line.partner).chosen, k);
      const auto [first, second] = line.kind == Line::Kind::messages ? std::pair(other, i) : std::pair(i, other);
      facts.so.add(first, second);
      facts.ib.add(first, second);
    }
    if (line.chosen.empty()) return;
    for (const auto& stream : line.streams)
      for (const int i : stream) next(line.chosen.back(), i);
  }

  void fill(Axioms& a, const VerbsFacts& facts, const Relation& more_so, const Relation& more_ib) {
    const Skeleton& x = *x_;
    a.so = facts.so | more_so;
    a.ib = facts.ib | more_ib;
    x_->ppo = fixed_->so;
    const Relation rf = x.same_cell.from(x.writes).to(x.reads), rb = x.same_cell.from(x.reads).to(x.writes);
    a.rf = a.rf_ib = a.rf_so = rf;
    a.rb_so = rb;
    a.mo = x.same_cell.from(x.writes).to(x.writes);
    for (int i = 0; i < x.n; ++i) {
      if (is_started(fixed_->stamp(i))) a.started.insert(i);
      for (int j = 0; j < x.n; ++j) {
        const VerbsStamp s = fixed_->stamp(i), t = fixed_->stamp(j);
        const bool own = x.sub(i).thread == x.sub(j).thread && x.sub(i).event != x.sub(j).event;
        if (s == VerbsStamp::aCW && t == VerbsStamp::aCR && own && x.po.contains(i, j) && rf.contains(i, j))
          a.rf_so.row(i).erase(j);
        if (s == VerbsStamp::aCR && t == VerbsStamp::aCW && own && rb.contains(i, j)) a.rb_ib.add(i, j);
        if (x.sub(i).queue == kNone || x.sub(i).queue != x.sub(j).queue || !own) continue;
        const bool reads_then_writes =
            (s == VerbsStamp::aNLR && t == VerbsStamp::aNLW) || (s == VerbsStamp::aNRR && t == VerbsStamp::aNRW);
        if (reads_then_writes && fixed_->one_memory(i, j)) a.nfo.add(i, j);
      }
    }
  }

  const Program& program_;
  const Cells& cells_;
  const ModelOptions& options_;
  const VerbsVisit& visit_;
  std::vector<ThreadPath> paths_;
  std::vector<Line> lines_;
  std::unique_ptr<Skeleton> x_;
  std::unique_ptr<Fixed> fixed_;
  std::array<int, kSubeventsMax> start_{};
  int nodes_ = 0;
};

}  // namespace

bool visit_verbs_skeletons(const Program& program, const Cells& cells, const std::vector<const ThreadPath*>& chosen,
                           const ModelOptions& options, const VerbsVisit& visit) {
  return Orders(program, cells, chosen, options, visit).run();
}

}  // namespace loco::model::litmus
