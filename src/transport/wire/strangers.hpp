// Keeps others away from a process's part of UCX or of an MPI, whose own protocols know no authentication: a process
// that connects to the port of UCX may send every message that UCX serves. Hiroba adds two checks: a socket filter, by
// which the kernel drops packets from hosts that have no part in the job before there is a connection, and, over UCX, a
// key in each message, a hash of a number that only the job's processes have, so that their messages are told from
// those of others.
//
// Called at start by one thread; Keys is thread-safe.
#pragma once

#include <netinet/in.h>

#include <array>
#include <cstdint>
#include <vector>

#include "base/status.hpp"
#include "transport/wire/keys.hpp"
#include "transport/wire/wire.hpp"

namespace hiroba {

class Keys {
 public:
  // The header of a message.
  struct Sender {
    int32_t rank;
    uint32_t round;  // of a leave message
    uint64_t key;
  };

  Keys() = default;
  Keys(const JobSecret& secret, int rank, int size) : pairs_(secret, rank, size), rank_(rank) {}

  Sender sender(int to) const { return {rank_, 0, pairs_.to(to)}; }
  Sender sender(int to, uint32_t round) const { return {rank_, round, pairs_.key(rank_, to, round)}; }
  // Returns whether a process of the job has made this header for this process.
  bool know(const void* header, size_t header_size, Sender& out) const;
  // Returns the tag of bulk data. In the bits that `tag` and the sender do not need it has a part of a key, which a
  // process without part in the job would have to guess.
  uint64_t tag(int from, int to, uint32_t tag) const;

 private:
  PairKeys pairs_;
  int rank_ = 0;
};

// The first data that processes exchange, by the launcher, which knows them.
struct Introduction {
  uint64_t machine;
  JobSecret secret;  // that of process 0 is the job's
  // When all are used, the host may have more, and is not known by them.
  std::array<in6_addr, 16> addresses;
};
Status introduce(Rendezvous& rendezvous, std::vector<Introduction>& all);

// Returns the sockets of this process that listen for TCP connections, sorted.
std::vector<int> listening_sockets();

// Closes the ports that this process has opened since `others`, which UCX and MPI know no way to do, to hosts without
// part in the job, and keeps them from children of this process. Some systems let only root do so: an error says why
// the ports are open.
Status keep_strangers_out(const std::vector<int>& others, const std::vector<Introduction>& all);

// Lets the socket, and what it accepts later, have packets from these hosts and from this one alone. IPv4 is given as
// ::ffff:a.b.c.d. Of many hosts whole ranges are let in, between which there are the fewest others.
Status accept_only_from(int socket, const std::vector<in6_addr>& hosts);

}  // namespace hiroba
