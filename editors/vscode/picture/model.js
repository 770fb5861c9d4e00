// The boxes and edges of one level of the picture: a function, or the inside of a group. Each level is small: the
// server puts long sequences into groups.

/** The most values from outside of a level that are boxes of their own; further ones are pills. */
const MAX_ENTRIES = 4;

/** What a kind of box adds to the length of the main line. */
const LENGTH = { group: 8, product: 4, call: 2 };

/** The last use of each result of a function: the index of a row; the number of rows for a result of the function. */
export function lastUses({ rows, results }) {
  const last = new Int32Array(rows.length).fill(-1);
  for (const [at, { inputs }] of rows.entries()) {
    for (const { row } of inputs) {
      if (row !== undefined && row < at) {
        last[row] = at;
      }
    }
  }
  for (const { row } of results) {
    if (row !== undefined && row < rows.length) {
      last[row] = rows.length;
    }
  }
  return last;
}

/** The rows of a repetition of a group, or from the first repetition to the last. */
export function rowsOf(group, delta, instance) {
  const [first, last] = instance === undefined ? [group.rows[0], group.rows.at(-1)] : [group.rows[instance], group.rows[instance]];
  return { start: first[0] + delta, end: last[1] + delta };
}

/** The names and types of what an input takes of a row. */
function takenOf({ fields = [] }, row) {
  return fields.length === 0 ? [{ text: row.label }] : fields.map(({ index, label }) => ({ text: `.${index} ${label}`, field: index }));
}

/**
 * A level: `scope` has the function `one`, the `start` and `end` of its rows, the `groups` among them, whose rows are
 * `delta` further on, and `isWhole` for a whole function. `key` identifies it. Boxes are calls, groups, values from
 * outside (`input`, `entry`), and what goes out (`output`, `exit`).
 */
export function levelOf(scope, key) {
  const { one, start, end, groups, delta, isWhole, last } = scope;
  const boxes = [];
  const boxAt = new Int32Array(end - start);
  const add = (box) => boxes.push({ pills: [], ...box, key: `${key}/${box.kind}${box.start ?? box.origin ?? box.name}` }) - 1;
  let next = start;
  const calls = (until) => {
    for (; next < until; next++) {
      const row = one.rows[next];
      boxAt[next - start] = add({ kind: "call", start: next, end: next + 1, row, name: row.name, label: row.label, range: row.range });
    }
  };
  for (const group of groups) {
    const { start: from, end: to } = rowsOf(group, delta);
    if (from < next || to > end) {
      continue;
    }
    calls(from);
    const at = add({ kind: "group", start: from, end: to, group, name: group.name, label: group.label, range: one.rows[from].range });
    boxAt.fill(at, from - start, to - start);
    next = to;
  }
  calls(end);

  const edges = new Map();
  const join = (from, to, taken) => {
    const edge = edges.get(`${from} ${to}`) ?? { from, to, texts: [] };
    edges.set(`${from} ${to}`, edge);
    edge.texts.push(...taken.map(({ text }) => text).filter((text) => !edge.texts.includes(text)));
  };
  /** Values from outside, with the boxes that take them. */
  const outside = new Map();
  const hasInside = boxes.map(() => false);
  for (const [at, box] of boxes.entries()) {
    for (let row = box.start; row < box.end; row++) {
      for (const input of one.rows[row].inputs) {
        if (input.row !== undefined) {
          if (input.row >= box.start) {
            continue;
          }
          const taken = takenOf(input, one.rows[input.row]);
          if (input.row >= start) {
            hasInside[at] = true;
            join(boxAt[input.row - start], at, taken);
          } else {
            take(outside, `row ${input.row}`, { of: one.rows[input.row], row: input.row, kind: "entry" }, at, taken);
          }
          continue;
        }
        const source = one.sources[input.source];
        if (source.kind === "input") {
          take(outside, `source ${input.source}`, { of: source, kind: isWhole ? "input" : "entry" }, at, [{ text: source.label }]);
        } else if (box.kind === "call") {
          box.pills.push({ ...source });
        }
      }
    }
  }
  // A value with which a path begins is a box above it. Any other would be a line across half of the picture. Inside of
  // a group, parameters of the function are beside the boxes that take them if it continues a computation.
  const begins = ({ takers }) => [...takers.keys()].some((at) => !hasInside[at]);
  const isContinued = !isWhole && [...outside.values()].some((one) => one.value.row !== undefined && begins(one));
  let entries = 0;
  for (const one of outside.values()) {
    const { value, takers } = one;
    const { of, kind, row } = value;
    if (entries < MAX_ENTRIES && begins(one) && (row !== undefined || !isContinued)) {
      entries++;
      const at = add({ kind, name: of.name, label: of.label, range: of.range, origin: row });
      takers.forEach((taken, to) => join(at, to, taken));
    } else {
      takers.forEach((taken, to) => {
        const label = taken.map(({ text }) => text).join(", ");
        boxes[to].pills.push({ name: of.name, type: of.type, label, range: of.range, kind: row === undefined ? "input" : "jump", origin: row });
      });
    }
  }

  const leaving = isWhole ? one.results.map(({ row }) => row).filter((row) => row !== undefined && row < end) : [];
  for (let row = start; row < end && !isWhole; row++) {
    if (last[row] >= end) {
      leaving.push(row);
    }
  }
  if (leaving.length > 0) {
    const labels = [...new Set(leaving.map((row) => one.rows[row].label))];
    const label = leaving.length === 1 ? labels[0] : `${leaving.length} values`;
    const exit = add({ kind: isWhole ? "output" : "exit", name: "result", label });
    leaving.forEach((row) => join(boxAt[row - start], exit, [{ text: one.rows[row].label }]));
  }
  const list = [...edges.values()];
  return { key, scope, boxes, edges: list, spine: mainLine(boxes, list) };
}

function take(outside, key, value, at, taken) {
  const known = outside.get(key) ?? { value, takers: new Map() };
  outside.set(key, known);
  const of = known.takers.get(at) ?? [];
  known.takers.set(at, [...of, ...taken.filter(({ text }) => of.every((one) => one.text !== text))]);
}

/**
 * The boxes of the main line: the longest path, on which groups and products count most. It follows data where there are
 * any: a weight that is transposed and reshaped for a product is beside the line.
 */
function mainLine(boxes, edges) {
  const into = boxes.map(() => []);
  for (const { from, to } of edges) {
    into[to].push(from);
  }
  const score = boxes.map(() => -1);
  const before = boxes.map(() => -1);
  /**
   * Whether a box takes part in the computation that the level continues, if it does: what it makes of weights alone does
   * not. A weight may be an `input`, as the operand of a product of two inputs.
   */
  const takes = (kinds) => boxes.map(({ kind, origin, pills }) => kinds.includes(origin === undefined ? kind : "jump") || pills.some((pill) => kinds.includes(pill.kind)));
  const continued = takes(["jump"]);
  const hasData = continued.includes(true) ? continued : takes(["input", "entry"]);
  const own = ({ kind, row }) => (kind === "group" ? LENGTH.group : row?.category === "product" ? LENGTH.product : LENGTH[kind] ?? 1);
  // Boxes of values from outside come after those that take them.
  const order = [...boxes.keys()].sort((a, b) => phase(boxes[a]) - phase(boxes[b]) || a - b);
  let end = -1;
  for (const at of order) {
    score[at] = own(boxes[at]);
    const data = into[at].filter((from) => hasData[from]);
    hasData[at] ||= data.length > 0;
    let best = 0;
    for (const from of data.length > 0 ? data : into[at]) {
      if (score[from] > best) {
        [best, before[at]] = [score[from], from];
      }
    }
    score[at] += best;
    if (end < 0 || score[at] >= score[end] || phase(boxes[at]) === 2) {
      end = at;
    }
  }
  const line = [];
  for (let at = end; at >= 0; at = before[at]) {
    line.push(at);
  }
  return line.reverse();
}

function phase({ kind }) {
  return kind === "input" || kind === "entry" ? 0 : kind === "output" || kind === "exit" ? 2 : 1;
}
