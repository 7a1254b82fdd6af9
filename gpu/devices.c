/* Parses --gpus. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/error.h"
#include "scan/gpu_options.h"

#define DIGITS_MAX 4

static int refuse(const char *text, struct error *error)
{
	return error_set(error, EXIT_USAGE, EINVAL,
		"--gpus takes how many GPUs to use (2), a list of their numbers with a comma (0,3 "
		"or 1,), or all; not '%.100s'",
		text);
}

/* Moves *at past the number. False when there is none, or it is far too long. */
static bool read_number(const char **at, unsigned *number)
{
	size_t len = strspn(*at, "0123456789");

	*number = 0;
	if (len == 0 || len > DIGITS_MAX)
		return false;
	for (; len; len--)
		*number = *number * 10 + (unsigned)(*(*at)++ - '0');
	return true;
}

static bool is_listed(const struct gpu_wanted *wanted, unsigned id)
{
	for (unsigned i = 0; i < wanted->count; i++)
		if (wanted->ids[i] == id)
			return true;
	return false;
}

/* "0,3", "1,": text is not empty. */
static int parse_list(const char *text, struct gpu_wanted *wanted, struct error *error)
{
	const char *at = text;

	wanted->listed = true;
	while (*at) {
		unsigned id;

		if (!read_number(&at, &id) || (*at && *at++ != ','))
			return refuse(text, error);
		if (is_listed(wanted, id))
			return error_set(error, EXIT_USAGE, EINVAL,
				"--gpus names GPU %u twice: '%.100s'", id, text);
		if (wanted->count == GPU_DEVICES_MAX)
			return error_set(error, EXIT_USAGE, EINVAL, "--gpus takes at most %d GPUs",
				GPU_DEVICES_MAX);
		wanted->ids[wanted->count++] = id;
	}
	return 0;
}

int gpu_wanted_parse(struct gpu_wanted *wanted, const char *text, struct error *error)
{
	const char *at = text;

	*wanted = (struct gpu_wanted){ .count = 1 };
	if (!text)
		return 0;
	wanted->all = strcmp(text, "all") == 0;
	if (wanted->all)
		return 0;
	if (strchr(text, ',')) {
		wanted->count = 0;
		return parse_list(text, wanted, error);
	}
	if (!read_number(&at, &wanted->count) || *at || wanted->count < 1 ||
		wanted->count > GPU_DEVICES_MAX)
		return refuse(text, error);
	return 0;
}
