/* How long a process that checks may go on: the last resort, after the bounds on the work that it counts. */
#ifndef BURIN_CARVE_CHECK_LIMITS_H
#define BURIN_CARVE_CHECK_LIMITS_H

struct check_limits {
	double cpu_seconds;   /* of processor time without any work */
	double work_a_second; /* units that even the slowest machine does */
	unsigned sleeps;      /* times that it is found asleep, some ten a second */
};

/* Apart from what uses it, so that tests have other ones. */
extern const struct check_limits check_limits;

#endif
