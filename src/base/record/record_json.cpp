#include "base/record/record_json.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>

#include "base/debug/symbols.hpp"
#include "base/files/own_file.hpp"
#include "base/limits.hpp"
#include "base/record/record_objects.hpp"
#include "base/record/record_stats.hpp"
#include "base/tables/options.hpp"
#include "base/wait.hpp"

extern char** environ;

namespace hiroba {

namespace {

using Records = std::vector<const RunRecord*>;

// Returns the length of the character of UTF-8 that the text begins with; 0: there is none.
size_t length_of_character(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const size_t length = first < 0x80   ? 1
                        : first < 0xc2 ? 0
                        : first < 0xe0 ? 2
                        : first < 0xf0 ? 3
                        : first < 0xf5 ? 4
                                       : 0;
  if (length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) return 0;
  return length;
}

// Texts of the program may hold any bytes, and may have been cut within a character.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const size_t length = length_of_character(text);
    const char c = text[0];
    if (length == 0) out += "\\ufffd";
    else if (c == '"' || c == '\\') out += '\\', out += c;
    else if (static_cast<unsigned char>(c) < ' ') out += format("\\u%04x", static_cast<unsigned>(c));
    else out += text.substr(0, length);
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return out + '"';
}

template <typename Values>
std::string list(const Values& values, size_t count) {
  std::string out = "[";
  for (size_t i = 0; i < count; ++i) {
    out += i == 0 ? "" : ",";
    if constexpr (std::is_floating_point_v<std::remove_cvref_t<decltype(values[0])>>) out += format("%.6g", values[i]);
    else out += std::to_string(values[i]);
  }
  return out + "]";
}

// Numbers the arrays of all ranks: those of equal names and sizes are one.
struct ArrayNumbers {
  std::map<std::pair<std::string, uint64_t>, size_t> numbers;
  std::vector<const ArrayRecord*> described;

  size_t of(const ArrayRecord& array) {
    const auto [at, is_new] = numbers.try_emplace({array.name, array.pages}, numbers.size());
    if (is_new) described.push_back(&array);
    else if (described[at->second]->ndims == 0) described[at->second] = &array;
    return at->second;
  }
};

uint32_t arrays_of(const RunRecord& record) { return std::min(record.arrays_used.load(), RunRecord::most_arrays); }

// The earliest begin of a rank on the same host, whose clock it has.
double host_began(const Records& records, const RunRecord& r) {
  double out = r.began;
  for (const RunRecord* other : records)
    if (std::strcmp(other->host, r.host) == 0) out = std::min(out, other->began);
  return out;
}

double run_seconds(const RunRecord& r) { return r.seconds > 0 ? r.seconds : seconds_now() - r.began; }

std::string energy_text(const RunRecord& r) {
  if (r.energies == 0) return "null";
  const auto joules = [](double value) {
    return value > 0 && std::isfinite(value) ? format("%.6g", value) : std::string("null");
  };
  std::string out =
      format("{\"seconds\":%.6g,\"joules\":%s,\"idle_watts\":%.6g,\"why_unknown\":%s,\"spent\":[", r.machine_seconds,
             joules(r.machine_joules).c_str(), r.idle_watts, quoted(r.energy_unknown).c_str());
  for (uint32_t i = 0; i < r.energies; ++i)
    out += format("%s{\"name\":%s,\"seconds\":%.6g,\"joules\":%s}", i == 0 ? "" : ",", quoted(r.energy[i].name).c_str(),
                  r.energy[i].seconds, joules(r.energy[i].joules).c_str());
  return out + "]}";
}

// `sites`: the numbers of the record's sites in the data. At most some megabytes for all ranks.
std::string events_text(const RunRecord& r, double zero, const std::vector<size_t>& sites) {
  constexpr uint64_t most_of_all = 40000;
  const uint64_t most =
      std::max<uint64_t>(1, std::min(Timeline::class_events,
                                     most_of_all / (Timeline::classes * static_cast<uint64_t>(r.nranks))));
  std::string out, since;
  for (int c = 0; c < Timeline::classes; ++c) {
    const uint64_t used = r.timeline.used[c].load();
    double first = 0;
    for (uint64_t n = used > most ? used - most : 0; n < used; ++n) {
      const EventRecord& event = r.timeline.events[c][n % Timeline::class_events];
      if (event.thread == 0 || event.site >= sites.size()) continue;
      if (used > most && first == 0) first = event.begin - zero;
      const bool is_task = r.sites[event.site].kind == static_cast<uint32_t>(SiteKind::task);
      const auto releaser = static_cast<size_t>(event.other);
      out += format("%s%.0f,%.0f,%zu,%d,%u", out.empty() ? "" : ",", 1e6 * std::max(0.0, event.begin - zero),
                    1e9 * static_cast<double>(event.seconds), sites[event.site],
                    is_task && releaser < sites.size() ? static_cast<int>(sites[releaser]) : event.other, event.thread);
    }
    since += format("%s%.6g", c == 0 ? "" : ",", first);
  }
  return "\"events\":[" + out + "],\"since\":[" + since + "]";
}

// Returns the energy of the machine in each step; an empty list if this rank has not measured it.
std::string joules_text(const RunRecord& r, int level) {
  uint64_t bins[2 * Timeline::half];
  r.timeline.sum_energy(level, bins);
  size_t used = 0;
  for (size_t i = 0; i < std::size(bins); ++i)
    if (bins[i] > 0) used = i + 1;
  std::string out = ",\"joules\":[";
  for (size_t i = 0; i < used; ++i) out += format("%s%.4g", i == 0 ? "" : ",", 1e-6 * static_cast<double>(bins[i]));
  return out + "]";
}

std::string timeline_text(const Records& records, const RunRecord& r, const std::vector<size_t>& sites) {
  constexpr const char* names[Timeline::kinds] = {"collective", "locks", "faults", "preloads", "coherence", "tasks"};
  double longest = 0;
  for (const RunRecord* other : records) longest = std::max(longest, run_seconds(*other));
  const int level = Timeline::level_at(static_cast<uint64_t>(longest * 1e3));
  const double width = 1e-3 * static_cast<double>(uint64_t{1} << level);
  uint64_t bins[std::size(names)][2 * Timeline::half];
  size_t used = 0;
  for (size_t kind = 0; kind < std::size(names); ++kind) {
    r.timeline.sum(static_cast<TimeKind>(kind), level, bins[kind]);
    for (size_t i = 0; i < 2 * Timeline::half; ++i)
      if (bins[kind][i] > 0) used = std::max(used, i + 1);
  }
  std::string out = format("\"timeline\":{\"bin\":%g", width);
  for (size_t kind = 0; kind < std::size(names); ++kind) {
    out += format(",\"%s\":[", names[kind]);
    for (size_t i = 0; i < used; ++i)
      out += format("%s%.3g", i == 0 ? "" : ",", 1e-9 * static_cast<double>(bins[kind][i]));
    out += "]";
  }
  return out + joules_text(r, level) + "," + events_text(r, host_began(records, r), sites) + "}";
}

std::string rank_text(const Records& records, const RunRecord& r, const std::vector<size_t>& sites) {
  const size_t ranks = std::min<size_t>(static_cast<size_t>(r.nranks), RunRecord::most_ranks);
  const bool sealed = r.seconds > 0;  // else it has not come to the end
  const auto spent = [&r](TimeKind kind) { return seconds_spent(r, kind); };
  const double seconds = run_seconds(r), collective = sealed ? r.collective : spent(TimeKind::collective);
  std::string out = format(
      "{\"rank\":%d,\"node\":%d,\"host\":%s,\"process\":%d,\"cpus\":%s,\"machine\":%s,\"complete\":%s,\"began\":%.6g,",
      r.rank, r.node, quoted(r.host).c_str(), r.pid, quoted(r.cpus).c_str(), quoted(r.machine).c_str(),
      r.complete != 0 ? "true" : "false", r.began - host_began(records, r));
  out += format(
      "\"seconds\":{\"total\":%.6g,\"computing\":%.6g,\"collective\":%.6g,\"locks\":%.6g,\"faults\":%.6g,"
      "\"preloads\":%.6g,\"coherence\":%.6g,\"processor\":%.6g,\"queued\":%.6g,\"tasks\":%.6g,\"chain\":%.6g},"
      "\"tasks\":%lu,\"chain\":%"
      "lu,\"barriers\":%lu,"
      "\"lost\":%lu,",
      seconds, seconds_computing(r, seconds, collective), collective, spent(TimeKind::locks), spent(TimeKind::faults),
      spent(TimeKind::preloads), spent(TimeKind::coherence), r.processor, std::max(0.0, r.queued),
      1e-9 * static_cast<double>(r.task_nanoseconds.load()), 1e-9 * static_cast<double>(r.chain_nanoseconds.load()),
      r.tasks.load(), r.chain_tasks.load(), r.barriers.load(), r.lost.load());
  out += format("\"network\":{\"messages\":%lu,\"bytes\":%lu},\"energy\":", r.messages, r.message_bytes);
  out += energy_text(r) + ",\"waited_for\":" + list(r.waited_for, ranks) +
         ",\"fetched_from\":" + list(r.fetched_from, ranks) + ",\"sent_to\":" + list(r.sent_to, ranks) + ",\n  ";
  return out + timeline_text(records, r, sites) + "}";
}

// Most lists are of zeros, and short so.
using Cells = std::atomic<uint64_t> (ArrayRecord::*)[ArrayRecord::cells];
std::string heat_list(const std::vector<const ArrayRecord*>& parts, Cells cells) {
  uint64_t sums[ArrayRecord::cells] = {};
  bool any = false;
  for (const ArrayRecord* part : parts)
    for (size_t i = 0; i < ArrayRecord::cells; ++i) sums[i] += (part->*cells)[i].load(), any = any || sums[i] != 0;
  return list(sums, any ? ArrayRecord::cells : 0);
}

// Returns the sums over a rank's arrays of one name and size.
std::string array_part(const RunRecord& r, const std::vector<const ArrayRecord*>& parts) {
  std::string out = format("{\"rank\":%d,", r.rank);
  for (size_t i = 0; i < std::size(parts[0]->counts); ++i) {
    uint64_t sum = 0;
    for (const ArrayRecord* part : parts) sum += count_of(*part, static_cast<ArrayCount>(i));
    out += format("\"%s\":%lu,", array_count_names[i], sum);
  }
  uint64_t alone = 0;
  for (const ArrayRecord* part : parts) alone += part->alone;
  return out + format("\"alone\":%lu,", alone) + "\"heat\":{\"fetched\":" + heat_list(parts, &ArrayRecord::faults) +
         ",\"written\":" + heat_list(parts, &ArrayRecord::writes) +
         ",\"both\":" + heat_list(parts, &ArrayRecord::both) + "}}";
}

std::string array_text(const Records& records, const ArrayNumbers& numbers, size_t number) {
  const ArrayRecord& a = *numbers.described[number];
  std::string ranks;
  size_t most = 1;  // arrays of this name and size at a time
  for (const RunRecord* r : records) {
    std::vector<const ArrayRecord*> parts;
    for (uint32_t i = 0; i < arrays_of(*r); ++i) {
      const ArrayRecord& part = r->arrays[i];
      if (part.used != 0 && part.pages == a.pages && std::strcmp(part.name, a.name) == 0) parts.push_back(&part);
    }
    if (!parts.empty()) ranks += (ranks.empty() ? "" : ",\n  ") + array_part(*r, parts);
    most = std::max(most, parts.size());
  }
  constexpr const char* policies[] = {"fixed", "first-touch", "migrating"};
  std::string out = format("{\"name\":%s,\"count\":%zu,\"pages\":%lu,\"bytes\":%lu,\"element_bytes\":%lu,\"dims\":",
                           quoted(a.name).c_str(), most, a.pages, a.bytes, a.element_bytes);
  out += list(a.dims, static_cast<size_t>(a.ndims)) + format(",\"homes\":\"%s\",\"home\":", policies[a.policy % 3]);
  return out + list(a.home, ArrayRecord::cells) + ",\"ranks\":[" + ranks + "]}";
}

std::string critical_text(const SiteRecord& site) {
  const auto kind = static_cast<SiteKind>(site.kind);
  const auto seconds = [&](TimeKind k) {
    return 1e-9 * static_cast<double>(site.critical[static_cast<size_t>(k)].load());
  };
  if (kind == SiteKind::task || kind == SiteKind::copy)
    return format(",\"critical\":{\"computing\":%.6g}", seconds(TimeKind::tasks));
  if (kind != SiteKind::barrier) return "";
  return format(
      ",\"critical\":{\"computing\":%.6g,\"collective\":%.6g,\"locks\":%.6g,\"faults\":%.6g,\"preloads\":%.6g,"
      "\"coherence\":%.6g}",
      seconds(TimeKind::tasks), seconds(TimeKind::collective), seconds(TimeKind::locks), seconds(TimeKind::faults),
      seconds(TimeKind::preloads), seconds(TimeKind::coherence));
}

std::string site_text(const RunRecord& r, const SiteRecord& site, ArrayNumbers& numbers, const ObjectNames& objects,
                      const CodeFile& code) {
  constexpr const char* kinds[] = {"",     "fault",  "barrier", "collective", "lock",
                                   "task", "region", "copy",    "coherence",  "preload"};
  const auto kind = static_cast<SiteKind>(site.kind);
  const std::string place = place_of(site, code);
  std::string out = format("{\"rank\":%d,\"kind\":\"%s\",\"place\":%s,\"call\":%s,", r.rank, kinds[site.kind],
                           quoted(place).c_str(), quoted(site.call).c_str());
  if ((kind == SiteKind::fault || kind == SiteKind::preload) && site.detail < arrays_of(r))
    out += format("\"array\":%zu,\"object\":%s,", numbers.of(r.arrays[site.detail]),
                  quoted(objects.name(site, code)).c_str());
  if (kind == SiteKind::lock && site.detail != SiteRecord::no_detail) out += format("\"lock\":%u,", site.detail);
  if (kind == SiteKind::lock) out += format("\"held\":%.6g,", 1e-9 * static_cast<double>(site.held.load()));
  if (kind == SiteKind::fault) out += format("\"ordered\":%lu,", site.ordered.load());
  if (kind == SiteKind::collective)
    out +=
        format("\"way\":%s,\"before\":%.6g,", quoted(site.way).c_str(), 1e-9 * static_cast<double>(site.before.load()));
  out += format("\"count\":%lu,\"amount\":%lu,\"seconds\":%.6g,\"waited_for\":{", site.count.load(), site.amount.load(),
                1e-9 * static_cast<double>(site.nanoseconds.load()));
  const char* before = "";
  for (const SiteRecord::Waited& waited : site.waited) {
    if (waited.nanoseconds == 0) continue;
    out += format("%s\"%d\":%.6g", before, waited.rank, 1e-9 * static_cast<double>(waited.nanoseconds));
    before = ",";
  }
  return out + "}" + critical_text(site) + "}";
}

std::string settings_text() {
  Options options;
  std::string out = "{", environment = "{";
  const bool read = Options::from_environment(options).ok();
  for (const Option& option : option_table())
    if (read)
      out += format("%s%s:%s", out.size() == 1 ? "" : ",", quoted(option.name).c_str(),
                    quoted(options.text(option.name)).c_str());
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view pair = *entry;
    const size_t equals = pair.find('=');
    if (equals == std::string_view::npos || pair.starts_with("HIROBA_JOB")) continue;
    bool wanted = false;
    for (const char* prefix : {"HIROBA_", "OMP_", "UCX_", "OMPI_MCA_", "MPICH_"}) wanted |= pair.starts_with(prefix);
    // Processes of a job know each other by keys, as Open MPI's OMPI_MCA_orte_precondition_transports, and reports are
    // shown to others.
    for (const char* secret : {"precondition_transports", "key", "secret", "token", "passw", "credential"})
      wanted = wanted && strcasestr(std::string(pair.substr(0, equals)).c_str(), secret) == nullptr;
    if (wanted)
      environment += format("%s%s:%s", environment.size() == 1 ? "" : ",", quoted(pair.substr(0, equals)).c_str(),
                            quoted(pair.substr(equals + 1)).c_str());
  }
  return out + "},\n\"environment\":" + environment + "}";
}

// The sites of all ranks. Of ranks with very many, those that take least time are added up, so the size is bounded.
class SiteTexts {
 public:
  explicit SiteTexts(const Records& records) : objects_(records), most_(std::max<size_t>(64, 8192 / records.size())) {}

  // Returns the number in the data of each site of the record.
  std::vector<size_t> add(const RunRecord& r, ArrayNumbers& arrays, const CodeFile& code) {
    std::vector<const SiteRecord*> used;
    for (const SiteRecord& site : r.sites)
      if (site.key != 0) used.push_back(&site), any_line_ = any_line_ || code.has_line(site.code);
    const auto longer = [](const SiteRecord* a, const SiteRecord* b) { return a->nanoseconds > b->nanoseconds; };
    std::stable_sort(used.begin(), used.end(), longer);
    std::vector<size_t> numbers(RunRecord::most_sites);
    const auto number_of = [&](const SiteRecord* site) -> size_t& {
      return numbers[static_cast<size_t>(site - r.sites)];
    };
    for (size_t i = 0; i < std::min(most_, used.size()); ++i)
      number_of(used[i]) = add(site_text(r, *used[i], arrays, objects_, code));
    std::array<SiteRecord, site_kinds> rest{};
    for (size_t i = most_; i < used.size(); ++i) {
      SiteRecord& sum = rest[used[i]->kind];
      sum.kind = used[i]->kind, sum.detail = SiteRecord::no_detail;
      sum.count += used[i]->count, sum.amount += used[i]->amount, sum.nanoseconds += used[i]->nanoseconds;
      sum.ordered += used[i]->ordered, sum.held += used[i]->held, sum.before += used[i]->before;
      for (size_t k = 0; k < Timeline::kinds; ++k) sum.critical[k] += used[i]->critical[k];
    }
    std::array<size_t, site_kinds> numbers_of_rest{};
    for (SiteRecord& sum : rest) {
      if (sum.count == 0) continue;
      std::snprintf(sum.call, sizeof sum.call, "other places");
      numbers_of_rest[sum.kind] = add(site_text(r, sum, arrays, objects_, code));
    }
    for (size_t i = most_; i < used.size(); ++i) number_of(used[i]) = numbers_of_rest[used[i]->kind];
    return numbers;
  }
  const std::string& text() const { return text_; }
  bool any_line() const { return any_line_; }

 private:
  size_t add(const std::string& site) {
    text_ += (text_.empty() ? "\n " : ",\n ") + site;
    return count_++;
  }

  ObjectNames objects_;
  size_t most_, count_ = 0;
  std::string text_;
  bool any_line_ = false;
};

// Returns what the program is written in, for advice in its words; "": calls of C or C++, or several notations.
const char* notation_of(const RunRecord& r, const std::string& program) {
  if (program.starts_with("python")) return "Python";
  const auto has = [&](auto test) { return std::any_of(std::begin(r.sites), std::end(r.sites), test); };
  if (has([](const SiteRecord& site) { return site.kind == static_cast<uint32_t>(SiteKind::region); })) return "OpenMP";
  if (has([](const SiteRecord& site) { return std::strncmp(site.call, "xmp_", 4) == 0; })) return "XcalableMP";
  return r.directives != 0 ? "SMint" : "";
}

std::string text_of(const Records& records, const std::string& why_incomplete) {
  const RunRecord& first = *records.front();
  ArrayNumbers numbers;
  SiteTexts sites(records);
  std::string ranks, arrays;
  for (const RunRecord* r : records) {
    const CodeFile code(r->executable, r->code_bias);
    for (uint32_t i = 0; i < arrays_of(*r); ++i)
      if (r->arrays[i].used != 0) numbers.of(r->arrays[i]);
    const std::vector<size_t> site_numbers = sites.add(*r, numbers, code);
    ranks += (ranks.empty() ? "\n " : ",\n ") + rank_text(records, *r, site_numbers);
  }
  for (size_t i = 0; i < numbers.described.size(); ++i)
    arrays += (i == 0 ? "\n " : ",\n ") + array_text(records, numbers, i);
  const char* const hint =
      sites.any_line() ? ""
                       : "no lines of the program are known, only functions: compile it with -g, and install libdw";
  const char* const slash = std::strrchr(first.executable, '/');
  const std::string program = slash == nullptr ? first.executable : slash + 1;
  return format(
             "{\"hiroba_report\":1,\n\"version\":\"%s\",\n\"program\":%s,\n\"notation\":\"%s\",\n\"why_incomplete\":%s,"
             "\n\"nranks\":%d,\n"
             "\"nodes\":%d,\n\"hint\":%s,\n\"options\":",
             HIROBA_VERSION, quoted(program).c_str(), notation_of(first, program), quoted(why_incomplete).c_str(),
             first.nranks, first.nnodes, quoted(hint).c_str()) +
         settings_text() + ",\n\"ranks\":[" + ranks + "],\n\"arrays\":[" + arrays + "],\n\"sites\":[" + sites.text() +
         "]}\n";
}

}  // namespace

std::string report_data(const std::string& file) {
  return file.ends_with(".json") && !file.ends_with(".perfetto.json") ? file : file + ".json";
}

Status check_report_name(const std::string& file) {
  if (!file.ends_with(".html") && !file.ends_with(".json") && !file.ends_with(".otf2"))
    return Status::error(
        "option report=%s: the name ends in neither .html, for a page, nor .json, for data, nor .perfetto.json or "
        ".otf2, for traces",
        file.c_str());
  struct stat there = {};
  if (!file.ends_with(".otf2") && stat(file.c_str(), &there) == 0 && S_ISDIR(there.st_mode))
    return Status::error("option report=%s: this is a folder, not a file; give another name", file.c_str());
  const size_t slash = file.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : file.substr(0, slash + 1);
  if (access(folder.c_str(), W_OK) == 0) return {};
  return Status::error("option report=%s: cannot write in folder %s (%s)", file.c_str(), folder.c_str(),
                       explain_error(errno).c_str());
}

Status write_records(const Records& records, const std::string& why_incomplete, const std::string& file) {
  const std::string name = report_data(file);
  const Status written = write_whole_file(name, private_mode, text_of(records, why_incomplete));
  return written.ok() ? written : Status::error("option report: %s", written.message().c_str());
}

}  // namespace hiroba
