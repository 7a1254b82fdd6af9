/* So that a test need not wait until burin ends a process that goes on for ever. */
#include "carve/check_limits.h"
#include "evidence/served_limits.h"

const struct check_limits check_limits = { .cpu_seconds = 0.1, .work_a_second = 1e10, .sleeps = 5 };
const struct served_limits served_limits = { .cpu_seconds = 1, .sleeps = 5, .sleeps_reading = 5 };
