// Draws the charts when they come into view, in the colours of the page, and hides the traces that a filter leaves out.
const Charts = (() => {
  const all = JSON.parse(document.getElementById("charts-data").textContent);
  let forms = null, family = "", plotly = null;

  // Plotly is packed in the page, and the browser unpacks it.
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
    return isNarrow(place) ? narrow(made, chart) : made;
  }

  const isNarrow = (place) => place.clientWidth < 480;

  // Panels that are side by side move below each other, and each legend entry gets its own line.
  function narrow(layout, chart) {
    const entries = layout.showlegend ? new Set(chart.data.filter((trace) => trace.showlegend !== false).map((trace) => trace.name)).size : 0;
    const panels = Object.keys(layout).filter((name) => name.startsWith("xaxis")).map((name) => [name, `y${name.slice(1)}`]);
    layout.font = {...layout.font, size: 10};
    if (layout.annotations) layout.annotations = layout.annotations.map((each) => ({...each, bgcolor: colour("--back")}));
    if (!panels.some(([name]) => layout[name].domain)) return layout;
    const top = (name) => (layout[name].domain ? layout[name].domain[1] : 1), title = (name) => (layout[name].title || {}).text;
    panels.sort((a, b) => top(b[1]) - top(a[1]) || layout[a[0]].domain[0] - layout[b[0]].domain[0]);
    panels.forEach(([x, y], place) => {
      const end = 1 - place / panels.length, before = place ? layout[panels[place - 1][1]].title : undefined;
      layout[x] = {...layout[x], domain: [0.14, 1]};
      // A panel without a title gets the title of its row.
      layout[y] = {...layout[y], domain: [end - 0.74 / panels.length, end - 0.06 / panels.length], title: title(y) ? layout[y].title : before};
    });
    return {...layout, height: 260 * panels.length + 40 + 19 * entries, legend: {orientation: "h", y: -0.12 / panels.length, yanchor: "top"}};
  }

  const isShown = (meta) => !meta || ((forms === null || !meta.form || forms.includes(meta.form)) && (!family || !meta.allocator || meta.family === family));
  const isDark = () => window.matchMedia("(prefers-color-scheme: dark)").matches;

  // The dark hues of light figures would vanish on a dark page.
  function lighter(hue) {
    if (!isDark() || typeof hue !== "string" || !/^#[0-9a-f]{6}$/i.test(hue)) return hue;
    const parts = [1, 3, 5].map((place) => parseInt(hue.slice(place, place + 2), 16));
    return `rgb(${parts.map((part) => Math.round(part + (255 - part) * 0.45)).join()})`;
  }

  const coloured = (style) => (style && style.color !== undefined ? {...style, color: Array.isArray(style.color) ? style.color.map(lighter) : lighter(style.color)} : style);
  // The legend names a family if one of its marks is shown.
  function dataOf(chart) {
    const groups = new Set(chart.data.filter((trace) => trace.meta && isShown(trace.meta)).map((trace) => trace.legendgroup));
    const isVisible = (trace) => (/^family/.test(trace.legendgroup) ? isShown(trace.meta) && groups.has(trace.legendgroup) : isShown(trace.meta));
    return chart.data.map((trace) => trace.type === "scatter"
      ? {...trace, visible: isVisible(trace), marker: coloured(trace.marker || {}), line: coloured(trace.line || {})} : trace);
  }

  async function draw(place) {
    const wide = all[place.dataset.chart], chart = isNarrow(place) && wide && wide.narrow ? wide.narrow : wide;
    if (!chart) { place.replaceChildren("Not measured."); return; }
    if (!("DecompressionStream" in window)) { place.replaceChildren("This browser is too old for the charts; the tables have all numbers."); return; }
    plotly = plotly || unpacked();
    const library = await plotly;
    if (!place.classList.contains("js-plotly-plot")) place.replaceChildren();
    const data = dataOf(chart), layout = layoutOf(chart, place), settings = {responsive: true, displaylogo: false, displayModeBar: false};
    await library.react(place, data, layout, settings);
    if (data.some((trace) => trace.meta && trace.meta.number)) await library.relayout(place, {annotations: Numbers.annotationsOf(place, colour("--soft"))});
    place.dataset.drawn = "yes";
  }

  const ahead = 300;  // pixels around the window in which charts are drawn

  const isNear = ({top, bottom, width}) => width > 0 && bottom > -ahead && top < window.innerHeight + ahead;

  // Charts that are out of sight are drawn again when they come into view.
  function drawnAgain() {
    for (const place of document.querySelectorAll('.chart[data-drawn="yes"]')) {
      if (isNear(place.getBoundingClientRect())) draw(place);
      else place.dataset.drawn = "before";
    }
  }

  function filter(newForms, newFamily) {
    const changed = forms === null || forms.join() !== newForms.join() || family !== newFamily;
    forms = newForms;
    family = newFamily;
    Heat.filter(isShown);
    if (!changed) return;  // A key typed in a question changes no filter.
    for (const row of document.querySelectorAll(".numbered tbody tr")) row.hidden = !isShown(row.dataset);
    drawnAgain();
  }

  let first = "", picked = "";  // first allocator of the answer, and the one that the reader picked

  function showCliffs() {
    const chosen = document.getElementById("cliff-allocator"), cliff = document.getElementById("cliff-chart");
    chosen.value = picked || first || chosen.querySelector("[selected]").value;
    cliff.dataset.chart = `cliff ${chosen.value}`;
    if (cliff.dataset.drawn === "yes") draw(cliff);
  }

  function follow(allocator) {
    first = allocator;
    showCliffs();
  }

  function pick(allocator) {
    picked = [...document.getElementById("cliff-allocator").options].some((each) => each.value === allocator) ? allocator : "";
    showCliffs();
  }

  function start() {
    const watch = new IntersectionObserver((entries) => {
      for (const entry of entries) if (entry.isIntersecting && entry.target.dataset.drawn !== "yes") draw(entry.target);
    }, {rootMargin: `${ahead}px`});
    document.querySelectorAll(".chart").forEach((place) => watch.observe(place));
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawnAgain);
    let width = window.innerWidth;
    // Width changes if a phone is turned.
    window.addEventListener("resize", () => { if (window.innerWidth !== width) { width = window.innerWidth; drawnAgain(); } });
    for (const link of document.querySelectorAll("nav a"))  // the address must keep the question
      link.addEventListener("click", (event) => { event.preventDefault(); goTo(document.querySelector(link.getAttribute("href"))); });
  }

  // Scrolls to a place and moves the keyboard focus there.
  function goTo(place) {
    place.scrollIntoView();
    if (place.tabIndex < 0) place.tabIndex = -1;
    place.focus({preventScroll: true});
  }

  return {filter, start, draw, follow, pick, picked: () => picked, goTo, all};
})();
Charts.start();
if (document.getElementById("question")) Decision.start();
