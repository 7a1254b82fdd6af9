#include "evidence/evidence_process.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/program.h"
#include "base/version.h"
#include "evidence/secrets.h"

#define PROGRAM "burin-evidence"
#define FILESYSTEMS_PROGRAM "burin-filesystems" /* has libtsk, and starts in five times the time */

static const char *program_of(const struct evidence_job *job)
{
	static const char *const kinds[] = { "container", "streams" };

	if (job->work <= EVIDENCE_WALK_STREAMS)
		return FILESYSTEMS_PROGRAM;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(job->kind, kinds[i]))
			return FILESYSTEMS_PROGRAM;
	return PROGRAM;
}

int evidence_process_check(struct error *error)
{
	char reason[512];
	char *program = program_find(FILESYSTEMS_PROGRAM, reason, sizeof(reason));

	if (!program)
		return error_set(error, EXIT_IO, ENOENT,
			"%s; without it, --file-systems off carves raw images and E01", reason);
	free(program);
	return 0;
}

static bool send_secrets(struct sandbox_child *child)
{
	const struct secret *secrets;
	bool sent = true;
	size_t count;

	secrets = secrets_list(&count);
	for (size_t i = 0; i < count && sent; i++) {
		const struct evidence_secret head = { strlen(secrets[i].path), secrets[i].len,
			secrets[i].is_key };

		sent = sandbox_send_to(child, &head, sizeof(head)) &&
		       sandbox_send_to(child, secrets[i].path, head.path_len) &&
		       sandbox_send_to(child, secrets[i].bytes, head.len);
	}
	return sent;
}

/* If it is gone, the caller learns that when it listens. */
static void send_job(struct sandbox_child *child, const struct evidence_job *job,
	const struct sandbox_patience *patience, const void *argument, bool secrets)
{
	struct evidence_job sent = *job;
	size_t secret_count;

	secrets_list(&secret_count);
	sent.mode = confine_mode();
	sent.secret_count = secrets ? (uint32_t)secret_count : 0;
	sandbox_expect(child, patience);
	if (sandbox_send_to(child, &sent, sizeof(sent)) &&
		sandbox_send_to(child, argument, job->argument_len) && secrets)
		send_secrets(child);
}

void evidence_process_continue(struct sandbox_child *child, const struct evidence_job *job,
	const struct sandbox_patience *patience, const void *argument)
{
	send_job(child, job, patience, argument, false);
}

int evidence_process_start(struct sandbox_child **child, const struct evidence_job *job,
	const struct sandbox_patience *patience, const void *argument, bool secrets, int shared,
	char *reason, size_t reason_len)
{
	char *program = program_find(program_of(job), reason, reason_len);
	const char *const arguments[] = { program, burin_version, burin_commit, NULL };
	int status;

	if (!program)
		return -ENOENT;
	status = sandbox_execute(child, arguments, shared);
	free(program);
	if (status) {
		snprintf(reason, reason_len, "no process could be started: %s", strerror(-status));
		return status;
	}
	send_job(*child, job, patience, argument, secrets);
	return 0;
}
