/* Threads that leave signals to the main thread, and condition variables that can be waited for
 * with a timeout on the monotonic clock. */
#ifndef BURIN_BASE_THREAD_H
#define BURIN_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* Like pthread_create, but with all signals blocked in the new thread: the main thread handles
 * them, between chunks. Returns 0 or a negative errno. */
int thread_start(pthread_t *thread, void *(*work)(void *), void *arg);

/* A condition variable for thread_cond_wait; the caller destroys it. */
void thread_cond_init(pthread_cond_t *condition);

/* Waits with the lock held, for at most this many seconds (less than 1). False after a timeout. */
bool thread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *lock, double seconds);

#endif
