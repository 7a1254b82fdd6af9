/* Files that are equal byte for byte, by their hash: one row per group. After them, pictures that look alike, and other files that are alike. */
burin.findGroups = function () {
	const groups = new Map(), rows = burin.rows;

	for (const i of burin.view) {
		if (rows.copies[i] < 2)
			continue;
		if (!groups.has(rows.hash[i]))
			groups.set(rows.hash[i], { hash: rows.hash[i], first: i, count: 0 });
		groups.get(rows.hash[i]).count++;
	}
	return Array.from(groups.values()).sort(function (a, b) {
		return b.count - a.count || rows.length[b.first] - rows.length[a.first];
	}).concat(burin.findAlikeGroups());
};

burin.findAlikeGroups = function () {
	burin.alike = burin.alike || { pictures: burin.findAlikePictures(), files: burin.findAlikeFiles() };
	return ["pictures", "files"].flatMap(function (what) {
		return burin.alike[what].map(function (files) {
			return files.filter(function (i) { return burin.shown[i]; });
		}).filter(function (files) { return files.length > 1; }).map(function (files) {
			return { files: files, what: what, hash: "", first: files[0], count: files.length };
		}).sort(function (a, b) { return b.count - a.count; });
	});
};

burin.countAlike = function (what, sentence) {
	const count = burin.groups.filter(function (group) { return group.what === what; }).length;

	return count ? [burin.count(count) + (count === 1 ? " group of " : " groups of ") + sentence] : [];
};

burin.describeGroups = function () {
	const equal = burin.groups.filter(function (group) { return !group.files; }).length;
	const words = [];

	if (!burin.rows.hash.some(Boolean))
		words.push("The files have no hashes (a dry run, or --hash none).");
	else
		words.push(equal ? burin.count(equal) + (equal === 1 ? " file occurs" : " files occur") + " more than once." : "No two of these files are equal.");
	return words.concat(burin.countAlike("pictures", "pictures that look alike (~), though their bytes differ."),
		burin.countAlike("files", "other files that are alike (~) by ssdeep's digests, though their bytes differ."),
		burin.groups.length ? "Choose one to see its files." : []).join(" ");
};

burin.makeGroup = function () {
	return burin.make("div", { class: "row", role: "option" }, ["g-count", "c-type", "c-size", "c-path", "c-hash"].map(function (name) {
		return burin.make("span", { class: name });
	}));
};

burin.fillGroup = function (row, at) {
	const group = burin.groups[at], rows = burin.rows;
	const cells = [burin.count(group.count) + (group.files ? " ~" : " ×"), burin.types[rows.type[group.first]].name,
		burin.size(rows.length[group.first]), rows.path[group.first], group.files ? (group.what === "pictures" ? "look alike" : "are alike") : group.hash.slice(0, 16)];

	cells.forEach(function (cell, i) { row.children[i].textContent = cell; });
	row.setAttribute("aria-label", burin.count(group.count) + (group.files ? " " + group.what + " like " : " copies of ") + rows.path[group.first]);
	row.classList.toggle("odd", at % 2 === 1);
};

burin.startGroups = function () {
	const host = burin.id("p-groups"), says = burin.make("p", { class: "quiet" });
	const open = function (at) {
		const group = burin.groups[at];

		if (group.files)
			burin.showOnly(group.files);
		else
			burin.showCopies(group.hash);
		burin.openTab("table");
	};
	const list = burin.list({ host: host, rowHeight: 30, label: "Groups of equal files",
		count: function () { return burin.groups.length; }, make: burin.makeGroup, fill: burin.fillGroup, act: open });
	const refresh = function () {
		if (host.hidden)
			return;
		burin.groups = burin.findGroups();
		list.area.scrollTop = 0;
		list.refresh();
		says.textContent = burin.describeGroups();
	};

	host.append(says, list.area);
	burin.groups = [];
	burin.lists.groups = { refresh: refresh };
	list.area.addEventListener("click", function (event) {
		const row = event.target.closest(".row");

		if (row)
			open(+row.dataset.index);
	});
	burin.on("view", refresh);
};
