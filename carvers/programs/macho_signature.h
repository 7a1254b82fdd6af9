/* The signature that Mach-O files end with. */
#ifndef BURIN_CARVERS_PROGRAMS_MACHO_SIGNATURE_H
#define BURIN_CARVERS_PROGRAMS_MACHO_SIGNATURE_H

#include <stdbool.h>

#include "carver.h"

/* xnu's cs_blobs.h: what the signature begins with, and a directory of hashes in it; parts of a signature, at most. */
#define MACHO_SIGNATURE 0xfade0cc0
#define MACHO_CODE_DIRECTORY 0xfade0c02
#define MACHO_BLOBS_MAX 64

/* Whether [at, end) is the signature of a program whose code has code_len bytes. */
bool macho_signature_valid(struct view *view, uint64_t at, uint64_t end, uint64_t code_len);

#endif
