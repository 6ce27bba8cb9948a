// The operations of collective.h: each checks its arguments and becomes a plan, which runs now, is started, or is kept.
#include <algorithm>
#include <cstring>

#include "base/record/record.hpp"
#include "notation/collective/collective_process.hpp"

namespace hiroba {

namespace {

size_t elements(int64_t count, const char* call) {
  if (count < 0) end_job(1, "%s: %s: count is %ld; it must not be negative", prefix(), call, count);
  return static_cast<size_t>(count);
}

// Returns `data`, of `bytes` bytes, or null for HIROBA_IN_PLACE; a buffer of 0 bytes, which may be NULL, is not null.
template <typename Pointer>
Pointer buffer(Pointer data, size_t bytes, const char* which, const char* call, bool to_write = false) {
  static char nothing[1];
  if (data == HIROBA_IN_PLACE) return nullptr;
  require_in_copies(data, bytes, which, call);
  require_unused({call, prefix(), which, data, bytes, to_write});
  if (data != nullptr) return data;
  if (bytes > 0) end_job(1, "%s: %s: %s is NULL, for %zu bytes", prefix(), call, which, bytes);
  return nothing;
}

// Returns the buffer for results.
void* target(void* data, size_t bytes, const char* which, const char* call, bool to_write = true) {
  if (data == HIROBA_IN_PLACE)
    end_job(1, "%s: %s: %s is HIROBA_IN_PLACE; it stands for the other buffer", prefix(), call, which);
  return buffer(data, bytes, which, call, to_write);
}

void require_apart(const void* send, size_t send_bytes, const void* recv, size_t recv_bytes, const char* call) {
  const auto s = reinterpret_cast<uintptr_t>(send), r = reinterpret_cast<uintptr_t>(recv);
  if (send != nullptr && recv != nullptr && send_bytes > 0 && recv_bytes > 0 && s < r + recv_bytes &&
      r < s + send_bytes)
    end_job(1, "%s: %s: send (%p, %zu bytes) and recv (%p, %zu bytes) overlap; use HIROBA_IN_PLACE, or two buffers",
            prefix(), call, send, send_bytes, recv, recv_bytes);
}

void require_root(const Members& members, int root, const char* call) {
  if (!members.team.contains(root))
    end_job(1, "%s: %s: root is %d, and the team has ranks 0..%d", prefix(), call, root, members.team.count - 1);
}

// Only the root may pass HIROBA_IN_PLACE.
void require_at_root(const void* data, const Members& members, int root, const char* call) {
  if (data == HIROBA_IN_PLACE && members.me != root)
    end_job(1, "%s: %s: HIROBA_IN_PLACE is for the root, which is %d, and this is rank %d", prefix(), call, root,
            members.me);
}

void require_list(const void* list, int entries, const char* which, const char* call) {
  if (list == nullptr && entries > 0)
    end_job(1, "%s: %s: the list of %s is NULL; it has %d entries", prefix(), call, which, entries);
}

// Returns counts and displacements of all members, in bytes.
BlockTable table(const Members& members, const int64_t counts[], const int64_t displs[], const hiroba_type* types,
                 hiroba_type type, const char* call) {
  BlockTable out;
  require_list(counts, members.team.count, "counts", call);
  size_t next = 0;
  for (int i = 0; i < members.team.count; ++i) {
    const size_t element = bytes_of_type(types != nullptr ? types[i] : type, call);
    const size_t bytes = elements(counts[i], call) * element, scale = types != nullptr ? 1 : element;
    if (displs != nullptr && displs[i] < 0)
      end_job(1, "%s: %s: displacement %d is %ld; it must not be negative", prefix(), call, i, displs[i]);
    out.bytes.push_back(bytes);
    out.at.push_back(displs != nullptr ? static_cast<size_t>(displs[i]) * scale : next);
    next += bytes;
  }
  return out;
}

// Returns the bytes from the start of the buffer to the end of its last block.
size_t extent_of(const BlockTable& parts) {
  size_t out = 0;
  for (size_t i = 0; i < parts.at.size(); ++i)
    if (parts.bytes[i] > 0) out = std::max(out, parts.at[i] + parts.bytes[i]);
  return out;
}

// The blocks of one buffer may be between those of the other.
void require_blocks_apart(const void* send, const BlockTable& gives, const void* recv, const BlockTable& takes,
                          const char* call) {
  const auto s = reinterpret_cast<uintptr_t>(send), r = reinterpret_cast<uintptr_t>(recv);
  if (send == nullptr || recv == nullptr || s >= r + extent_of(takes) || r >= s + extent_of(gives)) return;
  for (size_t i = 0; i < gives.at.size(); ++i)
    for (size_t j = 0; j < takes.at.size(); ++j) {
      const uintptr_t from = s + gives.at[i], to = r + takes.at[j];
      if (gives.bytes[i] > 0 && takes.bytes[j] > 0 && from < to + takes.bytes[j] && to < from + gives.bytes[i])
        end_job(1, "%s: %s: block %zu of send and block %zu of recv overlap; use HIROBA_IN_PLACE, or two buffers",
                prefix(), call, i, j);
    }
}

std::vector<size_t> counts_of(const Members& members, const int64_t counts[], const char* call) {
  std::vector<size_t> out;
  require_list(counts, members.team.count, "counts", call);
  for (int i = 0; i < members.team.count; ++i) out.push_back(elements(counts[i], call));
  return out;
}

// Returns a name such as "hiroba_gather(3 double to rank 0)".
CallName moved(const char* call, int64_t count, hiroba_type type, const char* way = "", int root = -1) {
  CallName name(call);
  name << "(" << count << " ";
  name_type(name, type) << way;
  if (root >= 0) name << root;
  return name << ")";
}

CallName combined(const char* call, hiroba_op op, int64_t count, hiroba_type type, int root = -1) {
  constexpr size_t most = 24;  // so that there is room for the rest
  const std::string_view own = op->name == nullptr ? "own operator" : op->name;
  CallName name(call);
  name << "(" << own.substr(0, most) << " of " << count << " ";
  name_type(name, type);
  if (root >= 0) name << " to rank " << root;
  return name << ")";
}

// Names operations whose counts differ between ranks.
CallName typed(const char* call, hiroba_type type, const char* way = "", int root = -1) {
  CallName name(call);
  name << "(";
  name_type(name, type) << way;
  if (root >= 0) name << root;
  return name << ")";
}

// Checks the size of this rank's own block.
void require_own(size_t bytes, const BlockTable& parts, const Members& members, const char* does, const char* call) {
  if (const size_t own = parts.bytes[members.me]; own != bytes)
    end_job(1, "%s: %s: this rank %s %zu bytes, and its count in the list is %zu bytes", prefix(), call, does, bytes,
            own);
}

Prepared bcast(const char* call, void* data, int64_t count, hiroba_type type, int root, hiroba_team team) {
  Members& members = members_of(team, call);
  require_root(members, root, call);
  const size_t bytes = elements(count, call) * bytes_of_type(type, call);
  return {&members, moved(call, count, type, " from rank ", root),
          plan_bcast(member_of(members), root, target(data, bytes, "buffer", call, members.me != root), bytes)};
}

Prepared gather(const char* call, const void* send, void* recv, int64_t count, hiroba_type type, int root,
                hiroba_team team) {
  Members& members = members_of(team, call);
  require_root(members, root, call);
  const size_t bytes = elements(count, call) * bytes_of_type(type, call);
  require_at_root(send, members, root, call);
  send = buffer(send, bytes, "send", call);
  if (members.me == root) {
    recv = target(recv, bytes * static_cast<size_t>(members.team.count), "recv", call);
    require_apart(send, bytes, recv, bytes * static_cast<size_t>(members.team.count), call);
  }
  return {&members, moved(call, count, type, " to rank ", root),
          plan_gather(member_of(members), root, send, recv, bytes)};
}

Prepared scatter(const char* call, const void* send, void* recv, int64_t count, hiroba_type type, int root,
                 hiroba_team team) {
  Members& members = members_of(team, call);
  require_root(members, root, call);
  const size_t bytes = elements(count, call) * bytes_of_type(type, call);
  require_at_root(recv, members, root, call);
  recv = buffer(recv, bytes, "recv", call);
  if (members.me == root) {
    send = target(const_cast<void*>(send), bytes * static_cast<size_t>(members.team.count), "send", call, false);
    require_apart(send, bytes * static_cast<size_t>(members.team.count), recv, bytes, call);
  }
  return {&members, moved(call, count, type, " from rank ", root),
          plan_scatter(member_of(members), root, send, recv, bytes)};
}

Prepared allgather(const char* call, const void* send, void* recv, int64_t count, hiroba_type type, hiroba_team team) {
  Members& members = members_of(team, call);
  const size_t bytes = elements(count, call) * bytes_of_type(type, call);
  const size_t all = bytes * static_cast<size_t>(members.team.count);
  send = buffer(send, bytes, "send", call), recv = target(recv, all, "recv", call);
  require_apart(send, bytes, recv, all, call);
  return {&members, moved(call, count, type), plan_allgather(member_of(members), send, recv, bytes)};
}

Prepared alltoall(const char* call, const void* send, void* recv, int64_t count, hiroba_type type, hiroba_team team) {
  Members& members = members_of(team, call);
  const size_t bytes = elements(count, call) * bytes_of_type(type, call);
  const size_t all = bytes * static_cast<size_t>(members.team.count);
  send = buffer(send, all, "send", call), recv = target(recv, all, "recv", call);
  require_apart(send, all, recv, all, call);
  return {&members, moved(call, count, type), plan_alltoall(member_of(members), send, recv, bytes)};
}

Prepared gatherv(const char* call, const void* send, int64_t count, void* recv, const int64_t counts[],
                 const int64_t displs[], hiroba_type type, int root, hiroba_team team) {
  Members& members = members_of(team, call);
  require_root(members, root, call);
  require_at_root(send, members, root, call);
  const BlockTable parts = members.me == root ? table(members, counts, displs, nullptr, type, call) : BlockTable();
  const size_t bytes = send == HIROBA_IN_PLACE ? parts.bytes[root] : elements(count, call) * bytes_of_type(type, call);
  send = buffer(send, bytes, "send", call);
  if (members.me == root) {
    recv = target(recv, extent_of(parts), "recv", call);
    require_own(bytes, parts, members, "gives", call);
    require_blocks_apart(send, BlockTable{{bytes}, {0}}, recv, parts, call);
  }
  return {&members, typed(call, type, " to rank ", root),
          plan_gatherv(member_of(members), root, send, bytes, recv, parts)};
}

Prepared scatterv(const char* call, const void* send, const int64_t counts[], const int64_t displs[], void* recv,
                  int64_t count, hiroba_type type, int root, hiroba_team team) {
  Members& members = members_of(team, call);
  require_root(members, root, call);
  require_at_root(recv, members, root, call);
  const BlockTable parts = members.me == root ? table(members, counts, displs, nullptr, type, call) : BlockTable();
  const size_t bytes = recv == HIROBA_IN_PLACE ? parts.bytes[root] : elements(count, call) * bytes_of_type(type, call);
  recv = buffer(recv, bytes, "recv", call);
  if (members.me == root) {
    send = target(const_cast<void*>(send), extent_of(parts), "send", call, false);
    require_own(bytes, parts, members, "takes", call);
    require_blocks_apart(send, parts, recv, BlockTable{{bytes}, {0}}, call);
  }
  return {&members, typed(call, type, " from rank ", root),
          plan_scatterv(member_of(members), root, send, parts, recv, bytes)};
}

Prepared allgatherv(const char* call, const void* send, int64_t count, void* recv, const int64_t counts[],
                    const int64_t displs[], hiroba_type type, hiroba_team team) {
  Members& members = members_of(team, call);
  const BlockTable parts = table(members, counts, displs, nullptr, type, call);
  const size_t mine = parts.bytes[members.me];
  if (const size_t bytes = elements(count, call) * bytes_of_type(type, call); send != HIROBA_IN_PLACE && bytes != mine)
    end_job(1, "%s: %s: this rank gives %ld elements, and counts[%d] is %ld", prefix(), call, count, members.me,
            counts[members.me]);
  send = buffer(send, mine, "send", call), recv = target(recv, extent_of(parts), "recv", call);
  require_blocks_apart(send, BlockTable{{mine}, {0}}, recv, parts, call);
  return {&members, typed(call, type), plan_allgatherv(member_of(members), send, mine, recv, parts)};
}

Prepared exchanged(const char* call, Members& members, CallName name, const void* send, const BlockTable& gives,
                   void* recv, const BlockTable& takes) {
  const auto me = static_cast<size_t>(members.me);
  if (send != HIROBA_IN_PLACE && gives.bytes[me] != takes.bytes[me])
    end_job(1, "%s: %s: this rank gives itself %zu bytes and takes %zu", prefix(), call, gives.bytes[me],
            takes.bytes[me]);
  send = buffer(send, extent_of(gives), "send", call), recv = target(recv, extent_of(takes), "recv", call);
  require_blocks_apart(send, gives, recv, takes, call);
  return {&members, name, plan_alltoallv(send, gives, recv, takes)};
}

Prepared alltoallv(const char* call, const void* send, const int64_t sendcounts[], const int64_t senddispls[],
                   void* recv, const int64_t recvcounts[], const int64_t recvdispls[], hiroba_type type,
                   hiroba_team team) {
  Members& members = members_of(team, call);
  const bool in_place = send == HIROBA_IN_PLACE;
  return exchanged(call, members, typed(call, type), send,
                   in_place ? BlockTable() : table(members, sendcounts, senddispls, nullptr, type, call), recv,
                   table(members, recvcounts, recvdispls, nullptr, type, call));
}

Prepared alltoallw(const char* call, const void* send, const int64_t sendcounts[], const int64_t senddispls[],
                   const hiroba_type sendtypes[], void* recv, const int64_t recvcounts[], const int64_t recvdispls[],
                   const hiroba_type recvtypes[], hiroba_team team) {
  Members& members = members_of(team, call);
  const bool in_place = send == HIROBA_IN_PLACE;
  return exchanged(call, members, CallName(call), send,
                   in_place ? BlockTable() : table(members, sendcounts, senddispls, sendtypes, 0, call), recv,
                   table(members, recvcounts, recvdispls, recvtypes, 0, call));
}

Prepared allreduce(const char* call, const void* send, void* recv, int64_t count, hiroba_type type, hiroba_op op,
                   hiroba_team team) {
  Members& members = members_of(team, call);
  const Combine combine = combine_of(op, type, call);
  const size_t n = elements(count, call), bytes = n * combine.element();
  send = buffer(send, bytes, "send", call), recv = target(recv, bytes, "recv", call);
  require_apart(send, bytes, recv, bytes, call);
  return {&members, combined(call, op, count, type), plan_allreduce(member_of(members), send, recv, n, combine)};
}

Prepared reduce(const char* call, const void* send, void* recv, int64_t count, hiroba_type type, hiroba_op op, int root,
                hiroba_team team) {
  Members& members = members_of(team, call);
  require_root(members, root, call);
  const Combine combine = combine_of(op, type, call);
  const size_t n = elements(count, call), bytes = n * combine.element();
  require_at_root(send, members, root, call);
  send = buffer(send, bytes, "send", call);
  if (members.me == root) require_apart(send, bytes, target(recv, bytes, "recv", call), bytes, call);
  return {&members, combined(call, op, count, type, root),
          plan_reduce(member_of(members), root, send, recv, n, combine)};
}

Prepared scan_of(const char* call, bool exclusive, const void* send, void* recv, int64_t count, hiroba_type type,
                 hiroba_op op, hiroba_team team) {
  Members& members = members_of(team, call);
  const Combine combine = combine_of(op, type, call);
  const size_t n = elements(count, call), bytes = n * combine.element();
  send = buffer(send, bytes, "send", call), recv = target(recv, bytes, "recv", call);
  require_apart(send, bytes, recv, bytes, call);
  return {&members, combined(call, op, count, type), plan_scan(member_of(members), send, recv, n, combine, exclusive)};
}

Prepared scan(const char* call, const void* send, void* recv, int64_t count, hiroba_type type, hiroba_op op,
              hiroba_team team) {
  return scan_of(call, false, send, recv, count, type, op, team);
}

Prepared exscan(const char* call, const void* send, void* recv, int64_t count, hiroba_type type, hiroba_op op,
                hiroba_team team) {
  return scan_of(call, true, send, recv, count, type, op, team);
}

Prepared reduce_scatter(const char* call, const void* send, void* recv, const int64_t counts[], hiroba_type type,
                        hiroba_op op, hiroba_team team) {
  Members& members = members_of(team, call);
  const Combine combine = combine_of(op, type, call);
  const std::vector<size_t> all = counts_of(members, counts, call);
  int64_t sum = 0;
  for (const size_t n : all) sum += static_cast<int64_t>(n);
  const size_t bytes = static_cast<size_t>(sum) * combine.element();
  const size_t mine = all[members.me] * combine.element();
  send = buffer(send, bytes, "send", call);
  recv = target(recv, send == nullptr ? bytes : mine, "recv", call);
  require_apart(send, bytes, recv, mine, call);
  return {&members, combined(call, op, sum, type), plan_reduce_scatter(member_of(members), send, recv, all, combine)};
}

Prepared reduce_scatter_block(const char* call, const void* send, void* recv, int64_t count, hiroba_type type,
                              hiroba_op op, hiroba_team team) {
  const std::vector<int64_t> counts(static_cast<size_t>(members_of(team, call).team.count), count);
  return reduce_scatter(call, send, recv, counts.data(), type, op, team);
}

Prepared neighbor_alltoall(const char* call, const void* send, int nto, const int to[], void* recv, int nfrom,
                           const int from[], int64_t count, hiroba_type type, hiroba_team team) {
  Members& members = members_of(team, call);
  const size_t bytes = elements(count, call) * bytes_of_type(type, call);
  const size_t out = elements(nto, call) * bytes, in = elements(nfrom, call) * bytes;
  require_list(to, nto, "ranks to send to", call), require_list(from, nfrom, "ranks to receive from", call);
  send = target(const_cast<void*>(send), out, "send", call, false), recv = target(recv, in, "recv", call);
  require_apart(send, out, recv, in, call);
  const std::span<const int> gives(to, static_cast<size_t>(nto)), takes(from, static_cast<size_t>(nfrom));
  for (const std::span<const int> list : {gives, takes})
    for (const int member : list)
      if (!members.team.contains(member))
        end_job(1, "%s: %s: rank %d is a neighbour, and the team has ranks 0..%d", prefix(), call, member,
                members.team.count - 1);
  Plan plan = plan_neighbours(member_of(members), send, gives, recv, takes, bytes);
  if (plan.phases.size() > Plan::most_phases)
    end_job(1, "%s: %s: %zu blocks between two ranks; at most %zu: send several as one", prefix(), call,
            plan.phases.size(), Plan::most_phases);
  return {&members, moved(call, count, type), std::move(plan)};
}

// Each rank gives a byte to all.
Prepared barrier(const char* call, hiroba_team team) {
  Members& members = members_of(team, call);
  return {&members, CallName(call), plan_barrier(member_of(members))};
}

// Returns "hiroba_barrier at main.c:12", made again only if the place has changed.
const char* barrier_here(const char* call) {
  thread_local char text[176] = "", at[160] = "none so far";
  if (std::strncmp(at, place(), sizeof at - 1) != 0) {
    std::strncpy(at, place(), sizeof at - 1);
    Call{call, at}.write(text);
  }
  return text;
}

}  // namespace

// Defines the three forms of an operation. `parameters` and `arguments` are in parentheses.
#define UNPACK(...) __VA_ARGS__
#define OPERATION(name, parameters, arguments)                                                            \
  HIROBA_EXPORT void hiroba_##name(UNPACK parameters, hiroba_team team) {                                 \
    const RecordedCall recorded;                                                                          \
    perform("hiroba_" #name, name("hiroba_" #name, UNPACK arguments, team));                              \
  }                                                                                                       \
  HIROBA_EXPORT void hiroba_i##name(UNPACK parameters, hiroba_team team, hiroba_request* request) {       \
    const RecordedCall recorded;                                                                          \
    *request = start("hiroba_i" #name, name("hiroba_i" #name, UNPACK arguments, team));                   \
  }                                                                                                       \
  HIROBA_EXPORT void hiroba_##name##_init(UNPACK parameters, hiroba_team team, hiroba_request* request) { \
    const RecordedCall recorded;                                                                          \
    *request = keep("hiroba_" #name "_init", name("hiroba_" #name, UNPACK arguments, team));              \
  }

// Publishes shared memory: among all as sms_barrier, in a team by the positions up to which its ranks have seen the
// nodes' logs of writes.
HIROBA_EXPORT void hiroba_barrier(hiroba_team team) {
  const RecordedCall recorded;
  const char* const call = "hiroba_barrier";
  Consistency& consistency = (collective_of(call), process_memory(call).consistency());
  if (team == HIROBA_ALL) {
    begin_barrier(call);
    return require_at(consistency.barrier(barrier_here(call)), prefix());
  }
  Members& members = members_of(team, call);
  std::vector<uint64_t> mine = consistency.release(), all(mine.size());
  perform(call, mine.empty() ? barrier(call, team)
                             : Prepared{&members, CallName(call),
                                        plan_allreduce(member_of(members), mine.data(), all.data(), mine.size(),
                                                       combine_of(HIROBA_MAX, HIROBA_UINT64, call))});
  consistency.acquire(all);
}
HIROBA_EXPORT void hiroba_ibarrier(hiroba_team team, hiroba_request* request) {
  *request = start("hiroba_ibarrier", barrier("hiroba_ibarrier", team));
}
HIROBA_EXPORT void hiroba_barrier_init(hiroba_team team, hiroba_request* request) {
  *request = keep("hiroba_barrier_init", barrier("hiroba_barrier", team));
}

OPERATION(bcast, (void* data, int64_t count, hiroba_type type, int root), (data, count, type, root))
OPERATION(gather, (const void* send, void* recv, int64_t count, hiroba_type type, int root),
          (send, recv, count, type, root))
OPERATION(scatter, (const void* send, void* recv, int64_t count, hiroba_type type, int root),
          (send, recv, count, type, root))
OPERATION(allgather, (const void* send, void* recv, int64_t count, hiroba_type type), (send, recv, count, type))
OPERATION(alltoall, (const void* send, void* recv, int64_t count, hiroba_type type), (send, recv, count, type))
OPERATION(gatherv,
          (const void* send, int64_t count, void* recv, const int64_t counts[], const int64_t displs[],
           hiroba_type type, int root),
          (send, count, recv, counts, displs, type, root))
OPERATION(scatterv,
          (const void* send, const int64_t counts[], const int64_t displs[], void* recv, int64_t count,
           hiroba_type type, int root),
          (send, counts, displs, recv, count, type, root))
OPERATION(allgatherv,
          (const void* send, int64_t count, void* recv, const int64_t counts[], const int64_t displs[],
           hiroba_type type),
          (send, count, recv, counts, displs, type))
OPERATION(alltoallv,
          (const void* send, const int64_t sendcounts[], const int64_t senddispls[], void* recv,
           const int64_t recvcounts[], const int64_t recvdispls[], hiroba_type type),
          (send, sendcounts, senddispls, recv, recvcounts, recvdispls, type))
OPERATION(alltoallw,
          (const void* send, const int64_t sendcounts[], const int64_t senddispls[], const hiroba_type sendtypes[],
           void* recv, const int64_t recvcounts[], const int64_t recvdispls[], const hiroba_type recvtypes[]),
          (send, sendcounts, senddispls, sendtypes, recv, recvcounts, recvdispls, recvtypes))
OPERATION(allreduce, (const void* send, void* recv, int64_t count, hiroba_type type, hiroba_op op),
          (send, recv, count, type, op))
OPERATION(reduce, (const void* send, void* recv, int64_t count, hiroba_type type, hiroba_op op, int root),
          (send, recv, count, type, op, root))
OPERATION(scan, (const void* send, void* recv, int64_t count, hiroba_type type, hiroba_op op),
          (send, recv, count, type, op))
OPERATION(exscan, (const void* send, void* recv, int64_t count, hiroba_type type, hiroba_op op),
          (send, recv, count, type, op))
OPERATION(reduce_scatter, (const void* send, void* recv, const int64_t counts[], hiroba_type type, hiroba_op op),
          (send, recv, counts, type, op))
OPERATION(reduce_scatter_block, (const void* send, void* recv, int64_t count, hiroba_type type, hiroba_op op),
          (send, recv, count, type, op))
OPERATION(neighbor_alltoall,
          (const void* send, int nto, const int to[], void* recv, int nfrom, const int from[], int64_t count,
           hiroba_type type),
          (send, nto, to, recv, nfrom, from, count, type))

}  // namespace hiroba
