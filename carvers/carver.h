/*
 * The contract between burin and its carvers. A carver looks at the bytes that follow a header and
 * says whether a file of its format stands there, how long it is, and what it is called. It sees
 * the image through a view alone.
 *
 * A carver allocates nothing that it does not free, prints nothing, keeps no state between calls
 * (it runs in many threads), never loops without consuming, and stops where the view ends. Hostile
 * data gets a verdict, never a crash.
 *
 * A file in this folder, png.c, defines one `const struct carver png_carver`; the table of all
 * carvers is generated from the folder. A file without a line that starts with `const struct
 * carver` holds shared code and is no row.
 */
#ifndef BURIN_CARVER_H
#define BURIN_CARVER_H

#include <stddef.h>
#include <stdint.h>

enum verdict {
	CARVE_REJECT,    /* no file of this format starts here; `why` says what was wrong, at which
			    byte */
	CARVE_COMPLETE,  /* walked from its first byte to its last, and everything checked agreed */
	CARVE_TRUNCATED, /* it starts well and then stops making sense, or the image ends: length is
			    what is sound */
	CARVE_UNVERIFIED, /* plausible, but the format does not tell where it ends: length is a
			     guess */
};

/* What a carver found out. All zero when check is called. */
struct finding {
	uint64_t length; /* bytes from the start; for CARVE_TRUNCATED the offset behind the last
			    sound byte. Never 0 but for CARVE_REJECT */
	const char *extension; /* a string that lives for ever, without the dot; NULL: the rule's */
	char title[128];       /* from the file itself: any bytes, "" for none */
	int64_t time;          /* seconds since 1970-01-01 UTC, from the file itself; 0: none */
	char why[128]; /* the reason of a rejection or truncation, for people, with the offset:
			  "chunk CRC wrong at 1234" */
};

/* The bytes from the candidate's start to its rule's max_size or the end of the image, whichever is
 * nearer. */
struct view;

/* The bytes at offset (from the candidate's start), len of them (at most VIEW_MAX_PEEK), or NULL
 * when they are not all inside the view or the budget is spent. Unreadable bytes of the image are
 * zeros. The pointer is good until the next call. */
const uint8_t *view_peek(struct view *view, uint64_t offset, size_t len);

/* How far the view reaches, bytes. */
uint64_t view_size(const struct view *view);

/* True when the view ends where the image ends: what goes beyond is lost, not over-long. */
int view_ends_with_image(const struct view *view);

/* Says that at offset, not before one named earlier, a part of this file begins as files of its
 * format do, as the members of an archive may, and that a check from there would find nothing but
 * the rest of this file. It will not be checked as a file of its own, whatever the verdict on this
 * one, if it lies inside finding->length, or if this one is rejected. */
void view_part(struct view *view, uint64_t offset);

/* Says that at offset a file of any format lies in this one as a part of it: a picture in a sound
 * file's tag, the page of a mail. It will not be written as a file of its own, even if this one is
 * not complete, as long as this one is written and holds it. */
void view_embedded(struct view *view, uint64_t offset);

/* The most that one view_peek gives. */
#define VIEW_MAX_PEEK ((size_t)65536)

struct carver {
	const char *name;    /* as in the rules: "png" */
	const char *summary; /* a line for `burin list carvers` */
	enum verdict (*check)(struct view *view, struct finding *finding);
};

/* Writes finding->why like printf (cut when too long) and returns verdict: `return
 * verdict_because(CARVE_REJECT, finding, "...")`. */
enum verdict verdict_because(enum verdict verdict, struct finding *finding, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The generated table, ended by NULL, in order of name. */
extern const struct carver *const carvers[];
const struct carver *carver_find(const char *name);

#endif
