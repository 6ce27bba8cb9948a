// The contract of this floor: OpenMP programs whose regions run on the threads of all ranks. README.md has the
// protocol. Each header says who owns what; all of it serves one program in one process.
#pragma once

#include "openmp/abi.hpp"
#include "openmp/doacross.hpp"
#include "openmp/member.hpp"
#include "openmp/program/code.hpp"
#include "openmp/program/imports.hpp"
#include "openmp/program/objects.hpp"
#include "openmp/program/runtime.hpp"
#include "openmp/program/stacks.hpp"
#include "openmp/program/threadprivate.hpp"
#include "openmp/program/words.hpp"
#include "openmp/queues.hpp"
#include "openmp/regions.hpp"
#include "openmp/settings.hpp"
#include "openmp/system/descriptors.hpp"
#include "openmp/system/fortran_units.hpp"
#include "openmp/system/mappings.hpp"
#include "openmp/system/output.hpp"
#include "openmp/system/process_state.hpp"
#include "openmp/system/touch.hpp"
#include "openmp/tasks.hpp"
