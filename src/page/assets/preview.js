/* The first bytes of a file, as text or in hexadecimal. They are in scripts beside the page, each for previewFiles
 * files, which are loaded when a file is looked at. */
burin.previewFiles = 256; /* as in src/page/previews.c */
burin.previews = new Map();
burin.previewParts = new Map(); /* by their numbers: promises */
burin.nonce = document.currentScript.nonce;

/* Called by the data: number of the file, whether it is text, and its bytes. */
burin.previewPart = function (rows) {
	for (const [index, text, digits] of rows)
		burin.previews.set(index, { text, bytes: Uint8Array.from(digits.match(/../g) || [], function (pair) { return parseInt(pair, 16); }) });
};

burin.loadPreviews = function (part) {
	if (!burin.previewParts.has(part))
		burin.previewParts.set(part, new Promise(function (done) {
			const script = burin.make("script", { src: "report.data/p" + String(part).padStart(8, "0") + ".js" });

			script.nonce = burin.nonce;
			script.addEventListener("load", done);
			script.addEventListener("error", done);
			document.head.append(script);
		}));
	return burin.previewParts.get(part);
};

burin.hexLines = function (bytes) {
	const lines = [];

	for (let at = 0; at < bytes.length; at += 16) {
		const line = Array.from(bytes.subarray(at, at + 16));

		lines.push(at.toString(16).padStart(4, "0") + "  " + line.map(function (byte) { return byte.toString(16).padStart(2, "0"); }).join(" ").padEnd(48) +
			" " + line.map(function (byte) { return byte > 31 && byte < 127 ? String.fromCharCode(byte) : "."; }).join(""));
	}
	return lines;
};

/* Lines stay lines; what could disguise a text is shown as such. */
burin.textLines = function (bytes) {
	let text;

	try {
		text = new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
	} catch (error) {
		text = new TextDecoder("windows-1252").decode(bytes);
	}
	return text.split(/\r\n|\r|\n/).map(function (line) { return burin.clean(line.replace(/\t/g, "    ")); });
};

burin.showPreview = function (file, index) {
	const host = burin.id("d-preview");

	host.replaceChildren();
	if (file.flags[3] !== "p")
		return;
	burin.loadPreviews(Math.floor(index / burin.previewFiles)).then(function () {
		const preview = burin.previews.get(index);

		if (!preview || burin.opened !== index)
			return;
		const { text, bytes } = preview;

		host.replaceChildren(
			burin.make("p", { class: "quiet" }, (bytes.length < file.length ? "The first " + burin.count(bytes.length) + " bytes" : "All of it") + (text ? ", as text" : "")),
			burin.make("pre"));
		host.lastChild.textContent = (text ? burin.textLines(bytes) : burin.hexLines(bytes)).join("\n");
	});
};
