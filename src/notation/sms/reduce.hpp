// Reductions of one value per rank, for sms.h and smint.h: every rank gets the same bits. Collective.
#pragma once

#include "base/text.hpp"
#include "process/process.hpp"

namespace hiroba {

// Ranks compare `call` and the operator; T is double or int64_t.
template <typename T>
T reduce_value(T value, Op op, const char* call) {
  Memory& memory = process_memory(call);
  require_all_ranks(call);
  Combine combine;
  require_at(Combine::make(type_for<T>(), op, combine), call);
  const std::string name = format("%s(%s)", call, name_of(op));
  require(memory.collective().teams().reduce(Team::all(memory.job().nranks), reinterpret_cast<char*>(&value), 1,
                                             combine, {name.c_str(), ""}));
  return value;
}

}  // namespace hiroba
