/*
 * Content of a compound file by which other versions of it, and copies, are known wherever they are in an image.
 */
#ifndef BURIN_CARVERS_DOCUMENTS_OLE_KIN_H
#define BURIN_CARVERS_DOCUMENTS_OLE_KIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct view;
struct ole_kin;

/* Of a file with `count` pages of 512 bytes. NULL: there is no memory (view_no_memory). */
struct ole_kin *ole_kin_new(struct view *view, uint32_t count);
/* NULL is fine. */
void ole_kin_free(struct ole_kin *kin);

/* Notes the words of four bytes, of which the first begins `at` bytes into the page: few files have them there. */
void ole_kin_add_words(
	struct ole_kin *kin, uint32_t page, uint32_t at, const uint8_t *bytes, size_t len);
/* Notes text, which versions have elsewhere in a page. The first bytes are in that page. */
void ole_kin_add_text(struct ole_kin *kin, uint32_t page, const uint8_t *bytes, size_t len);
/* When the file was created, a message sent, and the like: versions have it in common. A few such times are kept. */
void ole_kin_add_time(struct ole_kin *kin, uint64_t time);

/* Once all was noted. False: that is too little to know a version by. */
bool ole_kin_close(struct ole_kin *kin);

/* Whether the 512 bytes have content of the file; then *page: one of its pages with it, or UINT32_MAX. */
bool ole_kin_has(const struct ole_kin *kin, const uint8_t *bytes, uint32_t *page);

#endif
