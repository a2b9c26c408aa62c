#include "model/verbs/describe.hpp"

#include <fmt/format.h>

namespace loco::model::verbs {

using trace::Verbs;

std::string name_of(const Verbs::Request& r) {
  switch (r.opcode) {
    case Verbs::Opcode::write:
      return r.immediate ? "WRITE with immediate" : "WRITE";
    case Verbs::Opcode::read:
      return "READ";
    case Verbs::Opcode::compare_swap:
      return "compare-and-swap";
    case Verbs::Opcode::fetch_add:
      return "fetch-and-add";
    case Verbs::Opcode::send:
      break;
  }
  return r.immediate ? "SEND with immediate" : "SEND";
}

namespace {
std::string queue_text(const Graph& graph, const Event& e) {
  const Verbs& v = graph.verbs();
  switch (e.kind) {
    case Kind::aRP:
      return fmt::format("a receive of {} bytes posted to receive queue {}", v.receives[e.item].bytes,
                         v.receives[e.item].queue);
    case Kind::aRX:
      return fmt::format("its message takes a receive of queue pair {}", v.messages[e.item].qp);
    case Kind::aWT:
      return fmt::format("poll of completion queue {}", v.polls[e.item].cq);
    default:
      return fmt::format("its {} completion, in completion queue {}", e.kind == Kind::aRC ? "receive" : "send",
                         v.entries[e.item].cq);
  }
}
}  // namespace

std::string text_of(const Graph& graph, std::uint32_t event) {
  const Event& e = graph.events()[event];
  const std::string word = fmt::format("{}:{:#x}", e.node, e.address);
  const std::string request = e.request == kNone
                                  ? ""
                                  : fmt::format("{} on queue pair {}", name_of(graph.verbs().requests[e.request]),
                                                graph.verbs().requests[e.request].qp);
  switch (e.kind) {
    case Kind::aCR:
      return e.request == kNone ? "load of " + word : request + " (inline), which reads " + word + " as it is posted";
    case Kind::aCW:
      return "store to " + word;
    case Kind::aCAS:
      return "compare-and-swap of " + word;
    case Kind::aMF:
      return "fence";
    case Kind::aNLR:
    case Kind::aNRR:
    case Kind::aNAR:
      return request + ", which reads " + word;
    case Kind::aNRW:
    case Kind::aNLW:
      return request + ", which writes " + word;
    case Kind::aRF:
      return request + ": its fence flag";
    default:
      break;
  }
  return request.empty() || e.kind == Kind::aWT ? queue_text(graph, e) : request + ": " + queue_text(graph, e);
}

std::uint32_t place_of_call(const Graph& graph, std::uint32_t call) {
  const std::vector<std::uint32_t>& places = graph.verbs().call_places;
  return call == 0 || call > places.size() ? 0 : places[call - 1];
}

std::uint32_t place_of(const Graph& graph, std::uint32_t event) {
  const Event& e = graph.events()[event];
  return e.kind == Kind::aRP ? graph.verbs().receives[e.item].place : place_of_call(graph, e.call);
}

std::string place_text(const Graph& graph, std::uint32_t place) {
  if (place == 0) return {};
  const Verbs::Place& p = graph.verbs().places[place];
  const std::size_t slash = p.file.find_last_of('/');
  const std::string file = slash == std::string::npos ? p.file : p.file.substr(slash + 1);
  return p.line == 0 ? file : fmt::format("{}:{}", file, p.line);
}

namespace {
std::string thread_name(const Graph& graph, std::uint32_t thread) {
  return thread == kNone ? std::string("set-up") : graph.trace().threads[thread].name;
}
}  // namespace

Access access_of(const Graph& graph, std::uint32_t event) {
  const Event& e = graph.events()[event];
  return {.call = e.call,
          .thread = e.thread == kNone ? 0 : e.thread,
          .thread_name = thread_name(graph, e.thread),
          .place = place_text(graph, place_of(graph, event)),
          .text = text_of(graph, event)};
}

Access access_of_call(const Graph& graph, std::uint32_t call, std::string text) {
  const std::uint32_t thread = graph.trace().calls[call - 1].thread;
  return {.call = call,
          .thread = thread,
          .thread_name = thread_name(graph, thread),
          .place = place_text(graph, place_of_call(graph, call)),
          .text = std::move(text)};
}

}  // namespace loco::model::verbs
