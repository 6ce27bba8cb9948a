// The contract of this floor: OpenMP programs whose regions run on the threads of all ranks. README.md has the
// protocol. Each header says who owns what; all of it serves one program in one process.
#pragma once

#include "openmp/abi.hpp"
#include "openmp/code.hpp"
#include "openmp/doacross.hpp"
#include "openmp/member.hpp"
#include "openmp/objects.hpp"
#include "openmp/queues.hpp"
#include "openmp/regions.hpp"
#include "openmp/runtime.hpp"
#include "openmp/settings.hpp"
#include "openmp/stacks.hpp"
#include "openmp/threadprivate.hpp"
#include "openmp/words.hpp"
