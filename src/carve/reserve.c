#include "carve/reserve.h"

#include <pthread.h>

#define RESERVE_MAX ((uint64_t)1 << 30)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t freed = PTHREAD_COND_INITIALIZER;
static uint64_t used;

void reserve_take(uint64_t bytes)
{
	pthread_mutex_lock(&lock);
	while (used && (bytes > RESERVE_MAX || used > RESERVE_MAX - bytes))
		pthread_cond_wait(&freed, &lock);
	used += bytes;
	pthread_mutex_unlock(&lock);
}

void reserve_give_back(uint64_t bytes)
{
	pthread_mutex_lock(&lock);
	used -= bytes;
	pthread_cond_broadcast(&freed);
	pthread_mutex_unlock(&lock);
}
