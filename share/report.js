// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The page of "t410trace report --html": plots, the selected row, tables that sort and filter.
// Bytes per nanosecond are GB/s. All texts go into the page as texts, never as HTML.
"use strict";
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
// Of workloads and devices. Reads and writes have others, which the data says.
const PALETTE = ["#f28e2b", "#59a14f", "#b07aa1", "#76b7b2", "#d4a72c", "#9c755f", "#2ca2a2",
	"#c05020", "#8cb83f", "#c98bb9", "#3f8f3f", "#b5895b", "#5f9ea0", "#d98880", "#7a8f3a",
	"#a3a86b"];
const REST = "#9aa8b5";
const SOCKETS = "#6b7c8c";
// Lines of one colour
const DASHES = [null, [7, 3], [2, 2], [9, 3, 2, 3]];
// Unattributed: one grey. Hatches tell reasons apart: angle, and pixels from line to line
const GREY = "#bcc2c8";
const REASONS = {
	device: ["unattributed: devices", GREY, 45, 6],
	remote: ["unattributed: other sockets", GREY, 135, 6],
	idle: ["unattributed: idle", GREY, 90, 6],
	other: ["unattributed: not followed", GREY, 0, 6],
	lost: ["unattributed: not recorded", "#e08a82", 45, 3],
	background: ["unattributed: background", GREY, 45, 14],
};
const OWNED = ["devices, for workloads", "#5d6b78"];
// What the plots of sockets may be stacks of: of which series of rows, and what of sockets
const STACKS = {
	bytes: { series: ["read", "write", "readwrite"], label: "reads and writes",
		title: "memory bandwidth, GB/s", unit: "GB/s" },
	read: { series: ["read"], label: "reads", title: "memory reads, GB/s", unit: "GB/s" },
	write: { series: ["write"], label: "writes", title: "memory writes, GB/s", unit: "GB/s" },
	energy: { series: ["energy"], label: "power", title: "power, W", unit: "W" },
};
// Layers of a plot; workloads with less than this part of all are in "other workloads"
const MAX_LAYERS = 20;
const MIN_PART = 0.002;
const nr = data.begin_ns.length;
const plots = [];
const view = { from: null, to: null, row: null, filter: "", sort: null, stack: "bytes" };
let syncing = false;

// --- small things

function make(tag, parent, text, attributes) {
	const e = document.createElement(tag);
	if (text !== undefined)
		e.textContent = text;
	for (const [name, value] of Object.entries(attributes || {}))
		e.setAttribute(name, value);
	if (parent)
		parent.append(e);
	return e;
}

const digits = (v) => v >= 1000 ? v.toFixed(0) : v >= 100 ? v.toFixed(1) : v.toFixed(3);
const colour = (i) => PALETTE[i % PALETTE.length];

// Milliseconds of the day that is known, or since the begin
const at = (ns) => data.start_time_ms + ns / 1e6;
const xs = data.begin_ns.map(at).concat(nr ? [at(data.end_ns[nr - 1])] : []);
const DAY = 86400e3;
const toX = (ms) => new Date(ms);

// HH:MM:SS, and at midnight of longer times the date, or the days since the begin
function tick(x) {
	const ms = +x, text = new Date(ms).toISOString();
	if (ms % DAY === 0 && xs[nr] - xs[0] > DAY)
		return data.start_time_ms ? text.slice(5, 10) : ms / DAY + " d";
	return text.slice(11, ms % 1000 === 0 ? 19 : ms % 100 === 0 ? 21 : 23);
}

const clock = (ns) => new Date(at(ns)).toISOString().slice(11, 22);

function indexAt(ms) {
	let low = 0, high = nr - 1;
	while (low < high) {
		const middle = (low + high + 1) >> 1;
		if (xs[middle] <= ms)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

// --- what rows moved

// Runs of a row become [value, low, high] by point; cpu: only values
function addRuns(runs, sums, cpu) {
	const step = cpu ? 1 : 3;
	for (const run of runs || [])
		for (let k = 1, i = run[0]; k < run.length; k += step, i++) {
			sums.value[i] += run[k];
			sums.low[i] += run[k] - (cpu ? 0 : run[k + 1]);
			sums.high[i] += run[k] + (cpu ? 0 : run[k + 2]);
		}
}

function emptySums() {
	const zeros = () => new Float64Array(nr);
	return { value: zeros(), low: zeros(), high: zeros() };
}

// Of what the plots are stacks of
const runsOf = (row, socket) => STACKS[view.stack].series
	.map((series) => (row.moved[series] || {})[socket]).filter((runs) => runs);

function sumsOf(rows, socket) {
	const sums = emptySums();
	for (const row of rows)
		for (const runs of runsOf(row, socket))
			addRuns(runs, sums, false);
	return sums;
}

const total = (sums) => sums.value.reduce((a, b) => a + b, 0);

// A layer: its numbers by point divided by the time that was counted
function rates(sums, counted) {
	return (i) => counted[i] ? {
		bytes: [sums.value[i], sums.low[i], sums.high[i]],
		value: sums.value[i] / counted[i],
		low: sums.low[i] / counted[i],
		high: sums.high[i] / counted[i],
	} : null;
}

// --- plots

// A plot has layers { label, colour, at(i) } and draws them stacked, as lines or with intervals.
function values(plot) {
	const bars = (v) => v ? [v.low, v.value, v.high] : [null, null, null];
	const number = plot.bars ? bars : (v) => v ? v.value : null;
	return xs.map((x, i) =>
		[toX(x)].concat(plot.layers.map((l) => number(l.at(Math.min(i, nr - 1))))));
}

function addPlot(id, title, layers, options) {
	const box = document.getElementById(id);
	if (!box || !layers.length || !nr)
		return;
	const plot = Object.assign({ layers, box, hover: null }, options);
	box.textContent = "";
	box.classList.toggle("low", !plot.stacked);
	make("h3", box, title);
	const graph = make("div", box, undefined, { class: "graph" });
	plot.readout = make("div", box, undefined, { class: "readout" });
	plot.g = new Dygraph(graph, values(plot), {
		labels: ["time"].concat(layers.map((l, i) => i + " " + l.label)),
		colors: layers.map((l) => l.colour),
		stackedGraph: !!plot.stacked, customBars: !!plot.bars, fillGraph: !!plot.stacked,
		fillAlpha: plot.stacked ? 0.85 : 0.3, strokeWidth: plot.stacked ? 0.5 : 1.5,
		stepPlot: true, includeZero: true, legend: "never", labelsUTC: true,
		highlightCircleSize: 0, gridLineColor: "rgba(128,128,128,0.25)",
		axisLineColor: "rgba(128,128,128,0.6)",
		series: Object.fromEntries(layers.map((l, i) =>
			[i + " " + l.label, { strokePattern: DASHES[(l.dash || 0) % DASHES.length] }])),
		axes: { x: { axisLabelFormatter: tick, pixelsPerLabel: 80, axisLabelWidth: 70 },
			y: { axisLabelWidth: 52,
			axisLabelFormatter: (v) => +v.toPrecision(4) + "" } },
		dateWindow: view.from === null ? null : [+toX(view.from), +toX(view.to)],
		drawCallback: (g, first) => drawn(plot, g, first),
		clickCallback: () => {
			const row = plot.hover && plot.hover.layer && plot.hover.layer.row;
			if (row)
				select(row.key);
		},
	});
	plot.over = make("canvas", graph, undefined, { class: "over" });
	graph.addEventListener("mousemove", (e) => moved(plot, e), true);
	graph.addEventListener("mouseleave", () => hoverAll(null, null));
	plot.hatched = hatched(plot);
	plots.push(plot);
	say(plot);
	paint(plot);
}

// The layer at a height of the stack, or the nearest line
function layerAt(plot, i, y) {
	let best = null, least = Infinity, base = 0;
	for (let k = plot.layers.length - 1; k >= 0; k--) {
		const layer = plot.layers[k], v = layer.at(i);
		if (!v)
			continue;
		if (plot.stacked) {
			if (y >= base && y < base + v.value)
				return layer;
			base += v.value;
		} else if (Math.abs(v.value - y) < least) {
			least = Math.abs(v.value - y);
			best = layer;
		}
	}
	return best;
}

function moved(plot, e) {
	// While a button is down, dygraphs draws what is being chosen.
	if (e.buttons)
		return;
	e.stopPropagation();
	const [cx, cy] = plot.g.eventToDomCoords(e);
	const ms = plot.g.toDataXCoord(cx);
	if (ms < xs[0] || ms > xs[nr])
		return hoverAll(null, null);
	const i = indexAt(ms);
	hoverAll(i, plot, layerAt(plot, i, plot.g.toDataYCoord(cy)));
}

function hoverAll(i, plot, layer) {
	for (const p of plots) {
		p.hover = i === null ? null : { i, layer: p === plot ? layer : null };
		say(p);
		paint(p);
	}
}

// The band of a layer, from what lies below it in the stack; and the point below the pointer
function paint(plot) {
	if (!plot.over)
		return;
	const area = plot.g.getArea(), c = plot.over, scale = window.devicePixelRatio || 1;
	const width = c.parentNode.clientWidth, height = c.parentNode.clientHeight;
	c.width = width * scale;
	c.height = height * scale;
	c.style.width = width + "px";
	c.style.height = height + "px";
	const ctx = c.getContext("2d");
	ctx.scale(scale, scale);
	ctx.beginPath();
	ctx.rect(area.x, area.y, area.w, area.h);
	ctx.clip();
	const domX = (k) => plot.g.toDomXCoord(+toX(xs[k]));
	if (plot.hover) {
		ctx.fillStyle = "rgba(128,128,128,0.25)";
		const left = domX(plot.hover.i);
		ctx.fillRect(left, area.y, Math.max(1, domX(plot.hover.i + 1) - left), area.h);
	}
	for (const h of plot.hatched)
		hatch(plot, h, ctx, area, domX);
	if (!plot.stacked)
		return;
	for (const layer of plot.layers)
		if ((plot.hover && plot.hover.layer === layer) ||
		    (layer.row && layer.row.key === view.row))
			band(plot, layer, ctx, domX);
}

// Layers with lines over them: their ends in the stack, by point
function hatched(plot) {
	const found = [];
	plot.layers.forEach((layer, k) => {
		if (!layer.hatch)
			return;
		const below = plot.layers.slice(k + 1), ends = [];
		for (let i = 0; i < nr; i++) {
			const v = layer.at(i);
			const base = v && v.value ? below.reduce((sum, l) => sum + l.at(i).value, 0) : 0;
			ends.push(v && v.value ? [base, base + v.value] : null);
		}
		found.push({ layer, ends });
	});
	return found;
}

function hatch(plot, { layer, ends }, ctx, area, domX) {
	const [angle, gap] = layer.hatch, turn = angle * Math.PI / 180;
	const length = area.w + area.h, [x0, y0] = [area.x + area.w / 2, area.y + area.h / 2];
	ctx.save();
	ctx.beginPath();
	ends.forEach((end, i) => {
		if (!end)
			return;
		const left = domX(i), top = plot.g.toDomYCoord(end[1]);
		ctx.rect(left, top, domX(i + 1) - left, plot.g.toDomYCoord(end[0]) - top);
	});
	ctx.clip();
	ctx.beginPath();
	ctx.translate(x0, y0);
	ctx.rotate(turn);
	for (let y = -length / 2; y < length / 2; y += gap) {
		ctx.moveTo(-length / 2, y);
		ctx.lineTo(length / 2, y);
	}
	ctx.strokeStyle = "rgba(40,48,56,0.55)";
	ctx.lineWidth = 1;
	ctx.stroke();
	ctx.restore();
}

// The colour of a layer as a small square, with its lines or as a dashed one
function swatch(layer) {
	const dash = DASHES[(layer.dash || 0) % DASHES.length];
	if (dash)
		return "background:repeating-linear-gradient(90deg," + layer.colour + " 0 3px," +
			"transparent 3px " + (dash[0] > 2 ? 5 : 4) + "px)";
	if (!layer.hatch)
		return "background:" + layer.colour;
	const [angle, gap] = layer.hatch;
	return "background:repeating-linear-gradient(" + angle + "deg,rgba(40,48,56,.55) 0 1px," +
		layer.colour + " 1px " + Math.min(gap, 8) / 2 + "px)";
}

function band(plot, layer, ctx, domX) {
	const below = plot.layers.slice(plot.layers.indexOf(layer) + 1);
	for (let i = 0; i < nr; i++) {
		const v = layer.at(i);
		if (!v || !v.high)
			continue;
		const base = below.reduce((sum, l) => sum + l.at(i).value, 0);
		const x = domX(i), w = Math.max(1, domX(i + 1) - x);
		const y = (value) => plot.g.toDomYCoord(base + value);
		ctx.fillStyle = "rgba(128,128,128,0.35)";
		ctx.fillRect(x, y(v.high), w, y(v.low) - y(v.high));
		ctx.fillStyle = "rgba(0,0,0,0.9)";
		ctx.fillRect(x, y(v.value) - 1, w, 2);
		ctx.fillStyle = "rgba(255,255,255,0.9)";
		ctx.fillRect(x, y(v.low), w, 1);
		ctx.fillRect(x, y(v.high), w, 1);
	}
}

// --- what the pointer is at, in words

function sayLayer(box, plot, layer, v, here) {
	const line = make("span", box, undefined, here ? { class: "here" } : {});
	make("i", line, undefined, { class: "swatch", style: swatch(layer) });
	line.append(layer.label);
	if (!v)
		return;
	line.append(" " + digits(v.value) + " " + plot.unit);
	if (v.high !== undefined && (v.low !== v.value || v.high !== v.value))
		line.append(" (" + digits(v.low) + " – " + digits(v.high) + ")");
	if (v.bytes)
		line.dataset.bytes = v.bytes.join(" ");
}

function say(plot) {
	const box = plot.readout, h = plot.hover;
	box.textContent = "";
	if (!h) {
		for (const layer of plot.layers.slice().reverse())
			sayLayer(box, plot, layer);
		return;
	}
	const joined = data.intervals[h.i] > 1 ? ", " + data.intervals[h.i] + " intervals" : "";
	const when = clock(data.begin_ns[h.i]) + " – " + clock(data.end_ns[h.i]);
	make("b", box, when + joined + ": ", { "data-point": h.i });
	const said = plot.layers.map((layer) => ({ layer, v: layer.at(h.i) })).filter((s) => s.v);
	if (!said.length)
		box.append("nothing was counted");
	if (plot.incomplete && plot.incomplete[h.i])
		box.append("some counters have no value ");
	said.sort((a, b) => (b.layer === h.layer) - (a.layer === h.layer) || b.v.value - a.v.value);
	for (const s of said)
		if (s.v.value || s.layer === h.layer)
			sayLayer(box, plot, s.layer, s.v, s.layer === h.layer);
}

// --- one view for all plots, kept in the address

function drawn(plot, g, first) {
	paint(plot);
	if (first || syncing)
		return;
	const [from, to] = g.xAxisRange(), end = g.xAxisExtremes();
	const whole = from <= end[0] && to >= end[1];
	zoom(whole ? null : from, whole ? null : to, plot);
}

function zoom(from, to, except) {
	if (from === view.from && to === view.to)
		return;
	view.from = from;
	view.to = to;
	syncing = true;
	for (const plot of plots)
		if (plot !== except)
			plot.g.updateOptions({ dateWindow: from === null ? null :
				[+toX(from), +toX(to)] });
	syncing = false;
	keep();
}

function keep() {
	const parts = new URLSearchParams();
	if (view.from !== null)
		parts.set("t", [view.from, view.to]
			.map((ms) => ((ms - xs[0]) / 1000).toFixed(3)).join("~"));
	if (view.row)
		parts.set("row", view.row);
	if (view.filter)
		parts.set("filter", view.filter);
	if (view.sort)
		parts.set("sort", view.sort);
	if (view.stack !== "bytes")
		parts.set("stack", view.stack);
	history.replaceState(null, "", "#" + parts);
}

function restore() {
	if (!location.hash.includes("="))
		return;
	const parts = new URLSearchParams(location.hash.slice(1));
	const t = (parts.get("t") || "").split("~").map((s) => xs[0] + parseFloat(s) * 1000);
	const sort = (parts.get("sort") || "").split(".");
	filter(parts.get("filter") || "");
	stack(parts.get("stack"));
	if (t.length === 2 && t[0] < t[1])
		zoom(t[0], t[1], null);
	else
		zoom(null, null, null);
	if (sort.length === 3 && document.getElementById(sort[0]))
		sortTable(document.getElementById(sort[0]), +sort[1], sort[2] === "down");
	select(parts.get("row"));
}

// --- the selected row

function removePlots(which) {
	for (let i = plots.length - 1; i >= 0; i--)
		if (which(plots[i])) {
			plots[i].g.destroy();
			plots[i].box.textContent = "";
			plots.splice(i, 1);
		}
}

// The stacks have the selected row as a layer, however little it moved.
function restack(before, after) {
	if (before === after)
		return;
	const has = (plot, key) => plot.layers.some((l) => l.row && l.row.key === key);
	const moves = (key, s) =>
		data.rows.some((r) => r.key === key && r.leaf !== false && runsOf(r, s).length);
	data.sockets.forEach((socket, s) => {
		const plot = plots.find((p) => p.stacked && p.socket === s);
		if (!plot || !(plot.extra || (moves(after, s) && !has(plot, after))))
			return;
		removePlots((p) => p === plot);
		drawSocket(socket, s);
	});
}

function select(key) {
	if (!document.getElementById("selected"))
		return;
	const row = data.rows.find((r) => r.key === key) || null;
	const box = document.getElementById("selected");
	const before = view.row;
	view.row = row ? row.key : null;
	removePlots((p) => p.selected);
	restack(before, view.row);
	box.hidden = !row;
	for (const tr of document.querySelectorAll("#workloads tr[data-row]"))
		tr.classList.toggle("selected", !!row && data.rows[tr.dataset.row] === row);
	if (row)
		showSelected(row, box);
	for (const plot of plots)
		paint(plot);
	keep();
}

function showSelected(row, box) {
	const title = box.querySelector("h3");
	title.textContent = "Selected: " + row.name +
		(row.cgroup && row.cgroup !== row.name ? ", " + row.cgroup : "");
	make("button", title, "Close", { type: "button" })
		.addEventListener("click", () => select(null));
	const hue = colour(Math.max(0, data.rows.indexOf(row)));
	const { title: what, unit } = STACKS[view.stack];
	data.sockets.forEach((socket, s) => {
		const count = socket.kinds[view.stack];
		if (count && runsOf(row, s).length)
			addPlot("plot-selected-" + s,
				"Socket " + socket.id + ": " + what + ", with its interval",
				[{ label: row.name, colour: hue,
					at: rates(sumsOf([row], s), count.counted_ns) }],
				{ unit, bars: true, selected: true });
	});
	if (row.cpu) {
		const cpu = emptySums();
		addRuns(row.cpu, cpu, true);
		addPlot("plot-selected-cpu", "CPUs used", [{ label: row.name, colour: hue,
			at: (i) => ({ value: cpu.value[i] / (data.end_ns[i] - data.begin_ns[i]) }),
		}], { unit: "CPUs", selected: true });
	}
	detail(row);
}

// Three digits, as tables have them; others than bytes and energy as they are
const PREFIXES = { bytes: ["B", "kB", "MB", "GB", "TB", "PB", "EB"],
	nanojoules: ["nJ", "uJ", "mJ", "J", "kJ", "MJ", "GJ"] };

function amount(value, unit) {
	const names = PREFIXES[unit];
	if (!names)
		return value + " " + unit;
	let v = value, k = 0;
	for (; +v.toPrecision(3) >= 1000 && k + 1 < names.length; k++)
		v /= 1000;
	return (k ? v.toPrecision(3) : v) + " " + names[k];
}

function detail(row) {
	const box = document.getElementById("detail");
	box.textContent = "";
	const table = make("table", make("div", box, undefined, { class: "wide" }));
	const head = make("tr", make("thead", table)), body = make("tbody", table);
	for (const text of ["Counter", "Value", "Low", "High", ""])
		make("th", head, text, text && text !== "Counter" ? { class: "n" } : {});
	for (const [counter, value, low, high, separable] of row.shares) {
		const tr = make("tr", body), unit = data.units[counter];
		make("td", tr, data.counters[counter]);
		for (const v of [value, low, high])
			make("td", tr, amount(v, unit), { class: "n", title: v + " " + unit });
		make("td", tr, separable ? "" : "not separable");
	}
	nameCells(table);
	fit(table);
	for (const [probe, ns, bytes, all] of row.latencies || [])
		make("p", box, "Saw " + ns + " ns of latency " + data.latencies[probe] + ", with " +
			(all ? (100 * bytes / all).toFixed(0) : 0) + " % of its bytes.");
	if (row.tangled) {
		const find = (key) => data.rows.find((r) => r.key === key);
		const names = row.tangled.map((key) => (find(key) || { name: key }).name)
			.join(", ");
		const more = row.tangled_count - row.tangled.length;
		make("p", box, "The data cannot tell it from " + names +
			(more ? " and " + more + " more" : "") + ".");
	}
}

// --- tables

const cellValue = (cell) => parseFloat(cell.dataset.v || cell.textContent);

function sortTable(table, column, down) {
	const head = table.tHead.rows[0].cells, body = table.tBodies[0];
	if (!head[column])
		return;
	const number = head[column].classList.contains("n");
	const order = [...body.rows].map((tr) => {
		const cell = tr.cells[column], v = number ? cellValue(cell) : cell.textContent;
		return { tr, v: number && isNaN(v) ? -1 : v };
	});
	const compare = number ? (a, b) => a.v - b.v :
		(a, b) => a.v.localeCompare(b.v, "en", { numeric: true });
	order.sort((a, b) => down ? compare(b, a) : compare(a, b));
	body.append(...order.map((o) => o.tr));
	for (const th of head)
		th.removeAttribute("aria-sort");
	head[column].setAttribute("aria-sort", down ? "descending" : "ascending");
	// Out of their tree, rows need their whole names.
	for (const tr of body.querySelectorAll("tr[data-row]"))
		tr.querySelector("th span").textContent = data.rows[tr.dataset.row].name;
	table.classList.add("flat");
	view.sort = table.id + "." + column + "." + (down ? "down" : "up");
}

function sortable(table) {
	[...table.tHead.rows[0].cells].forEach((th, i) => {
		th.tabIndex = 0;
		const go = () => {
			const was = th.getAttribute("aria-sort");
			sortTable(table, i, was ? was === "ascending" : th.classList.contains("n"));
			keep();
		};
		th.addEventListener("click", go);
		th.addEventListener("keydown", (e) => e.key === "Enter" && go());
	});
}

const filterBox = make("p", null, undefined, { class: "filter" });
const filterInput = make("input", filterBox, undefined, { type: "search",
	placeholder: "Filter by name or cgroup", "aria-label": "Filter workloads" });
const filterCount = make("span", filterBox);

function filter(text) {
	if (!document.getElementById("workloads"))
		return;
	const rows = document.querySelectorAll("#workloads tbody tr");
	const wanted = text.toLowerCase();
	let shown = 0;
	for (const tr of rows) {
		const row = data.rows[tr.dataset.row];
		tr.hidden = !(row.name + " " + row.cgroup).toLowerCase().includes(wanted);
		shown += !tr.hidden;
	}
	view.filter = text;
	filterInput.value = text;
	filterCount.textContent = shown + " of " + rows.length;
}

function foldable(table) {
	const rows = [...table.tBodies[0].rows], depth = (tr) => +tr.dataset.depth;
	rows.forEach((tr, i) => {
		if (!rows[i + 1] || depth(rows[i + 1]) <= depth(tr))
			return;
		tr.cells[0].classList.add("fold");
		tr.cells[0].addEventListener("click", () => {
			if (table.classList.contains("flat"))
				return;
			const close = tr.cells[0].classList.toggle("closed");
			for (let k = i + 1; rows[k] && depth(rows[k]) > depth(tr); k++) {
				rows[k].hidden = close;
				rows[k].cells[0].classList.remove("closed");
			}
		});
	});
}

// The cell in a column, counted with those that span several
function cellAt(tr, column) {
	let first = 0;
	for (const cell of tr.cells) {
		if (column < first + cell.colSpan)
			return cell.colSpan === 1 ? cell : null;
		first += cell.colSpan;
	}
	return null;
}

// Columns in which no cell says anything or has a bar are folded; a table without rows is not there.
const NOTHING = /^(–|0|0 B|0 nJ|0\.000|0\.0%|exact|)$/;

function foldEmpty(table) {
	const rows = [...table.tBodies[0].rows].concat(table.tFoot ? [...table.tFoot.rows] : []);
	if (!table.tBodies[0].rows.length) {
		table.parentNode.hidden = true;
		return;
	}
	const cells = [...table.tHead.rows[0].cells]
		.map((th, k) => [th].concat(rows.map((tr) => cellAt(tr, k)).filter((cell) => cell)))
		.filter((column, k) => k && column[0].textContent !== "Socket" &&
			column.slice(1).every((cell) => NOTHING.test(cell.textContent) &&
				!cell.querySelector("i")))
		.flat();
	const nr_columns = cells.filter((cell) => cell.tagName === "TH").length;
	if (!nr_columns)
		return;
	const button = make("button", table.caption, "", { type: "button" });
	const show = (hidden) => {
		for (const cell of cells)
			cell.hidden = hidden;
		button.textContent = (hidden ? "show " : "hide ") + nr_columns + " empty column" +
			(nr_columns === 1 ? "" : "s");
		fit(table);
	};
	button.addEventListener("click", () => show(!cells[0].hidden));
	show(true);
}

// A table that is too wide gets closer columns, then its rows become lists.
function fit(table) {
	const box = table.parentNode;
	for (const form of ["", "close", "list"]) {
		table.classList.remove("close", "list");
		if (form)
			table.classList.add(form);
		if (box.scrollWidth <= box.clientWidth)
			break;
	}
}

function fitTables() {
	document.querySelectorAll("main .wide > table").forEach(fit);
}

function nameCells(table) {
	const heads = [...table.tHead.rows[0].cells].map((th) => th.textContent);
	for (const part of [...table.tBodies, table.tFoot])
		for (const tr of part ? part.rows : [])
			for (let k = 1; k < heads.length; k++) {
				const cell = cellAt(tr, k);
				if (cell)
					cell.dataset.of = heads[k];
			}
}

function prepareTables() {
	const workloads = document.getElementById("workloads");
	const tree = document.getElementById("cgroups");
	document.querySelectorAll("main table").forEach((table) => {
		sortable(table);
		nameCells(table);
		foldEmpty(table);
		fit(table);
	});
	window.addEventListener("resize", fitTables);
	if (!workloads)
		return;
	workloads.parentNode.before(filterBox);
	filterInput.addEventListener("input", () => { filter(filterInput.value); keep(); });
	for (const tr of workloads.querySelectorAll("tbody tr")) {
		const row = data.rows[tr.dataset.row];
		tr.tabIndex = 0;
		tr.addEventListener("click", () => select(view.row === row.key ? null : row.key));
		tr.addEventListener("keydown", (e) => e.key === "Enter" && select(row.key));
		if (row.leaf !== false)
			tr.cells[0].prepend(make("i", null, undefined, { class: "swatch",
				style: "background:" + colour(+tr.dataset.row) }));
	}
	if (tree)
		foldable(tree);
	filter("");
	fitTables();
}

// --- the plots of the page

function socketLayers(count, s) {
	const counted = count.counted_ns, layers = [];
	const any = (array) => array.some((v) => v);
	const fixed = (array) => (i) => counted[i] ?
		{ bytes: [array[i]], value: array[i] / counted[i] } : null;
	for (const [reason, [label, hue, ...lines]] of Object.entries(REASONS))
		if (any(count.unattributed[reason]))
			layers.push({ label, colour: hue, hatch: lines,
				at: fixed(count.unattributed[reason]) });
	if (any(count.owned))
		layers.push({ label: OWNED[0], colour: OWNED[1], at: fixed(count.owned) });
	const least = MIN_PART * count.value.reduce((a, b) => a + b, 0);
	const rows = data.rows.filter((row) => row.leaf !== false && runsOf(row, s).length)
		.map((row) => ({ row, sums: sumsOf([row], s) }));
	rows.sort((a, b) => total(b.sums) - total(a.sums));
	const large = rows.slice(0, MAX_LAYERS).filter((r) => total(r.sums) > least);
	const extra = rows.slice(large.length).filter((r) => r.row.key === view.row);
	const own = large.concat(extra);
	const rest = rows.filter((r) => !own.includes(r)).map((r) => r.row).concat([data.others]);
	const others = sumsOf(rest, s);
	limit(others, count);
	if (any(others.high))
		layers.push({ label: "other workloads", colour: REST, at: rates(others, counted) });
	for (const { row, sums } of own.reverse())
		layers.push({ label: row.name, row, colour: colour(data.rows.indexOf(row)),
			at: rates(sums, counted) });
	return { layers, extra: extra.length > 0 };
}

// All rows together moved what was attributed: some of them cannot have moved more.
function limit(sums, count) {
	const rest = Object.values(count.unattributed).concat([count.owned]);
	for (let i = 0; i < nr; i++) {
		const attributed = rest.reduce((left, array) => left - (array[i] || 0),
			count.value[i] || 0);
		sums.high[i] = Math.max(sums.value[i], Math.min(sums.high[i], attributed));
	}
}

function drawSocket(socket, s) {
	const { label, title, unit } = STACKS[view.stack], count = socket.kinds[view.stack];
	const box = document.getElementById("plot-socket-" + s);
	if (!count) {
		make("p", box, "Socket " + socket.id + ": no counter of " + label + " had a value.");
		return;
	}
	const { layers, extra } = socketLayers(count, s);
	addPlot(box.id, "Socket " + socket.id + ": " + title, layers,
		{ stacked: true, unit, incomplete: count.incomplete, socket: s, extra });
}

// --- what the plots of sockets are stacks of

const stackBox = make("p", null, "Stacks of ", { class: "stack", role: "radiogroup",
	"aria-label": "What plots of sockets show" });

function prepareStacks() {
	const counted = Object.keys(STACKS).filter((kind) =>
		data.sockets.some((socket) => socket.kinds[kind]));
	if (counted.length < 2)
		return;
	for (const kind of counted) {
		const label = make("label", stackBox);
		const input = make("input", label, undefined,
			{ type: "radio", name: "stack", value: kind });
		input.checked = kind === view.stack;
		label.append(STACKS[kind].label);
		input.addEventListener("change", () => { stack(kind); keep(); });
	}
	document.getElementById("plot-socket-0").before(stackBox);
}

// Another kind, for the selected row as well
function stack(wanted) {
	const input = [...stackBox.querySelectorAll("input")].find((i) => i.value === wanted);
	const kind = input ? wanted : "bytes";
	if (kind === view.stack)
		return;
	view.stack = kind;
	for (const i of stackBox.querySelectorAll("input"))
		i.checked = i.value === kind;
	removePlots((p) => p.stacked);
	data.sockets.forEach((socket, s) => {
		document.getElementById("plot-socket-" + s).textContent = "";
		drawSocket(socket, s);
	});
	select(view.row);
}

// Lines of no workload: grey, as long as dashes tell them apart
const look = (i, of) =>
	of > DASHES.length ? { colour: colour(i) } : { colour: SOCKETS, dash: i };

function busy(socket, i) {
	const used = socket.busy_ns[i] + socket.lost_ns[i], whole = used + socket.idle_ns[i];
	// Traces of other tools leave idle time out.
	const all = socket.idle_ns[i] ? whole :
		Math.max(whole, socket.cpus * (data.end_ns[i] - data.begin_ns[i]));
	return all ? { value: 100 * used / all } : null;
}

function drawAll() {
	data.sockets.forEach(drawSocket);
	addPlot("plot-devices", "Devices: read and written, GB/s, with intervals",
		data.devices.slice(0, MAX_LAYERS).map((d, i) => ({
			label: d.bdf + " " + (d.name || d.kind), at: rates(d, d.counted_ns),
			...look(i, data.devices.length),
		})), { unit: "GB/s", bars: true });
	addPlot("plot-latencies", "Latencies, ns", data.probes.map((p, i) => ({
		label: p.name, ...look(i, data.probes.length),
		at: (k) => p.ns[k] === null ? null : { value: p.ns[k] },
	})), { unit: "ns" });
	for (const p of data.plots)
		addPlot(p.id, p.title, p.layers.map((layer, i) => ({
			label: layer.label, colour: layer.colour || colour(i), dash: layer.dash,
			at: rates(Object.assign({ low: layer.value, high: layer.value }, layer),
				layer.counted_ns),
		})), { unit: p.unit, bars: true, incomplete: p.incomplete });
	addPlot("plot-cpu", "CPUs busy, %", data.sockets.map((socket, i) => ({
		label: "socket " + socket.id, ...look(i, data.sockets.length),
		at: (k) => busy(socket, k),
	})), { unit: "%" });
}

document.documentElement.classList.add("js");
prepareTables();
prepareStacks();
drawAll();
restore();
window.addEventListener("hashchange", restore);
window.addEventListener("keydown", (e) => e.key === "Escape" && view.row && select(null));
})();
