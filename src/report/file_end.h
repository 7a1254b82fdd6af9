/* What a file's end, and with it its length, was determined by. */
#ifndef BURIN_REPORT_FILE_END_H
#define BURIN_REPORT_FILE_END_H

enum file_end { END_CARVER, END_LENGTH, END_FOOTER, END_NEXT, END_MAX_SIZE, END_IMAGE };

/* "carver", "length", "footer", "next", "max_size", "image" */
const char *file_end_name(enum file_end end);

#endif
