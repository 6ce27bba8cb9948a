// When a rank waited, and for what: the part of a record (record.hpp) that option report draws as a timeline. It has
// two parts of bounded size. `bins` cover the whole run: sums by time, in fewer and wider bins the longer the run is.
// `events` are single waits and tasks, the latest ones of each class of durations, so that many short ones do not
// displace a long one.
//
// Owner: the rank's record. note() is for any thread, also in the fault handler: it allocates nothing, takes no lock
// and makes no system call.
#pragma once

#include <atomic>
#include <cstdint>

namespace hiroba {

// preloads: starting and awaiting them. coherence: finding and sending what the rank wrote, and dropping copies that
// others wrote.
enum class TimeKind : uint32_t { collective, locks, faults, preloads, coherence, tasks };

inline uint64_t nanoseconds(double seconds) { return seconds > 0 ? static_cast<uint64_t>(seconds * 1e9) : 0; }

// An event of a class that has been full for long may be overwritten while it is read.
struct EventRecord {
  double begin;  // seconds_now()
  float seconds;
  uint32_t site;    // its number in the record
  int32_t other;    // the rank that was waited for; -1: none, or it is not known
  uint32_t thread;  // of this rank, from 1 on; 0: there is no event here
};

struct Timeline {
  static constexpr int classes = 16, kinds = 6, levels = 24;
  static constexpr uint64_t class_events = 1024, half = 128;

  std::atomic<uint64_t> used[classes];
  EventRecord events[classes][class_events];
  // Nanoseconds. Bins of level k are 2^k milliseconds wide; those of a level begin where those of the level before end,
  // at its 256th bin.
  std::atomic<uint64_t> bins[(levels + 1) * half][kinds];
  std::atomic<uint64_t> microjoules[(levels + 1) * half];  // of the machine, in the same bins
  std::atomic<uint32_t> threads;

  // `began`: when the record began.
  void note(TimeKind kind, uint32_t site, double began, double begin, double end, int other);
  // The machine has used this energy, evenly, in that time.
  void note_energy(double began, double begin, double end, double joules);

  // Returns the level of the bin that has this time since the begin.
  static int level_at(uint64_t milliseconds);
  // Sums up the bins of a kind, of the width of `level`, which is that of the end of the run or a later one.
  void sum(TimeKind kind, int level, uint64_t (&out)[2 * half]) const;
  void sum_energy(int level, uint64_t (&out)[2 * half]) const;
};

}  // namespace hiroba
