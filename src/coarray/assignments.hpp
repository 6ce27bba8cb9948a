// Part of the contract of this floor: assignments between sections: plain, started, of one value to all elements, and
// with an operator.
//
// Owner: Coarrays. Thread-safe. All but start() block until complete. Data that cannot be moved directly, because the
// sides overlap, differ in shape or may fault, goes through a buffer.
#pragma once

#include <memory>
#include <string>

#include "coarray/section.hpp"
#include "collective/collective.hpp"

namespace hiroba {

class Mover;
struct CoarrayParts;
struct Section;

// An assignment in progress. Neither side may be used before finish(). Not thread-safe.
class Assignment final : public Request {
 public:
  void finish();
  Status advance(bool& complete) override;
  Status hasten(bool& complete) override;
  std::string missing() const override;

 private:
  friend class Assignments;
  const Mover* mover_ = nullptr;  // null: nothing is in progress
  Completion under_way_;
  std::unique_ptr<char[]> buffer_;  // between source and target, if needed
  Place to_;
  Box box_;
  size_t element_ = 0;
};

class Assignments {
 public:
  explicit Assignments(CoarrayParts& parts) : parts_(parts) {}

  Status assign(const Section& to, const Section& from, size_t element);
  // The caller owns the assignment, and must finish it.
  Status start(const Section& to, const Section& from, size_t element, Assignment& assignment);
  Status fill(const Section& to, const void* value, size_t element);
  Status update(const Section& to, const Section& from, const Arithmetic& arithmetic);
  // Reports the program's own accesses to memory here to the checker.
  void touch(const Section& section, size_t element, bool writes);

 private:
  Status move(const Section& to, const Section& from, size_t element, bool at_once, Assignment& assignment);
  bool may_fault(const Place& place, const Box& box, size_t element) const;

  CoarrayParts& parts_;
};

}  // namespace hiroba
