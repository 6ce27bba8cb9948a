// The CPUs that each rank of a machine may use (hirobarun --bind), and the places that its OpenMP threads get there.
// Pure arithmetic on the cores of a machine, except bind_process() and use_places(), which change this process.
#pragma once

#include <string>
#include <vector>

#include "launcher/machine.hpp"

namespace hiroba {

struct Binding {
  enum class Kind { none, core, numa, socket, list } kind = Kind::none;
  Cpus cpus;         // of a list, in the order in which ranks get them
  std::string text;  // the user's text: "core", "0-3,8"

  static Status parse(const std::string& text, Binding& out);
};

// The places of a rank.
struct RankPlaces {
  std::vector<Cpus> places;  // of its OpenMP threads; empty: the rank is not bound
  Cpus cpus() const;         // of all places, in order
  bool operator==(const RankPlaces&) const = default;
};

// Computes the places of all ranks. core, and a list of CPUs: shares without common CPUs, in order; with at least as
// many ranks as domains a share does not leave its NUMA domain. The share of a rank is cut into as many places as it
// has threads. numa, socket: one place, which is the domain or socket; ranks get them in turn, and several may share
// one.
Status bind_ranks(const std::vector<Core>& machine, const Binding& how, int ranks, int threads,
                  std::vector<RankPlaces>& out);

// Returns places for `threads` OpenMP threads on all of these cores.
RankPlaces places_on(const std::vector<Core>& cores, int threads);

// "rank 0 bound to socket 0[core 1[hwt 0-1]], NUMA domain 0: [../BB][../..]", as mpirun shows it.
std::string describe_binding(const std::vector<Core>& machine, int rank, const RankPlaces& bound);

// Binds this process, and the threads and programs that it starts.
Status bind_process(const Cpus& cpus);
// Sets the environment of this process: the OpenMP runtime of the program that it executes uses the places, unless the
// user has chosen others; and the library's threads, which OpenMP's do not bind, use all of their CPUs.
void use_places(const RankPlaces& bound);

}  // namespace hiroba
