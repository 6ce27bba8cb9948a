#include "launcher/input/lent_input.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

namespace hiroba {

namespace {

// The abstract name "\0NAME", which no file stands for.
socklen_t address_of(const std::string& name, sockaddr_un& out) {
  out = {};
  out.sun_family = AF_UNIX;
  std::memcpy(out.sun_path + 1, name.data(), std::min(name.size(), sizeof out.sun_path - 1));
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
}

int new_socket() { return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0); }

// A message of one byte, and room for one descriptor.
struct Message {
  char byte = 0;
  iovec data = {&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> room = {};
  msghdr header = {};
  Message() {
    header.msg_iov = &data, header.msg_iovlen = 1;
    header.msg_control = room.data(), header.msg_controllen = room.size();
  }
};

bool is_of_this_user(int connection) {
  ucred peer = {};
  socklen_t bytes = sizeof peer;
  return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 && peer.uid == geteuid();
}

}  // namespace

LentInput::~LentInput() {
  if (fd_ >= 0) close(fd_);
}

bool LentInput::start() {
  if (isatty(STDIN_FILENO) != 0) return false;
  name_ = "hiroba-input-" + std::to_string(getpid());
  sockaddr_un address;
  const socklen_t bytes = address_of(name_, address);
  fd_ = new_socket();
  if (fd_ >= 0 && bind(fd_, reinterpret_cast<const sockaddr*>(&address), bytes) == 0 && listen(fd_, 1) == 0)
    return true;
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
  return false;
}

void LentInput::lend() {
  const int connection = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
  if (connection < 0) return;
  if (is_of_this_user(connection)) {
    Message message;
    cmsghdr* const part = CMSG_FIRSTHDR(&message.header);
    part->cmsg_level = SOL_SOCKET, part->cmsg_type = SCM_RIGHTS, part->cmsg_len = CMSG_LEN(sizeof(int));
    const int input = STDIN_FILENO;
    std::memcpy(CMSG_DATA(part), &input, sizeof input);
    sendmsg(connection, &message.header, MSG_NOSIGNAL);
    close(fd_), fd_ = -1;
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);  // who writes a pipe notices the end of its reader
    if (nothing >= 0) dup2(nothing, STDIN_FILENO), close(nothing);
  }
  close(connection);
}

void borrow_input(const std::string& name) {
  sockaddr_un address;
  const socklen_t bytes = address_of(name, address);
  const int connection = new_socket();
  Message message;
  if (connect(connection, reinterpret_cast<const sockaddr*>(&address), bytes) == 0 &&
      recvmsg(connection, &message.header, MSG_CMSG_CLOEXEC) == 1) {
    const cmsghdr* const part = CMSG_FIRSTHDR(&message.header);
    int input = -1;
    if (part != nullptr && part->cmsg_type == SCM_RIGHTS) std::memcpy(&input, CMSG_DATA(part), sizeof input);
    if (input >= 0) dup2(input, STDIN_FILENO), close(input);
  }
  close(connection);
}

}  // namespace hiroba
