/*
 * LUKS, versions 1 and 2, and FileVault 2 on CoreStorage: libcryptsetup finds the volume's key, OpenSSL
 * decrypts with it. libcryptsetup reads files, so it gets a copy in memory of where the volume describes
 * itself, and would have the kernel decrypt, which takes root. (Debian 12's libluksde knows no version 2,
 * and its libfvde does not open what macOS writes.)
 */
#include "confined/served_work.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef HAVE_LIBCRYPTSETUP
#include <libcryptsetup.h>
#include <openssl/evp.h>

#include "base/endian.h"
#include "base/file.h"
#include "base/memory.h"
#include "evidence/secrets.h"

/* What is copied of the volume's start and end: the heads of LUKS, and the area of its key slots, 16 MiB
 * as cryptsetup makes it; CoreStorage's metadata. */
#define HEAD_LEN ((uint64_t)128 << 20)
#define COPY_LEN ((size_t)1 << 20)
/* The library opens the copy, again and again. */
#define COPY_PATH "/proc/self/fd/%d"
#define KEY_MAX 512
#define SECTOR_LEN 512
/* Argon2 takes up to 4 GiB, as the volume's head says. */
#define OPEN_MEMORY ((uint64_t)5 << 30)

struct crypt {
	struct served *served;
	uint64_t data_at, iv_offset, size;
	size_t sector_len;
	EVP_CIPHER_CTX *cipher, *essiv; /* essiv: NULL for plain initial values */
	bool plain32;
	uint8_t *sectors; /* for partial ones */
};

/* ---- the key ------------------------------------------------------------------------------- */

/* A file in memory, sparse, as long as the volume; -1: none. */
static int copy_ends(struct served *served)
{
	uint64_t size = served_outer_size(served);
	int fd = memfd_create("head", MFD_CLOEXEC);
	uint8_t *bytes = xmalloc(COPY_LEN);

	if (fd >= 0 && ftruncate(fd, (off_t)size)) {
		close(fd);
		fd = -1;
	}
	for (uint64_t at = 0; fd >= 0 && at < size; at += COPY_LEN) {
		size_t len;

		if (at == HEAD_LEN && size > 2 * HEAD_LEN)
			at = (size - HEAD_LEN) / COPY_LEN * COPY_LEN;
		len = size - at < COPY_LEN ? (size_t)(size - at) : COPY_LEN;

		/* What can't be read may be data. */
		if (!served_outer_read(served, at, bytes, len) && !is_all_zero(bytes, len))
			file_write_at(fd, bytes, len, at);
	}
	free(bytes);
	return fd;
}

/* The number of the secret that opens it, or -1. */
static int find_key(struct crypt_device *device, char key[KEY_MAX], size_t *key_len)
{
	const struct secret *secrets;
	size_t count;

	secrets = secrets_list(&count);
	for (size_t i = 0; i < count; i++) {
		const char *bytes = (const char *)secrets[i].bytes;

		*key_len = KEY_MAX;
		if (crypt_volume_key_get(
			    device, CRYPT_ANY_SLOT, key, key_len, bytes, secrets[i].len) >= 0)
			return (int)i;
		if (secrets[i].is_key && secrets[i].len <= KEY_MAX &&
			!crypt_volume_key_verify(device, bytes, secrets[i].len)) {
			*key_len = secrets[i].len;
			memcpy(key, bytes, *key_len);
			return (int)i;
		}
	}
	return -1;
}

static void set_how(struct served *served, struct crypt_device *device, int number)
{
	const struct secret *secrets;
	char how[256];
	size_t count;

	secrets = secrets_list(&count);
	snprintf(how, sizeof(how), "%s, %s-%s, with a %s of %s", crypt_get_type(device),
		crypt_get_cipher(device), crypt_get_cipher_mode(device),
		secrets[number].is_key ? "key" : "password", secrets[number].path);
	served_set_how(served, how);
}

/* ---- the cipher ---------------------------------------------------------------------------- */

static EVP_CIPHER_CTX *new_cipher(const char *name, size_t key_bits, const uint8_t *key)
{
	char full[64];
	EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
	const EVP_CIPHER *cipher;

	snprintf(full, sizeof(full), name, key_bits);
	cipher = EVP_get_cipherbyname(full);
	if (!cipher || EVP_CipherInit_ex(context, cipher, NULL, key, NULL, 0) != 1) {
		EVP_CIPHER_CTX_free(context);
		return NULL;
	}
	EVP_CIPHER_CTX_set_padding(context, 0);
	return context;
}

/* The initial values are sector numbers, encrypted with a hash of the key. */
static EVP_CIPHER_CTX *new_essiv(const uint8_t *key, size_t key_len)
{
	uint8_t hash[EVP_MAX_MD_SIZE];
	unsigned hash_len = 0;
	EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();

	if (EVP_Digest(key, key_len, hash, &hash_len, EVP_sha256(), NULL) != 1 ||
		EVP_EncryptInit_ex(context, EVP_aes_256_ecb(), NULL, hash, NULL) != 1) {
		EVP_CIPHER_CTX_free(context);
		return NULL;
	}
	EVP_CIPHER_CTX_set_padding(context, 0);
	return context;
}

static bool set_cipher(struct crypt *crypt, const char *cipher, const char *mode, const char *bytes,
	size_t key_len)
{
	const uint8_t *key = (const uint8_t *)bytes;

	if (strcmp(cipher, "aes"))
		return false;
	if (!strncmp(mode, "xts-plain", 9)) {
		crypt->cipher = new_cipher("aes-%zu-xts", key_len * 4, key);
	} else if (!strncmp(mode, "cbc-", 4)) {
		crypt->cipher = new_cipher("aes-%zu-cbc", key_len * 8, key);
		if (!strcmp(mode, "cbc-essiv:sha256"))
			crypt->essiv = new_essiv(key, key_len);
		else if (strncmp(mode, "cbc-plain", 9))
			return false;
	}
	crypt->plain32 = !strcmp(mode, "xts-plain") || !strcmp(mode, "cbc-plain");
	return crypt->cipher && (crypt->essiv || !strstr(mode, "essiv"));
}

static bool decrypt(struct crypt *crypt, uint64_t sector, uint8_t *bytes)
{
	uint8_t iv[16] = { 0 };
	int len = 0;

	endian_put(iv, crypt->plain32 ? (uint32_t)sector : sector, 8);
	if (crypt->essiv && (EVP_EncryptInit_ex(crypt->essiv, NULL, NULL, NULL, NULL) != 1 ||
				    EVP_EncryptUpdate(crypt->essiv, iv, &len, iv, sizeof(iv)) != 1))
		return false;
	return EVP_DecryptInit_ex(crypt->cipher, NULL, NULL, NULL, iv) == 1 &&
	       EVP_DecryptUpdate(crypt->cipher, bytes, &len, bytes, (int)crypt->sector_len) == 1 &&
	       (size_t)len == crypt->sector_len;
}

static int crypt_read_at(void *handle, uint64_t offset, void *buffer, size_t len)
{
	struct crypt *crypt = handle;
	uint64_t at = offset / crypt->sector_len * crypt->sector_len;
	uint64_t end =
		(offset + len + crypt->sector_len - 1) / crypt->sector_len * crypt->sector_len;
	size_t whole_len = (size_t)(end - at);

	if (served_outer_read(crypt->served, crypt->data_at + at, crypt->sectors, whole_len))
		return -EIO;
	for (size_t done = 0; done < whole_len; done += crypt->sector_len)
		if (!decrypt(crypt, (at + done) / SECTOR_LEN + crypt->iv_offset,
			    crypt->sectors + done))
			return -EIO;
	memcpy(buffer, crypt->sectors + (offset - at), len);
	return 0;
}

static void stay_silent(int level, const char *message, void *context)
{
	(void)level;
	(void)message;
	(void)context;
}

/* Of FileVault the library says it nowhere but in its description for people. */
static void find_size(int level, const char *message, void *context)
{
	static const char label[] = "Logical volume size:";
	const char *at = strstr(message, label);

	(void)level;
	if (at)
		*(uint64_t *)context = strtoull(at + sizeof(label) - 1, NULL, 10);
}

/* How long the data is, of which there is room for `most` bytes. */
static uint64_t data_size(struct crypt_device *device, uint64_t most)
{
	uint64_t size = 0;

	if (strcmp(crypt_get_type(device), CRYPT_FVAULT2))
		return most;
	crypt_set_log_callback(device, find_size, &size);
	crypt_dump(device);
	crypt_set_log_callback(device, stay_silent, NULL);
	return size && size < most ? size : most;
}

/* ---- opening ------------------------------------------------------------------------------- */

/* NULL: what of it burin can't decrypt, after served_refuse. */
static struct crypt *open_data(struct served *served, struct crypt_device *device)
{
	struct crypt *crypt = xcalloc(1, sizeof(*crypt));
	uint64_t outer_size = served_outer_size(served);
	struct crypt_params_integrity integrity = { 0 };
	struct crypt_params_reencrypt reencrypt;
	char key[KEY_MAX];
	size_t key_len;
	int number = find_key(device, key, &key_len);

	crypt->served = served;
	crypt->data_at = crypt_get_data_offset(device) * SECTOR_LEN;
	crypt->iv_offset = crypt_get_iv_offset(device);
	crypt->sector_len = (size_t)crypt_get_sector_size(device);
	if (number < 0)
		served_refuse(served, "no password or key that was given opens it");
	else if (!strcmp(crypt_get_type(device), CRYPT_LUKS2) &&
		 crypt_reencrypt_status(device, &reencrypt) != CRYPT_REENCRYPT_NONE)
		served_refuse(served, "it was being encrypted anew, and is in two parts");
	else if (!crypt_get_integrity_info(device, &integrity) && integrity.tag_size)
		served_refuse(served, "it has checksums between its sectors");
	else if (crypt->sector_len < SECTOR_LEN || crypt->sector_len > 4096 ||
		 crypt->data_at >= outer_size)
		served_refuse(served, "its data begins past its end");
	else if (!set_cipher(crypt, crypt_get_cipher(device), crypt_get_cipher_mode(device), key,
			 key_len))
		served_refuse(served, "it is encrypted with %s-%s, which burin does not decrypt",
			crypt_get_cipher(device), crypt_get_cipher_mode(device));
	else {
		crypt->size = data_size(device, outer_size - crypt->data_at) / crypt->sector_len *
			      crypt->sector_len;
		crypt->sectors = xmalloc(SERVED_DATA_LEN + 2 * crypt->sector_len);
		set_how(served, device, number);
		return crypt;
	}
	return NULL;
}

/* NULL: it can't be opened. */
static struct crypt_device *new_device(int fd)
{
	struct crypt_device *device = NULL;
	char path[64];

	snprintf(path, sizeof(path), COPY_PATH, fd);
	return fd >= 0 && !crypt_init(&device, path) ? device : NULL;
}

/* Loading anything makes the library open the devices of random numbers. */
static void start_library(void)
{
	int fd = memfd_create("nothing", MFD_CLOEXEC);
	struct crypt_device *device = fd >= 0 && !ftruncate(fd, SECTOR_LEN) ? new_device(fd) : NULL;

	crypt_set_log_callback(NULL, stay_silent, NULL);
	crypt_metadata_locking(NULL, 0);
	if (device)
		crypt_load(device, CRYPT_LUKS, NULL);
	crypt_free(device);
	close(fd);
}

/* What is in the volume is parsed only once this process can open nothing else. */
static struct crypt *open_type(struct served *served, const char *type)
{
	struct crypt_device *device;
	struct crypt *crypt = NULL;
	char path[64];
	int copy;

	start_library();
	copy = copy_ends(served);
	device = new_device(copy);
	snprintf(path, sizeof(path), COPY_PATH, copy);
	/* Argon2's threads end by pthread_exit, for which glibc would load this when nothing can be opened any more. */
	dlopen("libgcc_s.so.1", RTLD_NOW);
	confine(&(struct confine_rights){
		.readable = (const char *const[]){ path, NULL }, .threads = true });
	if (!device)
		served_refuse(served, "no memory for what describes it");
	else if (crypt_load(device, type, NULL))
		served_refuse(
			served, "what describes it is damaged, or of a kind that is not known");
	else
		crypt = open_data(served, device);
	if (crypt)
		served_set_size(served, crypt->size, (uint32_t)crypt->sector_len);
	return crypt;
}

static void *luks_open(struct served *served, void *arg)
{
	(void)arg;
	return open_type(served, CRYPT_LUKS);
}

static void *filevault_open(struct served *served, void *arg)
{
	(void)arg;
	return open_type(served, CRYPT_FVAULT2);
}

const struct served_kind served_luks = {
	.name = "luks",
	.memory = OPEN_MEMORY,
	.confines_itself = true,
	.open = luks_open,
	.read_at = crypt_read_at,
};

const struct served_kind served_filevault = {
	.name = "filevault",
	.memory = OPEN_MEMORY,
	.confines_itself = true,
	.open = filevault_open,
	.read_at = crypt_read_at,
};

#else
const struct served_kind served_luks = { .name = "luks" },
			 served_filevault = { .name = "filevault" };
#endif
