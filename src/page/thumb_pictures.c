/*
 * libvips is loaded when it is needed, not linked: it brings some eighty libraries, which burin
 * would load at each start and need on each machine. Its loaders for formats that nobody fuzzes are
 * disabled (vips_block_untrusted_set), and before the first byte of the evidence arrives, the
 * process gives up its access to all files.
 */
#include "page/thumb_jobs.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/sandbox.h"

#define LIBRARY "libvips.so.42"
#define SIZE_DOWN 2 /* VIPS_SIZE_DOWN: never enlarges */
/* As much as thumbs.c sends at most. */
#define MAX_FILE_LEN ((uint32_t)64 << 20)

struct image; /* VipsImage */

static struct {
	int (*init)(const char *program);
	void (*block_untrusted)(int on);
	void (*concurrency)(int threads);
	void (*cache)(int most);
	int (*thumbnail)(void *bytes, size_t len, struct image **image, int width, ...);
	int (*save)(struct image *image, void **bytes, size_t *len, ...);
	void (*error_clear)(void);
	void (*unref)(void *object);
	void (*free)(void *bytes);
} vips;

/* In the order of the struct's members. */
static bool load(void)
{
	static const char *const names[] = { "vips_init", "vips_block_untrusted_set",
		"vips_concurrency_set", "vips_cache_set_max", "vips_thumbnail_buffer",
		"vips_jpegsave_buffer", "vips_error_clear", "g_object_unref", "g_free" };
	void **functions[] = { (void **)&vips.init, (void **)&vips.block_untrusted,
		(void **)&vips.concurrency, (void **)&vips.cache, (void **)&vips.thumbnail,
		(void **)&vips.save, (void **)&vips.error_clear, (void **)&vips.unref,
		(void **)&vips.free };
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	for (size_t i = 0; library && i < sizeof(names) / sizeof(*names); i++) {
		*functions[i] = dlsym(library, names[i]);
		if (!*functions[i])
			return false;
	}
	return library && vips.init("burin") == 0;
}

/* Returns the length of a JPEG, which the caller frees, or 0. */
static uint32_t shrink(void *bytes, size_t len, void **jpeg)
{
	struct image *image = NULL;
	size_t jpeg_len = 0;

	*jpeg = NULL;
	if (vips.thumbnail(bytes, len, &image, THUMB_PIXELS, "height", THUMB_PIXELS, "size",
		    SIZE_DOWN, NULL) ||
		vips.save(image, jpeg, &jpeg_len, "Q", 75, "strip", 1, NULL))
		jpeg_len = 0;
	if (image)
		vips.unref(image);
	vips.error_clear();
	return jpeg_len <= THUMB_MAX_LEN ? (uint32_t)jpeg_len : 0;
}

/* Serves one picture. False: no more are wanted. */
static bool serve(int fd)
{
	uint32_t len, jpeg_len;
	void *bytes, *jpeg;
	bool sent;

	if (!sandbox_receive(fd, &len, sizeof(len)) || len == 0 || len > MAX_FILE_LEN)
		return false;
	bytes = malloc(len);
	if (!bytes || !sandbox_receive(fd, bytes, len)) {
		free(bytes);
		return false;
	}
	sandbox_allow_time(1 + THUMB_SECONDS); /* for each of them */
	jpeg_len = shrink(bytes, len, &jpeg);
	sent = sandbox_send(fd, &jpeg_len, sizeof(jpeg_len)) && sandbox_send(fd, jpeg, jpeg_len);
	vips.free(jpeg);
	free(bytes);
	return sent;
}

int thumb_pictures_job(int fd, void *arg)
{
	bool ready = load();

	(void)arg;
	if (ready) {
		vips.block_untrusted(1);
		vips.concurrency(1);
		vips.cache(0);
		confine(&(struct confine_rights){
			.threads = true, .code = true }); /* Orc makes it */
	}
	if (!sandbox_send(fd, &(char){ ready }, 1))
		return 0;
	while (ready && serve(fd))
		;
	return 0;
}
