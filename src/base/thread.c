#include "base/thread.h"

#include <signal.h>

int thread_start(pthread_t *thread, void *(*work)(void *), void *arg)
{
	sigset_t all, old;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(thread, NULL, work, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -rc;
}
