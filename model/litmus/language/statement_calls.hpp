// The calls of the statement language: one method a family of statements. Internal to statements.cpp.
#pragma once

#include "model/litmus/language/statement_reader.hpp"
#include "text/words.hpp"

namespace loco::model::litmus {

class CallReader : public StatementReader {
 protected:
  using StatementReader::StatementReader;

  int target_or_temporary(int target) { return target == kNone ? temporary() : target; }

  void call(int target) {
    const Token& word = take();
    const bool returns = word.text == "cas" || word.text == "xchg" || word.text == "submit" || word.text == "receive" ||
                         word.text == "tryread";
    if (target != kNone && !returns) {
      const bool known = is_statement_word(word.text);
      fail(word, "cas, xchg, submit, receive, tryread or an expression",
           known ? "" : text::suggestion(word.text, statement_words()), known ? ", which returns nothing" : "");
    }
    if (word.text == "mfence") {
      if (accept("(")) expect(")");
      emit(make(Op::mfence));
      return;
    }
    expect("(");
    if (word.text == "put" || word.text == "get")
      transfer(word);
    else if (word.text == "bcast" || word.text == "gf")
      shared_call(word);
    else if (word.text == "submit" || word.text == "receive")
      ring_call(word, target);
    else if (word.text == "write" || word.text == "tryread")
      tuple_call(word, target);
    else if ((word.text == "cas" || word.text == "xchg") && !core_)
      cas(target, word.text == "cas");
    else if (word.text == "rcas" || word.text == "rfaa")
      remote_atomic(word);
    else
      simple_call(word);
  }

  void simple_call(const Token& word) {
    if (word.text == "assert") {
      Instruction i = make(Op::assertion);
      i.expr = expression();
      expect(")");
      emit(i);
      return;
    }
    Instruction i = make(Op::wait);
    if (word.text == "wait") {
      i.work_id = work_id();
    } else if (word.text == "poll" || word.text == "rfence" || word.text == "flush") {
      i.op = word.text == "poll" ? Op::poll : word.text == "rfence" ? Op::rfence : Op::flush;
      i.node = node_argument();
    } else if (word.text == "barrier") {
      i = make(Op::barrier, Library::bal);
      const Token& name = peek();
      i.object = object_argument(program_.barriers, "a barrier");
      require_participant(name, at(program_.barriers, i.object).participants, "a participating thread");
    } else {
      fail(word, "a statement");
    }
    expect(")");
    emit(i);
  }

  void cas(int target, bool compares) {
    Instruction i = make(Op::cas);
    const Token& t = peek();
    i.location = local(t, location_argument(LocationKind::word, "a location on the thread's node"));
    expect(",");
    if (compares) {
      i.expr = expression();
      expect(",");
    }
    i.expr2 = expression();
    expect(")");
    i.target = target_or_temporary(target);
    emit(i);
  }

  /// A local location of one word, or `_`: one that nobody else uses.
  int result_word(const std::string& what) {
    const Token& t = peek();
    if (t.is_word("_") && find_location(program_, t.text) == kNone) {
      take();
      return fresh_location(0);
    }
    return local(t, location_argument(LocationKind::word, what));
  }

  /// An operand that travels in the request: no memory is read for it.
  int operand() {
    const Token& t = peek();
    const int before = len(self_.code);
    const int e = expression();
    if (len(self_.code) != before)
      fail(t, "a constant, a register or an expression of registers", "", ": operands of an atomic read no memory");
    return e;
  }

  void remote_atomic(const Token& word) {
    Instruction i = make(word.text == "rcas" ? Op::rcas : Op::rfaa);
    i.location = result_word("a local location for the result, or _");
    expect(",");
    i.source = location_argument(LocationKind::word, "a location for the atomic");
    i.node = at(program_.locations, i.source).node;
    expect(",");
    i.expr = operand();
    if (i.op == Op::rcas) {
      expect(",");
      i.expr2 = operand();
    }
    expect(")");
    i.work_id = optional_work_id();
    emit(i);
  }

  /// A local location, or an expression: a fresh local location that holds its value.
  int local_source(LocationKind kind) {
    if (peek().kind == TokenKind::identifier && find_location(program_, peek().text) != kNone) {
      const Token& t = peek();
      return local(t, location_argument(kind, kind == LocationKind::tuple ? "a local location that holds tuples"
                                                                          : "a local location or a value"));
    }
    if (kind == LocationKind::tuple) fail(peek(), "a local location that holds tuples");
    const int e = expression();
    const Expr& expr = at(program_.exprs, e);
    if (expr.op == ExprOp::constant) return fresh_location(expr.constant);
    Instruction w = make(Op::write);
    w.location = fresh_location(0);
    w.expr = e;
    emit(w);
    return w.location;
  }

  void transfer(const Token& word) {
    const bool put = word.text == "put";
    const Token& first = peek();
    const int known = first.kind == TokenKind::identifier ? find_location(program_, first.text) : kNone;
    const bool tuples = known != kNone && at(program_.locations, known).kind == LocationKind::tuple;
    const LocationKind kind = tuples ? LocationKind::tuple : LocationKind::word;
    Instruction i = make(put ? Op::put : Op::get, tuples ? Library::msw : Library::rdmawait);
    i.location = put       ? location_argument(kind, "a location to put to")
                 : !tuples ? result_word("a local location to get into")
                           : local(first, location_argument(kind, "a local location to get into"));
    i.single.location = single_atomicity();
    expect(",");
    i.source = put ? local_source(kind) : location_argument(kind, "a location to get from");
    i.single.source = single_atomicity();
    expect(")");
    i.node = at(program_.locations, put ? i.location : i.source).node;
    i.work_id = optional_work_id();
    emit(i);
  }

  void core_call(int destination, std::optional<bool> atomicity) {
    const Token& word = take();
    Instruction i = make(word.text == "get" ? Op::get : word.text == "rga" ? Op::rga : Op::remote_cas);
    if (i.op == Op::remote_cas && word.text != "cas") fail(word, "get, rga or cas");
    expect("(");
    i.location = destination;
    i.single.location = atomicity;
    i.source = location_argument(LocationKind::word, "a location of the target");
    i.single.source = single_atomicity();
    i.node = at(program_.locations, i.source).node;
    if (i.op != Op::get) {
      expect(",");
      i.operand = local_source(LocationKind::word);
      i.single.operand = single_atomicity();
    }
    if (i.op == Op::remote_cas) {
      expect(",");
      i.operand2 = local_source(LocationKind::word);
      i.single.operand2 = single_atomicity();
    }
    expect(")");
    emit(i);
  }

  void shared_call(const Token& word) {
    Instruction i = make(word.text == "gf" ? Op::gf : Op::bcast, Library::sv);
    if (i.op == Op::bcast) {
      i.location = location_argument(LocationKind::shared, "a shared location");
      expect(",");
    }
    i.nodes = node_set(i.op == Op::gf);
    expect(")");
    if (i.op == Op::bcast) i.work_id = optional_work_id();
    emit(i);
  }

  void ring_call(const Token& word, int target) {
    const bool submit = word.text == "submit";
    Instruction i = make(submit ? Op::submit : Op::receive, Library::rbl);
    const Token& name = peek();
    i.object = object_argument(program_.ringbuffers, "a ring buffer");
    const RingBuffer& ring = at(program_.ringbuffers, i.object);
    require_participant(name, submit ? std::vector<int>{ring.writer} : ring.readers,
                        submit ? "the ring buffer's writer" : "a reader of the ring buffer");
    if (submit) {
      expect(",");
      i.expr = peek().is("[") ? tuple_literal() : expression();
    }
    expect(")");
    i.target = target_or_temporary(target);
    emit(i);
  }

  void tuple_call(const Token& word, int target) {
    Instruction i = make(word.text == "write" ? Op::tuple_write : Op::tuple_read, Library::msw);
    const Token& name = peek();
    i.location = local(name, location_argument(LocationKind::tuple, "a location on the thread's node"));
    if (i.op == Op::tuple_write) {
      expect(",");
      const Token& literal = peek();
      i.expr = tuple_literal();
      const Value v = at(program_.exprs, i.expr).constant;
      const int length = len(program_.tuples[static_cast<std::size_t>(v - kFirstTuple)]);
      const int wanted = at(program_.locations, i.location).tuple_size;
      if (length != wanted)
        fail(literal, "a tuple of " + std::to_string(wanted) + " elements",
             " with " + std::to_string(length) + " elements");
    }
    expect(")");
    if (i.op == Op::tuple_read) i.target = target_or_temporary(target);
    emit(i);
  }
};

}  // namespace loco::model::litmus
