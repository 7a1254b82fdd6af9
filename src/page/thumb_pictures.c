/*
 * libvips is loaded when it is needed, not linked: it brings some eighty libraries, which burin
 * would load at each start and need on each machine. Its loaders for formats that nobody fuzzes are
 * disabled (vips_block_untrusted_set), and before the first byte of the evidence arrives, the
 * process gives up its access to all files.
 */
#include "page/thumb_jobs.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/sandbox.h"

#define LIBRARY "libvips.so.42"
#define SIZE_DOWN 2  /* VIPS_SIZE_DOWN: never enlarges */
#define SIZE_FORCE 3 /* VIPS_SIZE_FORCE: keeps no proportions */
#define GREY 1       /* VIPS_INTERPRETATION_B_W */
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
	int (*colourspace)(struct image *image, struct image **grey, int space, ...);
	void *(*write)(struct image *image, size_t *len);
	int (*text)(struct image *image, const char *name, const char **text);
	void (*error_clear)(void);
	void (*unref)(void *object);
	void (*free)(void *bytes);
} vips;

/* In the order of the struct's members. */
static bool load(void)
{
	static const char *const names[] = { "vips_init", "vips_block_untrusted_set",
		"vips_concurrency_set", "vips_cache_set_max", "vips_thumbnail_buffer",
		"vips_jpegsave_buffer", "vips_colourspace", "vips_image_write_to_memory",
		"vips_image_get_string", "vips_error_clear", "g_object_unref", "g_free" };
	void **functions[] = { (void **)&vips.init, (void **)&vips.block_untrusted,
		(void **)&vips.concurrency, (void **)&vips.cache, (void **)&vips.thumbnail,
		(void **)&vips.save, (void **)&vips.colourspace, (void **)&vips.write,
		(void **)&vips.text, (void **)&vips.error_clear, (void **)&vips.unref,
		(void **)&vips.free };
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	for (size_t i = 0; library && i < sizeof(names) / sizeof(*names); i++) {
		*functions[i] = dlsym(library, names[i]);
		if (!*functions[i])
			return false;
	}
	return library && vips.init("burin") == 0;
}

/* The difference hash: a bit for each of 8 times 8 places, whether it is brighter to the right. What is
 * scaled, compressed again or made brighter keeps nearly all of them. */
static uint64_t find_likeness(void *jpeg, size_t len)
{
	struct image *small = NULL, *grey = NULL;
	uint8_t *pixels = NULL;
	uint64_t bits = 0;
	size_t count = 0;

	if (!vips.thumbnail(jpeg, len, &small, 9, "height", 8, "size", SIZE_FORCE, (char *)NULL) &&
		!vips.colourspace(small, &grey, GREY, (char *)NULL))
		pixels = vips.write(grey, &count);
	for (size_t i = 0; pixels && count == 72 && i < 72; i++)
		if (i % 9)
			bits = bits << 1 | (pixels[i] > pixels[i - 1]);
	vips.free(pixels);
	if (grey)
		vips.unref(grey);
	if (small)
		vips.unref(small);
	return bits;
}

/* "52/1 31/1 1211/100 (...)", in millionths of a degree; -1: not so. */
static int32_t read_angle(const char *text, int degrees_max)
{
	unsigned parts[6];
	double degrees = 0, unit = 1;

	if (sscanf(text, "%9u/%9u %9u/%9u %9u/%9u", &parts[0], &parts[1], &parts[2], &parts[3],
		    &parts[4], &parts[5]) != 6)
		return -1;
	for (unsigned i = 0; i < 6; i += 2, unit *= 60) {
		if (!parts[i + 1] && parts[i])
			return -1;
		degrees += parts[i + 1] ? (double)parts[i] / parts[i + 1] / unit : 0;
	}
	return degrees <= degrees_max ? (int32_t)(degrees * 1e6 + 0.5) : -1;
}

static bool find_angle(struct image *image, const char *name, const char *side_name, char minus,
	int degrees_max, int32_t *angle)
{
	const char *text, *side;

	if (vips.text(image, name, &text) || vips.text(image, side_name, &side))
		return false;
	*angle = read_angle(text, degrees_max);
	if (*angle < 0)
		return false;
	if (*side == minus)
		*angle = -*angle;
	return true;
}

/* 0, 0 is what cameras write that do not know where they are. */
static bool find_place(struct image *image, struct thumb_facts *facts)
{
	return find_angle(image, "exif-ifd3-GPSLatitude", "exif-ifd3-GPSLatitudeRef", 'S', 90,
		       &facts->latitude) &&
	       find_angle(image, "exif-ifd3-GPSLongitude", "exif-ifd3-GPSLongitudeRef", 'W', 180,
		       &facts->longitude) &&
	       (facts->latitude || facts->longitude);
}

/* Returns the length of a JPEG, which the caller frees, or 0. */
static uint32_t shrink(void *bytes, size_t len, void **jpeg, struct thumb_facts *facts)
{
	struct image *image = NULL;
	size_t jpeg_len = 0;

	*jpeg = NULL;
	if (vips.thumbnail(bytes, len, &image, THUMB_PIXELS, "height", THUMB_PIXELS, "size",
		    SIZE_DOWN, NULL) ||
		vips.save(image, jpeg, &jpeg_len, "Q", 75, "strip", 1, NULL))
		jpeg_len = 0;
	if (jpeg_len) {
		facts->likeness = find_likeness(*jpeg, jpeg_len);
		facts->has_place = find_place(image, facts);
	}
	if (image)
		vips.unref(image);
	vips.error_clear();
	return jpeg_len <= THUMB_MAX_LEN ? (uint32_t)jpeg_len : 0;
}

/* Serves one picture. False: no more are wanted. */
static bool serve(int fd)
{
	struct thumb_facts facts = { 0 };
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
	jpeg_len = shrink(bytes, len, &jpeg, &facts);
	sent = sandbox_send(fd, &jpeg_len, sizeof(jpeg_len)) &&
	       sandbox_send(fd, &facts, sizeof(facts)) && sandbox_send(fd, jpeg, jpeg_len);
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
