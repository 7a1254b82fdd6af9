/* What a person can say about GPUs: --gpus and --transfer. scan_options.gpu points here; NULL means
 * the defaults. */
#ifndef BURIN_GPU_OPTIONS_H
#define BURIN_GPU_OPTIONS_H

enum gpu_transfer {
	GPU_TRANSFER_AUTO,     /* B, for what is read from a disk gains nothing by A */
	GPU_TRANSFER_RESIDENT, /* A: a device buffer for every chunk in flight, as far as memory
				  goes */
	GPU_TRANSFER_STREAM,   /* B: a few device buffers, used in turn */
};

struct gpu_options {
	const char *devices; /* NULL: the first; "all"; a number of devices, "2"; or a list with
				commas, "0,3" or "1," */
	enum gpu_transfer transfer;
};

#endif
