/* What the blocks of the image hold, whether anything was carved there or not: two layers of the
 * map, when the run has written a content map (map.bin). */
burin.digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

burin.contentClasses = [["not searched", "#bfc5cc"], ["unreadable", "#b3261e"], ["zeros", "#76808b"],
	["text", "#2e9e6b"], ["compressed or encrypted", "#c9518f"], ["program code", "#3b7dd8"], ["other", "#e08a1e"]];
burin.entropyClasses = ["#313695", "#4575b4", "#74add1", "#a6d3c8", "#e3d97b", "#fdae61", "#f46d43", "#d73027"]
	.map(function (colour, bits) { return [bits + " to " + (bits + 1) + " bits a byte", colour]; });

/* Called by the data: for each block, a character for the class and one for the entropy. */
burin.content = function (block, text) {
	burin.blocks = { len: block, text: text, count: text.length / 2 };
	burin.layers.content = { label: "content", classes: function () { return burin.contentClasses; },
		fill: function (sums) { burin.fillContent(sums, burin.classOf); } };
	burin.layers.entropy = { label: "entropy", classes: function () { return burin.entropyClasses; },
		fill: function (sums) { burin.fillContent(sums, burin.bitsOf); } };
};

burin.classOf = function (at) {
	return burin.digits.indexOf(burin.blocks.text[2 * at]);
};

/* Whole bits, 0 to 7. */
burin.bitsOf = function (at) {
	return burin.digits.indexOf(burin.blocks.text[2 * at + 1]) >> 3;
};

burin.fillContent = function (sums, of) {
	const blocks = burin.blocks, map = burin.map;
	const last = Math.min(blocks.count, Math.ceil(map.end / blocks.len));

	for (let at = Math.floor(map.start / blocks.len); at < last; at++)
		burin.addRange(sums, of(at), at * blocks.len, (at + 1) * blocks.len);
};

/* Describes the block in which a range begins. */
burin.describeContent = function (range) {
	const at = burin.blocks ? Math.floor(range[0] / burin.blocks.len) : 0;

	return burin.blocks && at < burin.blocks.count
		? "holds " + burin.contentClasses[burin.classOf(at)][0].replace(/^other$/, "other data") +
			", entropy " + burin.entropyClasses[burin.bitsOf(at)][0] : "";
};
