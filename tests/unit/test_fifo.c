/* Queues that spill: against a plain array, with so little memory that almost everything goes
 * through the file. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "carve/fifo.h"

static int create(void *context, struct error *error)
{
	FILE *file = tmpfile();
	int fd = dup(fileno(file));

	(void)context;
	(void)error;
	fclose(file);
	return fd;
}

static int refuse(void *context, struct error *error)
{
	(void)context;
	return error_set(error, EXIT_IO, ENOSPC, "no room for it");
}

struct element {
	uint64_t number;
	uint32_t queue, check;
};

Test(fifo, keeps_order_through_the_file)
{
	struct fifo_store *store = fifo_store_new(0, create, NULL);
	struct fifo queues[3];
	uint64_t pushed[3] = { 0 }, popped[3] = { 0 };
	unsigned seed = 7;

	for (int i = 0; i < 3; i++)
		fifo_init(&queues[i], store, sizeof(struct element));
	for (int step = 0; step < 60000; step++) {
		uint32_t q = (uint32_t)rand_r(&seed) % 3;
		/* First more in than out, later the reverse. */
		bool in = rand_r(&seed) % 10 < (step < 30000 ? 9 : 1);

		if (in) {
			struct element element = { pushed[q], q, (uint32_t)pushed[q] * 31 + q };

			fifo_push(&queues[q], &element);
			pushed[q]++;
		} else if (popped[q] < pushed[q]) {
			struct element *front = fifo_front(&queues[q]);

			cr_assert_not_null(front);
			cr_assert_eq(front->number, popped[q]);
			cr_assert_eq(front->queue, q);
			cr_assert_eq(front->check, (uint32_t)popped[q] * 31 + q);
			fifo_pop(&queues[q]);
			popped[q]++;
		}
		cr_assert_eq(queues[q].count, pushed[q] - popped[q]);
	}
	cr_assert_gt(fifo_store_spilled(store), 0, "nothing went to the file");
	cr_assert_eq(fifo_store_status(store, NULL), 0);
	for (int i = 0; i < 3; i++)
		fifo_clear(&queues[i]);
	fifo_store_free(store);
}

Test(fifo, file_space_is_used_again)
{
	struct fifo_store *store = fifo_store_new(0, create, NULL);
	struct fifo queue;
	uint64_t high = 0;

	fifo_init(&queue, store, sizeof(uint64_t));
	for (int round = 0; round < 50; round++) {
		for (uint64_t i = 0; i < 20000; i++)
			fifo_push(&queue, &i);
		while (fifo_front(&queue))
			fifo_pop(&queue);
		if (round == 0)
			high = fifo_store_spilled(store);
	}
	cr_assert_gt(high, 0);
	cr_assert_eq(fifo_store_spilled(store), high);
	fifo_store_free(store);
}

Test(fifo, failing_file_is_reported)
{
	struct fifo_store *store = fifo_store_new(0, refuse, NULL);
	struct error error = { 0 };
	struct fifo queue;

	fifo_init(&queue, store, sizeof(uint64_t));
	for (uint64_t i = 0; i < 100000; i++)
		fifo_push(&queue, &i);
	cr_assert_eq(fifo_store_status(store, &error), -ENOSPC);
	cr_assert_str_eq(error.text, "no room for it");
	cr_assert_null(fifo_front(&queue));
	fifo_clear(&queue);
	fifo_store_free(store);
}

Test(fifo, popping_an_empty_queue_is_a_bug, .signal = SIGABRT)
{
	struct fifo_store *store = fifo_store_new(1 << 20, refuse, NULL);
	struct fifo queue;

	fifo_init(&queue, store, sizeof(uint64_t));
	fifo_pop(&queue);
}
