#include "base/files/own_file.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>

#include "base/limits.hpp"

namespace hiroba {

namespace {

constexpr mode_t permissions = 0777;

bool is_own(const struct stat& info) { return S_ISREG(info.st_mode) && info.st_uid == geteuid(); }

Status cannot(const char* what, const std::string& file, int error) {
  return Status::error("cannot %s %s (%s)", what, file.c_str(), explain_error(error).c_str());
}

Status write_all(int fd, const std::string& file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = ::write(fd, text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return cannot("write", file, errno);
    text.remove_prefix(static_cast<size_t>(wrote));
  }
  return {};
}

}  // namespace

// O_EXCL does not follow a link, either.
Status create_own_file(const std::string& file, mode_t mode, int& fd) {
  struct stat info;
  if (lstat(file.c_str(), &info) == 0 && (S_ISREG(info.st_mode) || S_ISLNK(info.st_mode))) unlink(file.c_str());
  fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
  return fd < 0 ? cannot("make", file, errno) : Status();
}

// O_NONBLOCK: the open of a FIFO would wait for its other end.
Status open_own_file(const std::string& file, int flags, int& fd) {
  fd = ::open(file.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return cannot("open", file, errno);
  struct stat info = {};
  if (fstat(fd, &info) == 0 && is_own(info)) return {};
  ::close(fd);
  fd = -1;
  return Status::error("%s is no file of this user, and is left alone", file.c_str());
}

Status WholeFile::failed(int error) const { return cannot("write", file_, error); }

Status WholeFile::begin(const std::string& file, mode_t mode) {
  file_ = file;
  const size_t slash = file.rfind('/');
  last_ = slash == std::string::npos ? file : file.substr(slash + 1);
  const std::string folder = slash == std::string::npos ? "." : file.substr(0, slash + 1);
  folder_ = ::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder_ < 0) return failed(errno);
  struct stat older = {};
  const bool exists = fstatat(folder_, last_.c_str(), &older, AT_SYMLINK_NOFOLLOW) == 0;
  if (exists && S_ISDIR(older.st_mode)) return failed(EISDIR);
  if (exists && !S_ISREG(older.st_mode) && !S_ISLNK(older.st_mode))
    return Status::error("cannot write %s: it is there, and is no file", file_.c_str());
  uint64_t random = 0;
  if (getrandom(&random, sizeof random, 0) != static_cast<ssize_t>(sizeof random)) return failed(errno);
  const std::string draft = format("%s.%016lx", last_.c_str(), random);
  fd_ = openat(folder_, draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
  if (fd_ < 0) return failed(errno);
  draft_ = draft;
  if (exists && is_own(older) && fchmod(fd_, older.st_mode & permissions) != 0) return failed(errno);
  return {};
}

Status WholeFile::write(std::string_view text) { return write_all(fd_, file_, text); }

// Some file systems tell only at the end that they are full.
Status WholeFile::commit() {
  const int closed = ::close(fd_);
  fd_ = -1;
  if (closed != 0 || renameat(folder_, draft_.c_str(), folder_, last_.c_str()) != 0) return failed(errno);
  draft_.clear();
  return {};
}

WholeFile::~WholeFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!draft_.empty()) unlinkat(folder_, draft_.c_str(), 0);
  if (folder_ >= 0) ::close(folder_);
}

Status write_whole_file(const std::string& file, mode_t mode, std::string_view text) {
  WholeFile out;
  HIROBA_TRY(out.begin(file, mode));
  HIROBA_TRY(out.write(text));
  return out.commit();
}

Status append_to_own_file(const std::string& file, std::string_view text) {
  int fd = -1;
  HIROBA_TRY(open_own_file(file, O_WRONLY | O_APPEND, fd));
  const Status written = write_all(fd, file, text);
  if (::close(fd) != 0 && written.ok()) return cannot("write", file, errno);
  return written;
}

}  // namespace hiroba
