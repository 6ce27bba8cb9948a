// A wire: the operations that the network transport (net.hpp) needs of a network library (MPI, UCX). A wire is a
// plug-in, a shared library of its own, so that a machine without that network library still runs everything else;
// plugin.hpp loads it.
//
// A wire moves frames (short messages, copied) and bulk data (directly from and to memory, matched by peer and tag)
// between the processes of a job, which it numbers 0..size()-1: wire ranks. No call blocks, except open(), allgather()
// and close(), which are collective.
//
// Owner: the network transport. The engine's lock serializes all calls. They may come from different threads, and from
// a page-fault handler of the program, but never from inside the network library. Only poll() calls hooks, which may
// call everything except poll().
//
// Errors: open() returns a description. Later, a wire that cannot continue calls Hooks::failed once and then does
// nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "transport/wire/pieces.hpp"

namespace hiroba {

// Lets processes find each other if the wire has no means of its own.
class Rendezvous {
 public:
  virtual ~Rendezvous() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  // Sends each process's `bytes` bytes to all, by wire rank. Collective; blocks.
  virtual Status allgather(const void* mine, void* all, size_t bytes) = 0;
};

struct Walk;  // section/walk.hpp
enum class Number : uint8_t;

class Wire {
 public:
  struct Hooks {
    void* context;
    void (*frame)(void* context, int source, const void* bytes, size_t size);  // bytes are valid during the call only
    void (*done)(void* context, uint64_t ticket);  // a bulk transfer or one-sided operation of ours has ended
    void (*failed)(void* context, const char* what);
    void (*stranger)(void* context);  // a message that no process of the job has sent was dropped
  };
  struct Start {
    Hooks hooks;
    // The launcher's, on one machine, until all have joined; null: the wire's own (MPI, PMIx).
    Rendezvous* rendezvous = nullptr;
    bool program_uses_library = false;  // the program calls the same library (MPI) itself, from threads of its own
    const char* end = "";               // the call by which a program ends its use of this library, for messages
  };
  static constexpr size_t max_frame = 8192;
  // Set by open(): a frame that is not batched may be larger, up to most_in_frame, if the library sends more eagerly.
  static constexpr size_t most_in_frame = size_t{60} << 10;
  size_t largest_frame = max_frame;
  // Set by open(): a line for the user; usually empty.
  std::string warning;

  virtual ~Wire() = default;
  // Returns a description for users: "Open MPI 4.1.4", "UCX 1.13.1 (tcp)".
  virtual std::string describe() const = 0;
  virtual Status open(const Start& start) = 0;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual Status allgather(const void* mine, void* all, size_t bytes) = 0;
  // Called after the last messages of all have been received. `silent`: no process has ever sent one, as on a single
  // node, so no process need wait for others. Not called when the job ends with an error.
  virtual void close(bool silent) = 0;

  // Writes a handle of the library's own type for all processes, in the order of Hiroba's ranks, for programs that use
  // the same library; `rank` is this process's. Collective. Returns 0 if this library has none.
  virtual size_t make_communicator(int /*rank*/, void* /*out*/, size_t /*room*/) { return 0; }

  // Sends a copy of the frame; returns false if there is no room now: poll() and try again. Frames are not ordered.
  virtual bool send(int to, const void* frame, size_t size) = 0;

  // A send_bulk() and a recv_bulk() with the same tag move at most max_bulk bytes from memory to memory; either may
  // come first. A tag is used for one transfer between two processes in one direction at a time; tags are below `tags`.
  static constexpr uint32_t tags = 1 << 14;
  static constexpr size_t max_bulk = size_t{64} << 20;
  // Returns the piece size for a get of `bytes`; `deferred`: its home may send them only after a barrier.
  virtual size_t get_piece(size_t bytes, bool deferred) const { return tcp_get_piece(bytes, deferred, false); }
  virtual void send_bulk(int to, uint32_t tag, const void* data, size_t bytes, uint64_t ticket) = 0;
  virtual void recv_bulk(int from, uint32_t tag, void* data, size_t bytes, uint64_t ticket) = 0;

  // Makes progress and calls hooks; returns true if anything happened.
  virtual bool poll() = 0;

  // Returns a descriptor that becomes readable when poll() has something to do, provided that arm() has returned true
  // since the last poll(). -1: this wire has to be polled.
  virtual int event() const { return -1; }
  virtual bool arm() { return false; }

  // ---- one-sided access, if the network has it ----
  struct Remote {
    bool memory = false;  // put() and get()
    // The owner's library does the work, while the owner polls; the calls below may wait for that.
    bool needs_owner = false;
    bool accumulate = false;
  };
  virtual Remote remote() const { return {}; }
  // Makes memory of this process accessible, until conceal(); others pass `key` to import(). The memory may be sparse,
  // and should stay so.
  virtual Status expose(void* /*memory*/, size_t /*bytes*/, std::vector<char>& /*key*/) {
    return Status::error("no remote memory");
  }
  virtual void conceal(void* /*memory*/) {}
  // Returns a handle for the memory that `owner` has exposed, at `address` there; -1 with a failed hook on failure.
  virtual int import(int /*owner*/, uint64_t /*address*/, const std::vector<char>& /*key*/) { return -1; }
  virtual void forget(int /*handle*/) {}
  // A put is done when it is visible at the owner.
  virtual void put(int /*handle*/, uint64_t /*offset*/, const void* /*from*/, size_t /*bytes*/, uint64_t /*ticket*/) {}
  virtual void get(int /*handle*/, uint64_t /*offset*/, void* /*to*/, size_t /*bytes*/, uint64_t /*ticket*/) {}

  // The same for walks of this form, whose offset or address is that of the first block, if the library has it, and for
  // adding numbers to those that are there.
  virtual bool has_remote_strided(const Walk& /*walk*/) const { return false; }
  virtual void put_strided(int /*handle*/, uint64_t /*offset*/, const void* /*from*/, const Walk& /*walk*/,
                           uint64_t /*ticket*/) {}
  virtual void get_strided(int /*handle*/, uint64_t /*offset*/, void* /*to*/, const Walk& /*walk*/,
                           uint64_t /*ticket*/) {}
  // Adds numbers to those at the target, each atomically with other accumulates there.
  virtual void accumulate(int /*handle*/, uint64_t /*offset*/, const void* /*from*/, Number /*type*/, size_t /*count*/,
                          uint64_t /*ticket*/) {}
};

// The exports of a plug-in. `version` is compared with the library's own before anything else is read, because both
// sides must have been compiled from the same sources. Its name is in src/CMakeLists.txt (hiroba_wire), because it must
// be known if the plug-in is absent, too.
struct WirePlugin {
  const char* version;
  Wire* (*make)();
  // Capabilities for lists, without starting it; Wire::Remote states them afterwards.
  enum OneSided { never, with_rdma, always } one_sided = never;
  bool accumulates = false;
};
using WirePluginFunction = const WirePlugin* (*)();

// HIROBA_WIRE_PLUGIN(CLASS, one_sided, accumulates): in the plug-in, within namespace hiroba.
#define HIROBA_WIRE_PLUGIN(Class, ...)                                                                       \
  extern "C" __attribute__((visibility("default"))) const WirePlugin* hiroba_wire_plugin() {                 \
    static constexpr WirePlugin plugin = {HIROBA_VERSION, []() -> Wire* { return new Class; }, __VA_ARGS__}; \
    return &plugin;                                                                                          \
  }

}  // namespace hiroba
