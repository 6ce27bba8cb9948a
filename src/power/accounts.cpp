#include "power/accounts.hpp"

#include <limits>

namespace hiroba {

void PowerAccounts::spend(double joules) {
  double seconds = 0;
  for (const auto& [name, passed] : pending_) seconds += passed;
  if (seconds <= 0) return;
  for (const auto& [name, passed] : pending_) {
    PowerAccount& account = accounts_[name];
    account.seconds += passed, account.joules += joules * passed / seconds;
  }
  pending_.clear();
}

void PowerAccounts::add(const std::string& name, double seconds, double joules) {
  PowerAccount& account = accounts_[name];
  account.seconds += seconds, account.joules += joules, ++account.times;
}

void PowerAccounts::lose() { spend(std::numeric_limits<double>::quiet_NaN()); }

std::map<std::string, PowerAccount> PowerAccounts::all() const {
  std::map<std::string, PowerAccount> out = accounts_;
  for (const auto& [name, passed] : pending_) out[name].seconds += passed;
  return out;
}

}  // namespace hiroba
