#include "transport/ucx/pmix.hpp"

#include <pmix.h>

#include <cstdlib>
#include <cstring>

namespace hiroba {

namespace {

Status check(pmix_status_t result, const char* doing) {
  if (result == PMIX_SUCCESS) return {};
  return Status::error("PMIx, by which the launcher tells processes of each other, failed in %s: %s", doing,
                       PMIx_Error_string(result));
}

class Pmix final : public PmixRendezvous {
 public:
  Status join() {
    HIROBA_TRY(check(PMIx_Init(&self_, nullptr, 0), "PMIx_Init"));
    pmix_value_t* value = nullptr;
    const pmix_proc_t all = process(PMIX_RANK_WILDCARD);
    HIROBA_TRY(check(PMIx_Get(&all, PMIX_JOB_SIZE, nullptr, 0, &value), "PMIx_Get of the job's size"));
    size_ = static_cast<int>(value->data.uint32);
    PMIX_VALUE_RELEASE(value);
    return {};
  }

  int rank() const override { return static_cast<int>(self_.rank); }
  int size() const override { return size_; }

  // Each round has a key of its own, because the launcher's daemons may cache a fetched value.
  Status allgather(const void* mine, void* all, size_t bytes) override {
    const std::string key = format("hiroba.%u", round_++);
    pmix_value_t value;
    PMIX_VALUE_CONSTRUCT(&value);
    value.type = PMIX_BYTE_OBJECT;
    value.data.bo.bytes = const_cast<char*>(static_cast<const char*>(mine));  // only read
    value.data.bo.size = bytes;
    HIROBA_TRY(check(PMIx_Put(PMIX_GLOBAL, key.c_str(), &value), "PMIx_Put"));
    HIROBA_TRY(check(PMIx_Commit(), "PMIx_Commit"));
    const bool collect = true;
    pmix_info_t wish;
    PMIX_INFO_CONSTRUCT(&wish);
    PMIX_INFO_LOAD(&wish, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
    const pmix_status_t met = PMIx_Fence(nullptr, 0, &wish, 1);
    PMIX_INFO_DESTRUCT(&wish);
    HIROBA_TRY(check(met, "PMIx_Fence"));
    for (int r = 0; r < size_; ++r)
      HIROBA_TRY(fetch(r, key, static_cast<char*>(all) + static_cast<size_t>(r) * bytes, bytes));
    return {};
  }

  void leave() override { PMIx_Finalize(nullptr, 0); }

 private:
  pmix_proc_t process(pmix_rank_t rank) const {
    pmix_proc_t process;
    PMIX_LOAD_PROCID(&process, self_.nspace, rank);
    return process;
  }

  Status fetch(int rank, const std::string& key, char* to, size_t bytes) {
    const pmix_proc_t owner = process(static_cast<pmix_rank_t>(rank));
    pmix_value_t* value = nullptr;
    HIROBA_TRY(check(PMIx_Get(&owner, key.c_str(), nullptr, 0, &value), "PMIx_Get"));
    const bool whole = value->type == PMIX_BYTE_OBJECT && value->data.bo.size == bytes;
    if (whole) std::memcpy(to, value->data.bo.bytes, bytes);
    PMIX_VALUE_RELEASE(value);
    if (whole) return {};
    return Status::error("process %d of this job says something unexpected; do all run the same program?", rank);
  }

  pmix_proc_t self_ = {};
  int size_ = 0;
  unsigned round_ = 0;
};

}  // namespace

Status join_pmix(std::unique_ptr<PmixRendezvous>& out) {
  if (std::getenv("PMIX_NAMESPACE") == nullptr)
    return Status::error(
        "no launcher has told this process which others belong to its job; start the program with hirobarun, with "
        "mpirun of Open MPI, or with srun --mpi=pmix");
  auto pmix = std::make_unique<Pmix>();
  HIROBA_TRY(pmix->join());
  out = std::move(pmix);
  return {};
}

}  // namespace hiroba
