// The wire over any MPI, by two-sided messages only: one-sided MPI fails or hangs in too many installations. It is
// compiled once for each MPI that is found, because their binary interfaces differ.
//
// Frames have a tag of their own and preposted receives. There is one communicator for all, because creating another
// takes many ranks on few cores a quarter of a second. The engine's lock serializes all calls, so MPI_THREAD_SERIALIZED
// is enough unless the program calls MPI itself. Wires over libraries on top of MPI derive from this one.
#pragma once

#include <array>
#include <memory>

#include "transport/mpi/session.hpp"
#include "transport/wire/wire.hpp"

namespace hiroba {

// Requests in flight, each with a note that is reported when it ends; kept dense for MPI_Testsome.
template <typename Piggyback>
class RequestsInFlight {
 public:
  size_t count() const { return requests_.size(); }
  void add(MPI_Request request, const Piggyback& note) {
    requests_.push_back(request);
    notes_.push_back(note);
  }

  void wait() { MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE); }

  // Calls ended(note, status) for every request that has ended; returns false if MPI reports an error.
  template <typename Ended>
  bool test(const Ended& ended) {
    if (requests_.empty()) return true;
    indices_.resize(requests_.size());
    statuses_.resize(requests_.size());
    int finished = 0;
    const int error = MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &finished, indices_.data(),
                                   statuses_.data());
    if (error != MPI_SUCCESS) return false;
    if (finished == MPI_UNDEFINED || finished <= 0) return true;
    std::vector<std::pair<Piggyback, MPI_Status>>
        done;  // reported after requests_ is consistent again: a report may add requests
    for (size_t i = 0; i < static_cast<size_t>(finished); ++i) done.push_back({notes_[indices_[i]], statuses_[i]});
    size_t kept = 0;
    for (size_t i = 0; i < requests_.size(); ++i)
      if (requests_[i] != MPI_REQUEST_NULL) requests_[kept] = requests_[i], notes_[kept] = notes_[i], ++kept;
    requests_.resize(kept);
    notes_.resize(kept);
    for (const auto& [note, status] : done) ended(note, status);
    return true;
  }

 private:
  std::vector<MPI_Request> requests_;
  std::vector<Piggyback> notes_;
  std::vector<int> indices_;
  std::vector<MPI_Status> statuses_;
};

class MpiWire : public SessionWire {
 public:
  std::string describe() const override { return MpiSession::describe(); }
  Status open(const Start& start) override;
  void close(bool silent) override;
  bool send(int to, const void* frame, size_t size) override;
  size_t get_piece(size_t bytes, bool deferred) const override {
    return tcp_get_piece(bytes, deferred, small_piece < session_.at_once());
  }
  void send_bulk(int to, uint32_t tag, const void* data, size_t bytes, uint64_t ticket) override;
  void recv_bulk(int from, uint32_t tag, void* data, size_t bytes, uint64_t ticket) override;
  bool poll() override;

 protected:
  MPI_Comm communicator() const { return session_.communicator(); }
  void fail(const char* doing, int error);
  void finish(uint64_t ticket) { hooks_.done(hooks_.context, ticket); }
  // Waits for all operations under way; nothing is sent after it.
  void settle();

 private:
  static constexpr size_t posted = 32, most_in_flight = 1024;

  void post(size_t slot);
  bool take_frame();

  Hooks hooks_ = {};
  bool failed_ = false;
  char* arriving(size_t slot) const { return arriving_.get() + slot * largest_frame; }

  std::unique_ptr<char[]> arriving_;
  std::array<MPI_Request, posted> receives_;
  size_t oldest_ = 0;
  std::vector<std::unique_ptr<char[]>> free_;
  RequestsInFlight<char*> sending_;
  RequestsInFlight<uint64_t> moving_;  // tickets
};

}  // namespace hiroba
