// Option report, for jobs that hirobarun runs on this machine: it reads the records of the ranks from the memory files
// of the job, also of ranks that were killed, when all have ended. Blocks.
#pragma once

#include <string>

#include "base/job.hpp"

namespace hiroba {

// Returns the file that the option names, from this process's environment; "" if it is off. Fails if it cannot be
// written.
Status report_wanted(std::string& file);
// Writes the report of a job that has ended with `exit_status`, and returns that, or 1 if the report has failed.
int write_report(const std::string& file, const Job& job, int exit_status);

// The same for ranks that mpirun starts. expect_report(), before, lets their rank 0 write the data; finish_report()
// makes the page of it, if rank 0 was on this machine. Without a file it returns the status.
void expect_report(const std::string& file);
int finish_report(const std::string& file, int exit_status);

}  // namespace hiroba
