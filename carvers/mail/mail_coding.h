/* Whether the lines of a mail's parts are in the encoding that the part's header declares. */
#ifndef BURIN_CARVERS_MAIL_MAIL_CODING_H
#define BURIN_CARVERS_MAIL_MAIL_CODING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base64_lines.h"
#include "lines.h"

enum mail_encoding { ENCODING_OTHER, ENCODING_BASE64, ENCODING_QUOTED };

struct mail_coding {
	enum mail_encoding encoding; /* of the part */
	bool in_header;              /* of a part */
	struct base64_lines lines;
	bool is_wrong;     /* a line is not in the encoding... */
	uint64_t wrong_at; /* ...from this offset on; the first one */
	uint64_t break_at; /* where a sector begins in which it breaks off; 0: none */
};

/* The encoding that a field of a header declares; false: it is another field. `field` ends with 0. */
bool mail_coding_read(struct mail_coding *coding, const char *field);

/* Notes a line of the body, in order, with those of the parts' headers. */
void mail_coding_add(struct mail_coding *coding, const struct line *line);

#endif
