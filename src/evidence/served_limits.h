/* How long a process that serves an image may go on with one request. */
#ifndef BURIN_EVIDENCE_SERVED_LIMITS_H
#define BURIN_EVIDENCE_SERVED_LIMITS_H

struct served_limits {
	unsigned
		cpu_seconds; /* of processor time, for a request that reads at most SERVED_DATA_LEN */
	/* Times that it is found asleep, some ten a second. A library that is given bytes never sleeps; some waiting
	 * that only looks like it is forgiven. One that opens files itself (no outer image) may wait for them, where
	 * they are on a network for a minute. */
	unsigned sleeps, sleeps_reading;
};

/* Apart from what uses it, so that tests have other ones. */
extern const struct served_limits served_limits;

#endif
