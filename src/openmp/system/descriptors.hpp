// Descriptors of the program. Each rank gives numbers of its own to what the program opens there, so a number names one
// open file in the whole job; a rank that uses the number of another one takes the open file from its process, with the
// same position. 0, 1 and 2 are each process's own, and numbers below those of the ranks are rank 0's.
//
// Owner: the process (instance<Descriptors>). Thread-safe after begin().
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <string>

#include "memory/memory.hpp"

namespace hiroba::openmp {

class Descriptors {
 public:
  Status begin(Memory& memory);  // collective
  // Gives a descriptor that this process has opened for the program a number of the rank; returns that, or the negative
  // result of a call that has failed.
  int adopt(int descriptor);
  // The same for a stream, in which the C library has a descriptor.
  void adopt(FILE* stream);
  bool is_own(int descriptor) const;
  // From now on adopt() closes no descriptor of a file, because that would end the locks of the file that this process
  // has by fcntl(). What it has kept is closed by forget(), when the program closes its own.
  void keep_for_locks() { keeps_ = true; }
  void forget(int descriptor);
  // Returns a descriptor of this process for one of another rank, to be closed; -1, with errno, and told in a line, if
  // that is not possible.
  int take(int descriptor) const;
  // The same for any descriptor of the process of a rank, without a line.
  int take(int rank, int descriptor) const;
  // Names of descriptors of other ranks in /proc/self/fd or /dev/fd become those in the folder of their process, if
  // that is on this machine.
  std::string name_here(const char* name) const;
  // Makes 0, 1 or 2 here what it is in rank 0, if rank 0 is on this machine.
  void take_standard(int descriptor) const;

 private:
  struct Process {  // of each rank, in shared memory
    int64_t number;
    uint64_t machine;
  };
  int owner(int descriptor) const;
  // Returns 0 if it is on another machine.
  pid_t process(int rank) const;

  Memory* memory_ = nullptr;
  Process* processes_ = nullptr;
  int least_ = 0;             // of rank 0: below it are numbers of the runtime's
  int first_ = 0, each_ = 0;  // numbers of rank 1, and of each further one
  std::atomic<bool> keeps_ = false;
  std::mutex lock_;
  std::map<int, int> kept_;  // by the program's number
};

// A descriptor of the program, as one of this process, while it lives.
class Borrowed {
 public:
  explicit Borrowed(int descriptor);
  Borrowed(const Borrowed&) = delete;
  ~Borrowed();
  int here() const { return here_; }
  bool failed() const { return here_ < 0 && taken_; }

 private:
  bool taken_;
  int here_;
};

}  // namespace hiroba::openmp
