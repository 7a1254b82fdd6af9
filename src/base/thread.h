/* Threads that leave signals to the main thread, and condition variables that can be waited for
 * with a timeout on the monotonic clock. */
#ifndef BURIN_BASE_THREAD_H
#define BURIN_BASE_THREAD_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>

/* Like pthread_create, but with all signals blocked in the new thread: the main thread handles
 * them, between chunks. Returns 0 or a negative errno. */
int thread_start(pthread_t *thread, void *(*work)(void *), void *arg);

/* A lock that is held for some hundred instructions at a time: who finds it taken tries again for a moment before it
 * sleeps, as waking takes far longer than that. The caller destroys it. */
void thread_lock_init(pthread_mutex_t *lock);

/* Waits until there is a post that nobody else has taken. Where one thread wakes others often, semaphores take the place of
 * conditions: to signal one may have to wait until all that were woken before are awake. */
void thread_sem_take(sem_t *posts);

/* A condition variable for thread_cond_wait; the caller destroys it. */
void thread_cond_init(pthread_cond_t *condition);

/* Waits with the lock held, for at most this many seconds (less than 1). False after a timeout. */
bool thread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *lock, double seconds);

#endif
