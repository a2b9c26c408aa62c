// A trace (trace/trace.hpp) as the checkers call its parts.
#pragma once

#include "trace/names.hpp"
#include "trace/trace.hpp"

namespace loco::model {

using trace::Activity;
using trace::Call;
using trace::CallId;
using trace::has_finished;
using trace::is_family;
using trace::is_given_up;
using trace::is_unbegun;
using trace::kNever;
using trace::kStamps;
using trace::Library;
using trace::Method;
using trace::name;
using trace::Object;
using trace::rao_place;
using trace::rao_unit;
using trace::Seq;
using trace::Stamp;
using trace::Subevent;
using trace::SubeventId;
using trace::Thread;
using trace::Trace;

}  // namespace loco::model
