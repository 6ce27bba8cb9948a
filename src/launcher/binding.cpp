#include "launcher/binding.hpp"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>

#include "base/limits.hpp"
#include "base/text.hpp"

namespace hiroba {

namespace {

// Cuts items 0..n-1 into parts of even size; returns the begin of part `i`.
size_t cut(size_t n, int parts, int i) { return n * static_cast<size_t>(i) / static_cast<size_t>(parts); }

template <typename T>
std::vector<T> slice(const std::vector<T>& all, size_t begin, size_t end) {
  return {all.begin() + static_cast<std::ptrdiff_t>(begin), all.begin() + static_cast<std::ptrdiff_t>(end)};
}

int domains_of(const std::vector<Core>& cores) {
  Cpus domains;
  for (const Core& core : cores) domains.push_back(core.domain);
  std::sort(domains.begin(), domains.end());
  return static_cast<int>(std::unique(domains.begin(), domains.end()) - domains.begin());
}

// Cuts the cores into even shares.
std::vector<std::vector<Core>> shares(const std::vector<Core>& units, int ranks) {
  std::vector<std::vector<Core>> out;
  for (int r = 0; r < ranks; ++r)
    out.push_back(slice(units, cut(units.size(), ranks, r), cut(units.size(), ranks, r + 1)));
  return out;
}

// Does the same, but if each domain can have a rank, no share crosses domains.
std::vector<std::vector<Core>> shares_in_domains(const std::vector<Core>& cores, int ranks) {
  std::vector<std::vector<Core>> even = shares(cores, ranks);
  if (domains_of(cores) > ranks) return even;
  std::vector<std::vector<Core>> out;
  for (int r = 0; r < ranks;) {
    const int domain = even[r].front().domain;
    int end = r;  // ranks r..end-1 begin in this domain
    while (end < ranks && even[end].front().domain == domain) ++end;
    std::vector<Core> mine;
    for (const Core& core : cores)
      if (core.domain == domain) mine.push_back(core);
    for (std::vector<Core>& share : shares(mine, end - r)) out.push_back(std::move(share));
    r = end;
  }
  return out;
}

// Returns the CPUs of a list, each as a core of its own.
Status units_of_list(const std::vector<Core>& machine, const Binding& how, std::vector<Core>& out) {
  Cpus allowed;
  for (const Core& core : machine) allowed.insert(allowed.end(), core.cpus.begin(), core.cpus.end());
  for (const int cpu : how.cpus) {
    const auto has = [cpu](const Core& core) {
      return std::find(core.cpus.begin(), core.cpus.end(), cpu) != core.cpus.end();
    };
    const auto found = std::find_if(machine.begin(), machine.end(), has);
    if (found == machine.end())
      return Status::error("option --bind %s: CPU %d is not one that this job may use; choose from %s",
                           how.text.c_str(), cpu, show_numbers(allowed).c_str());
    if (std::any_of(out.begin(), out.end(), has))
      return Status::error("option --bind %s: CPU %d is given twice", how.text.c_str(), cpu);
    out.push_back({{cpu}, found->domain, found->socket});
  }
  return {};
}

Status check_enough(const Binding& how, int ranks, size_t units) {
  if (static_cast<size_t>(ranks) <= units) return {};
  const bool list = how.kind == Binding::Kind::list;
  return Status::error(
      "option --bind %s: %d ranks for %zu %s%s; start at most %zu (-n %zu)%s, or give --bind none, with which ranks "
      "share CPUs",
      how.text.c_str(), ranks, units, list ? "CPU" : "core", units == 1 ? "" : "s", units, units,
      list ? ", lengthen the list" : "");
}

// Binds ranks to domains or sockets in turn, each as one place.
std::vector<RankPlaces> in_turn(const std::vector<Core>& machine, int Core::* group, int ranks) {
  std::vector<int> names;
  std::vector<RankPlaces> groups;
  for (const Core& core : machine) {
    const auto known = std::find(names.begin(), names.end(), core.*group);
    const auto index = static_cast<size_t>(known - names.begin());
    if (known == names.end()) names.push_back(core.*group), groups.push_back({{Cpus{}}});
    Cpus& place = groups[index].places[0];
    place.insert(place.end(), core.cpus.begin(), core.cpus.end());
  }
  std::vector<RankPlaces> out;
  for (int r = 0; r < ranks; ++r) out.push_back(groups[static_cast<size_t>(r) % groups.size()]);
  return out;
}

}  // namespace

Status Binding::parse(const std::string& text, Binding& out) {
  static constexpr const char* names[] = {"none", "core", "numa", "socket"};
  out = {Kind::list, {}, text};
  for (size_t i = 0; i < std::size(names); ++i)
    if (text == names[i]) out.kind = static_cast<Kind>(i);
  if (out.kind != Kind::list) return {};
  if (auto cpus = parse_numbers(text)) return out.cpus = std::move(*cpus), Status();
  return Status::error("option --bind: '%s' is not one of none|core|numa|socket, nor a list of CPUs such as 0-3,8",
                       text.c_str());
}

Cpus RankPlaces::cpus() const {
  Cpus out;
  for (const Cpus& place : places) out.insert(out.end(), place.begin(), place.end());
  return out;
}

RankPlaces places_on(const std::vector<Core>& cores, int threads) {
  RankPlaces out;
  const int places = std::clamp(threads, 1, static_cast<int>(cores.size()));
  for (int p = 0; p < places; ++p) {
    Cpus place;
    for (const Core& core : slice(cores, cut(cores.size(), places, p), cut(cores.size(), places, p + 1)))
      place.insert(place.end(), core.cpus.begin(), core.cpus.end());
    out.places.push_back(std::move(place));
  }
  return out;
}

Status bind_ranks(const std::vector<Core>& machine, const Binding& how, int ranks, int threads,
                  std::vector<RankPlaces>& out) {
  out.clear();
  switch (how.kind) {
    case Binding::Kind::none: out.resize(static_cast<size_t>(ranks)); return {};
    case Binding::Kind::numa: out = in_turn(machine, &Core::domain, ranks); return {};
    case Binding::Kind::socket: out = in_turn(machine, &Core::socket, ranks); return {};
    case Binding::Kind::core:
    case Binding::Kind::list: break;
  }
  const bool list = how.kind == Binding::Kind::list;
  std::vector<Core> units;
  if (list) HIROBA_TRY(units_of_list(machine, how, units));
  else units = machine;
  HIROBA_TRY(check_enough(how, ranks, units.size()));
  for (const std::vector<Core>& share : list ? shares(units, ranks) : shares_in_domains(units, ranks))
    out.push_back(places_on(share, threads));
  return {};
}

std::string describe_binding(const std::vector<Core>& machine, int rank, const RankPlaces& bound) {
  const Cpus cpus = bound.cpus();
  if (cpus.empty()) return format("rank %d is not bound", rank);
  std::string cores, map, domains;
  int domain = -1;
  for (size_t c = 0; c < machine.size(); ++c) {
    const Core& core = machine[c];
    const bool begins = c == 0 || machine[c - 1].socket != core.socket;
    map += !begins ? "/" : c == 0 ? "[" : "][";
    Cpus used;  // hardware threads, counted within the core
    for (size_t t = 0; t < core.cpus.size(); ++t) {
      const bool mine = std::find(cpus.begin(), cpus.end(), core.cpus[t]) != cpus.end();
      if (mine) used.push_back(static_cast<int>(t));
      map += mine ? 'B' : '.';
    }
    if (used.empty()) continue;
    cores +=
        format("%ssocket %d[core %zu[hwt %s]]", cores.empty() ? "" : ", ", core.socket, c, show_numbers(used).c_str());
    if (core.domain != domain) domains += format("%s%d", domains.empty() ? "" : ",", core.domain), domain = core.domain;
  }
  return format("rank %d bound to %s, NUMA domain %s: %s]", rank, cores.c_str(), domains.c_str(), map.c_str());
}

Status bind_process(const Cpus& cpus) {
  const int most = *std::max_element(cpus.begin(), cpus.end()) + 1;
  const auto give_back = [](cpu_set_t* set) { CPU_FREE(set); };
  const std::unique_ptr<cpu_set_t, decltype(give_back)> set(CPU_ALLOC(static_cast<size_t>(most)), give_back);
  const size_t bytes = CPU_ALLOC_SIZE(static_cast<size_t>(most));
  CPU_ZERO_S(bytes, set.get());
  for (const int cpu : cpus) CPU_SET_S(static_cast<size_t>(cpu), bytes, set.get());
  if (sched_setaffinity(0, bytes, set.get()) == 0) return {};
  return Status::error("cannot bind to CPUs %s (%s)", show_numbers(cpus).c_str(), explain_error(errno).c_str());
}

void use_places(const RankPlaces& bound) {
  setenv("HIROBA_CPUS", show_numbers(bound.cpus()).c_str(), 1);
  for (const char* const users : {"OMP_PLACES", "OMP_PROC_BIND", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"})
    if (std::getenv(users) != nullptr) return;
  std::string text;
  for (const Cpus& place : bound.places) {
    text += text.empty() ? "{" : ",{";
    for (size_t i = 0; i < place.size(); ++i) text += (i == 0 ? "" : ",") + std::to_string(place[i]);
    text += "}";
  }
  setenv("OMP_PLACES", text.c_str(), 1);
  setenv("OMP_PROC_BIND", "close", 1);
}

}  // namespace hiroba
