"""The style sheet and the script of the page. The script sorts tables; without it, they stay as they are."""

from __future__ import annotations

__all__ = ["SCRIPT", "STYLE"]

STYLE = """
:root { color-scheme: light dark; --text: #1c2429; --soft: #46525a; --back: #fff; --line: #d9dee1; --faint: #e9edef;
  --link: #1f5f99; --good: #1d6b3a; --bad: #9c2b1f; --panel: #f5f7f8; }
@media (prefers-color-scheme: dark) { :root { --text: #e4e9ec; --soft: #aab6be; --back: #14181b; --line: #39434a;
  --faint: #262d32; --link: #6cb0ec; --good: #6fce93; --bad: #ff9c8f; --panel: #1c2226; } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  color: var(--text); background: var(--back); max-width: 76rem; margin: 0 auto; padding: 1.5rem 1.25rem 4rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .25rem; }
h2 { font-size: 1.2rem; margin: 2.5rem 0 .25rem; padding-top: .75rem; border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.75rem 0 .25rem; overflow-wrap: anywhere; }
p { margin: .25rem 0 .75rem; max-width: 50rem; color: var(--soft); overflow-wrap: anywhere; }
nav ul { list-style: none; padding: 0; margin: 1rem 0 0; display: flex; flex-wrap: wrap; gap: .25rem 1rem; }
a { color: var(--link); }
.verdict { margin: 1rem 0; padding: .75rem 1rem; background: var(--panel); border-left: .3rem solid var(--good); }
.verdict.bad { border-color: var(--bad); }
.verdict p, .verdict li { color: var(--text); font-size: 1.05rem; }
.verdict strong { color: var(--good); }
.verdict.bad strong { color: var(--bad); }
.verdict ul { margin: .25rem 0; padding-left: 1.2rem; }
pre { margin: .25rem 0; padding: .5rem .75rem; background: var(--back); border: 1px solid var(--line);
  white-space: pre-wrap; overflow-wrap: anywhere; font-size: .9rem; }
dl.totals { display: flex; flex-wrap: wrap; gap: .75rem 2.25rem; margin: 1.25rem 0; }
dl.totals div { min-width: 6rem; }
dl.totals dt { color: var(--soft); font-size: .85rem; }
dl.totals dd { margin: 0; font-size: 1.35rem; font-variant-numeric: tabular-nums; }
.table { overflow-x: auto; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .9rem .3rem 0; text-align: right; vertical-align: top; white-space: nowrap; }
thead th { border-bottom: 1px solid var(--soft); font-weight: 600; vertical-align: bottom; white-space: normal; }
thead button { font: inherit; color: inherit; text-align: inherit; background: none; border: 0; padding: 0;
  cursor: pointer; }
thead button:hover { text-decoration: underline; }
th[aria-sort="ascending"] button::after { content: " \\25B2"; font-size: .7em; }
th[aria-sort="descending"] button::after { content: " \\25BC"; font-size: .7em; }
tbody tr + tr > * { border-top: 1px solid var(--faint); }
tbody tr:hover > * { background: var(--panel); }
th.text, td.text { text-align: left; }
td.long, th.long { white-space: normal; overflow-wrap: anywhere; min-width: 9rem; max-width: 26rem; }
tbody th { font-weight: 400; text-align: left; background: var(--back); }
.plots { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 30rem), 1fr)); gap: 0 2rem; }
figure { margin: .5rem 0 1.25rem; }
figcaption { font-size: .85rem; font-weight: 600; color: var(--soft); margin-bottom: .25rem; }
figure img { width: 100%; max-width: 38rem; height: auto; display: block; }
ul.notes { padding-left: 1.2rem; overflow-wrap: anywhere; }
dd.bad { color: var(--bad); }
@media (max-width: 40rem) { body { padding: 1rem .75rem 3rem; } dl.totals { gap: .5rem 1.25rem; }
  dl.totals dd { font-size: 1.15rem; } .table tbody th { position: sticky; left: 0; max-width: 42vw; } }
@media print { body { max-width: none; } h2 { break-after: avoid; } figure { break-inside: avoid; } }
""".strip()

# Also well-formed as XML: without the characters that begin tags and entities.
SCRIPT = """
"use strict";
function value(row, column) {
  const cell = row.cells[column], number = cell.dataset.value;
  return number === undefined ? cell.textContent : Number(number);
}
function sort(head, column) {
  const table = head.closest("table"), body = table.tBodies[0];
  const descending = head.getAttribute("aria-sort") === "ascending" ||
    (head.getAttribute("aria-sort") === null ? !head.classList.contains("text") : false);
  for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", descending ? "descending" : "ascending");
  const rows = Array.from(body.rows, row => [value(row, column), row]);
  const compared = (one, other) => typeof one === "number" ? one - other : one.localeCompare(other);
  rows.sort(([one], [other]) => {
    const kinds = (typeof one === "number" ? 0 : 1) - (typeof other === "number" ? 0 : 1);
    if (kinds !== 0) return kinds;
    return descending ? compared(other, one) : compared(one, other);
  });
  body.append(...rows.map(([, row]) => row));
}
for (const table of document.querySelectorAll("table")) {
  Array.from(table.tHead.rows[0].cells, (head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.title = "Sort by this column";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(head, column));
    head.append(button);
  });
}
""".strip()
