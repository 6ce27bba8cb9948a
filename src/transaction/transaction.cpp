#include "transaction/transaction.hpp"

#include <bit>

#include "base/text.hpp"

namespace hiroba {

Status Transactions::start(Memory& memory, const Options& options) {
  constexpr uint64_t least = 16, most = 4096;
  TransactionSettings settings;
  const uint64_t stripe = options.bytes("transaction-stripe");
  if (stripe < least || stripe > most || !std::has_single_bit(stripe))
    return Status::error("option transaction-stripe=%s: a stripe has %lu to %lu bytes, a power of two",
                         options.text("transaction-stripe").c_str(), least, most);
  settings.stripe_shift = std::countr_zero(stripe);
  const double attempts = options.number("transaction-retries");
  if (attempts < 0) return Status::error("option transaction-retries=%g is negative", attempts);
  settings.attempts = static_cast<uint64_t>(attempts);
  return process_.start(memory, settings);
}

Status Transactions::stop() { return process_.stop(), Status(); }

}  // namespace hiroba
