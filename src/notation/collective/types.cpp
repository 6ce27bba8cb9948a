// Types and operators of collective.h in the terms of the collective floor.
#include "base/log.hpp"
#include "notation/collective/collective_process.hpp"

HIROBA_EXPORT const hiroba_operator hiroba_operators[9] = {
    {nullptr, nullptr, "sum"},         {nullptr, nullptr, "product"},    {nullptr, nullptr, "maximum"},
    {nullptr, nullptr, "minimum"},     {nullptr, nullptr, "and"},        {nullptr, nullptr, "or"},
    {nullptr, nullptr, "bitwise and"}, {nullptr, nullptr, "bitwise or"}, {nullptr, nullptr, "bitwise xor"}};

HIROBA_EXPORT hiroba_op hiroba_known_operator(int number) {
  if (number < 0 || number >= 9)
    hiroba::end_job(1, "%s: hiroba_known_operator: there is no operator %d; they are 0..8", hiroba::prefix(), number);
  return &hiroba_operators[number];
}

__attribute__((visibility("default"))) char hiroba_in_place[1] = {};

namespace hiroba {

namespace {

bool is_number(hiroba_type type) { return type >= 0 && type < types; }
bool is_own(hiroba_type type) { return (type & 0xff) == 0xff && type >> 8 > 0; }

}  // namespace

size_t bytes_of_type(hiroba_type type, const char* call) {
  if (is_number(type)) return bytes_of(static_cast<Type>(type));
  if (is_own(type)) return static_cast<size_t>(type >> 8);
  end_job(1, "%s: %s: there is no type %ld; use HIROBA_DOUBLE and its like, or HIROBA_TYPE(bytes)", prefix(), call,
          type);
}

CallName& name_type(CallName& name, hiroba_type type) {
  if (is_number(type)) return name << name_of(static_cast<Type>(type));
  return name << (type >> 8) << "-byte element";
}

Combine combine_of(hiroba_op op, hiroba_type type, const char* call) {
  if (op == nullptr) end_job(1, "%s: %s: the operator is NULL; use HIROBA_SUM or one of your own", prefix(), call);
  Combine out;
  if (op->function != nullptr) {
    out.record = bytes_of_type(type, call), out.function = op->function, out.context = op->context;
    return out;
  }
  const ptrdiff_t number = op - hiroba_operators;
  if (number < 0 || number >= reductions)
    end_job(1, "%s: %s: operator %s has no function; set it, or use HIROBA_SUM and its like", prefix(), call,
            op->name == nullptr ? "without a name" : op->name);
  if (!is_number(type))
    end_job(1, "%s: %s: %s of elements of %ld bytes that are no numbers; give an operator of your own", prefix(), call,
            op->name, type >> 8);
  const Status status = Combine::make(static_cast<Type>(type), reduction_op[number], out);
  if (!status.ok()) end_job(1, "%s: %s: %s", prefix(), call, status.message().c_str());
  return out;
}

}  // namespace hiroba
