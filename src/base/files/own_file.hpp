// Files that Hiroba writes or reads again, in folders in which other users may make files, such as /tmp: no link and no
// file of another user is written through or taken for one of this user. All block as the file system does; messages
// name the file and the reason.
#pragma once

#include <sys/stat.h>

#include <string>
#include <string_view>

#include "base/status.hpp"

namespace hiroba {

// Files that may have data of the program are for its user alone, unless an older file of the name was for others, too.
inline constexpr mode_t private_mode = 0600;
// As the user's mask says.
inline constexpr mode_t shared_mode = 0666;

// Makes a new file of this name and opens it for reading and writing; an older file of this user is removed first.
Status create_own_file(const std::string& file, mode_t mode, int& fd);
// Opens a regular file of this user, with the flags of open(2); fails for links and all else.
Status open_own_file(const std::string& file, int flags, int& fd);

// A file that gets its name when it is whole, so that readers see the older file or the new one. Until then it is in
// the same folder under a name that nobody can foretell, and the destructor removes it.
class WholeFile {
 public:
  WholeFile() = default;
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;
  ~WholeFile();

  // `mode` is of a new file; else the mode of the older one, if that is of this user, is kept. A link of that name is
  // replaced, not followed. Fails if the name is of something that is no file, such as a device.
  Status begin(const std::string& file, mode_t mode);
  Status write(std::string_view text);
  Status commit();

 private:
  Status failed(int error) const;

  std::string file_, last_, draft_;  // the whole name, its last part, that of the draft
  int folder_ = -1, fd_ = -1;
};

// The three steps at once.
Status write_whole_file(const std::string& file, mode_t mode, std::string_view text);
// For processes that write one file in turn, after the first has made it.
Status append_to_own_file(const std::string& file, std::string_view text);

}  // namespace hiroba
