// Refuses what a transaction must not do to memory: use what it has freed, free it again, access objects that are not
// aligned. The message has the places of both, and ends the job.
//
// Owner: a Transaction, whose thread alone uses it. The checks cost something only after a free.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/shown.hpp"
#include "transaction/actions.hpp"

namespace hiroba {

class TransactionProcess;

class AccessCheck {
 public:
  // `place`: where the block of the program begins.
  AccessCheck(const TransactionProcess& process, const TransactionActions& actions, const char* const& place)
      : process_(process), actions_(actions), place_(place) {}

  // The word at this multiple of 8 is in no object that the transaction has freed.
  [[HIROBA_SHOWN]] void require_not_freed(uint64_t word) const;
  // The object that the action frees has not been freed before.
  void require_first_free(const TransactionActions::Action& action) const;
  // An object of this size is to be at a multiple of it.
  void require_aligned(uint64_t address, size_t bytes) const {
    if (address % bytes != 0) [[unlikely]]
      refuse_place(address, bytes);
  }

 private:
  [[HIROBA_SHOWN, gnu::cold]] void refuse_place(uint64_t address, size_t bytes) const;

  const TransactionProcess& process_;
  const TransactionActions& actions_;
  const char* const& place_;
};

}  // namespace hiroba
