/* critical_calls.h: loads and stores in operations that are atomic by transactions, or by other means. Included where
 * transaction.h has been, and the type `critical`, with CRITICAL_TRANSACTIONS, has been declared. */
#ifndef APPS_COMMON_CRITICAL_CALLS_H
#define APPS_COMMON_CRITICAL_CALLS_H

static inline int64_t critical_load(critical with, const int64_t* at) {
  return with == CRITICAL_TRANSACTIONS ? hiroba_tx_load_int64(at) : *at;
}
static inline void critical_store(critical with, int64_t* at, int64_t value) {
  if (with == CRITICAL_TRANSACTIONS) hiroba_tx_store_int64(at, value);
  else *at = value;
}

static inline void* critical_load_pointer(critical with, void* const* at) {
  return with == CRITICAL_TRANSACTIONS ? hiroba_tx_load_pointer(at) : *at;
}
static inline void critical_store_pointer(critical with, void** at, void* value) {
  if (with == CRITICAL_TRANSACTIONS) hiroba_tx_store_pointer(at, value);
  else *at = value;
}

#endif
