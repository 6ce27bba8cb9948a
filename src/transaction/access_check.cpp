#include "transaction/access_check.hpp"

#include "base/debug/symbols.hpp"
#include "transaction/process_part.hpp"

namespace hiroba {

void AccessCheck::require_first_free(const TransactionActions::Action& action) const {
  const TransactionActions::Action* const before = actions_.freed(reinterpret_cast<uint64_t>(action.argument), 1);
  if (before == nullptr) return;
  process_.require(Status::error("%s: the transaction that begins here frees %p twice: in %s, and before in %s", place_,
                                 action.argument, source_location(action.place).c_str(),
                                 source_location(before->place).c_str()));
}

void AccessCheck::require_not_freed(uint64_t word) const {
  const TransactionActions::Action* const freed = actions_.freed(word, 8);
  if (freed == nullptr) return;
  process_.require(Status::error(
      "%s: the transaction that begins here uses, in %s, memory that it frees before in %s (an object of %zu bytes at "
      "%p)",
      place_, calling_location().c_str(), source_location(freed->place).c_str(), freed->frees, freed->argument));
}

void AccessCheck::refuse_place(uint64_t address, size_t bytes) const {
  process_.require(
      Status::error("%s: the transaction that begins here accesses, in %s, %zu bytes at 0x%lx, which is "
                    "not a multiple of %zu; hiroba_tx_read and hiroba_tx_write copy from and to any place",
                    place_, calling_location().c_str(), bytes, address, bytes));
}

}  // namespace hiroba
