/* The signature that Mach-O files end with. */
#ifndef BURIN_CARVERS_PROGRAMS_MACHO_SIGNATURE_H
#define BURIN_CARVERS_PROGRAMS_MACHO_SIGNATURE_H

#include <stdbool.h>

#include "carver.h"

/* Whether [at, end) is the signature of a program whose code has code_len bytes. */
bool macho_signature_valid(struct view *view, uint64_t at, uint64_t end, uint64_t code_len);

#endif
