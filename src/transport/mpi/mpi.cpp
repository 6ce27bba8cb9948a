#include "transport/mpi/mpi_wire.hpp"

#include <algorithm>
#include <cstring>

namespace hiroba {

namespace {
constexpr int frame_tag = Wire::tags;  // after the tags of bulk data; MPI promises tags up to 32767
}

Status MpiWire::open(const Start& start) {
  hooks_ = start.hooks;
  HIROBA_TRY(session_.join(start));
  constexpr size_t own_heads = 4096;  // headers within MPI's eager limit
  largest_frame = std::clamp(session_.at_once(), max_frame + own_heads, most_in_frame + own_heads) - own_heads;
  arriving_ = std::make_unique_for_overwrite<char[]>(posted * largest_frame);
  for (size_t slot = 0; slot < posted; ++slot) post(slot);
  return {};
}

void MpiWire::settle() {
  sending_.wait();
  moving_.wait();
  MPI_Barrier(communicator());
}

void MpiWire::close(bool silent) {
  if (!silent) settle();
  for (MPI_Request& request : receives_) {
    if (request == MPI_REQUEST_NULL) continue;
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  session_.leave();
}

bool MpiWire::send(int to, const void* frame, size_t size) {
  if (failed_) return true;
  if (free_.empty() && sending_.count() >= most_in_flight) return false;
  std::unique_ptr<char[]> copy =
      free_.empty() ? std::make_unique_for_overwrite<char[]>(largest_frame) : std::move(free_.back());
  if (!free_.empty()) free_.pop_back();
  std::memcpy(copy.get(), frame, size);
  MPI_Request request;
  int done = 0;
  int error = MPI_Isend(copy.get(), static_cast<int>(size), MPI_BYTE, to, frame_tag, communicator(), &request);
  if (error == MPI_SUCCESS) error = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  if (error != MPI_SUCCESS) fail("sending", error);
  if (done != 0 || failed_) free_.push_back(std::move(copy));
  else sending_.add(request, copy.release());
  return true;
}

void MpiWire::send_bulk(int to, uint32_t tag, const void* data, size_t bytes, uint64_t ticket) {
  if (failed_) return;
  MPI_Request request;
  const int error =
      MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, to, static_cast<int>(tag), communicator(), &request);
  if (error != MPI_SUCCESS) return fail("sending", error);
  moving_.add(request, ticket);
}

void MpiWire::recv_bulk(int from, uint32_t tag, void* data, size_t bytes, uint64_t ticket) {
  if (failed_) return;
  MPI_Request request;
  const int error =
      MPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, from, static_cast<int>(tag), communicator(), &request);
  if (error != MPI_SUCCESS) return fail("receiving", error);
  moving_.add(request, ticket);
}

bool MpiWire::poll() {
  // Reposts the slot of the last poll's frame. Not done in that poll, because its receiver may have an answer to send.
  const size_t last = (oldest_ + posted - 1) % posted;
  if (receives_[last] == MPI_REQUEST_NULL) post(last);
  bool any = !failed_ && take_frame();  // one frame: a test in vain for another costs a system call
  if (!failed_ && !moving_.test([&](uint64_t ticket, const MPI_Status&) {
        any = true;
        hooks_.done(hooks_.context, ticket);
      }))
    fail("moving data", MPI_ERR_OTHER);
  if (!failed_ && !sending_.test([&](char* frame, const MPI_Status&) { free_.emplace_back(frame); }))
    fail("sending", MPI_ERR_OTHER);
  return any;
}

void MpiWire::post(size_t slot) {
  const int error = MPI_Irecv(arriving(slot), static_cast<int>(largest_frame), MPI_BYTE, MPI_ANY_SOURCE, frame_tag,
                              communicator(), &receives_[slot]);
  if (error != MPI_SUCCESS) fail("receiving", error);
}

// Receives match in the order of posting, so it is enough to test the oldest.
bool MpiWire::take_frame() {
  int arrived = 0, size = 0;
  MPI_Status status;
  const int error = MPI_Test(&receives_[oldest_], &arrived, &status);
  if (error != MPI_SUCCESS) fail("receiving", error);
  if (arrived == 0 || failed_) return false;
  MPI_Get_count(&status, MPI_BYTE, &size);
  hooks_.frame(hooks_.context, status.MPI_SOURCE, arriving(oldest_), static_cast<size_t>(size));
  oldest_ = (oldest_ + 1) % posted;
  return true;
}

void MpiWire::fail(const char* doing, int error) {
  if (failed_) return;
  failed_ = true;
  hooks_.failed(hooks_.context, (std::string("MPI failed in ") + doing + ": " + explain_mpi(error)).c_str());
}

}  // namespace hiroba
