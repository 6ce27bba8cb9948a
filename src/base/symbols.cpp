#include "base/symbols.hpp"
#include <dlfcn.h>
#include "base/status.hpp"
namespace hiroba {
std::string source_location(const void* pc) {
  Dl_info info;
  if (dladdr(pc, &info) == 0) return "?";
  return format("%s+%#lx", info.dli_sname ? info.dli_sname : info.dli_fname, static_cast<unsigned long>(static_cast<const char*>(pc) - static_cast<char*>(info.dli_fbase)));
}
}
