#include <array>
#include <cstddef>

#include "model/rules.hpp"

namespace loco::model {
namespace {

struct RuleText {
  std::string_view name;
  std::string_view meaning;
};

constexpr std::array kRules = {
    RuleText{"ppo", "program order that the stamps preserve (Fig. 10)"},
    RuleText{"ippo", "program order between starts: a CPU write before a read or wait, a NIC write before a fence"},
    RuleText{"iso", "within one call, the read happens before the write it feeds"},
    RuleText{"rf", "a write reaches memory before another thread or a NIC reads it"},
    RuleText{"rb", "a read happens before the writes that overwrite what it read"},
    RuleText{"rb_i", "a read that did not see the thread's write is issued before it"},
    RuleText{"mo", "writes to one word reach memory one after the other"},
    RuleText{"nfo", "a NIC read pushes the NIC writes before it, or is issued before them"},
    RuleText{"pfg", "a wait for a get sees the get's write finished"},
    RuleText{"pfp", "a wait for a put sees the put's write issued"},
    RuleText{"pf", "a wait for a broadcast sees its local reads done"},
    RuleText{"bal so", "everybody enters the barrier before anybody leaves it"},
    RuleText{"rbl rf", "a message is written before it is received"},
    RuleText{"rbl fb", "a receive that finds nothing happens before the submits it did not see"},
    RuleText{"rao", "the atomics of a node are executed one after the other"},
    RuleText{"start to finish", "a write starts before it finishes"},
    RuleText{"structure", "indices are in range, calls nest, kinds fit"},
    RuleText{"stamps", "a call has the subevents of its method, and no others"},
    RuleText{"respects nodes", "local arguments are on the caller's node, remote ones on the node named"},
    RuleText{"rf source", "a read names a write of the same word and value"},
    RuleText{"initial value", "a read from no write sees 0"},
    RuleText{"mo total", "the writes of a word form one chain"},
    RuleText{"copied value", "a put, get or broadcast writes what it read"},
    RuleText{"returned value", "a call returns what it read and writes its argument"},
    RuleText{"rao total", "the atomics of a node are executed in one order"},
    RuleText{"atomicity",
             "no other atomic comes between the halves of a remote atomic, and it writes what follows from its read"},
    RuleText{"once", "a remote atomic is executed once, whatever is lost"},
    RuleText{"mixed access", "words of atomics are written by atomics only"},
    RuleText{"incomplete", "a wait returns only when the operations waited for have written"},
    RuleText{"disjoint", "no call reads what another one wrote for its own use"},
    RuleText{"own write", "a thread sees its own writes to a shared variable"},
    RuleText{"participants", "only participants use a barrier or ring buffer"},
    RuleText{"barrier count", "nobody leaves a barrier that a participant has not reached"},
    RuleText{"message order", "each message is received at most once a reader, in order, none skipped"},
    RuleText{"message value", "a message received is the one submitted"},
    RuleText{"torn read", "a successful read returns a tuple that some write wrote"},
    RuleText{"mutual exclusion", "a lock has at most one holder"},
    RuleText{"lock class", "a lock's class covers what its holders do under it"},
    RuleText{"linearisability", "the calls on a key take effect one at a time, between begin and end"},
    RuleText{"promise", "what a library call promises holds in its implementation"},
    RuleText{"budget", "the check stays within its stated bound"},
};
static_assert(kRules.size() == static_cast<std::size_t>(Rule::budget) + 1);

}  // namespace

std::string_view name(Rule rule) { return kRules[static_cast<std::size_t>(rule)].name; }
std::string_view meaning(Rule rule) { return kRules[static_cast<std::size_t>(rule)].meaning; }

}  // namespace loco::model
