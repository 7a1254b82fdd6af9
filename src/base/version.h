/* What the build sets: version.c is the only file that is compiled with VERSION and PREFIX. */
#ifndef BURIN_BASE_VERSION_H
#define BURIN_BASE_VERSION_H

/* The release, such as "0.1.0". */
extern const char burin_version[];

/* The commit that the sources were at, "-dirty" after it where they had changed since; "" where the
 * sources were no clone. */
extern const char burin_commit[];
/* What it was built with: "libconfig 1.5, libewf 20140813, ...". */
extern const char burin_libraries[];

/* The default rule set where `make install` puts it: PREFIX/share/burin/burin.conf. */
extern const char burin_installed_rules[];

#endif
