// Runs the decision page: reads the form, ranks, writes the list and its cells, and keeps the question in the address.
const Decision = (() => {
  const table = JSON.parse(document.getElementById("guide-data").textContent);
  const form = document.getElementById("question");
  const shown = 12;
  const opened = new Set();  // titles of the parts that readers opened; they stay open when the question changes

  function element(tag, text, className) {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  }

  function si(value, unit) {
    for (const [scale, prefix] of [[1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"], [1e-12, "p"]])
      if (value >= scale * 0.9999999) return `${Number((value / scale).toPrecision(3))} ${prefix}${unit}`;
    return `${value.toExponential(2)} ${unit}`;
  }

  const factor = (value) => (value >= 99.5 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(2))));

  const beside = (each) => (each.provisional ? " provisional" : "");  // marks a time of fewer than three rounds

  const formOf = (entry) => Rank.settings.form_names[entry.form] || entry.form;
  const tellsForm = (entry) => entry.name.toLowerCase().includes(formOf(entry));
  const titled = (entry) => (tellsForm(entry) ? entry.name : `${entry.name} (${formOf(entry)})`);

  // The name links to the allocator's cliffs.
  function nameOf(entry, className) {
    const cell = element("td", undefined, className), name = element("a", entry.name);
    name.href = "#cliffs";
    name.addEventListener("click", (event) => {
      event.preventDefault();
      Charts.pick(entry.id);
      update();
      document.getElementById("cliffs").scrollIntoView();
      document.getElementById("cliff-allocator").focus({preventScroll: true});
    });
    cell.append(name, " ");
    if (!tellsForm(entry)) cell.append(element("span", formOf(entry), "form"));
    return cell;
  }

  function cellOf(near, question) {
    const {figure, label, job} = table.cases[near.number];
    if (question.application) return `${figure}: ${label}`;
    return `${figure}: ${label} (${Question.differences(job, question, near.steps).join("; ") || "as asked"})`;
  }

  // Restrictions have a row of their own, because a phone has no room for another column.
  function bewareOf({entry, ok, nearest}, found, question) {
    const words = [...entry.restrictions, entry.older].filter(Boolean), cells = found.near.length;
    if (ok < cells) words.push(`measured in ${ok} of these ${cells} cells`);
    if (nearest !== found.near[0]) words.push(`nearest: ${cellOf(nearest, question)}`);
    if (!words.length) return null;
    const row = element("tr", undefined, "beware"), cell = element("td", words.join("; "));
    row.dataset.about = entry.id;
    cell.colSpan = 7;
    row.append(element("td"), cell);
    return row;
  }

  function rankingOf(found, question) {
    const front = Rank.front(found.ranked), made = element("table", undefined, "ranking"), whole = question.application;
    const head = made.createTHead().insertRow();
    for (const [title, className] of [["", "number"], ["allocator"], ["time over best", "number"], [whole ? "time" : "per operation", "number wide-only"], ["memory", "number"], ["registers", "number wide-only"], ["survival", "number"], ["steps away", "number wide-only"]])
      head.append(Object.assign(element("th", title), {className: className || ""}));
    const body = made.createTBody();
    found.ranked.forEach((each, place) => {
      const row = body.insertRow();
      row.dataset.allocator = each.entry.id;
      row.hidden = place >= shown && !opened.has("all");
      const tied = found.ranked.filter((other) => other.rank === each.rank).length > 1;
      row.append(element("td", `${each.rank}${tied ? "=" : ""}`, "number"), nameOf(each.entry, front.has(each.entry.id) ? "front" : ""));
      const told = each.low === null ? factor(each.slower) : `${factor(each.slower)} (${factor(each.low)}–${factor(each.high)})`;
      row.append(element("td", told + beside(each), "number"), element("td", each.seconds === null ? "–" : si(each.seconds, "s"), "number wide-only"));
      row.append(element("td", each.memory === null ? (whole ? "–" : "not measured") : `${each.memory.toFixed(2)} B/B`, "number"));
      row.append(element("td", each.entry.registers ?? "–", "number wide-only"), element("td", each.entry.survived.join("/"), "number"));
      row.append(element("td", whole ? "–" : each.nearest.distance.toFixed(1), "number wide-only"));
      const beware = bewareOf(each, found, question);
      if (!beware) return;
      row.className = "with-more";
      beware.hidden = row.hidden;
      body.append(beware);
    });
    return made;
  }

  function tradeOffs(ranked) {
    const lines = [["Fastest", ranked.filter((each) => each.rank === 1)]];
    for (const [title, value] of [["Least memory", (each) => each.memory], ["Fewest registers", (each) => each.entry.registers]]) {
      const known = ranked.filter((each) => value(each) !== null);
      const least = Math.min(...known.map(value));
      if (known.length) lines.push([title, known.filter((each) => value(each) === least)]);
    }
    const list = element("ul");
    for (const [title, group] of lines) list.append(element("li", `${title}: ${group.slice(0, 6).map((each) => titled(each.entry)).join("; ")}${group.length > 6 ? ` and ${group.length - 6} more` : ""}`));
    list.append(element("li", "Time over best: geometric mean over the cells below. Per operation: time of the nearest cell over its operations (mallocs and frees), which run side by side."));
    list.append(element("li", "Memory: bytes of a full pool and its metadata per requested byte. Registers: of the malloc kernel."));
    list.append(element("li", "Survival: timed cells of the whole guide with status ok, without memory_*, latency* and *_without. None of those near this job failed. Steps away: from the question to the nearest cell that the allocator served."));
    list.append(element("li", "Coloured names: nothing else in the list is better in time, memory and registers at once."));
    return list;
  }

  function others(title, group) {
    if (!group.length) return "";
    const made = element("details"), list = element("ul");
    made.append(element("summary", `${title} (${group.length})`), list);
    made.open = opened.has(title);
    made.addEventListener("toggle", () => (made.open ? opened.add(title) : opened.delete(title)));
    for (const each of group) {
      const words = [each.entry.finding, each.entry.older].filter(Boolean);
      if (each.ok) words.push(`${factor(each.slower)}${beside(each)} times the best where it is ok (${each.ok} of ${each.ok + each.failed.length})`);
      for (const [number, status, reason] of each.failed.slice(0, 2)) words.push(`${status} at ${table.cases[number].label}${reason ? `: ${reason}` : ""}`);
      list.append(element("li", `${titled(each.entry)}: ${words.join("; ")}`));
    }
    return made;
  }

  // `reason` returns why an allocator is listed here, in words. Allocators with the same words share a sentence.
  function inWords(title, entries, reason) {
    const reasons = new Map();
    for (const entry of entries) reasons.set(reason(entry), [...(reasons.get(reason(entry)) || []), titled(entry)]);
    return reasons.size ? element("p", `${title}: ${[...reasons].map(([words, names]) => `${names.join("; ")} (${words})`).join(". ")}.`, "none") : "";
  }

  function refusing(found, question) {
    return inWords("Refuse this request (status unsupported)", found.refusing, (entry) => {
      const [pool, limit] = Rank.refusedBy(entry, question);
      return `serves at most ${Question.inBytes(limit)}, in a pool of ${Question.inBytes(pool)}`;
    });
  }

  function ground(found, question) {
    const list = element("ul");
    for (const each of found.near) list.append(element("li", `${question.application ? "" : `${each.distance.toFixed(1)} steps: `}${cellOf(each, question)}`));
    return list;
  }

  function nothingNear(question) {
    if (question.application) return Rank.settings.measure_application.replaceAll("{0}", question.application);
    const [nearest] = Rank.byDistance(table, question);
    if (nearest) return `the nearest cell is ${nearest.distance.toFixed(1)} steps away, and cells beyond ${Rank.settings.farthest} steps are not used. ${Rank.settings.step} ${cellOf(nearest, question)}.`;
    return question.lifetime === Rank.settings.others ? Rank.settings.measure_others : "these results have no cell with requests.";
  }

  function show(question) {
    const ranking = document.getElementById("ranking"), behind = document.querySelector("#ground div");
    const found = Rank.answer(table, question);
    ranking.replaceChildren();
    document.getElementById("asked").textContent = `For ${Question.sentence(question)}:`;
    Charts.follow(found.ranked.length ? found.ranked[0].entry.id : "");
    if (!question.forms.length) {
      ranking.append(element("p", "No form is chosen. Tick at least one of the boxes above.", "none"));
      behind.replaceChildren();
      return;
    }
    if (!found.near.length) {
      ranking.append(element("p", `Not measured: ${nothingNear(question)}`, "none"), refusing(found, question));
      behind.replaceChildren();
      return;
    }
    if (found.ranked.length) {
      const list = rankingOf(found, question), scroll = element("div", undefined, "scroll");
      scroll.append(list);
      ranking.append(scroll);
      if (found.ranked.length > shown && !opened.has("all")) {
        const more = element("button", `show all ${found.ranked.length}`);
        more.type = "button";
        more.addEventListener("click", () => {
          const next = list.querySelector("tr[hidden] a");
          opened.add("all");
          for (const row of list.tBodies[0].rows) row.hidden = false;
          more.remove();
          next.focus();
        });
        ranking.append(more);
      }
      const others = found.ranked.some((each) => each.nearest !== found.near[0]);
      ranking.append(element("p", `${question.application ? "Measured" : "Nearest measured"} cell${others ? ", unless the row names another" : " of every row"}: ${cellOf(found.near[0], question)}.`), tradeOffs(found.ranked));
    } else ranking.append(element("p", "No allocator served all of the cells near this job.", "none"));
    ranking.append(refusing(found, question));
    ranking.append(others("Not always served or measured near this job", found.failing), others(Rank.settings.unsafe, found.unsafe), others("Served none of the cells near this job", found.unable));
    if (found.unmeasured.length) ranking.append(element("p", `Not measured near this job: ${found.unmeasured.map(titled).join("; ")}.`, "none"));
    ranking.append(inWords("Left out", found.left_out, (entry) => Rank.whyNot(entry, question)));
    behind.replaceChildren(ground(found, question));
  }

  const wordsOf = () => Object.fromEntries(Object.keys(Question.usual).map((name) => [name, form.elements[name].value]));
  const formsOf = () => [...document.querySelectorAll("#forms input:checked")].map((box) => box.value);
  const chosen = (name) => document.getElementById(name).value;

  function update() {
    const mistake = document.getElementById("mistake"), forms = formsOf();
    for (const name of Object.keys(Question.usual)) form.elements[name].disabled = !["application", "blocks"].includes(name) && form.elements.application.value !== "";
    const fragment = Question.toFragment(wordsOf(), forms, {fam: chosen("family"), rows: chosen("rows"), open: Heat.opened().join("."), cliff: Charts.picked()});
    history.replaceState(null, "", fragment ? `#${fragment}` : location.pathname + location.search);
    Charts.filter(forms, chosen("family"));
    try {
      show(Question.parsed(wordsOf(), forms));
      mistake.hidden = true;
    } catch (error) {
      mistake.textContent = error.message;
      mistake.hidden = false;
      Charts.follow("");
      // The old answer belongs to another question.
      for (const place of ["asked", "ranking"]) document.getElementById(place).replaceChildren();
      document.querySelector("#ground div").replaceChildren();
    }
  }

  function start() {
    const families = [...new Set(table.allocators.map((entry) => entry.family).filter(Boolean))].sort();
    for (const family of families) document.getElementById("family").append(new Option(Rank.settings.families[family] || family, family));
    for (const [name, words] of Object.entries(Rank.settings.applications)) form.elements.application.append(new Option(words, name));
    const boxes = () => document.querySelectorAll(".forms input");
    for (const place of document.querySelectorAll(".forms"))
      for (const [name, shown] of Object.entries(Rank.settings.form_names)) {
        const label = element("label", undefined, "check"), box = element("input");
        Object.assign(box, {type: "checkbox", value: name});
        label.append(box, shown);
        place.append(label);
        box.addEventListener("input", () => {
          for (const other of boxes()) if (other.value === box.value) other.checked = box.checked;
          update();
        });
      }
    const load = () => {
      const given = Question.fromFragment(location.hash);
      for (const [name, value] of Object.entries(given.words)) form.elements[name].value = value;
      for (const box of boxes()) box.checked = given.forms.includes(box.value);
      for (const [name, value] of [["family", given.view.fam], ["rows", given.view.rows]]) {
        const list = document.getElementById(name);
        list.value = value;
        if (list.selectedIndex < 0) list.value = "";  // the page has no such value
      }
      Heat.open(given.view.open.split("."));
      Charts.pick(given.view.cliff);
      update();
    };
    load();
    form.addEventListener("input", update);
    form.addEventListener("submit", (event) => event.preventDefault());
    for (const list of document.querySelectorAll("#question select, #family, #rows")) list.addEventListener("change", update);
    document.getElementById("cliff-allocator").addEventListener("change", (event) => { Charts.pick(event.target.value); update(); });
    Heat.whenOpened(update);
    window.addEventListener("hashchange", load);
  }

  return {table, start, answer: (words, forms) => Rank.answer(table, Question.parsed({...Question.usual, ...words}, forms)),
          sentence: (words, forms) => Question.sentence(Question.parsed({...Question.usual, ...words}, forms))};
})();
