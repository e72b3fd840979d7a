// Controls the rows of the survival table: it opens families, fills their rows with the best fields, sorts by mean, and
// describes a field.
const Heat = (() => {
  const body = document.querySelector(".heat tbody");
  const all = body ? [...body.rows] : [], families = all.filter((row) => row.dataset.group), members = all.filter((row) => row.dataset.allocator);
  const open = new Set();
  let isShown = () => true, whenOpened = () => {}, at = null;

  const mode = () => document.getElementById("rows").value;
  const factorOf = (cell) => (cell.dataset.f === undefined ? Infinity : Number(cell.dataset.f));

  // Returns the best of a family's cells in one column: the least factor, else a failure, else "not measured". In the
  // column `ok`, the best cell has the most ok cells.
  function bestOf(cells) {
    const least = cells.reduce((best, cell) => (factorOf(cell) < factorOf(best) ? cell : best));
    return factorOf(least) < Infinity ? least : cells.find((cell) => cell.className === "failed") || least;
  }

  function summed(family, shown) {
    for (let column = 1; column < family.cells.length; column += 1) {
      const best = bestOf(shown.map((row) => row.cells[column])), made = best.cloneNode(true);
      const letter = Rank.settings.forms[best.parentNode.dataset.form];
      made.title = `${best.parentNode.cells[0].textContent}: ${best.title}`;
      if (letter && factorOf(best) < Infinity) made.append(Object.assign(document.createElement("small"), {textContent: ` ${letter}`}));
      family.cells[column].replaceWith(made);
    }
  }

  function update() {
    if (!body) return;
    const flat = mode() === "mean", chosen = document.getElementById("family").value;
    for (const row of members) row.hidden = !isShown(row.dataset);
    for (const family of families) {
      const shown = members.filter((row) => row.dataset.family === family.dataset.group && !row.hidden);
      const opened = mode() === "all" || open.has(family.dataset.group) || chosen === family.dataset.group;
      family.hidden = flat || shown.length < 2;
      family.classList.toggle("open", opened);
      const button = family.querySelector("button");
      button.setAttribute("aria-expanded", opened);
      button.dataset.count = shown.length;
      if (family.hidden) continue;
      summed(family, shown);
      if (!opened) for (const row of shown) row.hidden = true;
    }
    const order = flat ? [...members].sort((a, b) => factorOf(a.cells[1]) - factorOf(b.cells[1])) : all;
    body.append(...order);
  }

  function tell(cell) {
    if (!cell || !cell.title) return;
    const cases = document.querySelectorAll(".heat th.case"), place = cell.cellIndex - 3;
    const where = place >= 0 ? `, ${cases[place].textContent}` : "";
    const factor = !/slow|quick/.test(cell.className) ? "" : `${cell.firstChild.textContent} times the best; `;
    const name = cell.parentNode.dataset.group ? "" : `${cell.parentNode.cells[0].textContent}: `;
    document.getElementById("heat-told").textContent = `${name}${factor}${cell.title}${where}`;
  }

  const steps = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]};

  // The arrow keys move from field to field.
  function move(event) {
    const step = steps[event.key], shown = [...body.rows].filter((row) => !row.hidden);
    if (!step || event.target !== event.currentTarget || !shown.length) return;
    event.preventDefault();
    const held = (number, count) => Math.max(0, Math.min(count - 1, number));
    const row = at ? held(shown.indexOf(at.parentNode) + step[0], shown.length) : 0;
    const column = at ? Math.max(1, held(at.cellIndex + step[1], shown[row].cells.length)) : 1;
    if (at) at.classList.remove("at");
    at = shown[row].cells[column];
    at.classList.add("at");
    at.scrollIntoView({block: "nearest", inline: "nearest"});
    tell(at);
  }

  function start() {
    if (!body) return;
    for (const family of families)
      family.querySelector("button").addEventListener("click", () => {
        if (!open.delete(family.dataset.group)) open.add(family.dataset.group);
        whenOpened();
      });
    body.addEventListener("click", (event) => tell(event.target.closest("td")));
    body.addEventListener("mouseover", (event) => tell(event.target.closest("td")));
    body.closest(".scroll").addEventListener("keydown", move);
  }

  return {
    filter: (test) => { isShown = test; update(); },
    open: (names) => { open.clear(); for (const family of families) if (names.includes(family.dataset.group)) open.add(family.dataset.group); },
    opened: () => [...open].sort(), whenOpened: (act) => { whenOpened = act; }, start};
})();
Heat.start();
