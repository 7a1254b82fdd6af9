/* Signals: the first ends the run in order, with complete reports; the second ends it at once. */
#include "run/run_state.h"

#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t caught;

static void catch_signal(int number)
{
	if (caught)
		_exit(128 + number);
	caught = number;
}

void run_catch_signals(void)
{
	/* Restarted: what waits asks run_caught_signal itself, and a report's write must not be
	 * torn. */
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

int run_caught_signal(void)
{
	return caught;
}

bool run_interrupted(void)
{
	return caught != 0;
}
