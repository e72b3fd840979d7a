"use strict";
// Ranks allocators for a question as plots/advice/engine.py does, with the same table and the same RULES (`settings`).
// The test in tests/plots/webpage/test_webpage_in_browser.py compares the two.
const Rank = (() => {
  const octaves = (a, b) => Math.abs(Math.log2(a / b));
  const settings = JSON.parse(document.getElementById("settings-data").textContent);

  function distanceOf(job, question) {
    const apart = {
      size: (octaves(job.sizes[0], question.sizes[0]) + octaves(job.sizes[1], question.sizes[1])) / 2,
      threads: octaves(job.threads, question.threads),
      lanes: octaves(job.lanes, question.lanes),
      fill: octaves(1 - job.fill, 1 - question.fill),
      lifetime: job.lifetime === question.lifetime ? 0 : settings.other_lifetime,
      pool: octaves(job.pool, question.pool),
    };
    const all = Object.entries(apart).map(([name, number]) => [name, number / Math.log2(settings.factors[name] ?? 2)]);
    return {distance: all.reduce((sum, [, number]) => sum + number, 0), steps: Object.fromEntries(all.filter(([, number]) => number > 0))};
  }

  // Returns whether the case can answer the question. The case must be about requests, and it must have the phase that
  // is compared. It must have the alignment of the question. Case and question must agree on whether other threads free
  // the blocks.
  function answers({job, mallocs}, question) {
    return job !== null && (job.alignment || 1) === (question.alignment || 1) && (question.must_free || mallocs !== "") && (job.lifetime === settings.others) === (question.lifetime === settings.others);
  }

  // Returns all cases that answer the question, nearest first. No case of an application is nearer than another.
  function byDistance(table, question) {
    const found = [];
    if (question.application) {
      table.cases.forEach(({figure}, number) => {
        if (figure === `guide/${question.application}`) found.push({number, distance: 0, steps: {}});
      });
      return found;
    }
    table.cases.forEach((each, number) => {
      if (answers(each, question)) found.push({number, ...distanceOf(each.job, question)});
    });
    return found.sort((a, b) => a.distance - b.distance || a.number - b.number);
  }

  function near(table, question) {
    const found = byDistance(table, question);
    return found.filter((each) => each.distance <= Math.min(settings.farthest, found[0].distance + settings.window));
  }

  function memoryOf(entry, sizes) {
    const oneSize = entry.restrictions.includes(settings.one_size);
    const wanted = oneSize ? Math.log2(sizes[1]) : Math.log2(sizes[0] * sizes[1]) / 2;
    let found = null;
    for (const [size, factor] of entry.memory) {
      const away = Math.abs(Math.log2(size) - wanted);
      if (found === null || away < found.away) found = {away, factor};
    }
    if (found === null || found.away > Math.log2(settings.memory_factor)) return null;
    return found.factor * (oneSize ? sizes[1] / ((sizes[0] + sizes[1]) / 2) : 1);
  }

  function whyNot(entry, question) {
    if (question.must_free && !entry.frees) return settings.never_frees;
    if (question.any_size && entry.restrictions.includes(settings.one_size)) return settings.one_size;
    if (question.budget === null) return "";
    const factor = memoryOf(entry, question.sizes);
    return (factor === null ? 1 : factor) * question.threads * (question.sizes[0] + question.sizes[1]) / 2 <= question.budget ? "" : settings.over_budget;
  }

  // Returns the pool and the largest request that the allocator serves in it, or null if no request of the question
  // exceeds the limit. The pool is the one nearest to the asked pool, among pools with a known limit.
  function refusedBy(entry, question) {
    if (question.application) return null;
    let found = null;
    for (const limit of entry.limits)
      if (found === null || octaves(limit[0], question.pool) < octaves(found[0], question.pool)) found = limit;
    return found !== null && found[1] < question.sizes[1] ? found : null;
  }

  function timeOf(entry, number, phase) {
    const result = entry.results[number];
    return result === null || Array.isArray(result) ? undefined : result[phase];
  }

  function judged(entry, table, question, cases, phases, best) {
    let weights = 0, logs = 0, spread = 0, ok = 0, bounded = true, provisional = false, seconds = null, nearest = null;
    const failed = [];
    cases.forEach((each, place) => {
      const time = timeOf(entry, each.number, phases[place]), result = entry.results[each.number];
      if (time === undefined || best[place] === Infinity) {
        if (Array.isArray(result)) failed.push([each.number, result[0], result[1]]);
        return;
      }
      ok += 1;
      nearest ??= each;
      provisional ||= result.provisional === true;
      const weight = 2 ** -each.distance;
      weights += weight;
      logs += weight * Math.log((time[0] + table.floor) / (best[place] + table.floor));
      if (time[1] === null || time[2] === null) bounded = false;
      else spread += (weight * Math.log((time[2] + table.floor) / (time[1] + table.floor)) / 2) ** 2;
      const operations = question.application ? 1 : result.n?.[phases[place]];
      if (seconds === null && operations) seconds = time[0] / operations;
    });
    const made = {entry, rank: 0, slower: null, low: null, high: null, seconds, memory: question.application ? null : memoryOf(entry, question.sizes), ok, failed, provisional, nearest};
    if (ok) {
      // An allocator that refuses a case with larger requests than the question has not failed the question.
      made.failed = failed.filter(([number, status]) => status !== "unsupported" || question.application || table.cases[number].job.sizes[1] <= question.sizes[1]);
      const middle = logs / weights, half = Math.sqrt(spread) / weights;
      made.slower = Math.exp(middle);
      if (bounded) [made.low, made.high] = [Math.exp(middle - half), Math.exp(middle + half)];
    }
    return made;
  }

  const digits = (number) => Math.round(number * 1e9) / 1e9;
  const byId = (a, b) => (a.entry.id < b.entry.id ? -1 : 1);

  function sorted(all) {
    const share = (each) => Math.round(each.failed.length / (each.ok + each.failed.length) * 1e6);
    return all.sort((a, b) => share(a) - share(b) || digits(a.slower) - digits(b.slower) || byId(a, b));
  }

  function placed(all) {
    const surelyFaster = (other, each) => other.high === null || each.low === null ? digits(other.slower) < digits(each.slower) : other.high < each.low;
    for (const each of all) each.faster = all.filter((other) => surelyFaster(other, each)).length;
    for (const each of all) each.rank = 1 + all.filter((other) => other.faster < each.faster).length;
    return all.sort((a, b) => a.rank - b.rank || digits(a.slower) - digits(b.slower) || byId(a, b));
  }

  const tried = (each) => each.ok > 0 || each.failed.some(([, status]) => status !== settings.not_measured);

  function answer(table, question) {
    const cases = near(table, question);
    const asked = table.allocators.filter((entry) => question.forms.includes(entry.form));
    const wanted = asked.filter((entry) => !whyNot(entry, question)), kept = wanted.filter((entry) => !refusedBy(entry, question));
    const phases = cases.map((each) => table.cases[each.number][question.must_free ? "time" : "mallocs"]);
    // An allocator with a known error must not be the yardstick, unless all are unsafe.
    const safeOnes = kept.filter((entry) => !entry.finding), rivals = safeOnes.length ? safeOnes : kept;
    const best = cases.map((each, place) => Math.min(...rivals.map((entry) => timeOf(entry, each.number, phases[place])).filter(Boolean).map((time) => time[0])));
    const all = kept.map((entry) => judged(entry, table, question, cases, phases, best));
    const able = all.filter((each) => each.ok), safe = able.filter((each) => !each.entry.finding);
    return {near: cases, ranked: placed(safe.filter((each) => !each.failed.length)), unsafe: sorted(able.filter((each) => each.entry.finding)),
            failing: sorted(safe.filter((each) => each.failed.length)), unable: all.filter((each) => !each.ok && tried(each)),
            unmeasured: all.filter((each) => !tried(each)).map((each) => each.entry),
            left_out: asked.filter((entry) => whyNot(entry, question)), refusing: wanted.filter((entry) => refusedBy(entry, question))};
  }

  function front(ranked) {
    const known = ranked.map((each) => [each.entry.id, [each.slower, each.memory, each.entry.registers]]).filter(([, own]) => !own.includes(null));
    const beats = (other, own) => other.every((value, place) => value <= own[place]) && other.some((value, place) => value !== own[place]);
    return new Set(known.filter(([, own]) => !known.some(([, other]) => beats(other, own))).map(([id]) => id));
  }

  return {answer, front, distanceOf, whyNot, refusedBy, byDistance, settings};
})();
