// libefa.so.1: functions that the simulated NIC does not have. Programs that bind all symbols at start need the names.
#include "exec/shim/stubs/stubs.hpp"

LOCO_NULL_OF(efadv_cq_from_ibv_cq_ex)
LOCO_NULL_OF(efadv_create_cq)
LOCO_NULL_OF(efadv_create_driver_qp)
LOCO_NULL_OF(efadv_create_qp_ex)
LOCO_ERROR_OF(efadv_query_ah)
LOCO_ERROR_OF(efadv_query_device)
LOCO_ERROR_OF(efadv_query_mr)
