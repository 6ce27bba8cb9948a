// The wire over ARMCI-MPI: its one-sided operations on the memory of nodes (node_memory.hpp); ARMCI has no messages of
// its own, so frames and bulk data are those of the MPI below it, as in ../mpi.
//
// ARMCI reaches memory that it has allocated itself. ARMCI-MPI asks MPI for that memory, by MPI_Alloc_mem, and makes a
// window of it; the linker puts a function of ours in between, which hands it the memory of the node instead. Nothing
// of that memory is touched or registered: over networks without RDMA, MPI's one-sided operations are messages that the
// owner's MPI carries out. (With RDMA it would try to register all of it, which open() cannot know; UCX_TLS keeps it
// from that.)
//
// Words (ARMCI_Rmw) are not used: ARMCI has no compare-and-swap, and its operations are not atomic with the
// processor's, which ranks of the owner's node use.
#include "transport/mpi/mpi_wire.hpp"

extern "C" {
#include <armci.h>
}

#include <array>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "transport/net/node_memory.hpp"

namespace {
// What MPI_Alloc_mem gives to ARMCI while cover() asks for memory, and what MPI_Free_mem leaves alone.
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
// Debian's archive is not made for shared libraries: it would have this variable of the C library copied into the
// program.
extern FILE *__real_stderr, *__real_stdout, *__wrap_stderr, *__wrap_stdout;
FILE *__wrap_stderr = __real_stderr, *__wrap_stdout = __real_stdout;
}

namespace hiroba {

namespace {

class ArmciWire final : public MpiWire, private NodeMemory {
 public:
  std::string describe() const override { return "ARMCI on " + MpiWire::describe(); }
  NodeMemory* node_memory() override { return this; }

  Status open(const Start& start) override {
    HIROBA_TRY(MpiWire::open(start));
    setenv("ARMCI_USE_WIN_ALLOCATE", "0", 1);  // else MPI chooses the memory
    setenv("ARMCI_RMA_ATOMICITY", "0", 0);     // puts need not be atomic
    if (ARMCI_Init_thread_comm(start.program_uses_library ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED,
                               communicator()) != 0)
      return Status::error("ARMCI does not start");
    return {};
  }

  void close(bool orderly) override {
    if (orderly && !bases_.empty()) ARMCI_Free(bases_[static_cast<size_t>(rank())]);
    if (orderly) ARMCI_Finalize();
    MpiWire::close(orderly);
  }

 private:
  Status cover(char* base, uint64_t extent) override {
    bases_.resize(static_cast<size_t>(size()));
    offered = base;
    const int error = ARMCI_Malloc(bases_.data(), static_cast<armci_size_t>(extent));
    offered = nullptr;
    return error == 0 ? Status() : Status::error(format("ARMCI cannot make memory accessible (error %d)", error));
  }

  char* at(int owner, uint64_t offset) const { return static_cast<char*>(bases_[static_cast<size_t>(owner)]) + offset; }

  void write(int owner, uint64_t to, const void* from, size_t bytes) override {
    check(ARMCI_Put(const_cast<void*>(from), at(owner, to), static_cast<int>(bytes), owner), "putting");
  }
  void read(void* to, int owner, uint64_t from, size_t bytes) override {
    check(ARMCI_Get(at(owner, from), to, static_cast<int>(bytes), owner), "getting");
  }
  void write_strided(int owner, uint64_t to, const void* from, const Strided& box) override {
    Box a(box);
    if (a.nested)
      return check(ARMCI_PutS(const_cast<void*>(from), a.local, at(owner, to), a.remote, a.count, a.levels, owner),
                   "putting");
    Pieces pieces(const_cast<void*>(from), at(owner, to), box);
    armci_giov_t vector = pieces.vector(true);
    check(ARMCI_PutV(&vector, 1, owner), "putting");
  }
  void read_strided(void* to, int owner, uint64_t from, const Strided& box) override {
    Box a(box);
    if (a.nested) return check(ARMCI_GetS(at(owner, from), a.remote, to, a.local, a.count, a.levels, owner), "getting");
    Pieces pieces(to, at(owner, from), box);
    armci_giov_t vector = pieces.vector(false);
    check(ARMCI_GetV(&vector, 1, owner), "getting");
  }
  void complete() override { ARMCI_AllFence(); }

  bool accumulates() const override { return true; }
  void accumulate(int owner, uint64_t to, const void* from, Number type, size_t count) override {
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
    check(ARMCI_Acc(kind.type, kind.scale, const_cast<void*>(from), at(owner, to), static_cast<int>(count * kind.size),
                    owner),
          "accumulating");
  }

  void check(int error, const char* doing) {
    if (error != 0) fail(doing, MPI_ERR_OTHER);
  }

  // A box as ARMCI has it: innermost dimension first, the bytes of a block as count 0. ARMCI makes arrays within arrays
  // of the strides, so each has to be a multiple of the one inside it (`nested`).
  struct Box {
    explicit Box(const Strided& box) : levels(box.dims) {
      count[0] = static_cast<int>(box.block_bytes);
      for (int d = 0; d < box.dims; ++d) {
        const int from = box.dims - 1 - d;
        count[d + 1] = static_cast<int>(box.count[from]);
        nested = nested && fits(box.local_stride, from, box) && fits(box.remote_stride, from, box);
        local[d] = static_cast<int>(box.local_stride[from]);
        remote[d] = static_cast<int>(box.remote_stride[from]);
      }
    }
    static bool fits(const ptrdiff_t* stride, int d, const Strided& box) {
      const bool innermost = d == box.dims - 1;
      const ptrdiff_t inside = innermost ? 1 : stride[d + 1];
      const size_t extent = innermost ? box.block_bytes : box.count[d + 1] * static_cast<size_t>(inside);
      return stride[d] > 0 && stride[d] <= INT_MAX && stride[d] % inside == 0 &&
             static_cast<size_t>(stride[d]) >= extent;
    }
    int levels;
    bool nested = true;
    int count[Strided::max_dims + 1] = {}, local[Strided::max_dims] = {}, remote[Strided::max_dims] = {};
  };

  // Any box, block by block.
  struct Pieces {
    Pieces(void* local, char* remote, const Strided& box) : bytes(box.block_bytes) {
      add(static_cast<char*>(local), remote, box, 0);
    }
    void add(char* near, char* far, const Strided& box, int d) {
      if (d == box.dims) {
        here.push_back(near);
        there.push_back(far);
        return;
      }
      for (size_t i = 0; i < box.count[d]; ++i)
        add(near + static_cast<ptrdiff_t>(i) * box.local_stride[d],
            far + static_cast<ptrdiff_t>(i) * box.remote_stride[d], box, d + 1);
    }
    armci_giov_t vector(bool put) {
      return {put ? here.data() : there.data(), put ? there.data() : here.data(), static_cast<int>(bytes),
              static_cast<int>(here.size())};
    }
    size_t bytes;
    std::vector<void*> here, there;
  };

  std::vector<void*> bases_;  // of the others' memory, by wire rank, as addresses there
};

Wire* make() { return new ArmciWire; }
constexpr WirePlugin plugin = {HIROBA_VERSION, "armci", make, true, true};

}  // namespace
}  // namespace hiroba

extern "C" __attribute__((visibility("default"))) const hiroba::WirePlugin* HIROBA_WIRE_PLUGIN() {
  return &hiroba::plugin;
}
