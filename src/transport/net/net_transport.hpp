// The class behind net.hpp, in several files: what this rank asks of others (net.cpp, remote.cpp), what it does for
// others (serve.cpp), both for strided boxes (strided.cpp), and where they wait for each other (meet.cpp).
//
// Memory of this node is reached directly, through the window; everything else by frames and bulk data. State that both
// sides touch is guarded by the engine's lock ("wire state"), or is an atomic that waiting threads look at.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "transport/net/alive.hpp"
#include "transport/net/arrived_puts.hpp"
#include "transport/net/engine.hpp"
#include "transport/net/frames.hpp"
#include "transport/net/join.hpp"
#include "transport/net/meeting.hpp"
#include "transport/net/net.hpp"
#include "transport/net/outbox.hpp"
#include "transport/net/remote_memory.hpp"
#include "transport/net/standing.hpp"
#include "transport/net/unanswered.hpp"
#include "transport/transport.hpp"
#include "transport/window.hpp"

namespace hiroba {

class Net final : public Transport, private FrameSender {
 public:
  ~Net() override = default;
  Status join(const Options& options, Job& job);

  const char* name() const override { return name_.c_str(); }
  std::vector<Capability> capabilities() const override;
  Status start(const Config& config) override;
  void stop() override;
  Status attach(uint64_t offset, uint64_t bytes, int rank) override;
  void detach(uint64_t offset, uint64_t bytes) override;
  void put(int rank, uint64_t to, const void* from, size_t bytes) override;
  void get(void* to, int rank, uint64_t from, size_t bytes) override;
  bool fence() override;
  void send(int rank, int handler, const void* payload, size_t bytes) override;
  void send_after_puts(int rank, int handler, const void* payload, size_t bytes) override;
  bool progress() override { return engine_.drive(); }
  // Whoever has asked ahead of the exchange asks no more now.
  void attend() override {
    if (!asked_ahead_.load(std::memory_order_relaxed)) engine_.attend();
  }
  void sleep(double seconds) override { engine_.sleep(seconds); }
  void start_put(int rank, uint64_t to, const void* from, size_t bytes, Completion& sent) override;
  void put_strided(int rank, uint64_t to, const void* from, const Strided& box) override;
  void get_strided(void* to, int rank, uint64_t from, const Strided& box) override;
  void put_packed(int rank, std::span<const PackedWord> pieces) override;
  void start_put_packed(int rank, std::span<const PackedWord> pieces, Completion& sent) override;
  void start_get(void* to, int rank, uint64_t from, size_t bytes, Completion& completion, const Note* note) override;
  bool gets_ahead(int rank) const override { return !here(rank); }
  void start_get_ahead(void* to, int rank, uint64_t from, size_t bytes, Completion& completion,
                       const Note* note) override {
    start_pieces(static_cast<char*>(to), rank, from, bytes, completion, note, epoch_.load() + 1);
  }
  void await(Completion& completion) override;
  char* reach(int rank, uint64_t offset) const override { return here(rank) ? window_.at(offset) : nullptr; }
  uint64_t fetch_add64(int rank, uint64_t at, uint64_t value) override;
  uint64_t compare_swap64(int rank, uint64_t at, uint64_t expected, uint64_t desired) override;
  uint32_t fetch_add32(int rank, uint64_t at, uint32_t value) override;
  uint32_t compare_swap32(int rank, uint64_t at, uint32_t expected, uint32_t desired) override;
  uint32_t await_change(int rank, uint64_t at, uint32_t old, double seconds) override;
  void wake(int rank, uint64_t at) override;
  void start_exchange(uint64_t tag, uint64_t word) override;
  Status end_exchange(std::span<uint64_t> words) override;
  Status meet(uint64_t tag, std::span<const int> others) override;
  bool accumulate(int rank, uint64_t to, const void* from, Number type, size_t count) override;
  void forget(uint64_t offset, uint64_t bytes) override;
  Traffic traffic() const override { return outbox_.traffic(); }
  size_t communicator(void* out, size_t room) override {
    return joined_.wire->make_communicator(config().job.rank, out, room);
  }
  void faulting(bool inside) override { inside ? Engine::enter_fault() : Engine::leave_fault(); }

 private:
  enum class Atomic : uint32_t { add64, swap64, add32, swap32 };
  // An asker's wait for one answer.
  struct Answer {
    std::atomic<uint32_t> here{0};
    uint64_t value = 0;
  };
  // What a ticket of the wire stands for.
  struct Transfer {
    enum Kind { nothing, completion, remote_put, unasked, put_arrived, packed_arrived, strided_arrived } kind = nothing;
    Completion* done = nullptr;
    int source = 0;                // of a put
    uint64_t number = 0;           // of a put
    uint64_t offset = 0;           // of a strided put; what comes unasked: of which wish
    std::vector<uint64_t> buffer;  // packed data on its way
  };
  // Somebody waits until a word here changes.
  struct Watch {
    int source;
    uint64_t completion, offset;
    uint32_t old;
    double deadline;
  };
  // A get by a rank that has an exchange behind it which this one is still in.
  struct Deferred {
    int source;
    Head head;
    char payload[std::max(Note::max_note, sizeof(Strided))];
  };
  struct Flush {
    int source;
    uint64_t count;
  };
  // A message that has overtaken puts which its sender made before it.
  struct Early {
    int source;
    Head head;
    std::vector<char> payload;
  };
  // Somebody wants to access our memory.
  struct Asker {
    int source;
    uint64_t completion, offset;
  };
  // Puts between this rank and another.
  struct Puts {
    std::atomic<uint64_t> flushed{0};  // so many of ours have arrived there, as far as we know
    uint64_t sent = 0;                 // by us (dirty_lock_)
    bool dirty = false;                // in dirty_ (dirty_lock_)
    ArrivedPuts arrived;               // from there
    // Of meet(): how often this rank has named that one; how often that one has come, and with how many puts to us.
    uint64_t meetings = 0, told = 0;  // told: how many of our puts, the last time
    std::atomic<uint64_t> come{0}, counted{0};
  };
  static_assert(sizeof(Puts) == 88, "docs/scaling.md says what is kept per rank: change it, too");
  bool here(int rank) const { return config().job.node_of(rank) == config().job.node; }
  Head head(Frame frame) const;

  // ---- asking (net.cpp, strided.cpp) ----
  void send_frame(int rank, const Head& head, const void* payload, size_t bytes) override;
  void push(int rank, const Head& head, const void* payload, size_t bytes);
  void gather(int rank, const Head& head, const void* payload, size_t bytes);
  void send_gathered();
  void await_room();
  void await_slot();
  // Whether bulk data is on its way, to or from this rank, but for what can come only after the next exchange.
  bool moving() const { return moving_.load(std::memory_order_relaxed) > coming_.load(std::memory_order_relaxed); }
  uint32_t next_tag(bool to_us);
  uint64_t ticket(Transfer::Kind kind, Completion* done = nullptr, int source = 0);
  void send_bulk(int rank, Head head, const void* data, size_t bytes, Completion& sent);
  void start_pieces(char* to, int rank, uint64_t from, size_t bytes, Completion& completion, const Note* note,
                    uint32_t epoch);
  void get_piece(char* to, int rank, uint64_t from, size_t bytes, Completion& completion, const Note* note,
                 uint32_t epoch);
  void ask(int rank, Head head, void* into, size_t bytes, Completion& completion, const void* payload,
           size_t payload_bytes);
  // One-sided, if the wire can and it pays; false if not.
  bool put_remote(int rank, uint64_t to, const void* from, size_t bytes, Completion& sent);
  bool get_remote(void* to, int rank, uint64_t from, size_t bytes, Completion& completion);
  template <typename Work>
  void with_owner(int rank, size_t bytes, const Work& work);
  template <typename Move>
  bool move_box(int rank, uint64_t offset, const Strided& box, Transfer::Kind kind, const Move& move);
  bool put_remote(int rank, uint64_t to, const void* from, const Strided& box);
  bool get_remote(void* to, int rank, uint64_t from, const Strided& box);
  RemoteMemory::Place remote_place(int rank, uint64_t offset, size_t bytes);
  void await_remote_puts();
  uint64_t number_put(int rank);
  uint64_t puts_only_to(int rank);
  uint64_t perform(int rank, Atomic operation, uint64_t at, uint64_t operand, uint64_t expected);
  uint64_t perform_here(Atomic operation, uint64_t at, uint64_t operand, uint64_t expected) const;
  Meeting::PutCounts count_puts();
  void settle();
  void pass_exchange();
  void forget_clean();
  void learn_place(int rank);
  void await_others_report();

  // ---- standing gets (standing.cpp) ----
  bool wish(char* to, int rank, uint64_t from, size_t bytes, Completion& completion);
  uint64_t depart(uint64_t tag);
  uint64_t depart(Wish& wish, uint64_t tag, uint64_t number);
  void receive(Wish& wish, bool wanted, uint64_t number);
  void order(Wish& wish, uint64_t tag, uint64_t number, uint32_t period);
  void dismiss(Wish& wish, uint64_t number);
  void all_have_come() override;
  void note_change(int rank, uint64_t offset, uint64_t bytes);
  void note_changes(int rank, std::span<const PackedWord> pieces);
  static constexpr uint64_t anything = UINT64_MAX;  // bytes from offset 0
  Change take_change();
  void take_unasked(Wish& wish, bool empty);
  void finish(Wish& wish);
  void serve_stand(int source, const Head& head, const char* payload);
  bool plan_unasked(uint64_t tag);
  void send_unasked(bool plain);

  // ---- serving (serve.cpp, strided.cpp); under the engine's lock ----
  static void on_frame(void* self, int source, const void* bytes, size_t size);
  static void on_done(void* self, uint64_t ticket);
  static void on_failed(void* self, const char* what);
  static bool after_poll(void* self);
  void serve(int source, const Head& head, const char* payload, size_t bytes);
  void serve_put(int source, const Head& head, const char* payload);
  void serve_get(int source, const Head& head, const char* payload);
  void answer_get(int source, const Head& asked, const void* data, size_t bytes);
  void serve_get_strided(int source, const Head& head, const char* payload);
  bool too_early(const Head& head) const { return static_cast<int32_t>(head.epoch - epoch_.load()) > 0; }
  bool defer(int source, const Head& head, const char* payload, size_t bytes);
  void serve_deferred();
  void serve_atomic(int source, const Head& head);
  void finish(const Head& head, uint64_t value);
  void note_served() { served_.store(served_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
  void put_arrived(int source, uint64_t number);
  void scatter(const uint64_t* pieces, size_t words);
  void unpack(uint64_t to, const char* packed);
  void serve_flush(int source, uint64_t count);
  bool answer_flush(const Flush& flush);
  bool answer_flushes();
  void serve_message(int source, const Head& head, const char* payload, size_t bytes);
  bool serve_early();
  bool answer_keys();
  bool answer_watches();
  void keep_alive();
  void watch_hosts();
  [[noreturn]] void lose(const std::string& why);
  void end_host() const;
  void reply_place(int source, const Head& head);

  std::string name_ = "net";
  Joined joined_;
  Placement placement_;
  double most_silence_ = 0;
  bool paced_ = false;  // what TCP sends: README.md, "Pieces"
  std::vector<int> rank_of_wire_;
  Window window_;
  Engine engine_;
  Meeting meeting_;
  Meeting::PutCounts counted_;            // in the exchange under way
  bool sends_unasked_ = false;            // with the exchange under way
  std::atomic<bool> asked_ahead_{false};  // of the last exchange, by others
  std::unique_ptr<Puts[]> puts_;          // by rank
  SignalSafeLock dirty_lock_;             // guards dirty_ and change_
  Change change_;                         // by this rank, since it came to the last exchange
  std::vector<int> dirty_;                // ranks with puts that nobody has fenced; room for all is reserved

  // Wire state.
  Outbox outbox_;
  std::vector<Transfer> transfers_;  // by ticket
  std::vector<uint32_t> free_transfers_;
  std::atomic<uint32_t> moving_{0};  // tickets in use
  std::atomic<uint32_t> coming_{0};  // of these, for what can come only after the next exchange
  uint32_t tag_ = 0;
  std::atomic<uint32_t> epoch_{0};  // exchanges that this rank has behind it
  std::vector<Deferred> deferred_;
  std::atomic<size_t> deferred_count_{0};
  std::vector<Flush> flushes_;
  std::vector<Early> early_;
  std::vector<Watch> watches_;
  std::vector<Asker> askers_;
  RemoteMemory remote_;
  Standing standing_;
  std::atomic<uint32_t> unasked_{0};      // wishes whose data is coming
  std::atomic<uint32_t> served_{0};       // counts what has been done for others
  std::atomic<uint32_t> remote_puts_{0};  // of ours, that are not visible yet
  Alive alive_;
  Unanswered unanswered_;
  std::atomic<bool> stopped_{false}, farewell_{false}, losing_{false};
  bool stranger_seen_ = false;
};

}  // namespace hiroba
