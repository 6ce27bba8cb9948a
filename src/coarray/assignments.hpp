// Part of the contract of this floor: assignments between sections: plain, started, of one value to all elements, and
// with an operator.
//
// Owner: Coarrays. Thread-safe. All but start() block until complete. Data that cannot be moved directly, because the
// sides overlap, differ in shape or may fault, goes through a buffer.
#pragma once

#include <memory>
#include <string>

#include "collective/collective.hpp"
#include "section/walk.hpp"

namespace hiroba {

class Mover;
struct CoarrayParts;
struct CoarraySection;

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
  std::unique_ptr<char[]> buffer_;  // between source and target, if there must be one
  RemoteAddress to_;
  Section section_;  // of the target
};

class Assignments {
 public:
  explicit Assignments(CoarrayParts& parts) : parts_(parts) {}

  Status assign(const CoarraySection& to, const CoarraySection& from);
  // The assignment belongs to the caller, who must finish it.
  Status start(const CoarraySection& to, const CoarraySection& from, Assignment& assignment);
  Status fill(const CoarraySection& to, const void* value);
  Status update(const CoarraySection& to, const CoarraySection& from, const Arithmetic& arithmetic);
  // For the checker: accesses of the program itself to memory here.
  void touch(const CoarraySection& section, bool writes);

 private:
  Status move(const CoarraySection& to, const CoarraySection& from, bool at_once, Assignment& assignment);
  bool may_fault(const Section& section) const;

  CoarrayParts& parts_;
};

}  // namespace hiroba
