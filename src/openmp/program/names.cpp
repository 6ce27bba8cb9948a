#include "openmp/program/names.hpp"

#include <algorithm>

#include "base/debug/symbols.hpp"
#include "base/debug/variables.hpp"
#include "base/text.hpp"
#include "openmp/program/libraries.hpp"
#include "openmp/program/objects.hpp"
#include "process/process.hpp"

namespace hiroba::openmp {

namespace {

ElementName name_of_object(const char* address, const Objects::Known& object, const NameContext& context) {
  const AllocatedAt at = {object.begin};
  VariableName pointer;
  if (context.function != nullptr) pointer = shared_variable_at(context.function, context.data, address, at);
  if (pointer.variable.empty()) pointer = variable_at(address, at);
  const std::string element =
      pointer.element.empty() ? format("its byte %zu", static_cast<size_t>(address - object.begin)) : pointer.element;
  return {format("an object of %zu bytes allocated by rank %d at %s", object.bytes, context.rank, object.place),
          element};
}

}  // namespace

// Rank 0 names variables, which all ranks know; a rank names the objects that it has allocated.
ElementName name_of(const void* address, const NameContext& context) {
  const auto* const at = static_cast<const char*>(address);
  if (const Objects::Known object = instance<Objects>().find(at); object.begin != nullptr)
    return name_of_object(at, object, context);
  if (context.rank != 0) return {};
  const auto number = reinterpret_cast<uint64_t>(at);
  const bool is_executables = context.program.has(number) && number >= context.program.data;
  if (is_executables || instance<Libraries>().has_variable(number)) {
    const VariableName name = variable_at(at);
    return {name.variable, name.element};
  }
  if (at < context.stacks.data() || at >= context.stacks.data() + context.stacks.size()) return {};
  if (context.function != nullptr)
    if (const VariableName name = shared_variable_at(context.function, context.data, at); !name.variable.empty())
      return {name.variable, name.element};
  // GCC does not describe what it passes to a region if a variable's size is not known before the program runs.
  const std::string region = context.function == nullptr ? "a function" : source_location(context.function);
  return {format("a variable that %s shares",
                 region.substr(0, std::min(region.find("._omp_fn"), region.find(' '))).c_str()),
          "it"};
}

}  // namespace hiroba::openmp
