#include "base/thread.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

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

void thread_lock_init(pthread_mutex_t *lock)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
#ifdef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ADAPTIVE_NP);
#endif
	pthread_mutex_init(lock, &attributes);
	pthread_mutexattr_destroy(&attributes);
}

void thread_sem_take(sem_t *posts)
{
	while (sem_wait(posts) && errno == EINTR)
		;
}

void thread_cond_init(pthread_cond_t *condition)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(condition, &attributes);
	pthread_condattr_destroy(&attributes);
}

bool thread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *lock, double seconds)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += (long)(seconds * 1e9);
	if (until.tv_nsec >= 1000 * 1000 * 1000) {
		until.tv_nsec -= 1000 * 1000 * 1000;
		until.tv_sec++;
	}
	return pthread_cond_timedwait(condition, lock, &until) == 0;
}
