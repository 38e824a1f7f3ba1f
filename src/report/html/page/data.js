// SPDX-License-Identifier: Apache-2.0
// Decodes the embedded data sets from columns into the rows that charts and tables read.
const report = JSON.parse(document.getElementById("tench-data").textContent);
const rowsOf = (() => {
  const known = new Map();
  const reader = (column) => {
    if (Array.isArray(column)) return (i) => column[i];
    if ("all" in column) return () => column.all;
    return (i) => column.texts[column.at[i]];
  };
  return (name) => {
    if (known.has(name)) return known.get(name);
    const { n, columns } = report.tables[name];
    const readers = Object.entries(columns).map(([key, column]) => [key, reader(column)]);
    const rows = Array.from({ length: n }, (_, i) => {
      const row = {};
      for (const [key, read] of readers) row[key] = read(i);
      return row;
    });
    known.set(name, rows);
    return rows;
  };
})();

// Creates an element with attributes, listeners ("onclick") and children; strings become text nodes.
function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== false) node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children);
  return node;
}

function save(name, blob) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function fileName(...parts) {
  return parts.filter(Boolean).join("-").toLowerCase().replace(/[^a-z0-9.]+/g, "-").replace(/^-+|-+$/g, "");
}
