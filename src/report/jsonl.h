/* JSON, one object a line, for report.jsonl and for the events of --json. */
#ifndef BURIN_REPORT_JSONL_H
#define BURIN_REPORT_JSONL_H

#include <stdio.h>

#include "base/json_value.h"
#include "base/strbuf.h"
#include "report/record.h"

/* New and empty; these and the two below end the program when memory runs out. */
json_t *jsonl_object(void);
json_t *jsonl_array(void);

/* Add a value and take ownership of it. NULL means no memory. */
void jsonl_put(json_t *object, const char *key, json_t *value);
void jsonl_append(json_t *array, json_t *value);

/* A plain integer. JSON's integers here end at 2^63 - 1, which no offset exceeds. */
json_t *jsonl_number(uint64_t number);

/* Appends {"RECORD":"file", the fields of a file record in the schema's order}, and a line feed: as
 * text, since there may be millions. image: which of several images, the next field; NULL: there is
 * one. */
void jsonl_line_file(
	struct strbuf *line, const char *record, const char *image, const struct file_record *file);

/* Writes the object as one line and frees it. Returns 0 or -EIO. */
int jsonl_write(FILE *stream, json_t *object);

#endif
