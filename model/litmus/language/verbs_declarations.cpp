// The keys of documents of model `verbs`: qps, srqs, and what is expected of races.
#include "model/litmus/language/declarations.hpp"
#include "model/litmus/language/names.hpp"
#include "model/litmus/language/yaml_values.hpp"
#include "text/words.hpp"

namespace loco::model::litmus {

using yaml::Entry;
using yaml::Node;

namespace {

int named_queue(std::vector<CompletionQueue>& queues, const std::string& name, int node, const Node& at_node) {
  const int known = find_name(queues, name);
  if (known != kNone) {
    if (at(queues, known).node != node) fail(at_node, "a completion queue of node " + std::to_string(node));
    return known;
  }
  queues.push_back({name, node});
  return len(queues) - 1;
}

Transport transport(const Node& type) {
  const std::string& word = scalar(type, "rc, uc or ud");
  for (const auto& [name, transport] :
       {std::pair("rc", Transport::rc), std::pair("uc", Transport::uc), std::pair("ud", Transport::ud)})
    if (word == name) return transport;
  fail(type, "rc, uc or ud");
}

/// The two ends of a connection name each other. Of datagrams it is who they go to, and an end that sends none has
/// none.
void read_peer(Verbs& v, const Node& all, int i) {
  QueuePair& q = at(v.queue_pairs, i);
  const Node& entry = all.entries[static_cast<std::size_t>(i)].value;
  if (q.type == Transport::ud && entry.find("peer") == nullptr) return;
  const Node& peer = required(entry, "peer");
  q.peer = find_name(v.queue_pairs, scalar(peer, "a queue pair"));
  if (q.peer == kNone || q.peer == i) fail(peer, "another queue pair");
  const QueuePair& other = at(v.queue_pairs, q.peer);
  if (other.type != q.type) fail(peer, "a queue pair of the same type");
  q.peer_node = other.node;
  if (q.type == Transport::ud) return;
  const Node& back = required(all.entries[static_cast<std::size_t>(q.peer)].value, "peer");
  if (scalar(back, "a queue pair") != q.name) fail(back, q.name + ": both ends name each other");
}

void read_queue_pairs(Program& program, const Node& n) {
  if (!is_map(n)) fail(n, "a map of queue pairs");
  Verbs& v = program.verbs;
  for (const Entry& entry : n.entries) {
    QueuePair q;
    q.name = entry.key;
    check_keys(entry.value, {"node", "peer", "send_cq", "recv_cq", "srq", "type"});
    q.node = program.mention(node_number(required(entry.value, "node")));
    if (const Node* type = entry.value.find("type")) q.type = transport(*type);
    v.queue_pairs.push_back(q);
  }
  for (std::size_t i = 0; i < n.entries.size(); ++i) {
    const Node& entry = n.entries[i].value;
    QueuePair& q = v.queue_pairs[i];
    read_peer(v, n, static_cast<int>(i));
    const auto queue = [&](const char* key) {
      const Node* const named = entry.find(key);
      return named_queue(v.completion_queues, named == nullptr ? q.name : scalar(*named, "a completion queue"), q.node,
                         named == nullptr ? entry : *named);
    };
    q.send_cq = queue("send_cq");
    q.receive_cq = queue("recv_cq");
    if (const Node* srq = entry.find("srq")) {
      q.receive_queue = find_name(v.receive_queues, scalar(*srq, "an SRQ"));
      if (q.receive_queue == kNone || at(v.receive_queues, q.receive_queue).node != q.node)
        fail(*srq, "an SRQ of node " + std::to_string(q.node));
    } else {
      v.receive_queues.push_back({q.name, q.node});
      q.receive_queue = len(v.receive_queues) - 1;
    }
  }
}

}  // namespace

void read_queues(Program& program, const Node& document) {
  if (const Node* n = document.find("srqs")) {
    if (!is_map(*n)) fail(*n, "a map of shared receive queues");
    for (const Entry& entry : n->entries) {
      check_keys(entry.value, {"node"});
      program.verbs.receive_queues.push_back({entry.key, program.mention(node_number(required(entry.value, "node")))});
    }
  }
  if (const Node* n = document.find("qps")) read_queue_pairs(program, *n);
}

void read_races(Program& program, const Node& document) {
  if (const Node* n = document.find("races")) {
    program.verbs.judges_races = true;
    if (!is_list(*n)) fail(*n, "a list of races, like unordered (x)");
    for (const Node& race : n->items) program.verbs.races.push_back(scalar(race, "a race, like unordered (x)"));
  }
  if (const Node* n = document.find("flags")) {
    if (!is_list(*n)) fail(*n, "a list of locations");
    for (const Node& flag : n->items) {
      const int l = find_location(program, scalar(flag, "a location"));
      if (l == kNone) fail(flag, "a location");
      program.verbs.flags.push_back(l);
    }
  }
}

}  // namespace loco::model::litmus
