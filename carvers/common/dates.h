/* Dates in the forms that formats store, as seconds since 1970-01-01 UTC. */
#ifndef BURIN_CARVERS_COMMON_DATES_H
#define BURIN_CARVERS_COMMON_DATES_H

#include <stdint.h>

/* A calendar date, taken as UTC; 0 when there is no such date. */
int64_t utc_seconds(int year, int month, int day, int hour, int minute, int second);

/* DOS's date (the high 16 bits) and time, which are local, taken as UTC; 0 when there is no such date. */
int64_t dos_seconds(uint32_t date);

/* A FILETIME (100 ns since 1601); 0 when it is not in 1970 to 9999. */
int64_t filetime_seconds(uint64_t filetime);

/* Seconds since 1904, as Apple counts them; 0 when they are not in 1970 to 9999. */
int64_t mac_seconds(uint64_t seconds);

#endif
