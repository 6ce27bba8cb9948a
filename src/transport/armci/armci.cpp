// The wire over ARMCI-MPI: its one-sided operations on all memory of the processes. ARMCI has no messages of its own,
// so frames and bulk data use the MPI below it, as in ../mpi.
//
// ARMCI accesses only memory that it has allocated itself. ARMCI-MPI asks MPI for that memory, by MPI_Alloc_mem, and
// makes a window of it; the linker wraps that function with ours, which returns all addresses of the process. This
// touches and registers nothing: over networks without RDMA, MPI's one-sided operations are messages that the owner's
// MPI executes. (Over RDMA, MPI would try to register all of it, and fail: then UCX_TLS has to prevent that.)
//
// ARMCI's words (ARMCI_Rmw) are not used: ARMCI has no compare-and-swap, and its operations are not atomic with the
// processor's, which ranks of the owner's node use.
#include "transport/mpi/mpi_wire.hpp"

extern "C" {
#include <armci.h>
}

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "transport/transport.hpp"
#include "transport/wire/address_handles.hpp"

namespace {
// `offered`: what MPI_Alloc_mem returns while ARMCI opens all addresses; `given`: what MPI_Free_mem ignores.
void *offered = nullptr, *given = nullptr;
}  // namespace

extern "C" {
int __real_MPI_Alloc_mem(MPI_Aint size, MPI_Info info, void* pointer);
int __wrap_MPI_Alloc_mem(MPI_Aint size, MPI_Info info, void* pointer) {
  if (offered == nullptr) return __real_MPI_Alloc_mem(size, info, pointer);
  *static_cast<void**>(pointer) = given = offered;
  return MPI_SUCCESS;
}
int __real_MPI_Free_mem(void* memory);
int __wrap_MPI_Free_mem(void* memory) { return memory == given ? MPI_SUCCESS : __real_MPI_Free_mem(memory); }
// Debian's archive is not built for shared libraries: it would need a copy of this C library variable in the program.
extern FILE *__real_stderr, *__real_stdout, *__wrap_stderr, *__wrap_stdout;
FILE *__wrap_stderr = __real_stderr, *__wrap_stdout = __real_stdout;
}

namespace hiroba {

namespace {

class ArmciWire final : public MpiWire {
 public:
  std::string describe() const override { return "ARMCI on " + MpiWire::describe(); }

  Status open(const Start& start) override {
    HIROBA_TRY(MpiWire::open(start));
    setenv("ARMCI_USE_WIN_ALLOCATE", "0", 1);  // else MPI chooses the memory
    setenv("ARMCI_RMA_ATOMICITY", "0", 0);     // puts need not be atomic
    if (ARMCI_Init_thread_comm(start.program_uses_library ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED,
                               communicator()) != 0)
      return Status::error("ARMCI does not start");
    std::vector<void*> bases(static_cast<size_t>(size()));
    offered = reinterpret_cast<void*>(first_address);
    const int error = ARMCI_Malloc(bases.data(), last_address - first_address);
    offered = nullptr;
    return error == 0 ? Status() : Status::error("ARMCI cannot make memory accessible (error %d)", error);
  }

  void close(bool silent) override {
    ARMCI_Free(reinterpret_cast<void*>(first_address));
    ARMCI_Finalize();
    MpiWire::close(silent);
  }

  bool poll() override {
    // A put is complete when its owner has been asked; one fence covers all puts.
    if (!putting_.empty()) ARMCI_AllFence();
    const bool any = !putting_.empty() || !finished_.empty();
    for (std::vector<uint64_t>* const tickets : {&putting_, &finished_}) {
      std::vector<uint64_t> ended;
      ended.swap(*tickets);
      for (const uint64_t ticket : ended) finish(ticket);
    }
    return MpiWire::poll() || any;
  }

  Remote remote() const override { return {.memory = true, .needs_owner = true, .accumulate = true}; }
  Status expose(void*, size_t, std::vector<char>& key) override { return key.assign(1, 0), Status(); }
  int import(int owner, uint64_t address, const std::vector<char>&) override { return handles_.add(owner, address); }
  void forget(int handle) override { handles_.drop(handle); }

  void put(int handle, uint64_t offset, const void* from, size_t bytes, uint64_t ticket) override {
    const auto [owner, to] = handles_.at(handle, offset);
    for (size_t done = 0; done < bytes; done += max_bulk)
      check(ARMCI_Put(at(from) + done, to + done, static_cast<int>(std::min(bytes - done, max_bulk)), owner),
            "putting");
    putting_.push_back(ticket);
  }
  void get(int handle, uint64_t offset, void* to, size_t bytes, uint64_t ticket) override {
    const auto [owner, from] = handles_.at(handle, offset);
    for (size_t done = 0; done < bytes; done += max_bulk)
      check(ARMCI_Get(from + done, at(to) + done, static_cast<int>(std::min(bytes - done, max_bulk)), owner),
            "getting");
    finished_.push_back(ticket);
  }

  bool has_remote_strided(const Walk& walk) const override { return Levels(walk).nested; }
  void put_strided(int handle, uint64_t offset, const void* from, const Walk& walk, uint64_t ticket) override {
    const auto [owner, to] = handles_.at(handle, offset);
    Levels l(walk);
    check(ARMCI_PutS(at(from), l.from, to, l.to, l.count, l.levels, owner), "putting");
    putting_.push_back(ticket);
  }
  void get_strided(int handle, uint64_t offset, void* to, const Walk& walk, uint64_t ticket) override {
    const auto [owner, from] = handles_.at(handle, offset);
    Levels l(walk);
    check(ARMCI_GetS(from, l.from, to, l.to, l.count, l.levels, owner), "getting");
    finished_.push_back(ticket);
  }

  void accumulate(int handle, uint64_t offset, const void* from, Number type, size_t count, uint64_t ticket) override {
    const auto [owner, to] = handles_.at(handle, offset);
    int one_int = 1;
    long one_long = 1;
    float one_float = 1;
    double one_double = 1;
    struct Kind {
      int type;
      void* scale;
      size_t size;
    };
    const Kind kinds[] = {{ARMCI_ACC_INT, &one_int, 4},
                          {ARMCI_ACC_LNG, &one_long, 8},
                          {ARMCI_ACC_FLT, &one_float, 4},
                          {ARMCI_ACC_DBL, &one_double, 8}};
    const Kind& kind = kinds[static_cast<size_t>(type)];
    check(ARMCI_Acc(kind.type, kind.scale, at(from), to, static_cast<int>(count * kind.size), owner), "accumulating");
    putting_.push_back(ticket);
  }

 private:
  // All addresses of a process except the first page, which no process maps.
  static constexpr long first_address = 4096, last_address = long{1} << 47;

  static char* at(const void* local) { return static_cast<char*>(const_cast<void*>(local)); }
  void check(int error, const char* doing) {
    if (error != 0) fail(doing, MPI_ERR_OTHER);
  }

  // A walk as ARMCI has it: innermost dimension first, the bytes of a block as count 0. ARMCI-MPI makes arrays within
  // arrays of the strides, so each has to be a multiple of the one inside it (`nested`). Its operations on lists of
  // pieces would take the others, but one by one, or with displacements of 32 bits: packed messages are better.
  struct Levels {
    explicit Levels(const Walk& walk) : levels(walk.dims), nested(walk.dims <= most) {
      count[0] = static_cast<int>(walk.block);
      for (int d = 0; d < walk.dims && nested; ++d) {
        const int outer = walk.dims - 1 - d;
        count[d + 1] = static_cast<int>(walk.count[outer]);
        nested = fits(walk.to, outer, walk) && fits(walk.from, outer, walk);
        to[d] = static_cast<int>(walk.to[outer]), from[d] = static_cast<int>(walk.from[outer]);
      }
    }
    static bool fits(const int64_t* stride, int d, const Walk& walk) {
      const bool innermost = d == walk.dims - 1;
      const int64_t inside = innermost ? 1 : stride[d + 1];
      const int64_t extent = innermost ? static_cast<int64_t>(walk.block) : walk.count[d + 1] * inside;
      return stride[d] > 0 && stride[d] <= INT_MAX && stride[d] % inside == 0 && stride[d] >= extent;
    }
    static constexpr int most = 7;  // ARMCI's limit
    int levels;
    bool nested;
    int count[most + 1] = {}, to[most] = {}, from[most] = {};
  };

  AddressHandles handles_;
  std::vector<uint64_t> putting_, finished_;  // tickets of puts that no fence has covered; of operations that have
                                              // ended
};

}  // namespace

HIROBA_WIRE_PLUGIN(ArmciWire, WirePlugin::always, true)

}  // namespace hiroba
