// The layout of a dataflow graph. An item is a call, an input or the output of a function. `from` lists its
// inputs, which all precede it, and `pills` is the number of labels drawn next to it: inputs that are too
// small or too far away for a node and an edge, such as weights.
"use strict";

const NODE = { width: 190, height: 40, gapX: 24, gapY: 46 };
const PILL = { width: 112, height: 15, gap: 3, apart: 14, most: 4 };
/** An edge over more layers than this is replaced by a pill at its end. */
const LONGEST = 24;

/**
 * Places each item below all its inputs, in the order with the fewest crossings that a few sweeps find.
 * `edges` lists the items and the x of each layer between them; `jumps` are the edges that are too
 * long.
 */
function layout(items) {
  const layer = layering(items);
  const isMain = mainLine(items);
  const nodes = items.map(({ pills = 0 }, at) => ({ layer: layer[at], pills, isMain: isMain[at], up: [], down: [], x: 0 }));
  const edges = [];
  const jumps = [];
  for (const [to, { from }] of items.entries()) {
    for (const source of new Set(from)) {
      if (layer[to] - layer[source] > LONGEST) {
        jumps.push([source, to]);
        nodes[to].pills++;
      } else {
        edges.push([source, to, []]);
      }
    }
  }
  const join = (a, b) => {
    nodes[a].down.push(b);
    nodes[b].up.push(a);
  };
  for (const [from, to, through] of edges) {
    let last = from;
    for (let at = layer[from] + 1; at < layer[to]; at++) {
      nodes.push({ layer: at, pills: -1, isMain: false, up: [], down: [], x: 0 });
      through.push(nodes.length - 1);
      join(last, nodes.length - 1);
      last = nodes.length - 1;
    }
    join(last, to);
  }
  const layers = [];
  for (const [at, node] of nodes.entries()) {
    (layers[node.layer] ??= []).push(at);
  }
  order(nodes, layers);
  place(nodes, layers);
  let bottom = -NODE.gapY;
  const bands = layers.map((layer) => {
    const top = bottom + NODE.gapY;
    bottom = top + Math.max(...layer.map((at) => heightOf(nodes[at])));
    return { top, bottom, items: layer.filter((at) => at < items.length) };
  });
  return {
    nodes: items.map((_, at) => {
      const { x, layer } = nodes[at];
      return { x, layer, y: (bands[layer].top + bands[layer].bottom - NODE.height) / 2 };
    }),
    edges: edges.map(([from, to, through]) => [from, to, through.map((at) => nodes[at].x)]),
    jumps,
    layers: bands,
  };
}

/** The layer of each item: as low as its uses allow, so that a transposed weight of the last layer is next to
 * that layer. */
function layering(items) {
  const layer = new Array(items.length).fill(0);
  for (const [at, { from }] of items.entries()) {
    for (const source of from) {
      layer[at] = Math.max(layer[at], layer[source] + 1);
    }
  }
  const lowest = new Array(items.length).fill(Infinity);
  for (let at = items.length - 1; at >= 0; at--) {
    layer[at] = lowest[at] === Infinity ? layer[at] : lowest[at];
    for (const source of items[at].from) {
      lowest[source] = Math.min(lowest[source], layer[at] - 1);
    }
  }
  return layer;
}

/** The items that depend on an input; without inputs, all items. */
function mainLine(items) {
  const isMain = [];
  for (const { kind, from } of items) {
    isMain.push(kind === "input" || from.some((source) => isMain[source]));
  }
  return isMain.includes(true) ? isMain : isMain.fill(true);
}

/** The number of drawn pills: the last one shows the number of the others. */
const pillsShown = (count) => Math.min(count, PILL.most);

function heightOf({ pills }) {
  return Math.max(NODE.height, pillsShown(pills) * (PILL.height + PILL.gap));
}

/** Sorts each layer by the mean of its neighbours, alternating down and up. */
function order(nodes, layers) {
  const position = new Float64Array(nodes.length);
  const middle = new Float64Array(nodes.length);
  const number = (layer) => layer.forEach((at, index) => (position[at] = index));
  layers.forEach(number);
  sweep(layers, 4, (layer, side) => {
    if (layer.length > 1) {
      for (const at of layer) {
        middle[at] = mean(nodes[at][side], position, position[at]);
      }
      layer.sort((a, b) => middle[a] - middle[b] || position[a] - position[b]);
      number(layer);
    }
  });
}

/** Assigns each node its x: as close to the mean of its neighbours as the adjacent nodes allow. */
function place(nodes, layers) {
  // The room to the left and to the right; a bend of an edge needs little.
  const left = ({ pills }) => (pills < 0 ? 12 : NODE.width / 2 + NODE.gapX / 2 + (pills > 0 ? PILL.width + PILL.apart : 0));
  const right = ({ pills }) => (pills < 0 ? 12 : NODE.width / 2 + NODE.gapX / 2);
  // The main path is straight: branches around it bend, and nodes that prepare weights move aside.
  // Otherwise a deep network would lean to one side.
  const close = nodes.map((node) => {
    const main = (list) => (list.some((at) => nodes[at].isMain) ? list.filter((at) => nodes[at].isMain) : list);
    return { up: main(node.up), down: main(node.down) };
  });
  const places = new Float64Array(nodes.length);
  /** The distance of each node of a layer from its first one, if they are packed. */
  const offsets = layers.map((layer) => {
    let x = 0;
    return layer.map((at, index) => (index === 0 ? 0 : (x += right(nodes[layer[index - 1]]) + left(nodes[at]))));
  });
  for (const [number, layer] of layers.entries()) {
    const middle = offsets[number].at(-1) / 2;
    layer.forEach((at, index) => (places[at] = offsets[number][index] - middle));
  }
  sweep(layers, 6, (layer, side, number) => {
    const wanted = layer.map((at) => mean(close[at][side], places, places[at]));
    const first = layer.flatMap((at, index) => (nodes[at].isMain ? [index] : []));
    const others = layer.flatMap((at, index) => (nodes[at].isMain ? [] : [index]));
    const offset = offsets[number];
    spread(first, wanted, offset);
    // There is room between two placed nodes for the nodes between them.
    let [next, low] = [0, -Infinity];
    for (const index of others) {
      while (first[next] < index) {
        low = wanted[first[next]] - offset[first[next]];
        next++;
      }
      const high = next < first.length ? wanted[first[next]] - offset[first[next]] : Infinity;
      wanted[index] = Math.min(Math.max(wanted[index], low + offset[index]), high + offset[index]);
    }
    spread(others, wanted, offset);
    layer.forEach((at, index) => (places[at] = wanted[index]));
  });
  nodes.forEach((node, at) => (node.x = places[at]));
}

/** Separates positions as far as necessary, taking the mean of the leftmost and the rightmost valid
 * arrangement. */
function spread(indices, wanted, offset) {
  // Without the offsets, the positions only need to be ascending.
  let low = -Infinity;
  const lowest = indices.map((index) => (low = Math.max(low, wanted[index] - offset[index])));
  let high = Infinity;
  for (let i = indices.length - 1; i >= 0; i--) {
    const index = indices[i];
    high = Math.min(high, wanted[index] - offset[index]);
    wanted[index] = (lowest[i] + high) / 2 + offset[index];
  }
}

/** Sweeps down and up through the layers: each is arranged by the previously arranged ones. */
function sweep(layers, times, arrange) {
  for (let time = 0; time < times; time++) {
    if (time % 2 === 0) {
      layers.forEach((layer, number) => arrange(layer, "up", number));
    } else {
      layers.reduceRight((_, layer, number) => arrange(layer, "down", number), undefined);
    }
  }
}

/** The mean of the values of some nodes, or `otherwise` if there are none. */
function mean(list, values, otherwise) {
  let sum = 0;
  for (const at of list) {
    sum += values[at];
  }
  return list.length === 0 ? otherwise : sum / list.length;
}
