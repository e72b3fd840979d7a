// Draws the charts when they come into view, in the colours of the page, and hides what a filter leaves out.
const Charts = (() => {
  const all = JSON.parse(document.getElementById("charts-data").textContent);
  let forms = null, family = "", plotly = null;

  // Plotly lies packed in the page; a browser unpacks it itself.
  async function unpacked() {
    const packed = Uint8Array.from(atob(document.getElementById("plotly-packed").textContent.trim()), (letter) => letter.charCodeAt(0));
    const text = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
    const script = document.createElement("script");
    script.textContent = text;
    document.head.append(script);
    return window.Plotly;
  }

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  function layoutOf(chart, place) {
    const axis = {gridcolor: colour("--line"), linecolor: colour("--soft"), tickcolor: colour("--soft")};
    const made = {...chart.layout, autosize: true, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: {...chart.layout.font, color: colour("--text")}};
    for (const name of Object.keys(made)) if (/^[xy]axis/.test(name)) made[name] = {...made[name], ...axis};
    return place.clientWidth < 480 ? narrow(made) : made;
  }

  // Panels beside each other become panels below each other, and sentences beside an axis shrink.
  function narrow(layout) {
    layout.font = {...layout.font, size: 10};
    for (const name of Object.keys(layout)) if (name === "yaxis" && layout[name].ticktext) layout[name] = {...layout[name], ticktext: layout[name].ticktext.map(shortened), tickfont: {size: 8}};
    const panels = Object.keys(layout).filter((name) => name.startsWith("xaxis")).map((name) => [name, `y${name.slice(1)}`]);
    if (!panels.some(([name]) => layout[name].domain && layout[name].domain[1] - layout[name].domain[0] < 0.9)) return layout;
    const top = (name) => (layout[name].domain ? layout[name].domain[1] : 1);
    panels.sort((a, b) => top(b[1]) - top(a[1]) || layout[a[0]].domain[0] - layout[b[0]].domain[0]);
    panels.forEach(([x, y], place) => {
      const end = 1 - place / panels.length;
      layout[x] = {...layout[x], domain: [0.14, 1]};
      layout[y] = {...layout[y], domain: [end - 0.74 / panels.length, end - 0.06 / panels.length]};
    });
    return {...layout, height: 260 * panels.length + 120, legend: {orientation: "h", y: -0.12 / panels.length, yanchor: "top"}};
  }

  function shortened(sentence) {
    const lines = [""];
    for (const word of sentence.replaceAll("<br>", " ").split(" ")) {
      if (lines[lines.length - 1].length + word.length > 24) lines.push("");
      lines[lines.length - 1] = `${lines[lines.length - 1]} ${word}`.trim();
    }
    return lines.slice(0, 2).join("<br>") + (lines.length > 2 ? " …" : "");
  }

  const isShown = (meta) => !meta || !meta.allocator || ((forms === null || !meta.form || forms.includes(meta.form)) && (!family || meta.family === family));
  const isDark = () => window.matchMedia("(prefers-color-scheme: dark)").matches;

  // Dark hues of light figures would vanish on a dark page.
  function lighter(hue) {
    if (!isDark() || typeof hue !== "string" || !/^#[0-9a-f]{6}$/i.test(hue)) return hue;
    const parts = [1, 3, 5].map((place) => parseInt(hue.slice(place, place + 2), 16));
    return `rgb(${parts.map((part) => Math.round(part + (255 - part) * 0.45)).join()})`;
  }

  const coloured = (style) => (style && style.color !== undefined ? {...style, color: Array.isArray(style.color) ? style.color.map(lighter) : lighter(style.color)} : style);
  const dataOf = (chart) => chart.data.map((trace) => trace.type === "scatter"
    ? {...trace, visible: isShown(trace.meta), marker: coloured(trace.marker || {}), line: coloured(trace.line || {})} : trace);

  async function draw(place) {
    const chart = all[place.dataset.chart];
    if (!chart) { place.replaceChildren("Not measured."); return; }
    if (!("DecompressionStream" in window)) { place.replaceChildren("This browser is too old for the charts; the tables have all numbers."); return; }
    plotly = plotly || unpacked();
    const library = await plotly;
    if (!place.classList.contains("js-plotly-plot")) place.replaceChildren();
    await library.react(place, dataOf(chart), layoutOf(chart, place), {responsive: true, displaylogo: false, displayModeBar: false});
    place.dataset.drawn = "yes";
  }

  const drawnAgain = () => document.querySelectorAll('.chart[data-drawn="yes"]').forEach(draw);

  function filter(newForms, newFamily) {
    forms = newForms;
    family = newFamily;
    Heat.filter(isShown);
    drawnAgain();
  }

  let picked = false;  // whether readers chose an allocator themselves

  function setCliffs(allocator) {
    const chosen = document.getElementById("cliff-allocator"), cliff = document.getElementById("cliff-chart");
    chosen.value = allocator;
    cliff.dataset.chart = `cliff ${allocator}`;
    if (cliff.dataset.drawn === "yes") draw(cliff);
  }

  // `asked`: readers want to see them; else the allocator of the answer is shown until readers choose one.
  function showCliffs(allocator, asked) {
    if (picked && !asked) return;
    picked = picked || asked;
    setCliffs(allocator);
    if (asked) document.getElementById("cliffs").scrollIntoView();
  }

  function start() {
    const watch = new IntersectionObserver((entries) => {
      for (const entry of entries) if (entry.isIntersecting && entry.target.dataset.drawn !== "yes") draw(entry.target);
    }, {rootMargin: "300px"});
    document.querySelectorAll(".chart").forEach((place) => watch.observe(place));
    const chosen = document.getElementById("cliff-allocator");
    if (chosen) {
      setCliffs(chosen.value);
      chosen.addEventListener("input", () => { picked = true; setCliffs(chosen.value); });
    }
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawnAgain);
    for (const link of document.querySelectorAll("nav a"))  // the address keeps the question
      link.addEventListener("click", (event) => { event.preventDefault(); document.querySelector(link.getAttribute("href")).scrollIntoView(); });
  }

  return {filter, start, draw, showCliffs, all};
})();
Charts.start();
if (document.getElementById("question")) Decision.start();
