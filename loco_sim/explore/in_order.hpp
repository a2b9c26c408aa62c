// What in-order completion excludes: the declarative model of rdmawait, restricted to what its implementation over
// rdmatso shows.
//
// rdmawait lets wait(d) return as soon as the operations with identifier d are complete, in whatever order others of
// the same queue pair complete. A reliable connection completes its work requests in order, so a completion of d
// implies that all earlier operations of the (thread, node) pair are complete, too. The paper's implementation I_W of
// rdmawait over rdmatso (LOCO paper, Fig. 24) states this precisely: wait(d) becomes as many polls of each node as are
// needed to reach the last operation with identifier d, and a poll takes the oldest operation (Appendix G.1, pf). Here
// the polls of one wait are a single aWT subevent. That changes nothing, because they follow each other in program
// order: a subevent before one of them is before the last, and a subevent after the last is after all.
#pragma once

#include "model/litmus/language/program.hpp"
#include "model/litmus/models/axioms.hpp"
#include "model/litmus/search/search.hpp"

namespace loco::explore {

/// rdmawait with in-order completions: Definition G.2 with the polls-from relation of I_W.
[[nodiscard]] const model::litmus::Model& in_order_model();

/// The outcomes of a program over rdmawait or rdmatso with in-order completions. Polls are in order by definition, so
/// for a program without wait these are the outcomes of its own model.
[[nodiscard]] model::litmus::SearchResult search_in_order(const model::litmus::Program& program,
                                                          const model::litmus::SearchOptions& options);

/// Outcomes that the model (rdmawait) allows but in-order completion excludes. Empty for other models, and if either
/// search was cut short by its bounds or by `out_of_time` (called now and then).
[[nodiscard]] std::vector<model::litmus::Outcome> excluded_by_in_order(const model::litmus::Program& program,
                                                                       const std::string& model,
                                                                       const std::function<void()>& poll = {},
                                                                       const std::function<bool()>& out_of_time = {});

}  // namespace loco::explore
