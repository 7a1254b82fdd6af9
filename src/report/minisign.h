/* Signatures as minisign writes and verifies them: Ed25519 over the BLAKE2b-512 of a message. */
#ifndef BURIN_REPORT_MINISIGN_H
#define BURIN_REPORT_MINISIGN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/strbuf.h"

#define MINISIGN_ID_LEN 17 /* of a key, in hex, with the zero */

/* Signs with a private key (PEM without a password, Ed25519). comment: one line, which is signed, too.
 * Appends the texts of a signature file and of the public key's. Errors (EXIT_USAGE) are about the key. */
int minisign_sign(const char *key_path, const void *message, size_t len, const char *comment,
	struct strbuf *signature, struct strbuf *public_key, char key_id[MINISIGN_ID_LEN],
	struct error *error);

/* Whether the text is a public Ed25519 key: minisign's key file, or PEM. */
bool minisign_is_public_key(const char *text);
/* Whether the text of a signature file is one of the message, and of its own comment, by the public key,
 * and names its id where the key has one (PEM has none). Either may be hostile. key_id: of the signature;
 * "" if it is not one. */
bool minisign_verify(const char *public_key, const char *signature, const void *message, size_t len,
	char key_id[MINISIGN_ID_LEN]);

#endif
