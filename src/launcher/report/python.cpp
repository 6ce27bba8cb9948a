#include "launcher/report/python.hpp"

#include <filesystem>

namespace hiroba {

Status python_program(const std::string& name, std::vector<std::string>& out) {
  const std::filesystem::path prefix = std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
  const std::filesystem::path program = prefix / "share" / "hiroba" / name / "run.py";
  if (!std::filesystem::exists(program))
    return Status::error("%s was not installed: there is no %s", name.c_str(), program.c_str());
  out = {"python3", program.string(), "--build", prefix.string()};
  return {};
}

}  // namespace hiroba
