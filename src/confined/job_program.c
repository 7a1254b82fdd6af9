#include "confined/job_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/version.h"
#include "evidence/secrets.h"

/* It comes from burin, and is trusted; but a program that is not burin must do no harm either. */
#define PART_MAX ((uint64_t)64 << 20)

/* The next bytes, with a zero after them. */
static void *receive(uint64_t len)
{
	char *bytes = len <= PART_MAX ? malloc((size_t)len + 1) : NULL;

	if (!bytes || !sandbox_receive(SANDBOX_FD, bytes, (size_t)len))
		_exit(EXIT_FAILURE);
	bytes[len] = 0;
	return bytes;
}

static void receive_secrets(uint32_t count)
{
	while (count--) {
		struct evidence_secret *head = receive(sizeof(*head));
		const char *path = receive(head->path_len);
		uint8_t *bytes = receive(head->len);

		secrets_add(path, bytes, (size_t)head->len, head->is_key);
		explicit_bzero(bytes, (size_t)head->len);
		free(bytes);
		free(head);
	}
}

/* Walks until burin is gone. */
static int walk_all(const struct job_program *program, struct evidence_job *job, void *argument)
{
	while (program->walk && job->work <= EVIDENCE_WALK_STREAMS &&
		job->argument_len == (job->work ? sizeof(struct volume) : 0) &&
		program->walk(job, argument)) {
		free(job);
		free(argument);
		job = receive(sizeof(*job));
		argument = receive(job->argument_len);
	}
	return EXIT_FAILURE;
}

static int work(const struct job_program *program)
{
	struct evidence_job *job = receive(sizeof(*job));
	void *argument = receive(job->argument_len);

	receive_secrets(job->secret_count);
	confine_set_mode((enum confine_mode)job->mode);
	if (job->work == EVIDENCE_SERVE || job->work == EVIDENCE_SERVE_NAMES)
		return served_work(job, argument, program->kinds);
	return walk_all(program, job, argument);
}

/* Without what runs at a regular end: a sanitizer would look for leaks, for which it is not allowed what it
 * needs. */
int job_program_run(const struct job_program *program, int argc, char **argv)
{
	int type;

	if (getsockopt(SANDBOX_FD, SOL_SOCKET, SO_TYPE, &type, &(socklen_t){ sizeof(type) })) {
		fprintf(stderr, "%s is started by burin\n", program->name);
		return 2;
	}
	if (argc != 3 || strcmp(argv[1], burin_version) || strcmp(argv[2], burin_commit))
		_exit(SANDBOX_OTHER_VERSION);
	_exit(work(program));
}
