// Programs that the system runs with more rights than their user has, such as set-uid ones: what the user's environment
// names, files and code, must not be used with these rights. Thread-safe; no state.
#pragma once

#include <sys/auxv.h>

#include <cstdlib>

#include "base/status.hpp"

namespace hiroba {

// By set-uid, set-gid, or capabilities of the program's file.
inline bool has_more_rights_than_user() { return getauxval(AT_SECURE) != 0; }

// Variables HIROBA_* that name code, files or descriptors: null in such a program.
inline const char* trusted_variable(const char* name) { return secure_getenv(name); }

inline Status refuse_more_rights() {
  if (!has_more_rights_than_user()) return {};
  return Status::error(
      "this program has more rights than the user who starts it (set-uid, set-gid, or capabilities of its file), and "
      "Hiroba would run code and write files that this user's environment names; start it without them, or by sudo");
}

}  // namespace hiroba
