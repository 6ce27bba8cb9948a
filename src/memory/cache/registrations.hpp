// Tells homes, before this rank reads pages, that it is going to have copies of them (README.md, "Home pages"), and
// asks them which pages nobody has written ("Pages without memory").
//
// Owner: Fetches. Threads: any, also in the fault handler, after listen().
#pragma once

#include "memory/cache/copies.hpp"

namespace hiroba {

class Registrations {
 public:
  explicit Registrations(const CacheConfig& config) : config_(config) {}
  // Called before the transport starts.
  void listen(Transport& transport) { handler_ = transport.add_handler(on_message, this); }

  // Goes with a get of the pages.
  class Message {
   public:
    Message(const Registrations& owner, const HomeRun& run, uint64_t page, uint64_t pages)
        : Message(owner, run, page, pages, none, true) {}
    Message(const Message&) = delete;
    Message& operator=(const Message&) = delete;
    const Piggyback* piggyback() const { return content_.pages > 0 ? &piggyback_ : nullptr; }

   private:
    friend Registrations;
    static constexpr int32_t none = -1;
    // Names the home, its node, and the rank that wants an answer, in its word at the home.
    struct Content {
      uint64_t page, pages;
      int32_t rank, node, asker;
      bool registers;
    };
    Message(const Registrations& owner, const HomeRun& run, uint64_t page, uint64_t pages, int asker, bool registers)
        : content_{page, pages, run.rank, owner.config_.job.node_of(run.rank), asker, registers},
          piggyback_{owner.handler_, &content_, sizeof content_} {}
    Content content_;
    Piggyback piggyback_;
  };

  // Returns the number of pages, from this one, that nobody has written. `registers`: after all pages, which the caller
  // holds busy, have been registered.
  uint64_t ask_empty(const HomeRun& run, uint64_t page, uint64_t pages, bool registers) const;

 private:
  static void on_message(void* self, int source, const void* payload, size_t bytes);
  void answer(const Message::Content& question) const;

  const CacheConfig& config_;
  int handler_ = 0;
};

}  // namespace hiroba
