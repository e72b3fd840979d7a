// Reads the question from the form or from the fragment of the address, and writes it back. The words and limits are
// those of plots/advice/question.py.
const Question = (() => {
  const usual = {application: "", sizes: "48", threads: "1M", pool: "1GiB", fill: "", lanes: "32", lifetime: "kernel", free: "yes", blocks: "one", budget: ""};
  const short = {application: "app", sizes: "s", threads: "t", pool: "p", fill: "f", lanes: "l", lifetime: "life", free: "free", blocks: "z", budget: "b"};
  const limits = Rank.settings;

  function bytes(text, name) {
    const found = /^([0-9]+(?:\.[0-9]+)?)\s*(?:([kKMGT])iB|B)?$/.exec(text.trim());
    const made = found ? Math.floor(Number(found[1]) * 1024 ** (found[2] ? " KMGT".indexOf(found[2].toUpperCase()) : 0)) : NaN;
    if (found && !found[2] && !Number.isInteger(Number(found[1]))) throw new Error(`${name}: "${text}" is not a whole number of bytes.`);
    if (!(made >= 1 && made <= 2 ** 50)) throw new Error(`${name}: "${text}" is not a size in bytes. Write 48, 4KiB or 1GiB (KB and GB are refused).`);
    return made;
  }

  function count(text) {
    const found = /^((?:[0-9]+|[0-9]{1,3}(?:,[0-9]{3})+)(?:\.[0-9]+)?)\s*([kKmMgG]?)$/.exec(text.trim());
    const made = found ? Math.round(Number(found[1].replaceAll(",", "")) * {"": 1, k: 1e3, m: 1e6, g: 1e9}[found[2].toLowerCase()] * 1e6) / 1e6 : NaN;
    if (!(Number.isInteger(made) && made >= 1 && made <= limits.most_threads)) throw new Error(`Threads: "${text}" is not a number of threads. Write 100000, 100k or 1M.`);
    return made;
  }

  function sizesOf(text) {
    const parts = text.trim().split(/\s*-\s*/);
    if (parts.length > 2 || parts.includes("")) throw new Error(`Request sizes: "${text}" is neither a size nor a range. Write 48 or 16-4096.`);
    const made = parts.map((part) => bytes(part, "Request sizes"));
    if (made[0] > made[made.length - 1]) throw new Error("Request sizes: the smallest size comes first.");
    return [made[0], made[made.length - 1]];
  }

  function shareOf(text) {
    const found = /^([0-9]+(?:\.[0-9]+)?)\s*(%?)$/.exec(text.trim());
    const made = found ? Number(found[1]) / (found[2] ? 100 : 1) : NaN;
    if (!(made >= 0 && made < 1)) throw new Error(`Pool in use: "${text}" is not a share below 100 %. Write 90% or 0.9.`);
    return made;
  }

  // Returns the question in the form that rank.js reads. Throws an Error with one sentence for the reader.
  function parsed(words, forms) {
    if (words.application) return {application: words.application, must_free: true, any_size: words.blocks === "any", budget: null, forms};
    const sizes = sizesOf(words.sizes), threads = count(words.threads), pool = bytes(words.pool, "Pool");
    const lanes = Number(words.lanes);
    if (!Number.isInteger(lanes) || lanes < 1 || lanes > 32) throw new Error(`Lanes: "${words.lanes}" is not a number from 1 to 32.`);
    if (words.lifetime !== usual.lifetime && words.free === "no") throw new Error(`Blocks live: ${limits.lifetimes[words.lifetime]}, but Must free is no. Change one of the two.`);
    const taken = threads * ((sizes[0] + sizes[1]) / 2), own = taken / pool;
    if (own >= 1) throw new Error("The pool is too small for these requests. Give a larger pool, or fewer threads.");
    if (sizes[1] > pool) throw new Error("The pool is smaller than the largest request. Give a larger pool, or smaller requests.");
    const full = words.fill.trim() === "" ? own : shareOf(words.fill), budget = words.budget.trim() === "" ? null : bytes(words.budget, "Memory budget");
    if (full < own * (1 - limits.rounded)) throw new Error(`Pool in use: these requests alone take ${percent(own)}. Give a larger share, or none.`);
    if (budget !== null && taken > budget) throw new Error("Memory budget: these requests alone take more. Give a larger budget, or fewer threads.");
    const fill = Math.min(Math.max(own, full), limits.fullest);
    return {sizes, threads, pool, lanes, fill, lifetime: words.lifetime, must_free: words.free !== "no", any_size: words.blocks === "any",
            budget, forms};
  }

  // The address contains only values that differ from the defaults. `view` says which evidence is shown.
  function toFragment(words, forms, view) {
    const parts = Object.keys(usual).filter((name) => words[name] !== usual[name]).map((name) => `${short[name]}=${encodeURIComponent(words[name])}`);
    if (forms.join() !== limits.usual_forms.join()) parts.push(`form=${forms.map((form) => limits.forms[form]).join("")}`);
    for (const [name, value] of Object.entries(view)) if (value) parts.push(`${name}=${encodeURIComponent(value)}`);
    return parts.join("&");
  }

  function fromFragment(text) {
    const given = new URLSearchParams(text.replace(/^#/, ""));
    const words = {...usual};
    for (const [name, key] of Object.entries(short)) if (given.has(key)) words[name] = given.get(key);
    if (!(words.lifetime in limits.lifetimes)) words.lifetime = usual.lifetime;
    if (!(words.application in limits.applications)) words.application = usual.application;
    if (!["one", "any"].includes(words.blocks)) words.blocks = usual.blocks;
    if (!["yes", "no"].includes(words.free)) words.free = usual.free;
    const letters = given.get("form");
    return {words, forms: letters === null ? [...limits.usual_forms] : Object.keys(limits.forms).filter((form) => letters.includes(limits.forms[form])), 
            view: Object.fromEntries(["fam", "rows", "open", "cliff"].map((name) => [name, given.get(name) || ""]))};
  }

  const short3 = (value) => String(value < 1000 ? Number(value.toPrecision(3)) : Math.round(value));

  function inBytes(value) {
    if (value > 1024 && value < 1e5 && Number.isInteger(value) && Number(short3(value / 1024)) * 1024 !== value) return `${value.toLocaleString("en")} B`;
    let power = 0;
    while (power < 4 && value >= 1024 ** (power + 1)) power += 1;
    return `${short3(value / 1024 ** power)} ${["B", "KiB", "MiB", "GiB", "TiB"][power]}`;
  }

  const sizes = ([least, most]) => (least === most ? inBytes(least) : `${inBytes(least)} to ${inBytes(most)}`);
  const percent = (share) => (share >= 1e-4 ? `${Number((100 * share).toPrecision(3))} %` : "under 0.01 %");

  function times(own, asked, more, less) {
    const ratio = Math.max(own / asked, asked / own);
    return `${ratio >= 9.95 ? Math.round(ratio).toLocaleString("en") : Math.round(10 * ratio) / 10} times ${own > asked ? more : less}`;
  }

  // Returns one phrase for each setting in which a measured cell differs from the question. plots/advice/differences.py
  // writes the same words.
  function differences(job, question, steps) {
    const [least, most] = job.sizes, [askedLeast, askedMost] = question.sizes;
    const told = {
      size: least * askedMost === most * askedLeast ? `requests ${times(most, askedMost, "larger", "smaller")}` : `requests of ${sizes(job.sizes)}, not ${sizes(question.sizes)}`,
      threads: `${times(job.threads, question.threads, "more", "fewer")} threads`,
      lanes: `${job.lanes} calling ${job.lanes === 1 ? "lane" : "lanes"} of a warp, not ${question.lanes}`,
      fill: `${percent(job.fill)} full, not ${percent(question.fill)}`,
      lifetime: `blocks ${limits.lifetimes[job.lifetime]}`,
      pool: `pool ${times(job.pool, question.pool, "larger", "smaller")}`,
    };
    return Object.keys(told).filter((name) => steps[name] >= limits.as_asked).map((name) => told[name]);
  }

  // Returns the question in words, so that readers see how it was understood. sentence() of plots/advice/question.py
  // writes the same words.
  function sentence(question) {
    if (question.application) return [`a ${limits.applications[question.application]}`, ...(question.any_size ? ["blocks of any size"] : [])].join(", ");
    const parts = [`${question.threads.toLocaleString("en")} threads`, `${sizes(question.sizes)} each`];
    parts.push(question.lanes === 32 ? "all lanes of a warp" : `${question.lanes} of the 32 lanes of a warp`);
    parts.push(`pool of ${inBytes(question.pool)}, ${percent(question.fill)} full at most`);
    parts.push(question.must_free ? limits.lifetimes[question.lifetime] : "never freed");
    if (question.any_size) parts.push("blocks of any size");
    if (question.budget) parts.push(`at most ${inBytes(question.budget)} of memory`);
    return parts.join(", ");
  }

  return {parsed, sentence, differences, inBytes, toFragment, fromFragment, usual};
})();
