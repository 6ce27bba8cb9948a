#include "transport/mpi/session.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "transport/wire/strangers.hpp"
#include "transport/wire/ucx_transports.hpp"

namespace hiroba {

namespace {

const char* level_name(int level) {
  return level == MPI_THREAD_SINGLE       ? "MPI_THREAD_SINGLE"
         : level == MPI_THREAD_FUNNELED   ? "MPI_THREAD_FUNNELED"
         : level == MPI_THREAD_SERIALIZED ? "MPI_THREAD_SERIALIZED"
                                          : "MPI_THREAD_MULTIPLE";
}

}  // namespace

std::string explain_mpi(int error) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(error, text, &length);
  return std::string(text, static_cast<size_t>(length));
}

std::string MpiSession::describe() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  std::string line(text, std::min(static_cast<size_t>(length), std::strcspn(text, ",\n")));
  for (char& c : line)
    if (c == '\t') c = ' ';
  return line;
}

Status MpiSession::join(const Wire::Start& start) {
  start_ = start;
  const std::vector<int> others = listening_sockets();
  HIROBA_TRY(initialise(start.program_uses_library));
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  if (const int error = MPI_Comm_dup(MPI_COMM_WORLD, &ours_only_); error != MPI_SUCCESS)
    return Status::error("MPI_Comm_dup: " + explain_mpi(error));
  MPI_Comm_set_errhandler(ours_only_, MPI_ERRORS_RETURN);
  watch_for_finalize();
  if (started_by_us_ && !start.program_uses_library) HIROBA_TRY(keep_others_out(others));
  return {};
}

Status MpiSession::initialise(bool program_uses_mpi) {
  int flag = 0, level = MPI_THREAD_SINGLE;
  MPI_Initialized(&flag);
  if (flag != 0) {
    MPI_Query_thread(&level);
    if (level == MPI_THREAD_MULTIPLE) return {};
    return Status::error(
        "the program has initialised MPI with %s, and Hiroba calls MPI from threads of its own; use "
        "MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided)",
        level_name(level));
  }
  set_up_ucx(program_uses_mpi);
  const int wanted = program_uses_mpi ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED;
  MPI_Init_thread(nullptr, nullptr, wanted, &level);
  started_by_us_ = true;
  if (level >= wanted) return {};
  return Status::error("this MPI offers %s, and %s is needed", level_name(level), level_name(wanted));
}

// Configures MPICH on UCX as transport ucx does, for the reasons in ucx/context.hpp and ucx_transports.hpp. By default
// UCX uses rendezvous from 8 KiB on over TCP. A program that calls MPI itself may start processes on other machines.
void MpiSession::set_up_ucx(bool program_uses_mpi) {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  if (std::strstr(text, "ch4:ucx") == nullptr) return;
  const auto number = [](const char* name) { return std::getenv(name) == nullptr ? 0 : std::atoi(std::getenv(name)); };
  const int here = number("MPI_LOCALNRANKS"), all = number("PMI_SIZE");  // of Hydra
  UcxTransports chosen;
  if (here > 0 && here == all && !program_uses_mpi) chosen = ucx_transports_here(all);
  else if (shared_memory_has_room(std::max(here, 1))) chosen.transports = "^sysv";
  if (chosen.transports != nullptr) setenv("UCX_TLS", chosen.transports, 0);
  if (chosen.devices != nullptr) setenv("UCX_NET_DEVICES", chosen.devices, 0);
  const bool rdma = access("/sys/class/infiniband", F_OK) == 0;
  if (rdma || std::getenv("UCX_RNDV_THRESH") != nullptr) return;
  setenv("UCX_RNDV_THRESH", "128k", 0);
  // UCX warns about settings of transports that it does not use.
  if (chosen.transports == nullptr || std::strstr(chosen.transports, "tcp") == nullptr)
    setenv("UCX_TCP_RX_SEG_SIZE", "128k", 0);
  at_once_ = 128 << 10;
}

// The hosts' addresses go over the MPI itself.
Status MpiSession::keep_others_out(const std::vector<int>& others) {
  struct Everyone final : Rendezvous {
    explicit Everyone(MpiSession& of) : session(of) {}
    int rank() const override { return session.rank_; }
    int size() const override { return session.size_; }
    Status allgather(const void* mine, void* all, size_t bytes) override { return session.allgather(mine, all, bytes); }
    MpiSession& session;
  } everyone(*this);
  std::vector<Introduction> all;
  HIROBA_TRY(introduce(everyone, all));
  (void)keep_strangers_out(others, all);  // where the system does not, ports are as open as those of other programs
  return {};
}

// MPI_Finalize deletes the attributes of MPI_COMM_SELF before anything else.
void MpiSession::watch_for_finalize() {
  MPI_Comm_create_keyval(
      MPI_COMM_NULL_COPY_FN,
      [](MPI_Comm, int, void* self, void*) {
        auto& session = *static_cast<MpiSession*>(self);
        if (session.watched_)
          session.start_.hooks.failed(
              session.start_.hooks.context,
              format("the program calls MPI_Finalize while Hiroba still uses MPI; call %s first", session.start_.end)
                  .c_str());
        return MPI_SUCCESS;
      },
      &watch_, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, watch_, this);
  watched_ = true;
}

Status MpiSession::allgather(const void* mine, void* all, size_t bytes) {
  const int n = static_cast<int>(bytes);
  const int error = MPI_Allgather(mine, n, MPI_BYTE, all, n, MPI_BYTE, ours_only_);
  return error == MPI_SUCCESS ? Status() : Status::error("MPI_Allgather: " + explain_mpi(error));
}

size_t MpiSession::make_communicator(int rank, void* out, size_t room) {
  if (room < sizeof(MPI_Comm)) return 0;
  if (program_ == MPI_COMM_NULL) MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &program_);
  *static_cast<MPI_Comm*>(out) = program_;
  return sizeof(MPI_Comm);
}

void MpiSession::leave() {
  watched_ = false;
  MPI_Comm_delete_attr(MPI_COMM_SELF, watch_);
  MPI_Comm_free_keyval(&watch_);
  for (MPI_Comm* comm : {&program_, &ours_only_})
    if (*comm != MPI_COMM_NULL) MPI_Comm_free(comm);
  if (started_by_us_ && !leave_hydra()) MPI_Finalize();
}

// MPI_Finalize of MPICH 4.0 over TCP often never returns: early ranks wait in Hydra's barrier, where they do not answer
// late ones. All ranks have passed a barrier just before, so it suffices to send Hydra "finalize" (PMI-1).
bool MpiSession::leave_hydra() {
  const char* const descriptor = std::getenv("PMI_FD");
  if (descriptor == nullptr || std::getenv("SLURM_MPI_TYPE") != nullptr || !describe().starts_with("MPICH"))
    return false;
  constexpr char word[] = "cmd=finalize\n";
  char answer[256];
  const int fd = std::atoi(descriptor);
  return write(fd, word, sizeof word - 1) == sizeof word - 1 && read(fd, answer, sizeof answer) > 0;
}

}  // namespace hiroba
