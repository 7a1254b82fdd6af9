#include "carve/check_limits.h"

const struct check_limits check_limits = {
	.cpu_seconds = 60, .work_a_second = 1 << 20, .sleeps = 3000
};
