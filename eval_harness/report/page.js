"use strict";
(() => {
  const PAGE = 100; // rows of the list shown at a time
  const SNIPPET = 160;
  const FILTERS = ["task", "config", "method", "model", "status", "result"];
  const element = (name) => document.getElementById(name);
  let data, rows, names, matching = [], listed = 0, current = -1;

  // Texts are set as text, never as HTML.
  function make(name, text, className) {
    const node = document.createElement(name);
    if (text !== undefined && text !== null) node.textContent = String(text);
    if (className) node.className = className;
    return node;
  }

  async function unpack(packed) {
    const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  }

  const percent = (score) => (100 * score).toFixed(1);
  const number = (value) => (Number.isInteger(value) ? value.toLocaleString("en") : value.toFixed(3));
  const short = (text) => {
    const line = text.replace(/\s+/g, " ").trim();
    return line.length > SNIPPET ? line.slice(0, SNIPPET) + " …" : line;
  };

  function result(row) {
    if (row.score === undefined || row.score === null) return row.status === undefined ? undefined : "not scored";
    return row.score === 1 ? "full score" : row.score === 0 ? "zero" : "between";
  }

  function prepare() {
    rows = data.rows.map((row) => {
      const instance = row.at === null ? null : data.instances[row.at];
      const whole = instance ? { id: instance.id, task: instance.task, config: instance.config, ...row } : row;
      const texts = [whole.id, instance ? instance.query : "", ...(instance ? instance.answers : []), row.answer, row.output];
      return { ...whole, instance, result: result(row), text: texts.filter(Boolean).join("\n").toLowerCase() };
    });
  }

  function filters() {
    const form = element("filters");
    for (const name of FILTERS) {
      const values = [...new Set(rows.map((row) => row[name]).filter((value) => value !== undefined))];
      if (values.length < 2 && !(values.length === 1 && (name === "task" || name === "config"))) continue;
      const label = make("label", name);
      const select = make("select");
      select.name = name;
      select.append(new Option("all", "all"), ...values.map((value) => new Option(value, "=" + value)));
      select.addEventListener("change", filter);
      label.append(select);
      form.append(label);
    }
    const label = make("label", "search", "search");
    const input = make("input");
    input.type = "search";
    input.name = "search";
    input.placeholder = "id, query, answer, output";
    input.addEventListener("input", filter);
    label.append(input);
    form.append(label);
    form.addEventListener("submit", (event) => event.preventDefault());
  }

  function filter() {
    const wanted = new FormData(element("filters"));
    const words = wanted.get("search").toLowerCase().trim();
    const chosen = FILTERS.map((name) => [name, wanted.get(name)]).filter(([, value]) => value && value !== "all");
    matching = rows.filter(
      (row) => chosen.every(([name, value]) => "=" + row[name] === value) && (!words || row.text.includes(words)),
    );
    element("list").tBodies[0].replaceChildren();
    listed = 0;
    more();
    element("count").textContent = `${matching.length.toLocaleString("en")} of ${rows.length.toLocaleString("en")} rows`;
  }

  function columns() {
    const several = (name) => new Set(rows.map((row) => row[name])).size > 1;
    const always = ["id", "config"];
    const run = rows.some((row) => row.method);
    if (run) always.push("method");
    if (run && several("model")) always.push("model");
    return [...always, ...(run ? ["status", "score", "answer"] : ["passages", "query"])];
  }

  const kind = (name) => (name === "score" || name === "passages" ? "n" : "");

  function button(text, className) {
    const node = make("button", text, className);
    node.type = "button";
    return node;
  }

  function cell(row, name) {
    if (name === "id") return [button(row.id, "open")];
    if (name === "status") return [make("span", row.status, `status ${row.status}`)];
    if (name === "score") return [row.score === undefined || row.score === null ? "–" : percent(row.score)];
    if (name === "answer") return [short(row.answer ?? row.error ?? "")];
    if (name === "query") return [short(row.instance.query)];
    if (name === "passages") return [row.instance.context.length];
    return [row[name]];
  }

  function more() {
    const body = element("list").tBodies[0];
    for (const row of matching.slice(listed, listed + PAGE)) {
      const place = body.rows.length;
      const line = make("tr");
      for (const name of names) {
        const box = make("td", null, kind(name));
        box.append(...cell(row, name));
        line.append(box);
      }
      line.addEventListener("click", () => open(place));
      body.append(line);
    }
    listed = Math.min(matching.length, listed + PAGE);
    element("more").hidden = listed >= matching.length;
  }

  function open(place) {
    current = place;
    show(matching[place]);
    element("before").disabled = place <= 0;
    element("after").disabled = place >= matching.length - 1;
    if (!element("detail").open) element("detail").showModal();
  }

  function facts(pairs) {
    const list = make("dl");
    for (const [name, value] of pairs) {
      if (value === undefined || value === null || value === "") continue;
      list.append(make("dt", name), value instanceof Node ? value : make("dd", value));
    }
    return list;
  }

  function show(row) {
    const body = element("detail-body");
    element("detail-title").textContent = [row.id, row.config, row.method, row.model].filter(Boolean).join(" · ");
    body.replaceChildren();
    const instance = row.instance;
    if (instance) {
      body.append(facts([["query", instance.query], ["answers", instance.answers.join("  |  ")]]));
    }
    if (row.method) body.append(...answered(row), others(row));
    if (instance) body.append(...context(row));
    element("detail").scrollTop = 0;
  }

  function answered(row) {
    const status = make("dd");
    status.append(make("span", row.status, `status ${row.status}`));
    const scores = Object.entries(row.scores ?? {}).map(
      ([name, value]) => `${name} ${name.startsWith("n_") ? number(value) : percent(value)}`,
    );
    const parts = [
      facts([
        ["status", status],
        ["answer read", row.answer],
        ["scores", scores.join(",  ")],
        ["error", row.error],
        ["cited or chosen", (row.evidence ?? []).join(", ")],
        ["prompt tokens", row.n_prompt_tokens === undefined ? null : number(row.n_prompt_tokens)],
        ["new tokens", row.n_new_tokens === undefined ? null : number(row.n_new_tokens) + (row.truncated ? ", cut off" : "")],
        ["seconds", row.latency_s],
        ["prompt sha256", row.prompt_sha256],
      ]),
    ];
    if (row.output !== undefined) parts.push(make("h3", "Output"), make("pre", row.output));
    (row.steps_log ?? []).forEach((step, at) => {
      const said = Object.entries(step).map(([name, value]) => [
        name.replaceAll("_", " "),
        typeof value === "object" ? JSON.stringify(value) : String(value),
      ]);
      parts.push(make("h3", `Step ${at + 1}`), facts(said));
    });
    return parts;
  }

  // The same question under other configs, methods and models.
  function others(row) {
    const same = rows.filter((other) => other.id === row.id && other.task === row.task);
    const details = make("details");
    details.append(make("summary", `The same instance in ${same.length - 1} other settings`));
    const table = make("table");
    table.id = "others";
    for (const other of same) {
      const line = make("tr", null, other === row ? "here" : "");
      const to = button(`${other.config} · ${other.method} · ${other.model}`);
      to.addEventListener("click", () => jump(other));
      const first = make("td");
      first.append(to);
      const status = make("td");
      status.append(...cell(other, "status"));
      line.append(first, status, make("td", cell(other, "score")[0], "n"), make("td", cell(other, "answer")[0]));
      table.append(line);
    }
    const wide = make("div", null, "wide");
    wide.append(table);
    details.append(wide);
    return details;
  }

  function jump(row) {
    const place = matching.indexOf(row);
    if (place >= 0) return open(place);
    current = -1;
    show(row);
    element("before").disabled = element("after").disabled = true;
  }

  // Which passages a condition showed the model, and that in words.
  function seen(row) {
    const chosen = new Set(row.evidence ?? []);
    if (row.condition === "closed_book") return [() => false, "The model saw none of it."];
    if (row.condition === "vanilla") return [() => true, "The model saw all of it."];
    if (row.condition === "oracle") return [(role) => role === "gold", "The model saw the gold passages alone."];
    if (row.condition && row.condition.startsWith("retrieved") && chosen.size && !row.method.includes("+cite"))
      return [(role, pid) => chosen.has(pid), "The model saw the passages that are marked as chosen."];
    return [() => true, ""];
  }

  function context(row) {
    const { instance } = row;
    const counts = {};
    for (const [, role] of instance.context) counts[role] = (counts[role] ?? 0) + 1;
    const kinds = Object.entries(counts).map(([role, count]) => `${count} ${role}`).join(", ");
    const [shown, said] = seen(row);
    const tokens = instance.n_tokens === null ? "" : `, ${number(instance.n_tokens)} tokens`;
    const ratio = instance.confounding_ratio === null ? "" : `, confounding ratio ${instance.confounding_ratio.toFixed(2)}`;
    const flags = instance.flags && instance.flags.length ? `, flags: ${instance.flags.join(", ")}` : "";
    const parts = [
      make("h3", "Context"),
      make("p", `${instance.context.length} passages (${kinds})${tokens}${ratio}${flags}. ${said}`, "note"),
    ];
    instance.context.forEach(([place, role, by], at) => {
      parts.push(passage(data.passages[place], role, by, at + 1, instance, row, shown(role, data.passages[place][0])));
    });
    return parts;
  }

  function passage([pid, title, text], role, by, at, instance, row, shown) {
    const node = make("article", null, `passage ${role.split(" ")[0] === role ? role : "random"}`);
    const cited = (row.evidence ?? []).includes(pid);
    node.classList.toggle("cited", cited);
    node.classList.toggle("unseen", !shown);
    const head = make("h4", `[${at}] ${title} `);
    head.append(make("span", [role, by, cited ? (row.method.includes("+cite") ? "cited" : "chosen") : ""].filter(Boolean).join(", "), "role"));
    head.append(make("small", ` ${pid}`));
    const body = make("p");
    if (text === null) body.append(make("em", "text left out of this page"));
    else body.append(...marked(text, instance.answers));
    node.append(head, body);
    return node;
  }

  // Pieces of a text with every answer marked.
  function marked(text, answers) {
    const escaped = answers.filter((answer) => answer.trim().length > 1).sort((a, b) => b.length - a.length)
      .map((answer) => answer.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    if (!escaped.length) return [text];
    const pieces = text.split(new RegExp(`(?<![\\p{L}\\p{N}])(${escaped.join("|")})(?![\\p{L}\\p{N}])`, "giu"));
    return pieces.map((piece, at) => (at % 2 ? make("mark", piece) : piece));
  }

  async function start() {
    data = await unpack(element("data").textContent);
    prepare();
    names = columns();
    const head = make("tr");
    head.append(...names.map((name) => make("th", name, kind(name))));
    element("list").tHead.append(head);
    filters();
    filter();
    element("more").addEventListener("click", more);
    element("close").addEventListener("click", () => element("detail").close());
    element("before").addEventListener("click", () => open(current - 1));
    element("after").addEventListener("click", () => open(current + 1));
    element("detail").addEventListener("keydown", (event) => {
      const to = { ArrowLeft: "before", ArrowRight: "after" }[event.key];
      if (to) element(to).click();
    });
    document.body.dataset.ready = "yes";
  }

  start().catch((error) => {
    element("count").textContent = `The instances could not be read (${error.message}); a browser of 2023 or later is needed.`;
  });
})();
