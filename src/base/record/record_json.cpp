#include "base/record/record_json.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>

#include "base/debug/symbols.hpp"
#include "base/limits.hpp"
#include "base/tables/options.hpp"
#include "base/wait.hpp"

extern char** environ;

namespace hiroba {

namespace {

using Records = std::vector<const RunRecord*>;

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\', out += c;
    else if (static_cast<unsigned char>(c) < ' ') out += format("\\u%04x", static_cast<unsigned>(c));
    else out += c;
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

std::string rank_text(const RunRecord& r) {
  const size_t ranks = std::min<size_t>(static_cast<size_t>(r.nranks), RunRecord::most_ranks);
  double in_sites[6] = {};  // of a rank that has not come to the end
  for (const SiteRecord& site : r.sites)
    if (site.kind < std::size(in_sites)) in_sites[site.kind] += 1e-9 * static_cast<double>(site.nanoseconds.load());
  const auto sum = [&](SiteKind kind) { return in_sites[static_cast<size_t>(kind)]; };
  const bool sealed = r.seconds > 0;
  const double seconds = sealed ? r.seconds : seconds_now() - r.began;
  const double collective = sealed ? r.collective : sum(SiteKind::barrier) + sum(SiteKind::collective);
  const double locks = sealed ? r.locks : sum(SiteKind::lock), faults = sealed ? r.faults : sum(SiteKind::fault);
  std::string out =
      format("{\"rank\":%d,\"node\":%d,\"host\":%s,\"process\":%d,\"cpus\":%s,\"complete\":%s,", r.rank, r.node,
             quoted(r.host).c_str(), r.pid, quoted(r.cpus).c_str(), r.complete != 0 ? "true" : "false");
  out += format(
      "\"seconds\":{\"total\":%.6g,\"computing\":%.6g,\"collective\":%.6g,\"locks\":%.6g,\"faults\":%.6g,"
      "\"processor\":%.6g,\"queued\":%.6g,\"tasks\":%.6g},\"tasks\":%lu,\"barriers\":%lu,\"lost\":%lu,",
      seconds, std::max(0.0, seconds - collective - locks - faults), collective, locks, faults, r.processor, r.queued,
      1e-9 * static_cast<double>(r.task_nanoseconds.load()), r.tasks.load(), r.barriers.load(), r.lost.load());
  out += format("\"network\":{\"messages\":%lu,\"bytes\":%lu},", r.messages, r.message_bytes);
  out += "\"waited_for\":" + list(r.waited_for, ranks) + ",\"fetched_from\":" + list(r.fetched_from, ranks) +
         ",\"sent_to\":" + list(r.sent_to, ranks) + "}";
  return out;
}

std::string array_part(const RunRecord& r, const ArrayRecord& a) {
  std::string out = format("{\"rank\":%d,", r.rank);
  for (size_t i = 0; i < std::size(a.counts); ++i)
    out += format("\"%s\":%lu,", array_count_names[i], a.counts[i] + a.before[i]);
  return out + format("\"alone\":%lu,", a.alone) + "\"heat\":{\"fetched\":" + list(a.faults, ArrayRecord::cells) +
         ",\"written\":" + list(a.writes, ArrayRecord::cells) + ",\"both\":" + list(a.both, ArrayRecord::cells) + "}}";
}

std::string array_text(const Records& records, const ArrayNumbers& numbers, size_t number) {
  const ArrayRecord& a = *numbers.described[number];
  constexpr const char* policies[] = {"fixed", "first-touch", "migrating"};
  std::string out =
      format("{\"name\":%s,\"pages\":%lu,\"bytes\":%lu,\"element_bytes\":%lu,\"dims\":", quoted(a.name).c_str(),
             a.pages, a.bytes, a.element_bytes);
  out += list(a.dims, static_cast<size_t>(a.ndims)) + format(",\"homes\":\"%s\",\"home\":", policies[a.policy % 3]) +
         list(a.home, ArrayRecord::cells) + ",\"ranks\":[";
  const char* before = "";
  for (const RunRecord* r : records)
    for (uint32_t i = 0; i < arrays_of(*r); ++i) {
      const ArrayRecord& part = r->arrays[i];
      if (part.used == 0 || part.pages != a.pages || std::strcmp(part.name, a.name) != 0) continue;
      out += before + array_part(*r, part);
      before = ",\n  ";
    }
  return out + "]}";
}

std::string site_text(const RunRecord& r, const SiteRecord& site, ArrayNumbers& numbers, const CodeFile& code) {
  constexpr const char* kinds[] = {"", "fault", "barrier", "collective", "lock", "task"};
  const auto kind = static_cast<SiteKind>(site.kind);
  // A call's address is that of the next instruction.
  const uint64_t at = site.code - (kind == SiteKind::fault ? 0 : 1);
  const std::string place = site.text[0] != '\0' ? site.text : site.code == 0 ? "" : code.location(at);
  std::string out = format("{\"rank\":%d,\"kind\":\"%s\",\"place\":%s,\"call\":%s,", r.rank, kinds[site.kind],
                           quoted(place).c_str(), quoted(site.call).c_str());
  if (kind == SiteKind::fault && site.detail < arrays_of(r))
    out += format("\"array\":%zu,", numbers.of(r.arrays[site.detail]));
  if (kind == SiteKind::lock) out += format("\"lock\":%u,", site.detail);
  if (kind == SiteKind::fault) out += format("\"ordered\":%lu,", site.ordered.load());
  out += format("\"count\":%lu,\"amount\":%lu,\"seconds\":%.6g,\"waited_for\":{", site.count.load(), site.amount.load(),
                1e-9 * static_cast<double>(site.nanoseconds.load()));
  const char* before = "";
  for (const SiteRecord::Waited& waited : site.waited) {
    if (waited.nanoseconds == 0) continue;
    out += format("%s\"%d\":%.6g", before, waited.rank, 1e-9 * static_cast<double>(waited.nanoseconds));
    before = ",";
  }
  return out + "}}";
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
    if (wanted)
      environment += format("%s%s:%s", environment.size() == 1 ? "" : ",", quoted(pair.substr(0, equals)).c_str(),
                            quoted(pair.substr(equals + 1)).c_str());
  }
  return out + "},\n\"environment\":" + environment + "}";
}

std::string text_of(const Records& records, const std::string& why_incomplete) {
  const RunRecord& first = *records.front();
  ArrayNumbers numbers;
  std::string ranks, sites, arrays;
  bool any_line = false;
  for (const RunRecord* r : records) {
    const CodeFile code(r->executable, r->code_bias);
    ranks += (ranks.empty() ? "\n " : ",\n ") + rank_text(*r);
    for (uint32_t i = 0; i < arrays_of(*r); ++i)
      if (r->arrays[i].used != 0) numbers.of(r->arrays[i]);
    for (const SiteRecord& site : r->sites)
      if (site.key != 0)
        any_line = any_line || code.has_line(site.code),
        sites += (sites.empty() ? "\n " : ",\n ") + site_text(*r, site, numbers, code);
  }
  for (size_t i = 0; i < numbers.described.size(); ++i)
    arrays += (i == 0 ? "\n " : ",\n ") + array_text(records, numbers, i);
  const char* const hint =
      any_line ? "" : "no lines of the program are known, only functions: compile it with -g, and install libdw";
  const char* const slash = std::strrchr(first.executable, '/');
  return format(
             "{\"hiroba_report\":1,\n\"version\":\"%s\",\n\"program\":%s,\n\"why_incomplete\":%s,\n\"nranks\":%d,\n"
             "\"nodes\":%d,\n\"hint\":%s,\n\"options\":",
             HIROBA_VERSION, quoted(slash == nullptr ? first.executable : slash + 1).c_str(),
             quoted(why_incomplete).c_str(), first.nranks, first.nnodes, quoted(hint).c_str()) +
         settings_text() + ",\n\"ranks\":[" + ranks + "],\n\"arrays\":[" + arrays + "],\n\"sites\":[" + sites + "]}\n";
}

}  // namespace

std::string report_data(const std::string& file) { return file.ends_with(".html") ? file + ".json" : file; }

Status check_report_name(const std::string& file) {
  if (!file.ends_with(".html") && !file.ends_with(".json"))
    return Status::error("option report=%s: the name ends in neither .html, for a page, nor .json, for data",
                         file.c_str());
  const size_t slash = file.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : file.substr(0, slash + 1);
  if (access(folder.c_str(), W_OK) == 0) return {};
  return Status::error("option report=%s: cannot write in folder %s (%s)", file.c_str(), folder.c_str(),
                       explain_error(errno).c_str());
}

Status write_records(const Records& records, const std::string& why_incomplete, const std::string& file) {
  const std::string name = report_data(file);
  const std::string draft = format("%s.%d", name.c_str(), getpid());
  const std::string text = text_of(records, why_incomplete);
  std::FILE* const out = std::fopen(draft.c_str(), "we");
  bool written = out != nullptr && std::fputs(text.c_str(), out) >= 0;
  if (out != nullptr) written = std::fclose(out) == 0 && written;
  if (written && std::rename(draft.c_str(), name.c_str()) == 0) return {};
  const int error = errno;
  if (out != nullptr) unlink(draft.c_str());
  return Status::error("option report: cannot write %s (%s)", name.c_str(), explain_error(error).c_str());
}

}  // namespace hiroba
