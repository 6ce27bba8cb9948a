// hiroba: prints facts about the installation, and starts the programs that come with it. Compiled with exceptions,
// because CLI11 throws; none leaves main.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/energy/meter.hpp"
#include "base/limits.hpp"
#include "base/tables/options.hpp"
#include "launcher/execute.hpp"
#include "launcher/info.hpp"
#include "launcher/report/python.hpp"
#include "launcher/report/records.hpp"
#include "launcher/top/top.hpp"

namespace {

// Returns the status of a command whose output may still be unwritten.
int after_output(int status) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  std::fprintf(stderr, "hiroba: cannot write the output (%s)\n", hiroba::explain_error(errno).c_str());
  return 1;
}

struct InfoWords {
  bool options_markdown = false;
  std::string memory;  // "": not wanted; "machine", or the number of a process
};

int info_memory(const std::string& what) {
  const bool machine = what == "machine";
  std::string text;
  const hiroba::Status described = machine ? hiroba::Status() : hiroba::describe_memory_of(what, text);
  if (machine) text = hiroba::describe_domains();
  std::fputs(text.c_str(), stdout);
  if (described.ok()) return 0;
  std::fprintf(stderr, "hiroba: %s\n", described.message().c_str());
  return 1;
}

int info(const InfoWords& words) {
  if (words.options_markdown) {
    std::fputs(hiroba::options_markdown().c_str(), stdout);
    return 0;
  }
  if (!words.memory.empty()) return info_memory(words.memory);
  std::string why_bad;
  std::fputs(hiroba::describe_installation(why_bad).c_str(), stdout);
  if (why_bad.empty()) return 0;
  std::fprintf(stderr, "hiroba: %s\n", why_bad.c_str());
  return 1;
}

// Data that no rank has written, because the job has failed, is made of the files that its ranks have left.
void make_data(const std::vector<std::string>& words) {
  bool any = false;
  if (words.empty() || access(words.front().c_str(), F_OK) == 0) return;
  const hiroba::Status made = hiroba::write_data_of_failed(words.front(), 0, any);
  if (!made.ok()) std::fprintf(stderr, "hiroba: %s\n", made.message().c_str());
}

// A machine whose energy cannot be read is a result, not an error.
int power() {
  hiroba::Options options;
  hiroba::EnergyPlaces places;
  hiroba::Status status = hiroba::Options::from_environment(options);
  if (status.ok()) status = hiroba::EnergyPlaces::from_options(options, places);
  if (status.ok()) {
    std::fputs(hiroba::describe_power(places, 1).c_str(), stdout);
    return 0;
  }
  std::fprintf(stderr, "hiroba: %s\n", status.message().c_str());
  return 1;
}

// Executes a Python program that comes with Hiroba; returns only if that cannot be started.
int become(const std::string& name, const std::vector<std::string>& words) {
  std::vector<std::string> command;
  const hiroba::Status found = hiroba::python_program(name, command);
  if (!found.ok()) {
    std::fprintf(stderr, "hiroba: %s\n", found.message().c_str());
    return 1;
  }
  command.insert(command.end(), words.begin(), words.end());
  hiroba::execute(command);
  std::fprintf(stderr, "hiroba: %s is a Python program, and python3 cannot be started: %s\n", name.c_str(),
               std::strerror(errno));
  return 1;
}

CLI::App* add_top(CLI::App& app, hiroba::TopWish& wish) {
  CLI::App* const command =
      app.add_subcommand("top", "Shows a job while it runs: its ranks, rates, and who waits for whom");
  command
      ->add_option("job", wish.job, "The process of hirobarun or of a rank; without it, the only job of this machine")
      ->type_name("PID");
  command->add_option("--every", wish.every, "Seconds between two pictures")
      ->check(CLI::Range(0.05, 3600.0))
      ->capture_default_str();
  command->add_option("--pictures", wish.pictures, "Show so many and end; 0: until the job ends")
      ->check(CLI::NonNegativeNumber);
  return command;
}

int run(int argc, char** argv) {
  CLI::App app{"Describes this installation of Hiroba. hirobarun starts programs."};
  app.set_version_flag("--version", "hiroba " HIROBA_VERSION, "Print the version and exit");
  app.require_subcommand(1);
  InfoWords words;
  CLI::App* const info_command =
      app.add_subcommand("info", "This machine, transports, and options with their present values");
  info_command->add_flag("--options-markdown", words.options_markdown,
                         "Print the options in the format of docs/options.md");
  info_command
      ->add_option("--memory", words.memory,
                   "Print the NUMA domains of this machine; with the number of a running rank's process, on which of "
                   "them its node's pages of shared arrays lie")
      ->expected(0, 1)
      ->default_str("machine")
      ->type_name("[PID]");
  CLI::App* const power_command =
      app.add_subcommand("power", "What the counters of energy of this machine say, or why they cannot be read");
  power_command
      ->add_subcommand("spread",
                       "Runs the same kernels on every device, and shows how far their power and speed differ "
                       "(hiroba power spread --help)")
      ->prefix_command()
      ->set_help_flag();
  hiroba::TopWish wish;
  CLI::App* const top_command = add_top(app, wish);
  // All words after the command are the program's.
  for (const auto& [name, purpose] :
       {std::pair{"overlap", "Measures whether collectives hide behind computation here, in Hiroba and MPIs"},
        std::pair{"tune", "Measures which algorithms of collectives are the fastest here, for option tuning"},
        std::pair{"report", "Makes the page of a report from its data (option report)"},
        std::pair{"compare", "Compares two reports, and fails if the second run is slower"}})
    app.add_subcommand(name, std::string(purpose) + " (hiroba " + name + " --help)")->prefix_command()->set_help_flag();
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {
    return app.exit(asked);
  } catch (const CLI::ParseError& wrong) {
    std::fprintf(stderr, "hiroba: %s (see hiroba --help)\n", wrong.what());
    return 2;
  }
  if (top_command->parsed()) return hiroba::top(wish);
  const CLI::App& chosen = *app.get_subcommands().front();
  if (chosen.get_name() == "power") {
    const std::vector<CLI::App*> further = chosen.get_subcommands();
    return further.empty() ? power() : become("spread", further.front()->remaining());
  }
  std::vector<std::string> further = chosen.remaining();
  const bool on_reports = chosen.get_name() == "report" || chosen.get_name() == "compare";
  if (chosen.get_name() == "report") make_data(further);
  if (on_reports) further.insert(further.begin(), chosen.get_name());
  return chosen.get_name() == "info" ? info(words) : become(on_reports ? "report" : chosen.get_name(), further);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    hiroba::open_standard_descriptors(O_RDONLY);  // a write to one that was closed fails as before
    const int status = run(argc, argv);
    return status == 0 ? after_output(status) : status;
  } catch (const std::exception& unexpected) {  // an error in the declaration of the options
    std::fprintf(stderr, "hiroba: %s\n", unexpected.what());
    return 1;
  }
}
