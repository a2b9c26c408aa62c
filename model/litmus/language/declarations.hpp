// What a litmus document declares beside its threads: locations, barriers and ring buffers, each under a name of its
// own.
#pragma once

#include "model/litmus/language/program.hpp"
#include "yaml/node.hpp"

namespace loco::model::litmus {

/// The document's `locations`, if it has any.
void read_locations(Program& program, const yaml::Node& document);
/// Its `barriers` and `ringbuffers`. The program has its locations and threads.
/// verbs: queue pairs and SRQs, before the code; what the document says of races.
void read_queues(Program& program, const yaml::Node& document);
void read_races(Program& program, const yaml::Node& document);
void read_objects(Program& program, const yaml::Node& document);

}  // namespace loco::model::litmus
