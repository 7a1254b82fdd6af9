/* Starting threads. */
#ifndef BURIN_BASE_THREAD_H
#define BURIN_BASE_THREAD_H

#include <pthread.h>

/* As pthread_create, with all signals blocked in the new thread: they are for the main thread,
 * which looks at them between chunks. Returns 0 or a negative errno. */
int thread_start(pthread_t *thread, void *(*work)(void *), void *arg);

#endif
