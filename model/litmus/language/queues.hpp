// Queue pairs, completion queues and what is posted to them: the part of a program of model `verbs` that other models
// do not have (docs/verbs-model.md). Numbers are indices into the vectors of Verbs; kNone (-1) is "none".
#pragma once

#include <string>
#include <vector>

namespace loco::model::litmus {

/// Reliable connection, unreliable connection, unreliable datagram.
enum class Transport { rc, uc, ud };

/// One end of a connection, or of datagrams. A thread's own queue pair to a node has no name, no peer, and takes no
/// messages.
struct QueuePair {
  std::string name;
  Transport type = Transport::rc;
  int node = 0;
  int peer = -1;           ///< a named one's other end; of datagrams: where it sends them, if it does
  int peer_node = 0;       ///< where its remote words are
  int thread = -1;         ///< that posts to it; none as long as nobody does
  int send_cq = -1;        ///< index into Verbs::completion_queues
  int receive_cq = -1;     ///< of a named one
  int receive_queue = -1;  ///< of a named one: its own, or an SRQ's
};

struct CompletionQueue {
  std::string name;
  int node = 0;
};

struct ReceiveQueue {
  std::string name;  ///< of its queue pair, or of the SRQ
  int node = 0;
};

enum class PostKind { write, write_imm, send, send_imm, read, cas, faa, fence, receive, poll };

/// A work request, a receive, a fence, or a poll.
struct Post {
  PostKind kind = PostKind::write;
  int queue_pair = -1;
  int receive_queue = -1;     ///< receive
  int completion_queue = -1;  ///< poll
  struct Word {
    int remote = -1;  ///< location
    int local = -1;   ///< location
  };
  std::vector<Word> words;  ///< of one node each side; a SEND has `local` only, an empty one no word
  int operand = -1;         ///< cas: compared, faa: added; an expression
  int operand2 = -1;        ///< cas: swapped in
  long immediate = 0;
  int buffer = -1;  ///< receive: a location
  bool is_inline = false;
  bool fence = false;
  bool signaled = true;
  int name = -1;    ///< index into Verbs::names
  int target = -1;  ///< poll: the register that takes the name; the next one takes the immediate
  int target2 = -1;

  [[nodiscard]] bool is_send() const { return kind == PostKind::send || kind == PostKind::send_imm; }
  [[nodiscard]] bool is_write() const { return kind == PostKind::write || kind == PostKind::write_imm; }
  [[nodiscard]] bool is_atomic() const { return kind == PostKind::cas || kind == PostKind::faa; }
};

struct Verbs {
  std::vector<QueuePair> queue_pairs;
  std::vector<CompletionQueue> completion_queues;
  std::vector<ReceiveQueue> receive_queues;
  std::vector<std::string> names;  ///< of work requests (`as`)
  std::vector<Post> posts;

  // what the document says of races
  std::vector<std::string> races;  ///< `unordered (x)`
  bool judges_races = false;       ///< it has such a list, perhaps an empty one
  std::vector<int> flags;          ///< locations
};

}  // namespace loco::model::litmus
