/* The two formats of LZ4 files. */
#ifndef BURIN_CARVERS_ARCHIVES_LZ4_LEGACY_H
#define BURIN_CARVERS_ARCHIVES_LZ4_LEGACY_H

#include "carver.h"

#define LZ4_LEGACY_MAGIC 0x184c2102

/* The verdict on a file in the legacy format. */
enum verdict lz4_legacy_check(struct view *view, struct finding *finding);

#endif
