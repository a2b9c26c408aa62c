#include "loco_sim/explore/queues.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace loco::explore {

using namespace model::litmus;

namespace {

constexpr std::uint32_t kSends = 64;       // of a queue pair
constexpr std::uint32_t kReceives = 64;    // of a receive queue
constexpr std::uint32_t kEntries = 1024;   // of a completion queue; no test needs as many
constexpr std::size_t kWordsPermuted = 6;  // words of longer messages stay in the order in which they are written

nic::QpType type_of(Transport transport) {
  return transport == Transport::rc ? nic::QpType::rc : transport == Transport::uc ? nic::QpType::uc : nic::QpType::ud;
}

/// Finds which word follows which: message by message, trying each order of a message's words.
class Layout {
 public:
  explicit Layout(const Program& program)
      : behind_(program.locations.size(), kNone), before_(program.locations.size(), kNone) {
    for (const Post& p : program.verbs.posts)
      if (p.words.size() > 1) messages_.push_back(&p);
  }

  bool find(std::size_t message = 0) {
    if (message == messages_.size()) return true;
    std::vector<Post::Word> words = messages_[message]->words;
    const auto less = [](const Post::Word& a, const Post::Word& b) { return a.remote < b.remote; };
    const bool permute = words.size() <= kWordsPermuted;
    if (permute) std::ranges::sort(words, less);
    do {
      const auto behind = behind_, before = before_;
      if (join(words) && find(message + 1)) return true;
      behind_ = behind;
      before_ = before;
    } while (permute && std::ranges::next_permutation(words, less).found);
    return false;
  }

  [[nodiscard]] std::vector<std::vector<int>> runs() const {
    std::vector<std::vector<int>> all;
    for (int l = 0; l < len(behind_); ++l) {
      if (at(before_, l) != kNone) continue;
      std::vector<int>& run = all.emplace_back();
      for (int w = l; w != kNone; w = at(behind_, w)) run.push_back(w);
    }
    return all;
  }

 private:
  bool join(const std::vector<Post::Word>& words) {
    for (std::size_t k = 1; k < words.size(); ++k)
      if (!join(words[k - 1].remote, words[k].remote) || !join(words[k - 1].local, words[k].local)) return false;
    return true;
  }
  bool join(int first, int second) {
    if (at(behind_, first) == second) return true;
    if (at(behind_, first) != kNone || at(before_, second) != kNone) return false;
    for (int l = second; l != kNone; l = at(behind_, l))
      if (l == first) return false;
    at(behind_, first) = second;
    at(before_, second) = first;
    return true;
  }

  std::vector<const Post*> messages_;
  std::vector<int> behind_, before_;  // by location
};

}  // namespace

int kind_of(const Program& program, const std::vector<int>& run) {
  const auto own = std::ranges::find_if(run, [&](int l) { return !at(program.locations, l).fresh; });
  return own == run.end() ? run.front() : *own;
}

SideBySide side_by_side(const Program& program) {
  SideBySide result;
  Layout layout(program);
  if (!layout.find()) {
    result.refused = "the words of its messages cannot lie side by side at both ends, all at once";
    return result;
  }
  result.runs = layout.runs();
  for (const std::vector<int>& run : result.runs)
    for (const int l : run) {
      if (l != run.front() && takes_datagrams(program, l))
        result.refused =
            fmt::format("the header of a datagram comes in front of {}, where another word of a message is",
                        at(program.locations, l).name);
      const Location& first = at(program.locations, kind_of(program, run));
      const Location& other = at(program.locations, l);
      // Nobody writes a constant, so it does not matter whether such writes may pass others.
      if ((first.relaxed == other.relaxed || other.fresh) && first.device == other.device) continue;
      result.refused =
          fmt::format("the words {} and {} of one message are of regions of two kinds", first.name, other.name);
    }
  return result;
}

namespace {
/// True if the receive queue is for datagrams. Sets `both` if its queue pairs differ in this.
bool of_datagrams(const Program& program, int queue, bool& both) {
  bool datagrams = false, connected = false;
  for (const QueuePair& q : program.verbs.queue_pairs) {
    if (q.receive_queue != queue) continue;
    (q.type == Transport::ud ? datagrams : connected) = true;
  }
  both = datagrams && connected;
  return datagrams;
}
}  // namespace

bool takes_datagrams(const Program& program, int location) {
  bool both = false;
  return std::ranges::any_of(program.verbs.posts, [&](const Post& p) {
    return p.kind == PostKind::receive && p.buffer == location && of_datagrams(program, p.receive_queue, both);
  });
}

std::string refusal(const Program& program) {
  for (int r = 0; r < len(program.verbs.receive_queues); ++r) {
    bool both = false;
    if (of_datagrams(program, r, both) && both)
      return fmt::format("{} has receives for datagrams and for connections", at(program.verbs.receive_queues, r).name);
  }
  return side_by_side(program).refused;
}

bool is_atomic(const Program& program, const Instruction& i) {
  if (i.op != Op::verbs) return is_remote_atomic(i.op);
  const PostKind kind = at(program.verbs.posts, i.object).kind;
  return kind == PostKind::cas || kind == PostKind::faa;
}

bool fences(const Program& program, const Instruction& i) {
  if (i.op != Op::verbs) return i.op == Op::rfence;
  const Post& p = at(program.verbs.posts, i.object);
  return p.fence || p.kind == PostKind::fence;
}

void Queues::create(const Program& program, const std::function<nic::NodeId(int)>& position, nic::System& system) {
  const Verbs& v = program.verbs;
  for (const CompletionQueue& c : v.completion_queues)
    completion_queues_.push_back(system.create_cq(position(c.node), kEntries));
  receive_queues_.resize(v.receive_queues.size());
  for (int r = 0; r < len(receive_queues_); ++r) {
    ReceiveQueue& queue = at(receive_queues_, r);
    const auto user = std::ranges::find(v.queue_pairs, r, &QueuePair::receive_queue);
    const bool one = std::ranges::count(v.queue_pairs, r, &QueuePair::receive_queue) == 1;
    queue.shared = !one || user->name != at(v.receive_queues, r).name;
    bool both = false;
    if (of_datagrams(program, r, both)) queue.header = nic::kGrhBytes;
    if (queue.shared) queue.number = system.create_srq(position(at(v.receive_queues, r).node), kReceives);
  }
  for (const QueuePair& q : v.queue_pairs) {
    nic::QpConfig config{.type = type_of(q.type), .send_cq = at(completion_queues_, q.send_cq), .send_entries = kSends};
    if (q.thread != kNone) config.thread = static_cast<nic::ThreadId>(q.thread);
    if (q.receive_cq != kNone) config.recv_cq = at(completion_queues_, q.receive_cq);
    if (q.receive_queue != kNone) {
      const ReceiveQueue& queue = at(receive_queues_, q.receive_queue);
      if (queue.shared)
        config.srq = queue.number;
      else
        config.recv_entries = kReceives;
    }
    const nic::QpId id = system.create_qp(position(q.node), config);
    queue_pairs_.push_back(id);
    if (q.receive_queue == kNone || at(receive_queues_, q.receive_queue).shared) continue;
    at(receive_queues_, q.receive_queue).queue_pair = id;
    at(receive_queues_, q.receive_queue).number = system.queue_pair(id).receives;
  }
  for (int i = 0; i < len(v.queue_pairs); ++i) {
    const QueuePair& q = at(v.queue_pairs, i);
    if (q.type == Transport::ud) {
      system.activate(at(queue_pairs_, i));
      continue;
    }
    if (q.peer > i) system.connect(at(queue_pairs_, i), at(queue_pairs_, q.peer));
    if (q.peer != kNone) continue;
    // A thread's own queue pair to a node; its other end receives no messages.
    const nic::NodeId there = position(q.peer_node);
    system.connect(at(queue_pairs_, i), system.create_qp(there, system.create_cq(there, 1), 1));
  }
  std::vector<std::set<int>> pollers(completion_queues_.size());
  for (int t = 0; t < len(program.threads); ++t)
    for (const Instruction& i : at(program.threads, t).code) {
      if (i.op != Op::verbs) continue;
      const Post& p = at(v.posts, i.object);
      if (p.kind == PostKind::poll) at(pollers, p.completion_queue).insert(t);
    }
  for (const std::set<int>& threads : pollers) pollers_.push_back(len(threads));
}

nic::PostResult Queues::post_receive(nic::Cpu& cpu, int queue, const nic::RecvWqe& wqe) const {
  const ReceiveQueue& q = at(receive_queues_, queue);
  return q.shared ? cpu.post_srq_recv(q.number, {&wqe, 1}) : cpu.post_recv(q.queue_pair, {&wqe, 1});
}

}  // namespace loco::explore
