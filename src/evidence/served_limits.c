#include "evidence/served_limits.h"

const struct served_limits served_limits = {
	.cpu_seconds = 60, .sleeps = 10, .sleeps_reading = 600
};
