// The accounts of one rank: time and energy by the names of what they were spent on. For one thread at a time.
#pragma once

#include <map>
#include <string>

namespace hiroba {

// `joules` is a share of the machine's; not a number: it is not known.
struct PowerAccount {
  double seconds = 0, joules = 0;
  long times = 0;  // 0: it was sampled
};

class PowerAccounts {
 public:
  // From now on time has a name: `seconds` of it have passed.
  void pass(const std::string& name, double seconds) { pending_[name] += seconds; }
  // The counter has counted so much since it changed last. A counter with slow updates changes once for many samples,
  // so all that happened meanwhile has a part in it.
  void spend(double joules);
  void add(const std::string& name, double seconds, double joules);
  // No joules are known any more.
  void lose();

  // By name, with time that no change of the counter has followed.
  std::map<std::string, PowerAccount> all() const;

 private:
  std::map<std::string, PowerAccount> accounts_;
  std::map<std::string, double> pending_;
};

}  // namespace hiroba
