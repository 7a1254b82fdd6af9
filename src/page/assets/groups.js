/* Files that are equal byte for byte, by their hash: one row per group. */
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
	});
};

burin.makeGroup = function () {
	return burin.make("div", { class: "row", role: "option" }, ["g-count", "c-type", "c-size", "c-path", "c-hash"].map(function (name) {
		return burin.make("span", { class: name });
	}));
};

burin.fillGroup = function (row, at) {
	const group = burin.groups[at], rows = burin.rows;
	const cells = [burin.count(group.count) + " ×", burin.types[rows.type[group.first]].name,
		burin.size(rows.length[group.first]), rows.path[group.first], group.hash.slice(0, 16)];

	cells.forEach(function (cell, i) { row.children[i].textContent = cell; });
	row.setAttribute("aria-label", burin.count(group.count) + " copies of " + rows.path[group.first]);
	row.classList.toggle("odd", at % 2 === 1);
};

burin.startGroups = function () {
	const host = burin.id("p-groups"), says = burin.make("p", { class: "quiet" });
	const open = function (at) {
		burin.showCopies(burin.groups[at].hash);
		burin.openTab("table");
	};
	let list;

	host.append(says);
	list = burin.list({ host: host, rowHeight: 30, label: "Groups of equal files",
		count: function () { return burin.groups.length; }, make: burin.makeGroup, fill: burin.fillGroup, act: open });
	burin.groups = [];
	burin.lists.groups = list;
	list.area.addEventListener("click", function (event) {
		const row = event.target.closest(".row");

		if (row)
			open(+row.dataset.index);
	});
	burin.on("view", function () {
		burin.groups = burin.findGroups();
		list.area.scrollTop = 0;
		list.refresh();
		says.textContent = !burin.rows.hash.some(Boolean) ? "The files have no hashes (a dry run, or --hash none)."
			: burin.groups.length ? burin.count(burin.groups.length) + (burin.groups.length === 1 ? " file occurs" : " files occur") +
				" more than once. Choose one to see its copies."
			: "No two of these files are equal.";
	});
};
