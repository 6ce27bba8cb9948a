// The only file of hirobarun that is compiled with exceptions, because CLI11 throws; none leaves it.
#include "launcher/command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <set>

#include "base/job.hpp"
#include "base/limits.hpp"
#include "base/tables/launchers.hpp"
#include "base/tables/options.hpp"
#include "base/tables/wires.hpp"
#include "base/text.hpp"

namespace hiroba {

namespace {

constexpr int usage_error = 2;
constexpr long most_ranks = most_ranks_of_job;
constexpr size_t help_column = 28, help_width = 110;

constexpr const char* runtime_group =
    "Runtime options; each is also an environment variable, HIROBA_NAME; --stats alone is --stats yes";

constexpr const char* description =
    "Starts a program as N ranks on this machine, or on hosts, forwards their output in whole lines, and ends all of\n"
    "them when one fails.";

constexpr const char* usage =
    R"(
Usage: hirobarun -n N [OPTION VALUE ...] PROGRAM [ARGUMENT ...]
       hirobarun --hosts LIST [OPTION VALUE ...] PROGRAM [ARGUMENT ...]
       mpirun|srun ... hirobarun [OPTION VALUE ...] PROGRAM [ARGUMENT ...]

Examples:
  hirobarun -n 4 ./stencil3d --size 256
        four ranks that share this machine's memory
  hirobarun -n 4 --nodes 2 --tag ./hello
        two virtual nodes, between which data moves only by the transport, as on a cluster;
        each line of output begins with its rank
  hirobarun -n 8 --threads 2 --bind core --cache 64M --stats ./program input.dat
        each rank with two OpenMP threads on cores of its own, and a cache of at most 64 MiB for
        pages of other nodes; statistics at the end
  hirobarun -n 4 --debug crash ./program
        gdb opens on a rank that crashes; --debug 1: on rank 1, at the start
  hirobarun --hosts left:2,right:2 ./program
        two ranks on each of two hosts, started by mpirun, which needs access to them by ssh
  srun -N 4 --ntasks-per-node 16 --mpi=pmix hirobarun --cache 4G ./program
        ranks that Slurm starts
)";

constexpr const char* footer =
    R"(Each option above with two dashes is also an environment variable: --nodes is HIROBA_NODES.

All words after PROGRAM are arguments of the program. hirobarun searches a PROGRAM without a folder in this
folder first, then in PATH. A program that is linked with MPI is started by that MPI's mpirun, with transport
mpi. Rank 0 reads standard input; the others find its end. The exit status is that of the first rank that
failed, 128 + the signal's number if it was killed. Ctrl-C prints where every rank is and asks them to end, for
which they have 30 s (--grace); a second one kills them at once. So do SIGTERM, SIGHUP and SIGQUIT. SIGUSR1,
SIGUSR2, SIGALRM, SIGXCPU and others are passed on to the ranks; Ctrl-Z stops the job.
`hiroba info` shows this machine and the present value of every runtime option.)";

// Breaks a text at spaces so that CLI11's right-hand column stays within help_width.
std::string wrapped(const std::string& text) {
  std::string out;
  size_t line = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    if (line != 0 && help_column + line + 1 + end - at > help_width) out += '\n', line = 0;
    if (line != 0) out += ' ', ++line;
    out.append(text, at, end - at);
    line += end - at;
    at = end + 1;
  }
  return out;
}

class HelpFormat : public CLI::Formatter {
 public:
  HelpFormat() { column_width(help_column); }
  std::string make_usage(const CLI::App*, std::string) const override { return usage; }
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    return CLI::detail::find_and_replace(CLI::Formatter::make_help(app, name, mode), "\n\n\n", "\n\n");
  }
  std::string make_option_desc(const CLI::Option* option) const override { return wrapped(option->get_description()); }
};

// The user's words, before they are checked.
struct Words {
  std::string ranks, nodes = "1", threads, bind = "none", hosts, mpi;
  std::vector<std::string> runtime = std::vector<std::string>(option_table().size());
  std::vector<CLI::Option*> runtime_options;  // in the order of option_table()
};

void describe_options(CLI::App& app, Words& words, Launch& launch) {
  app.formatter(std::make_shared<HelpFormat>());
  app.footer(footer);
  app.set_help_flag("-h,--help", "Print this and exit.")->group("Help");
  app.set_version_flag("--version", "hirobarun " HIROBA_VERSION, "Print the version and exit.")->group("Help");

  const char* group = "Ranks and where they run";
  app.add_option("-n", words.ranks, "How many ranks to start.")->type_name("N")->group(group);
  app.add_option("--nodes", words.nodes,
                 "Distribute the ranks over K virtual nodes, 1 to N: ranks of one node share memory, "
                 "others do not (default: 1).")
      ->envname("HIROBA_NODES")
      ->type_name("K")
      ->group(group);
  app.add_option("--hosts", words.hosts,
                 "Start the ranks on these hosts, through mpirun: names, each with the number of its ranks "
                 "(default: -n divided evenly, or one each).")
      ->envname("HIROBA_HOSTS")
      ->type_name("HOST[:N],...")
      ->group(group);
  app.add_option("--mpi", words.mpi,
                 "Whose mpirun starts ranks for --hosts and the transports " HIROBA_WIRES_ON_MPI
                 " (default: the MPI that the program is linked with, or the transport sits on, else the first found).")
      ->envname("HIROBA_MPI")
      ->type_name(mpi_choices)
      ->group(group);
  app.add_option("--threads", words.threads,
                 "OpenMP threads per rank: sets OMP_NUM_THREADS (default: OMP_NUM_THREADS "
                 "if set, else cores / ranks).")
      ->envname("HIROBA_THREADS")
      ->type_name("T")
      ->group(group);
  app.add_option("--bind", words.bind,
                 "none: the system places ranks. core: each rank on its own cores. numa, socket: each rank "
                 "on one NUMA domain or socket, in turn. LIST: each rank on its share of these CPUs, as in 0-3,8. "
                 "OpenMP's places are set to match, unless OMP_PLACES or OMP_PROC_BIND is set (default: none).")
      ->envname("HIROBA_BIND")
      ->type_name("none|core|numa|socket|LIST")
      ->group(group);
  app.add_flag("--report-bindings", launch.report_bindings, "Print to which cores each rank is bound, as mpirun does.")
      ->envname("HIROBA_REPORT_BINDINGS")
      ->group(group);
  app.add_flag("--tag", launch.tag, "Begin each line of output with its rank: \"[2] \".")
      ->envname("HIROBA_TAG")
      ->group("Output");

  for (size_t i = 0; i < option_table().size(); ++i) {
    const Option& entry = option_table()[i];
    CLI::Option* option = app.add_option(std::string("--") + entry.name, words.runtime[i],
                                         format("%s (default: %s)", entry.help, entry.fallback));
    option->type_name(entry.choices)->group(runtime_group);
    words.runtime_options.push_back(option);
  }
}

// Returns "no option '--cahe'; did you mean '--cache'?", from the launcher's own options and the runtime's.
Status unknown(const CLI::App& app, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  const std::vector<std::string_view> views(names.begin(), names.end());
  // One letter is near to every other; only a wrong case is certain.
  const std::string_view near = word.size() > 2 ? nearest(word, views) : word == "-N" ? "-n" : "";
  std::string text = format("no option '%s'", word.c_str());
  if (!near.empty()) text += format("; did you mean '%.*s'?", static_cast<int>(near.size()), near.data());
  return Status::error(text + " (hirobarun --help lists them; options of the program go after its name)");
}

bool is_runtime_flag(const CLI::Option* option) {
  for (const Option& entry : option_table())
    if (entry.kind == OptionKind::flag && option->check_lname(entry.name)) return true;
  return false;
}

// Returns the option that `word` begins with, and the begin of its value in the word ("--cache=64M", "-n4"), if any.
const CLI::Option* find_option(const CLI::App& app, const std::string& word, size_t& value) {
  value = std::string::npos;
  if (word.starts_with("--")) value = word.find('=');
  else if (word.size() > 2 && std::isdigit(static_cast<unsigned char>(word[2]))) value = 2;
  return app.get_option_no_throw(word.substr(0, value));
}

// Returns true for a value of --debug, false for the program's name.
bool chooses_ranks(const std::string& word) {
  return word == "no" || word == "all" || word == "crash" ||
         (!word.empty() && word.find_first_not_of("0123456789,-") == std::string::npos);
}

// Splits the words into the launcher's (`ours`) and the program's. Also accepts -np N, as in mpirun, --stats for
// --stats yes, and --debug for --debug all.
Status split(const CLI::App& app, int argc, char** argv, std::vector<std::string>& ours,
             std::vector<std::string>& program) {
  std::set<const CLI::Option*> seen;
  int i = 1;
  for (; i < argc && argv[i][0] == '-' && argv[i][1] != '\0'; ++i) {
    std::string word = argv[i];
    if (word == "--") {
      ++i;
      break;
    }
    if (word == "-np") word = "-n";
    size_t value;
    const CLI::Option* option = find_option(app, word, value);
    if (option == nullptr) return unknown(app, word.substr(0, word.find('=')));
    if (!seen.insert(option).second) return Status::error("option %s is given twice", word.substr(0, value).c_str());
    const bool takes_value = option->get_items_expected_max() > 0;
    const std::string next = i + 1 < argc ? argv[i + 1] : "";
    if (is_runtime_flag(option) && value == std::string::npos && next != "yes" && next != "no") {
      word += "=yes";
    } else if (option->check_lname("debug") && value == std::string::npos && !chooses_ranks(next)) {
      word += "=all";
    } else if (takes_value && value == std::string::npos) {
      if (i + 1 == argc) return Status::error("option %s needs a value", word.c_str());
      ours.push_back(word);
      word = argv[++i];
    }
    ours.push_back(word);
  }
  program.assign(argv + i, argv + argc);
  return {};
}

Status whole_number(const char* name, const std::string& text, long least, long most, int& out) {
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || value < least || value > most)
    return Status::error("option %s: '%s' is not a whole number from %ld to %ld", name, text.c_str(), least, most);
  out = static_cast<int>(value);
  return {};
}

// The name becomes a word of ssh, which would take it for an option, and of mpirun.
bool is_host_name(const std::string& name) {
  const auto fits = [](unsigned char c) { return std::isalnum(c) != 0 || std::strchr(".-_@%[]", c) != nullptr; };
  return name[0] != '-' && std::all_of(name.begin(), name.end(), fits);
}

// Distributes ranks over hosts, from "a,b:2" and -n.
Status check_hosts(const Words& words, Launch& out) {
  std::vector<std::string> counts;
  for (size_t at = 0; at <= words.hosts.size();) {
    const size_t end = std::min(words.hosts.find(',', at), words.hosts.size());
    const std::string entry = words.hosts.substr(at, end - at);
    const size_t colon = std::min(entry.find(':'), entry.size());
    if (colon == 0) return Status::error("option --hosts: '%s' has an empty name", words.hosts.c_str());
    if (!is_host_name(entry.substr(0, colon)))
      return Status::error(
          "option --hosts: '%s' is no name of a host: it begins with '-', or has other characters than "
          "letters, digits and . - _ @ %% [ ]",
          entry.substr(0, colon).c_str());
    out.hosts.push_back({entry.substr(0, colon), 0});
    counts.push_back(colon == entry.size() ? "" : entry.substr(colon + 1));
    at = end + 1;
  }
  const int hosts = static_cast<int>(out.hosts.size());
  int sum = 0;
  for (int h = 0; h < hosts; ++h) {
    int& ranks = out.hosts[h].ranks;
    const std::string& count = counts[h];
    if (!count.empty()) HIROBA_TRY(whole_number("--hosts", count, 1, most_ranks, ranks));
    else ranks = out.ranks == 0 ? 1 : out.ranks * (h + 1) / hosts - out.ranks * h / hosts;
    sum += ranks;
  }
  if (out.ranks != 0 && sum != out.ranks)
    return Status::error("-n %d and --hosts %s do not agree: the hosts get %d ranks", out.ranks, words.hosts.c_str(),
                         sum);
  out.ranks = sum;
  return {};
}

Status check(const Words& words, Launch& out) {
  const bool started = !launching_mpi().empty();
  if (words.ranks.empty() && words.hosts.empty() && !started)
    return Status::error(
        "no number of ranks given: write hirobarun -n 4 PROGRAM (hirobarun --help describes the options)");
  if (started && !(words.ranks.empty() && words.hosts.empty()))
    return Status::error(
        "mpirun or srun has started hirobarun as one of its processes, and determines the number of ranks; leave out "
        "-n and --hosts");
  if (!words.ranks.empty()) HIROBA_TRY(whole_number("-n", words.ranks, 1, most_ranks, out.ranks));
  if (!words.hosts.empty()) HIROBA_TRY(check_hosts(words, out));
  out.mpi = words.mpi;
  if (!out.mpi.empty() && find_mpi(out.mpi) == nullptr)
    return Status::error("option --mpi: '%s' is not one of %s", out.mpi.c_str(), mpi_choices);
  HIROBA_TRY(whole_number("--nodes", words.nodes, 1, most_ranks, out.nodes));
  if (out.nodes > out.ranks && !started)
    return Status::error("option --nodes: %d nodes for %d rank%s: each node needs a rank, so give 1 to %d", out.nodes,
                         out.ranks, out.ranks == 1 ? "" : "s", out.ranks);
  if (!words.threads.empty()) HIROBA_TRY(whole_number("--threads", words.threads, 1, most_ranks, out.threads));
  HIROBA_TRY(Binding::parse(words.bind, out.bind));
  for (size_t i = 0; i < option_table().size(); ++i) {
    if (words.runtime_options[i]->empty()) continue;
    HIROBA_TRY(check_option(option_table()[i], words.runtime[i]));
    out.settings.push_back({environment_name(option_table()[i]), words.runtime[i]});
  }
  Options options;
  HIROBA_TRY(Options::from_environment(options));
  out.still = options.number("still"), out.grace = options.number("grace");
  for (const Setting& setting : out.settings) {
    if (setting.variable == "HIROBA_STILL") out.still = std::strtod(setting.value.c_str(), nullptr);
    if (setting.variable == "HIROBA_GRACE") out.grace = std::strtod(setting.value.c_str(), nullptr);
  }
  if (out.program.empty())
    return Status::error("no program given: write hirobarun -n 4 PROGRAM (hirobarun --help describes the options)");
  return {};
}

}  // namespace

int refuse(const Status& why, int exit_status) {
  std::fprintf(stderr, "hirobarun: %s\n", why.message().c_str());
  return exit_status;
}

std::optional<int> parse_command_line(int argc, char** argv, Launch& out) {
  CLI::App app{description};
  Words words;
  describe_options(app, words, out);
  std::vector<std::string> ours;
  const Status found = split(app, argc, argv, ours, out.program);
  if (!found.ok()) return refuse(found, usage_error);
  try {
    std::reverse(ours.begin(), ours.end());  // CLI11 takes the words from the back
    app.parse(ours);
  } catch (const CLI::Success& asked) {  // --help, --version
    const int status = app.exit(asked);
    if (std::cout.flush() && std::fflush(stdout) == 0) return status;
    return refuse(Status::error("cannot write to standard output (%s)", explain_error(errno).c_str()), 1);
  } catch (const CLI::ParseError& wrong) {
    return refuse(Status::error("%s", wrong.what()), usage_error);
  }
  const Status good = check(words, out);
  if (!good.ok()) return refuse(good, usage_error);
  return std::nullopt;
}

}  // namespace hiroba
