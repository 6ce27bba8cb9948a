// Shared arrays at file scope, which sms_startup allocates, and the beginning and end of programs with directives.
#include <cstdlib>

#include "base/log.hpp"
#include "mpc.h"
#include "notation/sms/process.hpp"

#define SMINT_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

// Declarations come from constructors, so before anything that could own them.
smint_array* first_array = nullptr;
smint_array** last_array = &first_array;

void place_declared_arrays() {
  for (const smint_array* array = first_array; array != nullptr; array = array->next) array->place();
  if (first_array != nullptr) sms_barrier();  // some have first values
}

void end_with_program(int status, void*) {
  if (status == 0 && hiroba::process_started()) sms_shutdown();
}

}  // namespace

SMINT_EXPORT void smint_declare(smint_array* array) {
  if (hiroba::process_started())
    hiroba::end_job(1, "smint_declare after sms_startup, which allocates what was declared; load the library earlier");
  hiroba::at_start(place_declared_arrays);
  array->next = nullptr;
  *last_array = array;
  last_array = &array->next;
}

SMINT_EXPORT void smint_start(int* argc, char*** argv) {
  if (hiroba::process_started()) return;
  sms_startup(argc, argv);
  on_exit(end_with_program, nullptr);
}

SMINT_EXPORT void* smint_allocate(const int64_t dim[], const int64_t div[], size_t elemsize, int first, int count,
                                  const char* name, const char* place) {
  if (first >= sms_nprocs) first %= sms_nprocs;
  void* const array = sms_mapalloc_large_at(dim, div, elemsize, first, count, place);
  sms_name(array, name);
  return array;
}

SMINT_EXPORT int smint_single(void) {
  sms_barrier();
  return sms_rank == 0;
}

SMINT_EXPORT int mpc_init(int* argc, char*** argv) { return sms_startup(argc, argv); }
SMINT_EXPORT void mpc_barrier(void) { sms_barrier(); }
SMINT_EXPORT int mpc_exit(void) { return sms_shutdown(); }
