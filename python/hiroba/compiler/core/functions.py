"""Functions of the system, and of this library, whose effects on values that differ from rank to rank are known by
their names: those of the library, of which some give the same on all ranks; those that tell the time; those that do
not return; and those that allocate, lock and unlock."""

import re

OURS = ("sms_", "xmp_", "xmpc_", "mpc_", "smint_", "hiroba_", "MPI_")
SAME = ("nprocs", "reduce", "broadcast", "alloc", "Allreduce", "Bcast", "num_nodes", "num_images", "size", "startup")
TIMES = ("time", "clock", "gettimeofday", "clock_gettime", "omp_get_wtime", "getpid", "gethostname")
ENDS = ("exit", "_exit", "_Exit", "abort", "MPI_Abort", "sms_abort", "__builtin_unreachable", "__assert_fail")
ALLOCATES = ("malloc", "calloc", "realloc", "aligned_alloc", "strdup", "alloca", "__builtin_alloca", "fopen")
LOCKS, UNLOCKS = re.compile(r"(^|_)(try)?lock(_|$)"), re.compile(r"(^|_)(unlock|unset_lock)(_|$)")
