/* What is one for the process: its messages, its folder, how it ends; and images, which are thin. */
#include "library/library.h"

#include <assert.h>
#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fatal.h"
#include "base/memory.h"
#include "base/program.h"
#include "base/version.h"
#include "evidence/image.h"

static_assert(sizeof(struct burin_error) == sizeof(struct error), "an error is copied whole");

/* ---- the process --------------------------------------------------------------------------- */

static void drop_message(enum log_level level, const char *text)
{
	(void)level, (void)text;
}

void library_hear(void (*hear)(enum log_level level, const char *text))
{
	log_redirect(hear ? hear : drop_message);
}

/* There may be no memory for what a message needs, and no thread that could be told. */
static void end_process(const char *sentence)
{
	(void)sentence;
	abort();
}

/* In a build the program's files are beside the library, elsewhere in the tree that it was installed in:
 * PREFIX/lib, or a folder of that for a kind of machine. */
static void find_program_folder(const char *library)
{
	static const char *const places[] = { "", "/../bin", "/../../bin" };
	char *real = realpath(library, NULL), *slash = real ? strrchr(real, '/') : NULL;

	for (size_t i = 0; slash && i < sizeof(places) / sizeof(*places); i++) {
		char *folder = xasprintf("%.*s%s", (int)(slash - real), real, places[i]);
		char *program = xasprintf("%s/burin-carver", folder);
		char *installed = xasprintf("%s/../libexec/burin/burin-carver", folder);

		if (access(program, X_OK) == 0 || access(installed, X_OK) == 0) {
			program_set_folder(folder);
			slash = NULL;
		}
		free(installed);
		free(program);
		free(folder);
	}
	free(real);
}

static void begin(void)
{
	Dl_info info;

	fatal_redirect(end_process);
	library_hear(NULL);
	if (dladdr((void *)library_begin, &info))
		find_program_folder(info.dli_fname);
}

void library_begin(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, begin);
}

int library_error(struct burin_error *burin, const struct error *error)
{
	if (burin)
		memcpy(burin, error, sizeof(*burin));
	return error->code;
}

static char release[128];

static void write_release(void)
{
	snprintf(release, sizeof(release), *burin_commit ? "%s (%s)" : "%s", burin_version,
		burin_commit);
}

const char *burin_release(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, write_release);
	return release;
}

/* ---- images -------------------------------------------------------------------------------- */

struct burin_image {
	struct image *image;
	char *path;
};

struct image *library_image(struct burin_image *image)
{
	return image->image;
}

int burin_image_open(struct burin_image **image, const char *path, struct burin_error *burin)
{
	struct error error = { 0 };
	struct image *opened;

	library_begin();
	if (image_open(&opened, path, &error))
		return library_error(burin, &error);
	*image = xmalloc(sizeof(**image));
	**image = (struct burin_image){ opened, xstrdup(path) };
	return BURIN_CLEAN;
}

uint64_t burin_image_size(const struct burin_image *image)
{
	return image_info(image->image)->size;
}

const char *burin_image_format(const struct burin_image *image)
{
	return image_info(image->image)->format;
}

int burin_image_read(struct burin_image *image, uint64_t offset, void *buffer, size_t len,
	struct burin_error *burin)
{
	int status = image_read_at(image->image, offset, buffer, len);
	struct error error = { 0 };

	if (!status)
		return BURIN_CLEAN;
	error_set(&error, EXIT_IO, -status, "%.800s: cannot read %zu bytes at %" PRIu64 ": %s",
		image->path, len, offset, strerror(-status));
	return library_error(burin, &error);
}

void burin_image_close(struct burin_image *image)
{
	if (!image)
		return;
	image_close(image->image);
	free(image->path);
	free(image);
}
