// Places the numbers of marks near their marks, each joined to its mark by a line. Numbers never overlap, and they
// cover marks only if there is no other room.
const Numbers = (() => {
  const distances = [16, 24, 34, 46, 60, 76, 94], directions = 16, height = 13, digit = 8, overMark = 30, acrossLine = 12;

  const covers = (one, other) => Math.abs(one.x - other.x) < one.width / 2 + other.width / 2 && Math.abs(one.y - other.y) < one.height / 2 + other.height / 2;

  function side(a, b, c) { return Math.sign((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)); }

  const cross = (a, b, c, d) => side(a, b, c) !== side(a, b, d) && side(c, d, a) !== side(c, d, b);

  // `marks` has the places and sizes in pixels, and the numbers of the marks that have one. Returns one box per number.
  function placed(marks, width, depth) {
    const boxes = [];
    for (const mark of marks.filter((each) => each.number).sort((a, b) => a.number - b.number)) {
      let best = null;
      for (const [step, far] of distances.entries())
        for (let turn = 0; turn < directions; turn += 1) {
          const angle = 2 * Math.PI * turn / directions - Math.PI / 2;
          const box = {mark, x: mark.x + far * Math.cos(angle), y: mark.y + far * Math.sin(angle), width: digit * String(mark.number).length + 4, height};
          if (box.x - box.width / 2 < 0 || box.x + box.width / 2 > width || box.y - height / 2 < 0 || box.y + height / 2 > depth) continue;
          if (boxes.some((other) => covers(box, other))) continue;
          const cost = 4 * step + overMark * marks.filter((each) => covers(box, {...each, width: each.size, height: each.size})).length
            + acrossLine * boxes.filter((other) => cross(box, mark, other, other.mark)).length;
          if (best === null || cost < best.cost) best = {...box, cost};
        }
      if (best !== null) boxes.push(best);
    }
    return boxes;
  }

  // Returns Plotly's annotations for the numbers of the traces that a chart shows.
  function annotationsOf(place, colour) {
    const {xaxis, yaxis} = place._fullLayout, shown = place.data.filter((trace) => trace.visible !== false && trace.meta);
    const marks = shown.map((trace) => ({x: xaxis.d2p(trace.x[0]), y: yaxis.d2p(trace.y[0]), size: trace.marker.size, number: trace.meta.number, trace}));
    return placed(marks, xaxis._length, yaxis._length).map(({mark, x, y}) => ({
      text: `<b>${mark.number}</b>`, x: xaxis.d2l(mark.trace.x[0]), y: yaxis.d2l(mark.trace.y[0]), ax: x - mark.x, ay: y - mark.y,
      font: {size: 11}, borderpad: 0, showarrow: true, arrowhead: 0, arrowwidth: 1, arrowcolor: colour, standoff: mark.size / 2,
    }));
  }

  return {annotationsOf, placed};
})();
