/*
 * Models of Quake II (id Software's qfiles.h).
 *
 *	header:   'IDP2', version 8, size of a skin, bytes of a frame, numbers of skins, vertices, texture coordinates,
 *	          triangles, words of commands, frames; the places of skins, coordinates, triangles, frames, commands;
 *	          the file's length (4 each, little-endian)
 *	skin:     a file's name, 64 bytes
 *	triangle: three vertices, three coordinates (2 each)
 *	frame:    scale and origin (24), name (16), vertices: x, y, z, one of 162 normals (1 each)
 *	command:  a number of vertices, negative for fans (4), for each its coordinates (8) and its number (4); 0 ends them
 *
 * The parts are in a row, and fill the file. Numbers of vertices, coordinates and normals are checked; the part that
 * comes last, mostly the commands, which lead to their end, proves the file's end.
 */
#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "carver.h"
#include "walk.h"

#define HEAD_LEN 68
#define VERTICES_MAX 65536
#define COUNT_MAX (1u << 20)
#define NORMALS 162
#define FRAME_HEAD_LEN 40
#define VERTEX_LEN 4
#define TRIANGLE_LEN 12
#define COMMAND_LEN 12

struct md2 {
	struct view *view;
	uint32_t skins, vertices, coordinates, triangles, commands, frames, frame_len;
	uint64_t skins_at, coordinates_at, triangles_at, frames_at, commands_at, end;
};

static bool read_header(struct md2 *md2)
{
	const uint8_t *p = view_peek(md2->view, 0, HEAD_LEN);

	if (!p || memcmp(p, "IDP2\10\0\0", 8) != 0)
		return false;
	md2->frame_len = le32(p + 16);
	md2->skins = le32(p + 20);
	md2->vertices = le32(p + 24);
	md2->coordinates = le32(p + 28);
	md2->triangles = le32(p + 32);
	md2->commands = le32(p + 36);
	md2->frames = le32(p + 40);
	md2->skins_at = le32(p + 44);
	md2->coordinates_at = le32(p + 48);
	md2->triangles_at = le32(p + 52);
	md2->frames_at = le32(p + 56);
	md2->commands_at = le32(p + 60);
	md2->end = le32(p + 64);
	return md2->vertices && md2->vertices <= VERTICES_MAX && md2->triangles && md2->frames &&
	       md2->frames <= COUNT_MAX && md2->triangles <= COUNT_MAX && md2->skins <= COUNT_MAX &&
	       md2->coordinates <= VERTICES_MAX && md2->commands <= COUNT_MAX &&
	       md2->frame_len == FRAME_HEAD_LEN + md2->vertices * VERTEX_LEN;
}

/* Whether [at, at + len) is after the header and inside the length. */
static bool fits(const struct md2 *md2, uint64_t at, uint64_t len)
{
	return !len || (at >= HEAD_LEN && at <= md2->end && len <= md2->end - at);
}

static uint64_t max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Whether the parts are inside the length, and one of them ends there. */
static bool parts_fit(const struct md2 *md2)
{
	uint64_t skins_len = UINT64_C(64) * md2->skins,
		 coordinates_len = UINT64_C(4) * md2->coordinates;
	uint64_t triangles_len = (uint64_t)TRIANGLE_LEN * md2->triangles;
	uint64_t frames_len = (uint64_t)md2->frame_len * md2->frames,
		 commands_len = UINT64_C(4) * md2->commands;
	uint64_t last = max(md2->frames_at + frames_len, md2->triangles_at + triangles_len);

	last = max(
		last, max(md2->coordinates_at + coordinates_len, md2->commands_at + commands_len));
	return fits(md2, md2->skins_at, skins_len) &&
	       fits(md2, md2->coordinates_at, coordinates_len) &&
	       fits(md2, md2->triangles_at, triangles_len) &&
	       fits(md2, md2->frames_at, frames_len) && fits(md2, md2->commands_at, commands_len) &&
	       last == md2->end;
}

/* The first triangle that is not one; their end when there is none. */
static uint64_t check_triangles(const struct md2 *md2)
{
	uint64_t at = md2->triangles_at;

	for (uint32_t i = 0; i < md2->triangles; i++, at += TRIANGLE_LEN) {
		const uint8_t *p = view_peek(md2->view, at, TRIANGLE_LEN);

		if (!p)
			return at;
		for (int corner = 0; corner < 3; corner++)
			if (le16(p + 2 * corner) >= md2->vertices ||
				(md2->coordinates && le16(p + 6 + 2 * corner) >= md2->coordinates))
				return at;
	}
	return at;
}

/* The same for frames. */
static uint64_t check_frames(const struct md2 *md2)
{
	uint64_t at = md2->frames_at;

	for (uint32_t i = 0; i < md2->frames; i++) {
		const uint8_t *p = view_peek(md2->view, at, FRAME_HEAD_LEN);

		if (!p || (p[24] && (p[24] < ' ' || p[24] > '~')))
			return at;
		at += FRAME_HEAD_LEN;
		for (uint32_t left = md2->vertices * VERTEX_LEN; left;) {
			size_t len = left < 4096 ? left : 4096;

			p = view_peek(md2->view, at, len);
			if (!p)
				return at;
			for (size_t v = 0; v < len; v += VERTEX_LEN)
				if (p[v + 3] >= NORMALS)
					return at + v;
			at += len;
			left -= (uint32_t)len;
		}
	}
	return at;
}

/* The same for commands. */
static uint64_t check_commands(const struct md2 *md2)
{
	uint64_t at = md2->commands_at, end = at + UINT64_C(4) * md2->commands;

	while (at < end) {
		const uint8_t *p = view_peek(md2->view, at, 4);
		int64_t count = p ? (int32_t)le32(p) : 0;
		uint64_t next = at + 4;

		if (!p || (!count && next != end))
			return at;
		if (!count)
			return end;
		for (int64_t i = count < 0 ? -count : count; i; i--, next += COMMAND_LEN) {
			p = end - next >= COMMAND_LEN ? view_peek(md2->view, next, COMMAND_LEN)
						      : NULL;
			if (!p || le32(p + 8) >= md2->vertices)
				return p ? next : at;
		}
		at = next;
	}
	return at;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct md2 md2 = { .view = view };
	uint64_t triangles, frames, commands, stop;

	if (!read_header(&md2) || !parts_fit(&md2))
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	triangles = check_triangles(&md2);
	if (triangles < md2.triangles_at + TRIANGLE_LEN)
		return verdict_because(CARVE_REJECT, finding, "no triangle at %" PRIu64, triangles);
	frames = check_frames(&md2);
	commands = check_commands(&md2);
	stop = md2.end;
	if (commands < md2.commands_at + UINT64_C(4) * md2.commands && commands < stop)
		stop = commands;
	if (frames < md2.frames_at + (uint64_t)md2.frame_len * md2.frames && frames < stop)
		stop = frames;
	if (triangles < md2.triangles_at + (uint64_t)TRIANGLE_LEN * md2.triangles &&
		triangles < stop)
		stop = triangles;
	if (md2.end > view_size(view))
		return walk_cut(
			view, finding, md2.end, stop < view_size(view) ? stop : view_size(view));
	finding->length = stop;
	if (stop < md2.end)
		return verdict_because(
			CARVE_TRUNCATED, finding, "an impossible number at %" PRIu64, stop);
	view_unverified(view, md2.frames_at, frames);
	if (md2.commands && commands == md2.end)
		return CARVE_COMPLETE;
	return verdict_because(CARVE_UNVERIFIED, finding,
		"nothing but numbers in their ranges verifies the last bytes before %" PRIu64,
		md2.end);
}

const struct carver md2_carver = {
	.name = "md2",
	.summary = "models of Quake II, by their parts and drawing commands",
	.check = check,
};
