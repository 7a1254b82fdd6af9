/* The manifest, signature and public key in a folder of results: whatever they say, only what is in the folder is looked
 * at, and no difference is missed. */
#include "input_parts.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "report/seal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static char folder[64];

static void write_file(const char *name, const struct part *part)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, part->text, part->len) != (ssize_t)part->len)
		abort();
	close(fd);
}

static void remove_folder(void)
{
	static const char *const names[] = { "a", "b\\c", SEAL_MANIFEST, SEAL_SIGNATURE,
		SEAL_PUBLIC_KEY };
	char path[128];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		unlink(path);
	}
	rmdir(folder);
}

static void make_folder(void)
{
	const char *top = getenv("TMPDIR");

	snprintf(folder, sizeof(folder), "%s/burin-fuzz-XXXXXX",
		top && strlen(top) < 40 ? top : "/tmp");
	if (!mkdtemp(folder))
		abort();
	atexit(remove_folder);
	write_file("a", &(struct part){ "a", 1 });
	write_file("b\\c", &(struct part){ "", 0 });
}

static void note(void *context, const char *name, enum verify_state state, const char *detail)
{
	if (!*verify_state_name(state) || !name || !detail)
		abort();
	++*(uint64_t *)context;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct seal_check check;
	struct error error = { 0 };
	struct part parts[3];
	uint64_t noted = 0;
	int status;

	if (!*folder)
		make_folder();
	split_parts(data, len, parts, 3);
	write_file(SEAL_MANIFEST, &parts[0]);
	write_file(SEAL_SIGNATURE, &parts[1]);
	write_file(SEAL_PUBLIC_KEY, &parts[2]);
	status = seal_verify(folder, NULL, note, &noted, &check, &error);
	if (!check.sealed || check.different != noted || (status && !*error.text))
		abort();
	/* Both files are listed and unchanged, or it says so. */
	if (!status && !check.different && check.counts.files < 2)
		abort();
	for (size_t i = 0; i < 3; i++)
		free(parts[i].text);
	return 0;
}
