/* What was selected, or else all that is shown, as files to hand over. */
burin.chosen = function () {
	const chosen = [];

	if (!burin.pickedCount)
		return Array.from(burin.view);
	for (let i = 0; i < burin.rows.count; i++)
		if (burin.picked[i])
			chosen.push(i);
	return chosen;
};

/* Spreadsheets take text that begins so for a formula. */
burin.csvCell = function (value) {
	const text = String(value === null || value === undefined ? "" : value);

	return "\"" + (/^[=+\-@\t\r]/.test(text) ? "'" : "") + text.replace(/"/g, "\"\"") + "\"";
};

burin.csvFields = ["path", "type", "kind", "extension", "offset", "length", "status", "end", "reason", "unreadable",
	"allocated", "fs_path", "title", "md5", "sha1", "sha256", "known", "alert"];

burin.makeCsv = function (chosen) {
	const lines = [burin.csvFields.concat("date", "inode", "fs_offset", "fs_modified", "fs_flags").join(",")];

	for (const index of chosen) {
		const file = burin.file(index);

		lines.push(burin.csvFields.map(function (name) { return burin.csvCell(file[name]); })
			.concat(burin.csvCell(file.time === null ? "" : burin.time(file.time)),
				file.fs ? [file.fs.inode, file.fs.offset, file.fs.modified, file.fs.flags.join(" ")].map(burin.csvCell)
					: ["", "", "", ""]).join(","));
	}
	return lines.join("\r\n") + "\r\n";
};

/* A file's record as the report has it; burin extract reads it. */
burin.makeRecord = function (index) {
	const file = burin.file(index), hashes = {}, record = { record: "file" };

	for (const name of ["path", "type", "kind", "rule", "offset", "length", "extension", "status", "end", "reason", "runs"])
		record[name] = file[name];
	if (file.assembly)
		record.assembly = file.assembly;
	for (const name of ["md5", "sha1", "sha256"])
		if (file[name])
			hashes[name] = file[name];
	record.hashes = hashes;
	record.unreadable = file.unreadable;
	for (const name of ["allocated", "fs_path", "known", "alert"])
		if (file[name])
			record[name] = file[name];
	if (file.fs)
		record.fs = file.fs;
	record.title = file.title;
	record.time = file.time === null ? null : new Date(file.time * 1000).toISOString().slice(0, 19) + "Z";
	record.chop = file.chop;
	record.written = file.written;
	return JSON.stringify(record);
};

burin.makeReport = function (chosen) {
	return [burin.runText].concat(chosen.map(burin.makeRecord)).join("\n") + "\n";
};

burin.makeHashes = function (chosen) {
	const hashes = new Set(chosen.map(function (i) { return burin.rows.hash[i]; }).filter(Boolean));

	return Array.from(hashes).sort().map(function (hash) { return hash + "\n"; }).join("");
};

burin.save = function (name, type, text) {
	const link = burin.make("a", { download: name });

	link.href = URL.createObjectURL(new Blob([text], { type: type }));
	link.click();
	setTimeout(function () { URL.revokeObjectURL(link.href); }, 60000);
};

burin.startExport = function () {
	burin.id("save-csv").addEventListener("click", function () {
		burin.save("files.csv", "text/csv", burin.makeCsv(burin.chosen()));
	});
	burin.id("save-report").addEventListener("click", function () {
		burin.save("report.jsonl", "application/x-ndjson", burin.makeReport(burin.chosen()));
	});
	burin.id("save-hashes").addEventListener("click", function () {
		burin.save("hashes.txt", "text/plain", burin.makeHashes(burin.chosen()));
	});
};
