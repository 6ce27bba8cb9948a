// The wire over GASNet-EX, by active messages: a frame is one message; bulk data moves in pieces of the largest
// message. If GASNet was built with a segment of all memory of a process (--enable-segment-everything), its put, get
// and strided operations work on Hiroba's memory; else the segment is memory that GASNet chooses, and the page heap
// stays in ours. GASNet has no accumulate for arrays, and its atomics require words that nothing else accesses; so
// words and accumulates are messages.
//
// Any conduit whose processes MPI can start works. We start and end MPI; GASNet can end only with the process, so it is
// configured to ignore exits and signals.
//
// GASNet runs our handlers inside any of its calls. Inside poll() they deliver a frame at once, and the first frame
// that goes back to its sender during that is GASNet's reply: GASNet answers each request anyhow, so a request and its
// answer take two messages and not four. In other calls handlers only store what has arrived, for poll().
#include <gasnetex.h>

#include <gasnet_vis.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "transport/mpi/session.hpp"
#include "transport/transport.hpp"
#include "transport/wire/address_handles.hpp"

namespace hiroba {

namespace {

#if defined(GASNET_SEGMENT_EVERYTHING) && GASNET_SEGMENT_EVERYTHING
constexpr bool reaches_all_memory = true;
#else
constexpr bool reaches_all_memory = false;
#endif

class GasnetWire final : public SessionWire {
 public:
  std::string describe() const override {
    return format("GASNet-EX %d.%d.%d (%s) on %s", GASNET_RELEASE_VERSION_MAJOR, GASNET_RELEASE_VERSION_MINOR,
                  GASNET_RELEASE_VERSION_PATCH, GASNET_CONDUIT_NAME_STR, MpiSession::describe().c_str());
  }
  Status open(const Start& start) override;
  void close(bool silent) override;
  bool send(int to, const void* frame, size_t size) override;
  void send_bulk(int to, uint32_t tag, const void* data, size_t bytes, uint64_t ticket) override;
  void recv_bulk(int from, uint32_t tag, void* data, size_t bytes, uint64_t ticket) override;
  bool poll() override;

  Remote remote() const override { return {.memory = reaches_all_memory, .needs_owner = true}; }
  // Nothing has to be prepared; the address is sufficient.
  Status expose(void*, size_t, std::vector<char>& key) override { return key.assign(1, 0), Status(); }
  int import(int owner, uint64_t address, const std::vector<char>&) override { return handles_.add(owner, address); }
  void forget(int handle) override { handles_.drop(handle); }
  void put(int handle, uint64_t offset, const void* from, size_t bytes, uint64_t ticket) override;
  void get(int handle, uint64_t offset, void* to, size_t bytes, uint64_t ticket) override;
  bool has_remote_strided(const Walk&) const override { return reaches_all_memory; }
  void put_strided(int handle, uint64_t offset, const void* from, const Walk& walk, uint64_t ticket) override;
  void get_strided(int handle, uint64_t offset, void* to, const Walk& walk, uint64_t ticket) override;

 private:
  struct Frame {
    int source;
    size_t size;
    char bytes[max_frame];
  };
  struct Sending {
    int to;
    uint32_t tag;
    const char* data;
    size_t bytes, sent;
    uint64_t ticket;
  };
  // Bulk data that arrives before or after recv_bulk().
  struct Receiving {
    char* data = nullptr;  // null: no recv_bulk() yet
    size_t bytes = 0, arrived = 0;
    uint64_t ticket = 0;
    std::vector<std::pair<size_t, std::vector<char>>> early;  // by offset
  };
  using Key = std::pair<int, uint32_t>;  // source, tag
  enum Handler { frame_handler = GEX_AM_INDEX_BASE, piece_handler };
  static constexpr int pieces_per_poll = 8;

  static GasnetWire& of(gex_Token_t token, gex_Token_Info_t& info);
  static void on_frame(gex_Token_t token, void* bytes, size_t size);
  static void on_piece(gex_Token_t token, void* bytes, size_t size, gex_AM_Arg_t tag, gex_AM_Arg_t place);
  void take_piece(const Key& key, const void* bytes, size_t size, size_t place);
  void finish(std::map<Key, Receiving>::iterator receiving);
  bool send_pieces();
  bool report();
  void fail(const char* doing, int error);

  Hooks hooks_ = {};
  gex_Client_t client_ = {};
  gex_EP_t endpoint_ = {};
  gex_TM_t team_ = {};
  size_t piece_bytes_ = 0;
  bool failed_ = false;
  bool polling_ = false, handled_ = false;  // handlers may deliver frames; one has
  bool handling_ = false;                   // in a handler: GASNet accepts only a reply
  gex_Token_t token_ = {};                  // the request of that handler,
  int asker_ = -1;                          // and its sender; -1: no reply is possible
  std::vector<std::unique_ptr<Frame>> free_, arrived_, reporting_;
  std::deque<Sending> sending_;
  std::map<Key, Receiving> receiving_;
  std::vector<uint64_t> finished_;  // tickets
  AddressHandles handles_;
};

// ---- start and end -------------------------------------------------------------------------------------------------

Status GasnetWire::open(const Start& start) {
  hooks_ = start.hooks;
  HIROBA_TRY(session_.join(start));
  constexpr struct {
    const char *name, *value;
    bool ours;  // overrides the user's value
  } settings[] = {
      {"GASNET_CATCH_EXIT", "0", true},           // the process continues after Hiroba's end
      {"GASNET_NO_CATCH_SIGNAL", "*", true},      // page faults are signals
      {"GASNET_MAX_SEGSIZE", "1MB/P", false},     // its segment holds nothing of ours
      {"GASNET_HOST_DETECT", "hostname", false},  // processes share memory by our definition
  };
  for (const auto& setting : settings) setenv(setting.name, setting.value, setting.ours ? 1 : 0);
  if (const int error = gex_Client_Init(&client_, &endpoint_, &team_, "HIROBA", nullptr, nullptr, 0);
      error != GASNET_OK)
    return Status::error("GASNet does not start: %s", gasnet_ErrorDesc(error));
  if (static_cast<int>(gex_TM_QueryRank(team_)) != rank() || static_cast<int>(gex_TM_QuerySize(team_)) != size())
    return Status::error("GASNet numbers processes otherwise than MPI does");
  gex_AM_Entry_t handlers[] = {{frame_handler, reinterpret_cast<gex_AM_Fn_t>(on_frame),
                                GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQREP, 0, this, "frame"},
                               {piece_handler, reinterpret_cast<gex_AM_Fn_t>(on_piece),
                                GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 2, this, "piece"}};
  if (const int error = gex_EP_RegisterHandlers(endpoint_, handlers, std::size(handlers)); error != GASNET_OK)
    return Status::error("GASNet does not take handlers: %s", gasnet_ErrorDesc(error));
  piece_bytes_ = gex_AM_LUBRequestMedium();
  if (const size_t most = std::min(piece_bytes_, gex_AM_LUBReplyMedium()); most < max_frame)
    return Status::error("messages of this GASNet carry at most %zu bytes, and %zu are needed", most,
                         size_t{max_frame});
  char nothing = 0;
  std::vector<char> all(static_cast<size_t>(size()));
  return allgather(&nothing, all.data(), 1);  // all ranks have handlers
}

void GasnetWire::close(bool) {
  while (!failed_ && !sending_.empty()) poll();
  MPI_Request request;
  int met = 0;
  MPI_Ibarrier(session_.communicator(), &request);
  while (met == 0) {  // answers other ranks during the wait
    gasnet_AMPoll();
    MPI_Test(&request, &met, MPI_STATUS_IGNORE);
  }
  session_.leave();
}

void GasnetWire::fail(const char* doing, int error) {
  if (failed_) return;
  failed_ = true;
  hooks_.failed(hooks_.context, format("GASNet failed in %s: %s", doing, gasnet_ErrorDesc(error)).c_str());
}

// ---- frames --------------------------------------------------------------------------------------------------------

GasnetWire& GasnetWire::of(gex_Token_t token, gex_Token_Info_t& info) {
  gex_Token_Info(token, &info, GEX_TI_SRCRANK | GEX_TI_ENTRY | GEX_TI_IS_REQ);
  return *static_cast<GasnetWire*>(const_cast<void*>(info.gex_entry->gex_cdata));
}

bool GasnetWire::send(int to, const void* frame, size_t size) {
  if (failed_) return true;
  if (handling_) {
    if (to != asker_) return false;
    asker_ = -1;
    return gex_AM_ReplyMedium0(token_, frame_handler, const_cast<void*>(frame), size, GEX_EVENT_NOW, 0) == 0;
  }
  const int busy = gex_AM_RequestMedium0(team_, static_cast<gex_Rank_t>(to), frame_handler, const_cast<void*>(frame),
                                         size, GEX_EVENT_NOW, GEX_FLAG_IMMEDIATE);
  return busy == 0;
}

void GasnetWire::on_frame(gex_Token_t token, void* bytes, size_t size) {
  gex_Token_Info_t info;
  GasnetWire& wire = of(token, info);
  if (size > max_frame) return;  // not a frame of ours
  const int source = static_cast<int>(info.gex_srcrank);
  if (wire.polling_ && wire.arrived_.empty()) {  // else it would overtake stored frames
    wire.handling_ = wire.handled_ = true;
    wire.token_ = token, wire.asker_ = info.gex_is_req != 0 ? source : -1;
    wire.hooks_.frame(wire.hooks_.context, source, bytes, size);
    wire.handling_ = false;
    return;
  }
  std::unique_ptr<Frame> frame;
  if (wire.free_.empty()) frame = std::make_unique<Frame>();
  else frame = std::move(wire.free_.back()), wire.free_.pop_back();
  frame->source = source, frame->size = size;
  std::memcpy(frame->bytes, bytes, size);
  wire.arrived_.push_back(std::move(frame));
}

// ---- bulk data -----------------------------------------------------------------------------------------------------

void GasnetWire::send_bulk(int to, uint32_t tag, const void* data, size_t bytes, uint64_t ticket) {
  sending_.push_back({to, tag, static_cast<const char*>(data), bytes, 0, ticket});
}

// Sends some pieces of every transfer in turn; returns true if any was sent.
bool GasnetWire::send_pieces() {
  bool any = false;
  for (size_t left = std::min<size_t>(sending_.size(), pieces_per_poll); left > 0 && !failed_; --left) {
    Sending transfer = sending_.front();
    sending_.pop_front();
    const size_t part = std::min(piece_bytes_, transfer.bytes - transfer.sent);
    const int busy =
        gex_AM_RequestMedium2(team_, static_cast<gex_Rank_t>(transfer.to), piece_handler,
                              const_cast<char*>(transfer.data + transfer.sent), part, GEX_EVENT_NOW, GEX_FLAG_IMMEDIATE,
                              static_cast<gex_AM_Arg_t>(transfer.tag), static_cast<gex_AM_Arg_t>(transfer.sent));
    if (busy == 0) transfer.sent += part, any = true;
    if (transfer.sent == transfer.bytes) finished_.push_back(transfer.ticket);
    else sending_.push_back(transfer);
  }
  return any;
}

void GasnetWire::on_piece(gex_Token_t token, void* bytes, size_t size, gex_AM_Arg_t tag, gex_AM_Arg_t place) {
  gex_Token_Info_t info;
  GasnetWire& wire = of(token, info);
  const Key key = {static_cast<int>(info.gex_srcrank), static_cast<uint32_t>(tag)};
  wire.take_piece(key, bytes, size, static_cast<size_t>(place));
}

void GasnetWire::take_piece(const Key& key, const void* bytes, size_t size, size_t place) {
  const auto receiving = receiving_.try_emplace(key).first;
  Receiving& r = receiving->second;
  if (r.data == nullptr) {
    const char* const from = static_cast<const char*>(bytes);
    r.early.emplace_back(place, std::vector<char>(from, from + size));
    return;
  }
  if (place > r.bytes || size > r.bytes - place) return;  // not a piece of ours
  std::memcpy(r.data + place, bytes, size);
  r.arrived += size;
  finish(receiving);
}

void GasnetWire::finish(std::map<Key, Receiving>::iterator receiving) {
  if (receiving->second.arrived < receiving->second.bytes) return;
  finished_.push_back(receiving->second.ticket);
  receiving_.erase(receiving);
}

void GasnetWire::recv_bulk(int from, uint32_t tag, void* data, size_t bytes, uint64_t ticket) {
  const auto receiving = receiving_.try_emplace({from, tag}).first;
  Receiving& r = receiving->second;
  r.data = static_cast<char*>(data), r.bytes = bytes, r.ticket = ticket;
  for (const auto& [place, part] : r.early) {
    std::memcpy(r.data + place, part.data(), part.size());
    r.arrived += part.size();
  }
  r.early.clear();
  finish(receiving);
}

// ---- progress ------------------------------------------------------------------------------------------------------

bool GasnetWire::poll() {
  bool any = report();
  any = send_pieces() || any;
  polling_ = true, handled_ = false;
  // Polls several times: a peer that waits answers quickly, and a frame just missed would wait for the next poll().
  for (int look = 0; look < 4 && !handled_ && !failed_ && arrived_.empty() && finished_.empty(); ++look)
    if (const int error = gasnet_AMPoll(); error != GASNET_OK) fail("receiving", error);
  polling_ = false;
  any = handled_ || any;
  return report() || any;
}

// Hooks may send and so cause more events; the next poll reports those.
bool GasnetWire::report() {
  if (arrived_.empty() && finished_.empty()) return false;
  reporting_.swap(arrived_);
  for (std::unique_ptr<Frame>& frame : reporting_) {
    hooks_.frame(hooks_.context, frame->source, frame->bytes, frame->size);
    free_.push_back(std::move(frame));
  }
  reporting_.clear();
  std::vector<uint64_t> finished;
  finished.swap(finished_);
  for (const uint64_t ticket : finished) hooks_.done(hooks_.context, ticket);
  return true;
}

// ---- one-sided access ----------------------------------------------------------------------------------------------

// These block, because GASNet requires that the thread that begins an operation ends it. While they wait they answer
// requests of other processes.
void GasnetWire::put(int handle, uint64_t offset, const void* from, size_t bytes, uint64_t ticket) {
  const auto [owner, to] = handles_.at(handle, offset);
  gex_RMA_PutBlocking(team_, static_cast<gex_Rank_t>(owner), to, const_cast<void*>(from), bytes, 0);
  finished_.push_back(ticket);
}

void GasnetWire::get(int handle, uint64_t offset, void* to, size_t bytes, uint64_t ticket) {
  const auto [owner, from] = handles_.at(handle, offset);
  gex_RMA_GetBlocking(team_, to, static_cast<gex_Rank_t>(owner), from, bytes, 0);
  finished_.push_back(ticket);
}

// GASNet's innermost dimension comes first.
struct Reversed {
  explicit Reversed(const Walk& walk) {
    for (int d = 0; d < walk.dims; ++d) {
      const int outer = walk.dims - 1 - d;
      count[d] = static_cast<size_t>(walk.count[outer]), to[d] = walk.to[outer], from[d] = walk.from[outer];
    }
  }
  size_t count[Walk::max_dims] = {};
  ptrdiff_t to[Walk::max_dims] = {}, from[Walk::max_dims] = {};
};

void GasnetWire::put_strided(int handle, uint64_t offset, const void* from, const Walk& walk, uint64_t ticket) {
  const auto [owner, to] = handles_.at(handle, offset);
  const Reversed r(walk);
  gex_VIS_StridedPutBlocking(team_, static_cast<gex_Rank_t>(owner), to, r.to, const_cast<void*>(from), r.from,
                             walk.block, r.count, static_cast<size_t>(walk.dims), 0);
  finished_.push_back(ticket);
}

void GasnetWire::get_strided(int handle, uint64_t offset, void* to, const Walk& walk, uint64_t ticket) {
  const auto [owner, from] = handles_.at(handle, offset);
  const Reversed r(walk);
  gex_VIS_StridedGetBlocking(team_, to, r.to, static_cast<gex_Rank_t>(owner), from, r.from, walk.block, r.count,
                             static_cast<size_t>(walk.dims), 0);
  finished_.push_back(ticket);
}

}  // namespace

HIROBA_WIRE_PLUGIN(GasnetWire, reaches_all_memory ? WirePlugin::always : WirePlugin::never)

}  // namespace hiroba
