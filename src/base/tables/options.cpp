#include "base/tables/options.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cctype>
#include <cstdlib>
#include <cstring>

#include "base/secure.hpp"
#include "base/tables/wires.hpp"
#include "base/text.hpp"

extern char** environ;

namespace hiroba {

namespace {

constexpr std::array table = {
    Option{"transport", OptionKind::choice, "auto", "auto|shm" HIROBA_WIRE_CHOICES,
           "What moves bytes between nodes. shm: memory of this machine. " HIROBA_WIRE_HELP
           "auto: shm for ranks on one machine, mpi under mpirun or srun."},
    Option{"progress", OptionKind::text, "thread", "none|thread|spare|pin:CPU",
           "What advances communication while the program computes. thread: a progress thread, of low priority if it "
           "has to poll. spare: the same on a core that OpenMP leaves free. pin:CPU: the same on that CPU. "
           "none: no thread; only calls of Hiroba do. On one machine only started collective operations need it."},
    Option{"reproducible", OptionKind::flag, "no", "yes|no",
           "Add float and double over ranks exactly and round once: the same bits for any number of ranks and any "
           "placement, if the values of the ranks have the same exact sum."},
    Option{"tuning", OptionKind::text, "", "FILE",
           "Which algorithms serve which sizes of collective operations, as `hiroba tune` has measured it for this "
           "machine. Without a file: defaults."},
    Option{"silence", OptionKind::number, "8", "SECONDS",
           "End the job if no message from another host has arrived for this time, or no answer for three quarters of "
           "it: the host is down, or the network is cut. 0: wait for ever. With progress=none, where ranks that "
           "compute send nothing, only while the job starts."},
    Option{"task-window", OptionKind::number, "8192", "TASKS",
           "Most tasks that a thread has created and that have not ended; it runs tasks before it creates more."},
    Option{"task-graph", OptionKind::text, "", "FILE",
           "At the end the ranks write what each task waited for, of the first 1000 tasks of each rank, for Graphviz: "
           "dot -Tsvg -O FILE. Dashed: events and copies between ranks, with the first element and the bytes."},
    Option{"transaction-stripe", OptionKind::bytes, "64", "SIZE",
           "Memory whose accesses by transactions conflict with each other: 16 to 4096 bytes, a power of two."},
    Option{"transaction-retries", OptionKind::number, "32", "TIMES",
           "A transaction that has been undone by conflicts so often, or for half a second, runs alone."},
    Option{
        "devices", OptionKind::text, "auto", "auto|none|N|host:K|cuda:N",
        "Devices of each node, which its ranks share. auto: all GPUs that are there, if any. N: N of them. host:K: K "
        "devices that are threads of the processor, with memory of their own, for programs without a GPU and for "
        "tests. cuda:N: N of NVIDIA."},
    Option{"device-cache", OptionKind::bytes, "0", "SIZE",
           "Most memory of a device that a rank may use for copies of sections. 0: four fifths of the device's memory, "
           "shared evenly by the ranks that use it."},
    Option{
        "place-by", OptionKind::choice, "none", "none|power|speed",
        "Give ranks the devices of their node in the order of a table that `hiroba power spread` has measured (option "
        "place-table), the best first: of the fewest watts, or the fastest. With --devices N these are the N best. "
        "none: in the order of the system, those of a rank's NUMA domain first."},
    Option{"place-table", OptionKind::text, "", "FILE",
           "The table for option place-by. One of other machines, or of other devices, is refused."},
    Option{"cache", OptionKind::bytes, "0", "SIZE",
           "Most memory that a rank may use for copies of other nodes' pages. 0: a quarter of the machine's memory, "
           "shared evenly by its ranks."},
    Option{"tracking", OptionKind::choice, "auto", "auto|uffd-async|uffd|mprotect",
           "How accesses to absent pages and writes are detected. uffd-async: userfaultfd with asynchronous write "
           "tracking (Linux 6.7). uffd: userfaultfd (5.14). mprotect: any kernel. auto: the first of these that works "
           "here."},
    Option{"twin", OptionKind::choice, "write", "write|fetch",
           "When the unmodified copy of a cached page is made. write: by the kernel, at the first write (memory only "
           "for what is written). fetch: when the page arrives (first writes are cheaper, twice the memory; needs "
           "Linux 6.7)."},
    Option{"readahead", OptionKind::bytes, "2M", "SIZE",
           "Most bytes that one page fault may fetch when faults are sequential, the pages were in use before, or, "
           "from 2M on, accesses have no order. 4K: one page, no readahead."},
    Option{"huge", OptionKind::flag, "yes", "yes|no",
           "Use huge pages for shared memory: for home memory at the first touch where the kernel permits that (see "
           "hiroba info), else when it has been used for some time (with several nodes, only of arrays of which a rank "
           "has 24 MiB); for cached memory when 2 MiB of it are fetched again (Linux 6.1; without, this option does "
           "nothing)."},
    Option{
        "memory", OptionKind::text, "owner", "owner|interleave|touch|domain:N",
        "On machines with several NUMA domains, where home memory lies unless the program says so for an array. owner: "
        "on the domain of the rank that owns it, whichever rank touches it first; a rank whose CPUs are on several "
        "domains (see --bind) has none, and its memory is placed as with touch. interleave: on all domains in turn. "
        "touch: on the domain of the thread that touches it first. domain:N: on that one. If a domain is full, memory "
        "comes from another."},
    Option{"homes", OptionKind::choice, "fixed", "fixed|first-touch|migrating",
           "Which node has the memory of a page of an array, unless the program says so for the array (sms_set_homes). "
           "fixed: as the array is distributed. first-touch: that of the rank that writes it before the first "
           "sms_barrier after the array came into use. migrating: a page that one rank of another node alone writes, "
           "over several sms_barrier, moves to it."},
    Option{"space", OptionKind::bytes, "8T", "SIZE",
           "Size of the shared address range. Unused addresses need no memory."},
    Option{
        "heap", OptionKind::bytes, "0", "SIZE",
        "Most shared memory for objects of the heap (sms_malloc) with their home at one rank. 0: what the machine "
        "has, but at most 64G, and at most a quarter of option space for all ranks together; no heap if that is less "
        "than 64M for each."},
    Option{"heap-pack", OptionKind::flag, "no", "yes|no",
           "Let objects of up to 1024 bytes that ranks of a node allocate share pages, which have their home at the "
           "first rank of the node: less memory where many ranks have few objects each. Not with option check."},
    Option{"sparse", OptionKind::flag, "no", "yes|no",
           "Allow shared arrays whose memory on this machine, if all touched, exceeds what the machine has."},
    Option{"timeout", OptionKind::number, "0", "SECONDS",
           "End the job if a rank waits longer than this in a collective call or for a lock. The message names the "
           "ranks that wait, where, and for which ranks. 0: wait for ever."},
    Option{"grace", OptionKind::number, "30", "SECONDS",
           "Time that ranks have to end, as to write a checkpoint, after a signal that asks the job to end (SIGTERM, "
           "SIGINT, SIGHUP, SIGQUIT); then they are killed. A second signal kills them at once."},
    Option{"still", OptionKind::number, "30", "SECONDS",
           "Print where all ranks are when a rank waits and none has advanced for this long, and once more after "
           "ten times as long. 0: never."},
    Option{
        "check", OptionKind::flag, "no", "yes|no",
        "End shared arrays exactly at a guard page, so that an access to the first element past the end is an error "
        "(they then start unaligned), and check the space before them when they are freed. Report races between ranks "
        "on shared arrays. Refuse tasks that write shared memory which they do not name. Parallel loops of hirobacc "
        "report races with the text of the program, and accesses to pages that their subscripts do not name. Report "
        "accesses to coarrays in segments that nothing orders."},
    Option{
        "check-time", OptionKind::number, "50", "PERCENT",
        "With option check, processor time that each rank may take to record accesses, of what the program itself "
        "takes. Where it does not suffice, some are not recorded, and races may be missed: run a small case, or give "
        "1000."},
    Option{"chaos", OptionKind::number, "0", "SEED",
           "Delay and reorder communication at random, from this seed, to provoke races in programs. 0: off."},
    Option{
        "debug", OptionKind::text, "no", "no|all|crash|RANKS",
        "Open gdb, in tmux or a terminal. all, or ranks such as 0,2-3: they wait for it in sms_startup, of hirobacc's "
        "programs before main. crash: on a rank that crashes, or ends the job by a message. --silence is 0 then."},
    Option{"power", OptionKind::flag, "no", "yes|no",
           "Measure the energy of the machines, and print when the program ends, per node: joules, watts and the "
           "energy-delay product; per rank: what they were spent on, by regions of the program, tasks, and waiting."},
    Option{"power-period", OptionKind::number, "20", "MILLISECONDS",
           "With option power, the time between two samples of the counters, and of what each rank does: 1 to 1000."},
    Option{"power-idle", OptionKind::text, "measure", "measure|WATTS",
           "With option power, what a machine uses that does nothing, which the table subtracts. measure: all ranks "
           "sleep for a second before the program starts."},
    Option{"power-root", OptionKind::text, "/sys", "DIR",
           "Where the kernel's counters of energy are looked for, in class and bus: for containers that have the "
           "kernel's tree in another place, and for tests."},
    Option{"power-nvml", OptionKind::text, "libnvidia-ml.so.1", "FILE|none",
           "The library that counts the energy of GPUs of NVIDIA, from the folders of the system or by its path. none: "
           "GPUs are not looked for."},
    Option{"report", OptionKind::text, "", "FILE",
           "At the end write why the program is slow, by lines and arrays, and what to change (docs/report.md): a page "
           "for a browser (FILE.html), the same as data (FILE.json), or who waited when for Perfetto "
           "(FILE.perfetto.json) or as OTF2 (FILE.otf2). `hiroba compare` compares two pages or data."},
    Option{"trace", OptionKind::flag, "no", "yes|no",
           "Print counts and bytes of every kind of communication when the program ends."},
    Option{"stats", OptionKind::flag, "no", "yes|no",
           "Print when the program ends, per rank: how it spent its time and for which ranks it waited; collective "
           "operations by place and size, with their algorithms; per array: faults, pages, bytes and evictions; per "
           "coarray: accesses to other images by calls; with option power: what its energy was spent on. Rank 0 prints "
           "which arrays have pages that one rank of another node alone writes, and what has moved."},
};

size_t index_of(std::string_view name) {
  for (size_t i = 0; i < table.size(); ++i)
    if (name == table[i].name) return i;
  assert(!"unknown option name in the runtime");
  return 0;
}

bool in_choices(std::string_view value, std::string_view choices) {
  while (!choices.empty()) {
    const size_t bar = choices.find('|');
    if (choices.substr(0, bar) == value) return true;
    if (bar == std::string_view::npos) return false;
    choices.remove_prefix(bar + 1);
  }
  return false;
}

// These are no options of the runtime: settings from hirobarun to its ranks, settings of hirobarun, and the plug-in
// folder.
constexpr std::string_view reserved[] = {"HIROBA_JOB",   "HIROBA_NODES",          "HIROBA_PLUGINS", "HIROBA_MPI",
                                         "HIROBA_HOSTS", "HIROBA_THREADS",        "HIROBA_BIND",    "HIROBA_TAG",
                                         "HIROBA_CPUS",  "HIROBA_REPORT_BINDINGS"};

}  // namespace

std::span<const Option> option_table() { return table; }

std::string environment_name(const Option& option) {
  std::string name = "HIROBA_";
  for (const char* c = option.name; *c != '\0'; ++c)
    name += *c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(*c)));
  return name;
}

Status check_option(const Option& option, std::string_view value) {
  bool good = true;
  switch (option.kind) {
    case OptionKind::text: break;
    case OptionKind::choice:
    case OptionKind::flag: good = in_choices(value, option.choices); break;
    case OptionKind::bytes: good = parse_bytes(value).has_value(); break;
    case OptionKind::number: {
      char* end = nullptr;
      const std::string copy(value);
      const double number = std::strtod(copy.c_str(), &end);
      good = end != copy.c_str() && *end == '\0' && number >= 0;
    }
  }
  if (good) return {};
  return Status::error("option %s (%s): '%.*s' is not %s%s", option.name, environment_name(option).c_str(),
                       static_cast<int>(value.size()), value.data(),
                       option.kind == OptionKind::bytes    ? "a size such as 64M"
                       : option.kind == OptionKind::number ? "a number >= 0"
                                                           : "one of ",
                       option.kind == OptionKind::choice || option.kind == OptionKind::flag ? option.choices : "");
}

std::string unknown_option(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Option& option : table) names.push_back(option.name);
  const std::string_view near = nearest(name, names);
  std::string text = format("no option '%.*s'", static_cast<int>(name.size()), name.data());
  if (!near.empty()) text += format("; did you mean '%.*s'?", static_cast<int>(near.size()), near.data());
  return text;
}

std::string options_markdown() {
  std::string text =
      "# Options\n\nPrinted from the table in `src/base/tables/options.cpp` by `hiroba info --options-markdown`; do "
      "not "
      "edit.\n\n"
      "Each option is given as `hirobarun --NAME VALUE` or as an environment variable.\n\n"
      "| option | variable | values | default | meaning |\n|---|---|---|---|---|\n";
  for (const Option& option : table) {
    std::string choices;
    for (const char* c = option.choices; *c != '\0'; ++c) choices += *c == '|' ? std::string(", ") : std::string(1, *c);
    text += format("| `--%s` | `%s` | %s | %s | %s |\n", option.name, environment_name(option).c_str(), choices.c_str(),
                   option.fallback, option.help);
  }
  return text;
}

Status Options::from_environment(Options& out) {
  out.values_.clear();
  for (const Option& option : table) out.values_.push_back(option.fallback);
  if (has_more_rights_than_user()) return {};  // its user must not choose files
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view pair = *entry;
    if (!pair.starts_with("HIROBA_")) continue;
    const size_t equals = pair.find('=');
    const std::string_view name = pair.substr(0, equals);
    const std::string_view value = pair.substr(equals + 1);
    if (std::find(std::begin(reserved), std::end(reserved), name) != std::end(reserved)) continue;
    bool known = false;
    for (size_t i = 0; i < table.size(); ++i) {
      if (environment_name(table[i]) != name) continue;
      HIROBA_TRY(check_option(table[i], value));
      out.values_[i] = value;
      known = true;
    }
    if (known) continue;
    std::string plain;
    for (const char c : name.substr(7))
      plain += c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return Status::error("environment variable %.*s: %s", static_cast<int>(name.size()), name.data(),
                         unknown_option(plain).c_str());
  }
  // A rank that a debugger has stopped sends nothing.
  if (out.text("debug") != "no" && std::getenv("HIROBA_SILENCE") == nullptr) out.values_[index_of("silence")] = "0";
  return {};
}

const std::string& Options::text(std::string_view name) const { return values_[index_of(name)]; }
uint64_t Options::bytes(std::string_view name) const { return *parse_bytes(text(name)); }
double Options::number(std::string_view name) const { return std::strtod(text(name).c_str(), nullptr); }
bool Options::flag(std::string_view name) const { return text(name) == "yes"; }

}  // namespace hiroba
