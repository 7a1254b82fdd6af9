/*
 * The contract between burin and its carvers. A carver parses the bytes at a header and decides
 * whether a file of its format starts there, how long it is, and what its title and date are. It
 * sees the image only through a view.
 *
 * A carver allocates nothing that it does not free, prints nothing, keeps no state between calls
 * (it runs in many threads), never loops without consuming, and stops where the view ends. Hostile
 * data gets a verdict, never a crash.
 *
 * Each carver is a file of its own: pictures/png.c defines `const struct carver png_carver`. The
 * table of all carvers is generated from the families' folders; a file without a line that starts
 * with `const struct carver` holds shared code and gets no row.
 */
#ifndef BURIN_CARVER_H
#define BURIN_CARVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum verdict {
	CARVE_REJECT,    /* no file of this format starts here; `why` has the reason and offset */
	CARVE_COMPLETE,  /* parsed from its first byte to its last, and everything checked agreed */
	CARVE_TRUNCATED, /* starts well and then becomes invalid, or the image ends: length is what
			     was validated */
	CARVE_UNVERIFIED, /* plausible, but the format does not show where it ends: length is a
			     guess */
};

/* What a carver found. All zero when check is called. */
struct finding {
	uint64_t length; /* bytes from the start; for CARVE_TRUNCATED, those validated. 0 only with
			    CARVE_REJECT */
	const char *extension; /* a static string, without the dot; NULL: the rule's */
	char title[128];       /* from the file itself: any bytes, "" for none */
	int64_t time;          /* seconds since 1970-01-01 UTC, from the file itself; 0: none */
	char why[128]; /* the reason for any verdict but CARVE_COMPLETE, for people, with the
			  offset: "chunk CRC wrong at 1234" */
};

/* The bytes from the candidate's start to its rule's max_size or to the end of the image, whichever
 * comes first. */
struct view;

/* Returns len bytes (at most VIEW_MAX_PEEK) at offset from the candidate's start, or NULL when they
 * are not all inside the view or the check's budget is spent. Unreadable bytes of the image are
 * zeros. The pointer is valid until the next call. */
const uint8_t *view_peek(struct view *view, uint64_t offset, size_t len);

/* For searches that go far, and that one candidate after another would make over the same bytes. Whether it is known that
 * none of `words` (a static string: what the search looks for) starts in [offset, offset + len): view_add_lack said
 * so, for this candidate or one before. It depends on chance, so the caller does the same in both cases, but that it
 * calls view_pass where it would have peeked at bytes. */
bool view_lacks(struct view *view, const char *words, uint64_t offset, size_t len);
/* Counts as view_peek, and reads nothing. False: as NULL. Only for bytes that the view lacks words in. */
bool view_pass(struct view *view, uint64_t offset, size_t len);
/* None of the words starts in [offset, offset + len), all of which were in what view_peek returned last. */
void view_add_lack(struct view *view, const char *words, uint64_t offset, size_t len);

/* The view's length in bytes. */
uint64_t view_size(const struct view *view);

/* Whether the view ends where the image ends: a file that continues past it is cut off, not longer
 * than its rule allows. */
int view_ends_with_image(const struct view *view);

/* Finds the first bytes of [offset, offset + len) that could not be read from the image, as if the
 * carver had peeked at all of them up to there: [*from, *to), inside [offset, offset + len). False:
 * all could be read, are past the view's end, or the check's budget is spent. That a check fails
 * over such bytes proves nothing against the file: where the format shows how to go on after them,
 * the carver does so, declares as unverified (view_unverified) what it could not check, and returns
 * the verdict that the rest deserves. burin reports a complete file with unreadable bytes as
 * unverified, and names the place. */
bool view_unreadable(
	struct view *view, uint64_t offset, uint64_t len, uint64_t *from, uint64_t *to);

/* Whether any byte could not be read in what was fetched for this check so far, which is at least what was
 * peeked at. Costs nothing, and keeps what view_peek returned valid. */
bool view_met_unreadable(struct view *view);

/* From now on, until the check ends, bytes that could not be read look like this one instead of
 * zeros: a format of text goes on after blanks, and not after zeros. */
void view_fill_unreadable(struct view *view, uint8_t byte);

/* Declares that a part of this file starts at offset as files of its format do (a member of an
 * archive, say), so that a check from there would find only the rest of this file. Offsets must not
 * decrease from call to call. burin will not check the part as a file of its own if it lies inside
 * finding->length, whatever the verdict on this file, or if this file is rejected. */
void view_part(struct view *view, uint64_t offset);

/* Declares that a file of any format is embedded in this one at offset: a picture in an audio
 * file's tag, a page in a mail. burin will not write it as a file of its own, even if this file is
 * not complete, as long as this file is written and contains it. */
void view_embedded(struct view *view, uint64_t offset);

/* As view_embedded for every offset in [from, to): records, packets or members that the carver followed, and whatever
 * starts among them is theirs, but what starts at a sector of the image: it may have overwritten a part of this file. For
 * content whose kind the format does not tell. Not for bytes up to an end that is a guess. */
void view_holds(struct view *view, uint64_t from, uint64_t to);

/* Declares that nothing in this file verifies its bytes [from, to): no checksum, no decoding, no
 * structure (a comment, padding that is not zeros, samples stored as they are). It matters for
 * complete files: burin still writes other complete files that start there. Without a call all of
 * the file counts as verified. */
void view_unverified(struct view *view, uint64_t from, uint64_t to);

/* Declares, of a file that is CARVE_UNVERIFIED, that all which its format can show agrees to its end: nothing in it could
 * ever verify its last bytes, such as samples that go on as they began. A file in pieces is put together to there like a
 * complete one, and stays unverified. */
void view_agrees(struct view *view);

/* Declares that a check over the bytes [from, to) as a whole agreed (a checksum, an exact count after
 * decoding): if they came from somewhere else, or a part of them did, it would agree once in 2^bits
 * times. A CRC-32 over them, or over what they decode to: 32. It does not matter in a file in one
 * piece. It is what proves that the pieces of a file belong together: where two meet inside
 * [from, to). Bits of several calls that cover the same place are added, so no check is declared
 * twice. */
void view_proved(struct view *view, uint64_t from, uint64_t to, unsigned bits);

/* Declares that what ends [from, to) belongs to what begins it: both have a number of the file's own, say, and that of
 * the second follows the first. Bits as for view_proved. It says nothing of the bytes between, so it is only taken where
 * exactly one joint is in the range. Returns whether it is. */
bool view_linked(struct view *view, uint64_t from, uint64_t to, unsigned bits);

/* Whether the caller wants proof rather than speed: the carver checks all that the format lets it
 * check, also where one look is enough for a file in one piece. Never in a scan. */
bool view_thorough(const struct view *view);

/* Whether the check is one of many of layouts of the same file, nearly all of which are wrong: the carver returns with the
 * first thing that it finds to be wrong, and guesses nothing of how far the data seems to go on. Never in a
 * scan. */
bool view_is_trial(const struct view *view);

/* Counts work beyond the bytes that are peeked: a unit is about as much work as looking at a few
 * bytes, such as producing one when decompressing. False: the check's budget is spent, or the run
 * is being cancelled; the carver returns soon, with whatever verdict. view_peek then returns NULL,
 * too. */
bool view_work(struct view *view, uint64_t units);

/* Declares that memory could not be allocated. The carver returns soon, with whatever verdict: the
 * run ends with an error instead of a wrong result. */
void view_no_memory(struct view *view);

/* Waits until all checks of the process together have no more than 1 GiB reserved, this one's bytes
 * included; a check that wants more than that gets it once it is the only one. For decoders with
 * large windows: called before the memory is allocated, and again only when what was reserved
 * before is free again, for it counts no longer. The check's end gives it back. False: the check is
 * to end, as with view_work. */
bool view_reserve(struct view *view, uint64_t bytes);

/* The most bytes that one view_peek returns. */
#define VIEW_MAX_PEEK ((size_t)65536)

/* Where a check was in the middle of a file, so that it can go on from there with other bytes than
 * those that followed: data without pointers that only the carver understands. */
struct carve_state {
	uint64_t offset; /* the bytes before it count as seen */
	size_t len;      /* at most CARVE_STATE_MAX */
	const void *data;
};

#define CARVE_STATE_MAX ((size_t)16384)

/* Whether states are kept: only where a file in pieces is put together. Then a carver with a resume
 * function saves its state every kilobyte or so. */
bool view_wants_states(const struct view *view);
/* Offsets must not decrease from call to call. The data is copied. */
void view_save(struct view *view, const struct carve_state *state);
/* For a resume function that needs more than the state has: the check is made from the beginning, and what this
 * function returns is ignored. */
void view_start_over(struct view *view);

struct carve_coded; /* carvers/coded.h */

/* Codes of which any bits are some symbols, and how they go on where a file may break off: asked of many clusters,
 * of which other files have most. */
struct carve_codes {
	/* Keeps what is needed for that where the view ends. state: as for resume, or NULL. NULL: the view does not end in codes, or too
	 * little is known of what is usual in them. */
	void *(*begin)(struct view *view, const struct carve_state *state);
	/* Whether len bytes, CARVE_CODES_LEN at most, likely go on with them: the bits that speak for it, or 0. *work: the units of
	 * work (view_work) that this took. Several threads may ask. */
	unsigned (*ask)(const void *broken, const uint8_t *bytes, size_t len, uint64_t *work);
	void (*end)(void *broken);
	/* A check that is no trial goes on where the codes look like another file's, as long as they are valid, or to where
	 * they look so once more: that is how far it looks. States there take what is before for the file's own. */
	bool goes_on;
};

#define CARVE_CODES_LEN ((size_t)1024)

/* Bytes that are at a place in a file because a table in that file says so: the header and the name
 * of a member that an archive's directory lists. Where the image has them, a piece of the file is. They
 * are found by a word among them that all parts of the format have. */
struct carve_anchor {
	uint64_t offset; /* of the bytes, in the file */
	uint64_t any;    /* bit n: bytes[n] may have any value; not in the word */
	uint8_t len;     /* 1 to 64 */
	uint8_t word;    /* of the map's words */
	uint8_t word_at; /* where it is in bytes */
	uint8_t bytes[64];
};

/* A table that was read, and what it says. */
struct carve_table {
	uint64_t at;     /* of a tail: where its word is in the file; 0: not known. A head may say
			  it, with the length, before the tail is read */
	uint64_t from;   /* the bytes [from, at) of the file are those before the word */
	uint64_t length; /* of the file; 0: not known */
	/* What an anchor is given to, in any order. False: no more of them are wanted. */
	bool (*add)(struct carve_table *table, const struct carve_anchor *anchor);
};

#define CARVE_NEXT 8

/* A CRC-32 over bytes as they are in the file, which those in the view do not have, though it has what is
 * before them: a piece of the file ends among them. */
struct carve_sum {
	uint64_t from, to; /* the bytes; equal: the file goes on elsewhere from there */
	uint32_t before;   /* the register before them, */
	uint32_t after;    /* and after them */
	uint64_t
		stored; /* or where the file has it, inverted and big-endian, after them; 0: in after */
	unsigned next_count;
	struct carve_anchor
		next[CARVE_NEXT]; /* one of these follows; none: the bytes end the file, or what
	                                         follows is not known */
	/* Bytes after that with a sum of their own, from 0 to this, which likely are in the piece in which those end; equal: not
	 * known. Only sums of words. */
	uint64_t later_from, later_to;
	uint32_t later;
};

/* Content that a file stores as it is and nothing verifies: samples, or rows of pixels. */
struct carve_stored {
	uint64_t from, to;            /* it is in these bytes of the file */
	uint64_t length;              /* of the file */
	uint32_t row_len;             /* bytes of a row of pixels; 0: samples */
	uint8_t sample_len;           /* bytes of a sample; of pixels: 1 */
	uint8_t channels;             /* samples of a frame; of pixels: bytes of one, at least 1 */
	bool big_endian, is_unsigned; /* samples; unsigned ones have one byte */
};

#define CARVE_WORDS 6

/* What tables in files of a format say of the places of their parts: with it a file in pieces is put
 * together without a search. */
struct carve_map {
	/* What anchors have in them, rare elsewhere; 2 to 8 bytes. len 0: no more words. */
	struct carve_word {
		uint8_t len;
		bool tail; /* a table, or where one is, ends with it */
		const char *bytes;
		/* Where four bytes begin, counted from the word's start, in which most of its places in an image
		 * differ; 0: after the word. */
		uint8_t key_at;
	} words[CARVE_WORDS];
	/* Other files of the format have the same anchors, or nothing verifies what is between them: they
	 * show no more than where a piece may be. */
	bool common;
	/* NULL, or reads the tables at the start of a file, of which an unknown number of bytes follow
	 * one another in the view. False: there are none. */
	bool (*head)(struct view *view, struct carve_table *table);
	/* NULL, or reads the table whose word is at `at` in the view, which is of the image and has an
	 * unknown number of the file's bytes around it. The work is bounded by what it looks at, as
	 * that of a check. False: it is not a table. */
	bool (*tail)(struct view *view, uint64_t at, struct carve_table *table);
	/* NULL, or finds the first CRC in the file that shows where the view has no more of its bytes; with a tail: of bytes from
	 * sum->from on. False: there is none. */
	bool (*sum)(struct view *view, struct carve_sum *sum);
	/* NULL, or whether what is around an anchor that was found, at `at` in a view of the image, can be the part
	 * of a table that has it: for anchors of few bytes. */
	bool (*fits)(struct view *view, uint64_t at, const struct carve_anchor *anchor);
	bool highest_first; /* the order of a byte's bits in its CRCs: as in Ogg; else as in zlib */
	bool sums_words; /* what `sum` finds are no CRCs, but sums of big-endian words; each begins at a multiple of 4 */
};

/* What a page shows of another one: if it came from somewhere else, it would agree once in 2^(bits / 16) times. */
struct carve_page_link {
	uint32_t page, other; /* counted from 0 */
	unsigned bits;        /* 16ths of a bit */
	unsigned first_bits;  /* more, if the page before comes from somewhere else */
	unsigned way;         /* 0 or 1: what is shown in both ways may be the same */
};

/* What a page elsewhere has to do with a file. */
enum carve_kin {
	CARVE_NO_KIN,
	CARVE_COPY,    /* the same page */
	CARVE_VERSION, /* it has content of the file, but is none of its pages: of another version */
};

/* Files of pages that refer to each other, of which nothing else proves that their pieces belong together. */
struct carve_pages {
	/* Reads a file that the check finds complete. *page_len: a power of two; *count: of its pages, of which the last one may
	 * be longer than the view: as if zeros followed. NULL: nothing is known of its pages. */
	void *(*begin)(struct view *view, uint32_t *page_len, uint32_t *count);
	/* Gives all links to `add`. */
	void (*links)(const void *pages,
		void (*add)(void *context, const struct carve_page_link *link), void *context);
	/* Whether these bytes could be the page as well, by all that others show; bytes NULL: any could. */
	bool (*may_be)(const void *pages, uint32_t page, const uint8_t *bytes);
	/* The 16ths of a bit that link the page's first bytes to those in [from, to). */
	unsigned (*inner_bits)(
		const void *pages, const uint8_t *bytes, uint32_t page, uint32_t from, uint32_t to);
	enum carve_kin (*kin)(const void *pages, const uint8_t *bytes);
	void (*end)(void *pages);
};

/* Files whose tables show what kind of bytes is at each place, where they do not say which: with that the clusters of a file are
 * found in any order. */
struct carve_places {
	/* Reads the tables of a file as it may be laid out, in which much is another's: *length: bytes that the file has at least, as
	 * far as is known, all of them once *is_whole; *known: another number if more or something else is known. NULL: nothing is. */
	void *(*begin)(struct view *view, uint64_t *length, bool *is_whole, uint64_t *known);
	/* By how many eighths of a bit these bytes rather are the file's than others', at each of `count` offsets from `from` on, len apart: `from` and
	 * len, at most VIEW_MAX_PEEK, are multiples of 512. Several threads may ask. */
	void (*ask)(const void *places, uint64_t from, size_t count, const uint8_t *bytes,
		size_t len, int *bits);
	void (*end)(void *places);
};

struct carver {
	const char *name;    /* as in the rules: "png" */
	const char *summary; /* a line for `burin list carvers` */
	enum verdict (*check)(struct view *view, struct finding *finding);
	/* For formats with short headers, nearly all of which are false: the check is tried on the
	 * first 4 KiB first, in the thread that scans. Rejecting one takes it a few comparisons. */
	bool quick;
	/* NULL, or the check of a file that starts with the same state->offset bytes as one whose
	 * check saved the state. The same result as check's, but most of those bytes are not looked
	 * at again, nor doubted (struct carve_codes). */
	enum verdict (*resume)(
		struct view *view, const struct carve_state *state, struct finding *finding);
	/* NULL, or describes the coded data in which the view ends: where a file may break off. state: as
	 * for resume, or NULL. False: the view does not end in such data. */
	bool (*coded)(
		struct view *view, const struct carve_state *state, struct carve_coded *coded);
	/* NULL, or for content of which nothing verifies that it belongs together: looks at what is
	 * on both sides of offset `at` of a file, whatever its status; of what follows it before `end`, where the next
	 * joint is, or UINT64_MAX. Returns bits: pieces that do not belong together fit as well once in 2^bits times. 0: they
	 * do not fit well, or there is nothing to compare. */
	unsigned (*joint)(struct view *view, uint64_t at, uint64_t end);
	const struct carve_map *map;     /* NULL: no table gives places */
	const struct carve_codes *codes; /* NULL: it is not known how they go on */
	/* NULL, or describes content that is stored as it is, by the file's beginning, of which an unknown
	 * number of bytes follow one another in the view. False: there is none. */
	bool (*stored)(struct view *view, struct carve_stored *stored);
	const struct carve_pages *pages;   /* NULL: they are not pages, or nothing links them */
	const struct carve_places *places; /* NULL: no tables show what is where */
	/* What is wrong after a joint is noticed there or never, as another file's data goes on as it does itself: for how long
	 * all is accepted shows nothing. */
	bool lasts;
	/* A piece from the middle of a file may begin like a file, as a stream does with each pack: that one was found at a cluster
	 * does not show that no file goes on there. */
	bool restarts;
	/* It has characters, and accepts nearly any other text where a piece of it ends: its words show what is its own. */
	bool is_text;
};

/* Formats finding->why like printf (cut when too long) and returns verdict:
 * `return verdict_because(CARVE_REJECT, finding, "...")`. */
enum verdict verdict_because(enum verdict verdict, struct finding *finding, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The generated table, ended by NULL, in order of name. */
extern const struct carver *const carvers[];
const struct carver *carver_find(const char *name);

/* The version of this contract, which carvers that were built elsewhere name (plugin.h): another number
 * after every change here that they would notice. */
#define CARVER_CONTRACT 14

#endif
