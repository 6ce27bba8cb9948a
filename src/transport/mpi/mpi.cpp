// The wire over any MPI, by two-sided messages only: one-sided MPI fails or hangs in too many installations. Compiled
// once for each MPI that is found, because their binary interfaces differ.
//
// Frames travel on one communicator with receives posted ahead, bulk data on another. All calls are made under the
// engine's lock, so MPI_THREAD_SERIALIZED is enough unless the program calls MPI itself.
#define OMPI_SKIP_MPICXX 1  // only the C interface
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "transport/net/wire.hpp"

namespace hiroba {

namespace {

std::string explain(int error) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(error, text, &length);
  return std::string(text, static_cast<size_t>(length));
}

const char* level_name(int level) {
  return level == MPI_THREAD_SINGLE       ? "MPI_THREAD_SINGLE"
         : level == MPI_THREAD_FUNNELED   ? "MPI_THREAD_FUNNELED"
         : level == MPI_THREAD_SERIALIZED ? "MPI_THREAD_SERIALIZED"
                                          : "MPI_THREAD_MULTIPLE";
}

// Requests in flight, with what has to be known of each when it ends; kept dense for MPI_Testsome.
template <typename Note>
class Requests {
 public:
  size_t count() const { return requests_.size(); }
  void add(MPI_Request request, const Note& note) {
    requests_.push_back(request);
    notes_.push_back(note);
  }

  void wait() { MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE); }

  // Calls ended(note) for every request that has ended; false if MPI reports an error.
  template <typename Ended>
  bool test(const Ended& ended) {
    if (requests_.empty()) return true;
    indices_.resize(requests_.size());
    int finished = 0;
    const int error = MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &finished, indices_.data(),
                                   MPI_STATUSES_IGNORE);
    if (error != MPI_SUCCESS) return false;
    if (finished == MPI_UNDEFINED || finished <= 0) return true;
    std::vector<Note> done;  // reported when this is in order again, because a report may add requests
    for (int i = 0; i < finished; ++i) done.push_back(notes_[static_cast<size_t>(indices_[static_cast<size_t>(i)])]);
    size_t kept = 0;
    for (size_t i = 0; i < requests_.size(); ++i)
      if (requests_[i] != MPI_REQUEST_NULL) requests_[kept] = requests_[i], notes_[kept] = notes_[i], ++kept;
    requests_.resize(kept);
    notes_.resize(kept);
    for (const Note& note : done) ended(note);
    return true;
  }

 private:
  std::vector<MPI_Request> requests_;
  std::vector<Note> notes_;
  std::vector<int> indices_;
};

class MpiWire final : public Wire {
 public:
  std::string describe() const override {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    MPI_Get_library_version(text, &length);
    std::string line(text, std::min(static_cast<size_t>(length), std::strcspn(text, ",\n")));
    for (char& c : line)
      if (c == '\t') c = ' ';
    return line;
  }

  Status open(const Start& start) override {
    hooks_ = start.hooks;
    HIROBA_TRY(initialise(start.program_uses_library));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    for (MPI_Comm* comm : {&frames_, &bulk_}) {
      if (const int error = MPI_Comm_dup(MPI_COMM_WORLD, comm); error != MPI_SUCCESS)
        return Status::error("MPI_Comm_dup: " + explain(error));
      MPI_Comm_set_errhandler(*comm, MPI_ERRORS_RETURN);
    }
    watch_for_finalize();
    arriving_ = std::make_unique<Frame[]>(posted);
    for (size_t slot = 0; slot < posted; ++slot) post(slot);
    return {};
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  Status allgather(const void* mine, void* all, size_t bytes) override {
    const int n = static_cast<int>(bytes);
    const int error = MPI_Allgather(mine, n, MPI_BYTE, all, n, MPI_BYTE, frames_);
    return error == MPI_SUCCESS ? Status() : Status::error("MPI_Allgather: " + explain(error));
  }

  size_t make_communicator(int rank, void* out, size_t room) override {
    if (room < sizeof(MPI_Comm)) return 0;
    if (program_ == MPI_COMM_NULL) MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &program_);
    *static_cast<MPI_Comm*>(out) = program_;
    return sizeof(MPI_Comm);
  }

  void close(bool orderly) override {
    if (!orderly) return;  // whoever ends the job ends the processes
    watched_ = false;
    MPI_Comm_delete_attr(MPI_COMM_SELF, watch_);
    MPI_Comm_free_keyval(&watch_);
    if (program_ != MPI_COMM_NULL) MPI_Comm_free(&program_);
    sending_.wait();
    moving_.wait();
    MPI_Barrier(frames_);
    for (MPI_Request& request : receives_) {
      MPI_Cancel(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Comm_free(&frames_);
    MPI_Comm_free(&bulk_);
    if (ours_ && !leave_hydra()) MPI_Finalize();
  }

  bool send(int to, const void* frame, size_t size) override {
    if (failed_) return true;
    if (free_.empty() && sending_.count() >= most_in_flight) return false;
    std::unique_ptr<Frame> copy = free_.empty() ? std::make_unique<Frame>() : std::move(free_.back());
    if (!free_.empty()) free_.pop_back();
    std::memcpy(copy->data(), frame, size);
    MPI_Request request;
    int done = 0;
    int error = MPI_Isend(copy->data(), static_cast<int>(size), MPI_BYTE, to, 0, frames_, &request);
    if (error == MPI_SUCCESS) error = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (error != MPI_SUCCESS) fail("sending", error);
    if (done != 0 || failed_) free_.push_back(std::move(copy));
    else sending_.add(request, copy.release());
    return true;
  }

  void send_bulk(int to, uint32_t tag, const void* data, size_t bytes, uint64_t ticket) override {
    if (failed_) return;
    MPI_Request request;
    const int error = MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, to, static_cast<int>(tag), bulk_, &request);
    if (error != MPI_SUCCESS) return fail("sending", error);
    moving_.add(request, ticket);
  }

  void recv_bulk(int from, uint32_t tag, void* data, size_t bytes, uint64_t ticket) override {
    if (failed_) return;
    MPI_Request request;
    const int error = MPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, from, static_cast<int>(tag), bulk_, &request);
    if (error != MPI_SUCCESS) return fail("receiving", error);
    moving_.add(request, ticket);
  }

  bool poll() override {
    bool any = false;
    for (int most = posted; most > 0 && !failed_ && take_frame(); --most) any = true;
    if (!failed_ && !moving_.test([&](uint64_t ticket) {
          any = true;
          hooks_.done(hooks_.context, ticket);
        }))
      fail("moving data", MPI_ERR_OTHER);
    if (!failed_ && !sending_.test([&](Frame* frame) { free_.emplace_back(frame); })) fail("sending", MPI_ERR_OTHER);
    return any;
  }

 private:
  // MPI_Finalize of MPICH 4.0 over TCP often never returns: early ranks wait in Hydra's barrier, where they do not
  // answer the late ones. All ranks have met just before this, so it is enough to tell Hydra that we leave (PMI-1,
  // "finalize").
  bool leave_hydra() const {
    const char* const descriptor = std::getenv("PMI_FD");
    if (descriptor == nullptr || std::getenv("SLURM_MPI_TYPE") != nullptr || !describe().starts_with("MPICH"))
      return false;
    constexpr char word[] = "cmd=finalize\n";
    char answer[256];
    const int fd = std::atoi(descriptor);
    return write(fd, word, sizeof word - 1) == sizeof word - 1 && read(fd, answer, sizeof answer) > 0;
  }

  using Frame = std::array<char, max_frame>;
  static constexpr size_t posted = 32, most_in_flight = 1024;

  Status initialise(bool program_uses_mpi) {
    int flag = 0, level = MPI_THREAD_SINGLE;
    MPI_Initialized(&flag);
    if (flag != 0) {
      MPI_Query_thread(&level);
      if (level == MPI_THREAD_MULTIPLE) return {};
      return Status::error(
          format("the program has initialised MPI with %s, and Hiroba calls MPI from threads of its "
                 "own; use MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided)",
                 level_name(level)));
    }
    const int wanted = program_uses_mpi ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED;
    MPI_Init_thread(nullptr, nullptr, wanted, &level);
    ours_ = true;
    if (level >= wanted) return {};
    return Status::error(format("this MPI offers %s, and %s is needed", level_name(level), level_name(wanted)));
  }

  // Attributes of MPI_COMM_SELF are deleted first of all in MPI_Finalize.
  void watch_for_finalize() {
    MPI_Comm_create_keyval(
        MPI_COMM_NULL_COPY_FN,
        [](MPI_Comm, int, void* self, void*) {
          auto& wire = *static_cast<MpiWire*>(self);
          if (wire.watched_)
            wire.hooks_.failed(wire.hooks_.context,
                               "the program calls MPI_Finalize while Hiroba still uses MPI; call sms_shutdown first");
          return MPI_SUCCESS;
        },
        &watch_, nullptr);
    MPI_Comm_set_attr(MPI_COMM_SELF, watch_, this);
    watched_ = true;
  }

  void post(size_t slot) {
    const int error =
        MPI_Irecv(arriving_[slot].data(), max_frame, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, frames_, &receives_[slot]);
    if (error != MPI_SUCCESS) fail("receiving", error);
  }

  // Receives match in the order they were posted, so it is enough to look at the oldest.
  bool take_frame() {
    int arrived = 0, size = 0;
    MPI_Status status;
    const int error = MPI_Test(&receives_[oldest_], &arrived, &status);
    if (error != MPI_SUCCESS) fail("receiving", error);
    if (arrived == 0 || failed_) return false;
    MPI_Get_count(&status, MPI_BYTE, &size);
    hooks_.frame(hooks_.context, status.MPI_SOURCE, arriving_[oldest_].data(), static_cast<size_t>(size));
    post(oldest_);
    oldest_ = (oldest_ + 1) % posted;
    return true;
  }

  void fail(const char* doing, int error) {
    if (failed_) return;
    failed_ = true;
    hooks_.failed(hooks_.context, (std::string("MPI failed in ") + doing + ": " + explain(error)).c_str());
  }

  Hooks hooks_ = {};
  int rank_ = 0, size_ = 1;
  bool ours_ = false, failed_ = false, watched_ = false;
  int watch_ = MPI_KEYVAL_INVALID;
  MPI_Comm frames_ = MPI_COMM_NULL, bulk_ = MPI_COMM_NULL, program_ = MPI_COMM_NULL;
  std::unique_ptr<Frame[]> arriving_;
  std::array<MPI_Request, posted> receives_;
  size_t oldest_ = 0;
  std::vector<std::unique_ptr<Frame>> free_;
  Requests<Frame*> sending_;
  Requests<uint64_t> moving_;
};

Wire* make() { return new MpiWire; }

constexpr WirePlugin plugin = {HIROBA_VERSION, "mpi", make};

}  // namespace
}  // namespace hiroba

extern "C" __attribute__((visibility("default"))) const hiroba::WirePlugin* HIROBA_WIRE_PLUGIN() {
  return &hiroba::plugin;
}
