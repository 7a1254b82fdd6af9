/*
 * Criterion brings libgit2, which reads the certificates of all authorities when it starts: in the process of each test, and no test
 * calls anybody. These take the place of the functions that read them; nothing is called where libgit2 has another library for TLS.
 */

/* Libraries must find them here. */
#pragma GCC visibility push(default)

int mbedtls_x509_crt_parse_file(void *chain, const char *path);
int mbedtls_x509_crt_parse_path(void *chain, const char *path);

int mbedtls_x509_crt_parse_file(void *chain, const char *path)
{
	(void)chain;
	(void)path;
	return 0;
}

int mbedtls_x509_crt_parse_path(void *chain, const char *path)
{
	(void)chain;
	(void)path;
	return 0;
}
