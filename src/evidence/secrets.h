/*
 * What encrypted volumes are opened with. Secrets are read from files, never given as arguments, and
 * stay in this process and its children: no report, checkpoint or message has them. They are the
 * process's, set once at its start, so that an image means the same wherever it is opened.
 */
#ifndef BURIN_EVIDENCE_SECRETS_H
#define BURIN_EVIDENCE_SECRETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct secret {
	uint8_t *bytes; /* a zero follows them */
	size_t len;
	bool is_key;      /* a key file's content, else a password */
	const char *path; /* of the file that it is from, for messages */
};

/* Adds each line of the file as a password or a recovery key, as a person would type it. Errors:
 * EXIT_USAGE. */
int secrets_add_passwords(const char *path, struct error *error);
/* Adds the file's content. */
int secrets_add_key(const char *path, struct error *error);
/* Adds a copy of the bytes. path must remain. */
void secrets_add(const char *path, const uint8_t *bytes, size_t len, bool is_key);
const struct secret *secrets_list(size_t *count);

#endif
