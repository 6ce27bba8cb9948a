// The input of hirobarun, for rank 0 of a job that an mpirun starts on this machine: the open file itself, so that the
// rank reads as much as it wants, and the rest is left to whoever comes after it, as in a loop over lines. Open MPI's
// mpirun would read all of it, and its ranks inherit no files, so it is handed over by a socket.
//
// Owner: the process that waits for mpirun lends it, once; guard, which becomes rank 0, borrows it.
#pragma once

#include <string>

namespace hiroba {

class LentInput {
 public:
  LentInput() = default;
  LentInput(const LentInput&) = delete;
  ~LentInput();

  // Returns false if the input stays mpirun's: it is a terminal, which ranks may not read, or there are no sockets.
  bool start();
  // The name that borrow_input() takes.
  const std::string& name() const { return name_; }
  int fd() const { return fd_; }  // readable if somebody has come; -1: nobody will
  // Hands it over to a process of this user, and gives it up.
  void lend();

 private:
  int fd_ = -1;
  std::string name_;
};

// Makes the lent input this process's; without effect if there is none any more.
void borrow_input(const std::string& name);

}  // namespace hiroba
