// Symbols that rdma-core's drivers need from libibverbs. Programs that are linked with a driver (perftest with that of
// HNS) load it, though the simulated NIC has none. The driver registers itself, which does nothing here, and calls none
// of the others, which libibverbs.map lists.

extern "C" {
extern __attribute__((visibility("default"))) bool verbs_allow_disassociate_destroy;
bool verbs_allow_disassociate_destroy = false;
}
