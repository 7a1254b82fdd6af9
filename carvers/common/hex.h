/* Hexadecimal digits. */
#ifndef BURIN_CARVERS_COMMON_HEX_H
#define BURIN_CARVERS_COMMON_HEX_H

/* The value of a byte as a digit, of either case; -1: it is not a digit. */
static inline int hex_digit(int byte)
{
	if (byte >= '0' && byte <= '9')
		return byte - '0';
	byte |= 0x20;
	return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

#endif
