#include "evidence/secrets.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"

/* cryptsetup's limit for key files. */
#define FILE_MAX ((size_t)8 << 20)

static struct secret *secrets;
static size_t secret_count, secret_capacity;

void secrets_add(const char *path, const uint8_t *bytes, size_t len, bool is_key)
{
	struct secret secret = { xmalloc(len + 1), len, is_key, path };

	memcpy(secret.bytes, bytes, len);
	secret.bytes[len] = 0;
	secrets = xgrow(secrets, &secret_capacity, secret_count, sizeof(*secrets));
	secrets[secret_count++] = secret;
}

/* The content of a file, which the caller frees; NULL with error set. */
static uint8_t *read_file(const char *path, size_t *len, struct error *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint8_t *bytes = xmalloc(FILE_MAX);
	ssize_t n = fd < 0 ? -errno : file_read_at(fd, bytes, FILE_MAX, 0);

	if (fd >= 0)
		close(fd);
	if (n > 0 && n < (ssize_t)FILE_MAX) {
		*len = (size_t)n;
		return bytes;
	}
	free(bytes);
	error_set(error, EXIT_USAGE, n < 0 ? (int)-n : EINVAL, "can't read the key file %s: %s",
		path,
		n < 0 ? strerror((int)-n)
		: n   ? "it is too large"
		      : "it is empty");
	return NULL;
}

int secrets_add_key(const char *path, struct error *error)
{
	size_t len;
	uint8_t *bytes = read_file(path, &len, error);

	if (!bytes)
		return -EINVAL;
	secrets_add(path, bytes, len, true);
	explicit_bzero(bytes, len);
	free(bytes);
	return 0;
}

int secrets_add_passwords(const char *path, struct error *error)
{
	size_t len, begin = 0;
	uint8_t *bytes = read_file(path, &len, error);

	if (!bytes)
		return -EINVAL;
	for (size_t i = 0; i <= len; i++) {
		size_t end = i;

		if (i < len && bytes[i] != '\n')
			continue;
		if (end > begin && bytes[end - 1] == '\r')
			end--;
		if (end > begin)
			secrets_add(path, bytes + begin, end - begin, false);
		begin = i + 1;
	}
	explicit_bzero(bytes, len);
	free(bytes);
	return 0;
}

const struct secret *secrets_list(size_t *count)
{
	*count = secret_count;
	return secrets;
}
