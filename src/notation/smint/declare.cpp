// Shared arrays at file scope, which sms_startup allocates, and the beginning and end of programs with directives.
#include <algorithm>
#include <cstdlib>

#include "base/log.hpp"
#include "base/record/record.hpp"
#include "mpc/mpc.h"
#include "notation/smint/smint_process.hpp"

namespace hiroba {

namespace {

// Constructors create the declarations, so no object exists that could own them.
smint_array* first_array = nullptr;
smint_array** last_array = &first_array;

class LoopsModel final : public Model {
 public:
  Loops loops;

  Status start(Memory& memory, const Options&) override {
    memory_ = &memory;
    return {};
  }
  void begin() override {
    for (const smint_array* array = first_array; array != nullptr; array = array->next) array->place();
    if (first_array != nullptr) sms_barrier();  // some have first values
  }
  Status before_barrier() override { return memory_->checking() ? loops.find_races(*memory_) : Status(); }

 private:
  Memory* memory_ = nullptr;
};

}  // namespace

Loops& loops() { return used_instance<LoopsModel>().loops; }
Model& loops_model() { return instance<LoopsModel>(); }

SMINT_EXPORT void smint_declare(smint_array* array) {
  if (process_started())
    end_job(1, "smint_declare after sms_startup, which allocates what was declared; load the library earlier");
  array->next = nullptr;
  *last_array = array;
  last_array = &array->next;
}

SMINT_EXPORT void smint_start(int* argc, char*** argv) {
  if (process_started()) return;
  sms_startup(argc, argv);
  loops();  // in use on all ranks: option check compares their loops, and some ranks may have none
  if (recording()) run_record->directives = 1;
  end_at_exit([](int status) {
    if (status == 0) sms_shutdown();
  });
}

SMINT_EXPORT void* smint_allocate(const int64_t dim[], const int64_t div[], size_t elemsize, int first, int count,
                                  const char* name, const char* place) {
  int64_t pieces[SMINT_DIMS + 1] = {}, all = 1;
  int dims = 0;
  while (dims < SMINT_DIMS && div[dims] != -1) {
    pieces[dims] = std::min(div[dims], std::max<int64_t>(dim[dims], 1));
    all *= std::max<int64_t>(pieces[dims++], 1);
  }
  pieces[dims] = -1;
  // In a job with fewer ranks than the map names, ranks count modulo NPROCS, and there are fewer pieces.
  if (first >= sms_nprocs) first %= sms_nprocs;
  if (count > sms_nprocs - first) first = std::max(0, sms_nprocs - count);
  count = std::min(count, sms_nprocs - first);
  for (int d = dims - 1; d >= 0 && count > 0 && all > count; --d) {
    const int64_t others = all / pieces[d];
    pieces[d] = std::max<int64_t>(1, count / others);
    all = others * pieces[d];
  }
  void* const array = sms_mapalloc_large_at(dim, pieces, elemsize, first, count, place);
  sms_name(array, name);
  return array;
}

SMINT_EXPORT void* smint_scalars(void* array, size_t bytes) {
  sms_set_scalar(array, bytes);
  return array;
}

SMINT_EXPORT int smint_single(void) {
  const RecordedCall recorded;
  sms_barrier();
  return sms_rank == 0;
}

SMINT_EXPORT int mpc_init(int* argc, char*** argv) { return sms_startup(argc, argv); }
SMINT_EXPORT void mpc_barrier(void) {
  const RecordedCall recorded;
  sms_barrier();
}
SMINT_EXPORT int mpc_exit(void) { return sms_shutdown(); }

}  // namespace hiroba
