#include "run/signals.h"

#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

/* Written by the handler, read by any thread. */
static atomic_int caught;

static void catch_signal(int number)
{
	if (caught)
		_exit(128 + number);
	caught = number;
}

void signals_catch(void)
{
	/* SA_RESTART: code that waits calls signals_caught itself, and a report's write must not be
	 * cut short. */
	struct sigaction action = { .sa_handler = catch_signal, .sa_flags = SA_RESTART }, hangup;

	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	if (sigaction(SIGHUP, NULL, &hangup) == 0 &&
		hangup.sa_handler != SIG_IGN) /* not under nohup */
		sigaction(SIGHUP, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

int signals_caught(void)
{
	return caught;
}

bool signals_interrupted(void)
{
	return caught != 0;
}

void signals_set(int number)
{
	caught = number;
}
