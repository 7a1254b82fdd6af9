#include "report/seal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <openssl/evp.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "base/version.h"
#include "output/dirfd.h"
#include "report/folder.h"

#define DIGEST_LEN 64 /* of SHA-256, in hex */
/* Bytes of a file of the seal that is read: a manifest of some millions of files. */
#define MANIFEST_MAX ((uint64_t)512 << 20)

/* What `burin seal` writes. */
static const char *const own_names[] = { SEAL_MANIFEST, SEAL_SIGNATURE, SEAL_PUBLIC_KEY };

#define OWN_COUNT (sizeof(own_names) / sizeof(*own_names))

static bool is_of_seal(const char *path)
{
	bool own = strcmp(path, SEAL_TIME_STAMP) == 0;

	for (size_t i = 0; i < OWN_COUNT; i++)
		own |= strcmp(path, own_names[i]) == 0;
	return own;
}

static int open_folder(const char *folder, struct error *error)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd >= 0 ? fd
		       : error_set(error, EXIT_IO, errno, "cannot open the folder '%.500s': %s",
				 folder, strerror(errno));
}

/* The SHA-256 of a plain file below the folder. */
static int hash_below(int dir_fd, const char *path, struct hashes *hashes, uint64_t *bytes)
{
	int fd = dirfd_open(dir_fd, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, false), status;
	struct hasher *hasher;
	struct stat info;

	if (fd < 0)
		return fd;
	hasher = hasher_new(HASH_SHA256);
	status = fstat(fd, &info) ? -errno : S_ISREG(info.st_mode) ? 0 : -EINVAL;
	if (!status)
		status = folder_hash(fd, hasher, bytes);
	hasher_finish(hasher, hashes);
	hasher_free(hasher);
	close(fd);
	return status;
}

static void hash_text(const struct strbuf *text, struct hashes *hashes)
{
	struct hasher *hasher = hasher_new(HASH_SHA256);

	hasher_update(hasher, text->bytes, text->len);
	hasher_finish(hasher, hashes);
	hasher_free(hasher);
}

/* ---- sealing ------------------------------------------------------------------------------- */

/* As sha256sum writes it: a line that begins with a backslash has each one in its name doubled. */
static void add_line(struct strbuf *manifest, const char *digest, const char *path)
{
	if (strchr(path, '\\'))
		strbuf_text(manifest, "\\");
	strbuf_text(manifest, digest);
	strbuf_text(manifest, "  ");
	for (; *path; path++)
		strbuf_bytes(manifest, *path == '\\' ? "\\\\" : path, *path == '\\' ? 2 : 1);
	strbuf_text(manifest, "\n");
}

static void note_failure(void *context, const char *path, int errnum)
{
	error_set(context, EXIT_IO, errnum, "cannot read the folder '%.500s': %s", path,
		strerror(errnum));
}

static int add_file(int dir_fd, const char *path, struct strbuf *manifest,
	struct seal_counts *counts, struct error *error)
{
	struct hashes hashes;
	char *clean;
	int status = hash_below(dir_fd, path, &hashes, &counts->bytes);

	if (!status) {
		add_line(manifest, hashes.sha256, path);
		counts->files++;
		return 0;
	}
	clean = text_clean_copy(path);
	error_set(error, EXIT_IO, -status, "'%.500s' can't be sealed: %s", clean,
		status == -EINVAL || status == -ELOOP
			? "not a plain file, or it has control characters in its name"
			: strerror(-status));
	free(clean);
	return status;
}

static int make_manifest(
	int dir_fd, struct strbuf *manifest, struct seal_counts *counts, struct error *error)
{
	struct error unread = { 0 };
	struct names names = { 0 };
	int status = 0;

	folder_list(dir_fd, &names, note_failure, &unread);
	if (unread.code) {
		status = -EIO;
		if (error)
			*error = unread;
	}
	for (size_t i = 0; i < names.count && !status; i++)
		if (!is_of_seal(names.items[i]))
			status = add_file(dir_fd, names.items[i], manifest, counts, error);
	names_free(&names);
	return status;
}

static int write_one(int dir_fd, const char *name, const struct strbuf *text, struct error *error)
{
	int fd = dirfd_open(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL, false);
	int status = fd < 0 ? fd : file_write(fd, text->bytes, text->len);

	if (fd >= 0 && close(fd) && !status)
		status = -errno;
	if (status)
		error_set(error, EXIT_IO, -status, "cannot write %s: %s", name, strerror(-status));
	return status;
}

/* The manifest comes last: without it there is no seal. */
static int write_all(int dir_fd, const struct strbuf *manifest, const struct strbuf *signature,
	const struct strbuf *public_key, struct error *error)
{
	int status = 0;

	if (signature->len)
		status = write_one(dir_fd, SEAL_SIGNATURE, signature, error);
	if (signature->len && !status)
		status = write_one(dir_fd, SEAL_PUBLIC_KEY, public_key, error);
	if (!status)
		status = write_one(dir_fd, SEAL_MANIFEST, manifest, error);
	return status;
}

static void remove_all(int dir_fd)
{
	for (size_t i = 0; i < OWN_COUNT; i++)
		dirfd_unlink(dir_fd, own_names[i]);
}

static int check_unsealed(int dir_fd, const char *folder, struct error *error)
{
	const bool is_output = faccessat(dir_fd, "report.jsonl", F_OK, 0) == 0 ||
			       faccessat(dir_fd, "batch.json", F_OK, 0) == 0;

	for (size_t i = 0; i < OWN_COUNT; i++)
		if (faccessat(dir_fd, own_names[i], F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			return error_set(error, EXIT_USAGE, EEXIST,
				"'%.500s' is sealed already: it holds %s", folder, own_names[i]);
	return is_output ? 0
			 : error_set(error, EXIT_USAGE, EINVAL,
				   "'%.500s' is not an output folder of burin: it holds neither "
				   "report.jsonl nor batch.json",
				   folder);
}

int seal_write(
	const char *folder, const char *key_path, struct seal_counts *counts, struct error *error)
{
	struct strbuf manifest = { 0 }, signature = { 0 }, public_key = { 0 };
	char comment[96], now[TEXT_TIME_LEN] = "";
	int dir_fd = open_folder(folder, error), status;

	*counts = (struct seal_counts){ 0 };
	if (dir_fd < 0)
		return dir_fd;
	status = check_unsealed(dir_fd, folder, error);
	if (!status)
		status = make_manifest(dir_fd, &manifest, counts, error);
	text_time(time(NULL), now);
	snprintf(comment, sizeof(comment), "sealed %s with burin %s", now, burin_version);
	if (!status && key_path)
		status = minisign_sign(key_path, manifest.bytes, manifest.len, comment, &signature,
			&public_key, counts->key_id, error);
	if (!status) {
		hash_text(&manifest, &counts->manifest);
		status = write_all(dir_fd, &manifest, &signature, &public_key, error);
		if (status)
			remove_all(dir_fd);
	}
	strbuf_free(&manifest);
	strbuf_free(&signature);
	strbuf_free(&public_key);
	close(dir_fd);
	return status;
}

/* ---- verifying ----------------------------------------------------------------------------- */

struct checking {
	int dir_fd;
	void (*each)(void *context, const char *name, enum verify_state state, const char *detail);
	void *context;
	struct seal_check *check;
	struct names listed;
};

static void note_difference(
	struct checking *checking, const char *path, enum verify_state state, const char *detail)
{
	char *clean = text_clean_copy(path);

	checking->check->different++;
	checking->each(checking->context, clean, state, detail);
	free(clean);
}

/* Reads a plain file, ended by a zero. Returns 0 or a negative errno. */
static int read_text(int fd, struct strbuf *text)
{
	struct stat info;
	int status = fstat(fd, &info) ? -errno : !S_ISREG(info.st_mode) ? -EINVAL : 0;

	if (!status && (uint64_t)info.st_size > MANIFEST_MAX)
		status = -EFBIG;
	if (status)
		return status;
	strbuf_grow(text, (size_t)info.st_size + 1);
	status = file_read_all_at(fd, text->bytes, (size_t)info.st_size, 0);
	text->len = status ? 0 : (size_t)info.st_size;
	text->bytes[text->len] = '\0';
	return status;
}

static int read_below(int dir_fd, const char *name, struct strbuf *text, struct error *error)
{
	int fd = dirfd_open(dir_fd, name, O_RDONLY | O_NONBLOCK, false);
	int status = fd < 0 ? fd : read_text(fd, text);

	if (fd >= 0)
		close(fd);
	if (status && status != -ENOENT)
		error_set(error, EXIT_IO, -status, "cannot read %s: %s", name, strerror(-status));
	return status;
}

static void check_file(struct checking *checking, const char *digest, const char *path)
{
	struct hashes hashes;
	int status = hash_below(checking->dir_fd, path, &hashes, &checking->check->counts.bytes);

	names_add(&checking->listed, path);
	checking->check->counts.files++;
	if (status)
		note_difference(checking, path,
			status == -ENOENT ? VERIFY_MISSING : VERIFY_UNREADABLE,
			status == -ENOENT ? "" : strerror(-status));
	else if (strcmp(hashes.sha256, digest) != 0)
		note_difference(checking, path, VERIFY_HASH, "SHA-256 differs");
}

/* Undoes add_line. In place; the line is "" for one that sha256sum would not have written. */
static const char *unescape(char *path)
{
	char *to = path;

	for (const char *from = path; *from; from++) {
		if (*from == '\\' && *++from != '\\')
			return "";
		*to++ = *from;
	}
	*to = '\0';
	return path;
}

static int check_line(struct checking *checking, char *line, uint64_t number, struct error *error)
{
	bool escaped = *line == '\\';
	char *digest = line + escaped;
	size_t hex = strspn(digest, "0123456789abcdef");
	const char *path = "";

	if (hex == DIGEST_LEN && strncmp(digest + hex, "  ", 2) == 0) {
		digest[hex] = '\0';
		path = escaped ? unescape(digest + hex + 2) : digest + hex + 2;
	}
	if (!dirfd_path_is_plain(path))
		return error_set(error, EXIT_IO, EINVAL,
			"%s:%" PRIu64 ": not a line of a manifest (SHA-256, two blanks, path)",
			SEAL_MANIFEST, number);
	check_file(checking, digest, path);
	return 0;
}

static void note_unreadable(void *context, const char *path, int errnum)
{
	note_difference(context, path, VERIFY_UNREADABLE, strerror(errnum));
}

static void find_unlisted(struct checking *checking)
{
	struct names all = { 0 };

	names_sort(&checking->listed);
	folder_list(checking->dir_fd, &all, note_unreadable, checking);
	for (size_t i = 0; i < all.count; i++)
		if (!is_of_seal(all.items[i]) && !names_hold(&checking->listed, all.items[i]))
			note_difference(checking, all.items[i], VERIFY_UNLISTED, "");
	names_free(&all);
}

static int check_manifest(struct checking *checking, struct strbuf *manifest, struct error *error)
{
	const char *end = manifest->bytes + manifest->len;
	uint64_t number = 0;
	int status = 0;

	for (char *line = manifest->bytes, *next; line < end && !status; line = next) {
		next = line + strcspn(line, "\n");
		*next++ = '\0';
		status = check_line(checking, line, ++number, error);
	}
	if (!status)
		find_unlisted(checking);
	return status;
}

/* The public key that was given. */
static int read_key(const char *path, struct strbuf *key, struct error *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int status = fd < 0 ? -errno : read_text(fd, key);

	if (fd >= 0)
		close(fd);
	if (status)
		return error_set(error, EXIT_USAGE, -status, "cannot read the key '%.500s': %s",
			path, strerror(-status));
	return minisign_is_public_key(key->bytes)
		       ? 0
		       : error_set(error, EXIT_USAGE, EINVAL,
				 "'%.500s' is not a public Ed25519 key (minisign's, or PEM)", path);
}

static int check_signature(struct checking *checking, const struct strbuf *manifest,
	const char *key_path, struct error *error)
{
	struct strbuf signature = { 0 }, key = { 0 };
	struct seal_check *check = checking->check;
	int status = read_below(checking->dir_fd, SEAL_SIGNATURE, &signature, error);

	if (!status && key_path) {
		status = read_key(key_path, &key, error);
	} else if (!status) {
		status = read_below(checking->dir_fd, SEAL_PUBLIC_KEY, &key, error);
		if (status == -ENOENT)
			error_set(error, EXIT_IO, ENOENT,
				"%s is missing: give the key of the seal with --key",
				SEAL_PUBLIC_KEY);
	} else if (status == -ENOENT) {
		strbuf_free(&signature);
		return 0;
	}
	if (!status)
		check->signature = !minisign_verify(key.bytes, signature.bytes, manifest->bytes,
					   manifest->len, check->counts.key_id)
					   ? SEAL_INVALID
				   : key_path ? SEAL_GIVEN_KEY
					      : SEAL_OWN_KEY;
	strbuf_free(&signature);
	strbuf_free(&key);
	return status;
}

/* The imprint in a time stamp is the digest as it is, so that no parser is needed to look for it. */
static bool holds_digest(
	const struct strbuf *stamp, const struct strbuf *manifest, const EVP_MD *algorithm)
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned len = 0;

	return EVP_Digest(manifest->bytes, manifest->len, digest, &len, algorithm, NULL) == 1 &&
	       memmem(stamp->bytes, stamp->len, digest, len);
}

static int check_stamp(
	struct checking *checking, const struct strbuf *manifest, struct error *error)
{
	struct strbuf stamp = { 0 };
	int status = read_below(checking->dir_fd, SEAL_TIME_STAMP, &stamp, error);
	bool fits;

	if (!status) {
		fits = stamp.len && (holds_digest(&stamp, manifest, EVP_sha256()) ||
					    holds_digest(&stamp, manifest, EVP_sha384()) ||
					    holds_digest(&stamp, manifest, EVP_sha512()));
		checking->check->stamp = fits ? SEAL_STAMPED : SEAL_STAMPED_ELSE;
	}
	strbuf_free(&stamp);
	return status == -ENOENT ? 0 : status;
}

int seal_verify(const char *folder, const char *key_path,
	void (*each)(void *context, const char *name, enum verify_state state, const char *detail),
	void *context, struct seal_check *check, struct error *error)
{
	struct checking checking = { open_folder(folder, NULL), each, context, check, { 0 } };
	struct strbuf manifest = { 0 };
	int status;

	*check = (struct seal_check){ 0 };
	if (checking.dir_fd < 0)
		return 0;
	status = read_below(checking.dir_fd, SEAL_MANIFEST, &manifest, error);
	check->sealed = status != -ENOENT;
	if (!status) {
		hash_text(&manifest, &check->counts.manifest);
		status = check_signature(&checking, &manifest, key_path, error);
	}
	if (!status)
		status = check_stamp(&checking, &manifest, error);
	if (!status)
		status = check_manifest(&checking, &manifest, error);
	names_free(&checking.listed);
	strbuf_free(&manifest);
	close(checking.dir_fd);
	return check->sealed ? status : 0;
}
