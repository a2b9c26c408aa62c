// The statements of model `verbs` beside those of the CPU (docs/verbs-model.md). Internal to statements.cpp.
#pragma once

#include "model/litmus/language/statement_calls.hpp"

namespace loco::model::litmus {

class VerbsReader : public CallReader {
 protected:
  using CallReader::CallReader;

  [[nodiscard]] static bool is_verb(const Token& t) {
    for (const char* word : {"put", "putimm", "get", "send", "sendimm", "recv", "rcas", "rfaa", "poll", "rfence"})
      if (t.is_word(word)) return true;
    return false;
  }

  /// `a, i = poll(c)` and `a = poll(c)`, from the registers on; or any other verb.
  void verb() {
    int target = kNone, target2 = kNone;
    if (peek(1).is("=") || peek(1).is(",")) {
      target = assigned();
      if (accept(",")) target2 = assigned();
      expect("=");
      if (!peek().is_word("poll")) fail(peek(), "poll");
    }
    const Token& word = take();
    Post p;
    expect("(");
    if (word.text == "poll") {
      poll(p);
      p.target = target;
      p.target2 = target2;
    } else if (word.text == "recv") {
      receive(p);
    } else if (word.text == "rfence") {
      p.kind = PostKind::fence;
      p.queue_pair = own_queue_pair(node_argument());
      expect(")");
    } else if (word.text == "send" || word.text == "sendimm") {
      send(p, word.text == "sendimm");
    } else if (word.text == "put" || word.text == "putimm") {
      write(p, word.text == "putimm");
    } else {
      read(p, word);
    }
    require_transport(p, word);
    program_.verbs.posts.push_back(std::move(p));
    Instruction i = make(Op::verbs);
    i.object = len(program_.verbs.posts) - 1;
    emit(i);
  }

  /// The register that a poll assigns to.
  int assigned() {
    const Token& t = take();
    const int r = t.kind == TokenKind::identifier ? find_register(t.text) : kNone;
    if (r == kNone) fail(t, "a register");
    return r;
  }

 private:
  Verbs& verbs() { return program_.verbs; }

  /// What unreliable transports carry (IBTA volume 1, table 37): UC no READ and no atomic, which a fence is for; UD
  /// SENDs.
  void require_transport(const Post& p, const Token& word) {
    if (p.queue_pair == kNone) return;
    const QueuePair& q = at(verbs().queue_pairs, p.queue_pair);
    const bool send = p.is_send();
    if (q.type == Transport::uc && !send && !p.is_write())
      fail(word, "put, putimm, send or sendimm: " + q.name + " is of type uc");
    if (q.type == Transport::ud && !send) fail(word, "send or sendimm: " + q.name + " is of type ud");
    if (q.type != Transport::rc && p.fence)
      fail(word, "no fence: " + q.name + " is of type uc or ud, nothing of it is answered");
    if (q.type == Transport::ud && q.peer == kNone) fail(word, "a queue pair with a peer");
  }

  void poll(Post& p) {
    p.kind = PostKind::poll;
    const Token& t = peek();
    if (t.kind == TokenKind::number) {
      p.completion_queue = at(verbs().queue_pairs, own_queue_pair(node_argument())).send_cq;
    } else {
      p.completion_queue = object_argument(verbs().completion_queues, "a completion queue, or a node");
      require_node(t, at(verbs().completion_queues, p.completion_queue).node);
    }
    expect(")");
  }

  void receive(Post& p) {
    p.kind = PostKind::receive;
    const Token& t = peek();
    p.receive_queue = object_argument(verbs().receive_queues, "a queue pair without an SRQ, or an SRQ");
    require_node(t, at(verbs().receive_queues, p.receive_queue).node);
    expect(",");
    p.buffer = own_word("a local location, or _");
    expect(")");
    p.name = request_name();
  }

  void send(Post& p, bool immediate) {
    p.kind = immediate ? PostKind::send_imm : PostKind::send;
    named_queue_pair(p, peek());
    expect(",");
    if (peek().is_word("_"))
      take();
    else
      p.words.push_back({kNone, local_source(LocationKind::word)});
    if (immediate) immediate_of(p);
    expect(")");
    flags(p, false);
  }

  void write(Post& p, bool immediate) {
    p.kind = immediate ? PostKind::write_imm : PostKind::write;
    const Token& first = peek();
    const bool list = accept("[");
    do p.words.push_back({location_argument(LocationKind::word, "a location to put to"), kNone});
    while (list && accept(","));
    if (list) expect("]");
    expect(",");
    if (list) expect("[");
    for (std::size_t k = 0; k < p.words.size(); ++k) {
      if (k > 0) expect(",");
      p.words[k].local = local_source(LocationKind::word);
    }
    if (list) expect("]");
    if (immediate) immediate_of(p);
    expect(")");
    flags(p, true);
    reach(p, first);
  }

  /// get(z, x), rcas(z, x, v1, v2), rfaa(z, x, v)
  void read(Post& p, const Token& word) {
    p.kind = word.text == "get" ? PostKind::read : word.text == "rcas" ? PostKind::cas : PostKind::faa;
    Post::Word w;
    w.local = own_word("a local location, or _");
    expect(",");
    const Token& remote = peek();
    w.remote = location_argument(LocationKind::word, "a location");
    p.words.push_back(w);
    if (p.kind != PostKind::read) {
      expect(",");
      p.operand = expression();
    }
    if (p.kind == PostKind::cas) {
      expect(",");
      p.operand2 = expression();
    }
    expect(")");
    flags(p, true);
    reach(p, remote);
  }

  /// A word of the thread's node, or one that nobody else uses.
  int own_word(const std::string& what) {
    if (peek().is_word("_")) {
      take();
      return fresh_location(0);
    }
    const Token& t = peek();
    return local(t, location_argument(LocationKind::word, what));
  }

  void immediate_of(Post& p) {
    expect(",");
    const Token& t = take();
    if (t.kind != TokenKind::number) fail(t, "an immediate, a number");
    p.immediate = t.number;
  }

  /// `on q`, `as d`, `inline`, `fence`, `unsignaled`, in any order.
  void flags(Post& p, bool on) {
    for (;;) {
      const Token& t = peek();
      if (on && t.is_word("on") && p.queue_pair == kNone) {
        take();
        named_queue_pair(p, peek());
      } else if (t.is_word("as") && p.name == kNone) {
        p.name = request_name();
      } else if (t.is_word("inline") && (p.is_write() || p.is_send())) {
        take();
        p.is_inline = true;
      } else if (t.is_word("fence")) {
        take();
        p.fence = true;
      } else if (t.is_word("unsignaled")) {
        take();
        p.signaled = false;
      } else {
        return;
      }
    }
  }

  int request_name() {
    if (!peek().is_word("as")) return kNone;
    take();
    const Token& t = take();
    if (t.kind != TokenKind::identifier && t.kind != TokenKind::number) fail(t, "the name of a work request");
    auto& names = verbs().names;
    const auto it = std::find(names.begin(), names.end(), t.text);
    if (it != names.end()) return static_cast<int>(it - names.begin());
    if (len(names) == kNamesMax) fail(t, "at most " + std::to_string(kNamesMax) + " names of work requests");
    names.push_back(t.text);
    return len(names) - 1;
  }

  void require_node(const Token& t, int node) const {
    if (node != self_.node)
      fail(t, "a queue of node " + std::to_string(self_.node) + ", the thread's own", "",
           " of node " + std::to_string(node));
  }
  void named_queue_pair(Post& p, const Token& t) {
    p.queue_pair = object_argument(verbs().queue_pairs, "a queue pair");
    QueuePair& q = at(verbs().queue_pairs, p.queue_pair);
    require_node(t, q.node);
    if (q.thread != kNone && q.thread != thread_)
      fail(t, "a queue pair that no other thread posts to", "", ", of thread " + std::to_string(q.thread));
    q.thread = thread_;
  }
  /// The queue pair that this thread alone uses to reach the node, with a completion queue of its own.
  int own_queue_pair(int node) {
    auto& all = verbs().queue_pairs;
    for (int i = 0; i < len(all); ++i)
      if (at(all, i).name.empty() && at(all, i).thread == thread_ && at(all, i).peer_node == node) return i;
    QueuePair q;
    q.node = self_.node;
    q.peer_node = node;
    q.thread = thread_;
    q.send_cq = len(verbs().completion_queues);
    verbs().completion_queues.push_back({"", self_.node});
    all.push_back(q);
    return len(all) - 1;
  }
  /// Remote words are where the queue pair leads.
  void reach(Post& p, const Token& t) {
    const int node = at(program_.locations, p.words.front().remote).node;
    if (p.queue_pair == kNone) {
      if (p.kind == PostKind::write_imm) fail(peek(), "on, and a queue pair");
      p.queue_pair = own_queue_pair(node);
    }
    const int leads = at(verbs().queue_pairs, p.queue_pair).peer_node;
    for (const Post::Word& w : p.words)
      if (at(program_.locations, w.remote).node != leads)
        fail(t, "locations of node " + std::to_string(leads) + ", where the queue pair leads", "");
  }
};

}  // namespace loco::model::litmus
