// Joins of paths of a verbs program, and the orders that decide what messages, receives, completions and polls belong
// together (docs/verbs-model.md, "Consistency"): rqo and rco of each receive queue, co and plo of each completion
// queue, rao of each node.
//
// Each choice of these orders is a skeleton of its own, in which it is known where a SEND writes and what a poll gives;
// rf, mo and nfo are left to the search. Orders are built element by element, in a graph that is given up as soon as it
// has a cycle. Of receives that no message takes, and completions that no poll takes, any order does.
#pragma once

#include <functional>
#include <vector>

#include "model/litmus/models/axioms.hpp"
#include "model/litmus/skeletons/skeleton.hpp"

namespace loco::model::litmus {

/// Facts of a skeleton of model `verbs` that races need beside its axioms: the relations that hold in every run, and
/// the completion of each operation.
struct VerbsFacts {
  Relation so, ib;               ///< ppo, iso, mt, pf, plo: between finishes, between starts
  std::vector<int> poll_of;      ///< by CQE (a subevent): the poll that takes it, or kNone
  std::vector<int> payload_of;   ///< by receive (a subevent): the write of the SEND that takes it, or kNone
  std::vector<int> receive_cqe;  ///< by receive (a subevent): its CQE, or kNone
};

using VerbsVisit = std::function<bool(const Skeleton&, const Axioms&, const VerbsFacts&)>;

/// Calls `visit` for each choice of orders of the paths. False if it says so.
bool visit_verbs_skeletons(const Program& program, const Cells& cells, const std::vector<const ThreadPath*>& chosen,
                           const ModelOptions& options, const VerbsVisit& visit);

/// The post or poll that a subevent belongs to; null: a statement of the CPU.
[[nodiscard]] const Post* post_of(const Skeleton& x, int i);
/// The stamp of a subevent of a verbs program.
[[nodiscard]] VerbsStamp verbs_stamp(const Skeleton& x, int i);

}  // namespace loco::model::litmus
