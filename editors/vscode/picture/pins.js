// The pinned boxes of a picture: they are marked whatever is selected or searched, and what is around them is open again
// when the function is shown again, or when a group around them opens.

export class Pins {
  constructor(graph) {
    this.graph = graph;
    /** For each function, the names of its pinned boxes, each with the paths of the open groups around it. */
    this.all = new Map();
    /** The pinned ones among the items that are shown. */
    this.shown = new Set();
  }

  /** A name of an item that an edit of others preserves. */
  nameOf(item) {
    return `${this.graph.pathOf(item)} ${item.name}`;
  }

  /** Pins an item, or releases it. */
  toggle(at) {
    const { graph, all } = this;
    const { items, nodes } = graph.scene;
    const own = all.get(graph.name) ?? new Map();
    all.set(graph.name, own);
    const name = this.nameOf(items[at]);
    if (own.delete(name)) {
      return;
    }
    const paths = [];
    for (let frame = at; frame >= 0; frame = nodes[frame].frame) {
      if (items[frame].isOpen) {
        paths.push(graph.pathOf(items[frame]));
      }
    }
    own.set(name, paths);
  }

  /** The paths of the groups that pins of the function keep open. */
  paths() {
    return new Set([...(this.all.get(this.graph.name)?.values() ?? [])].flat());
  }

  /** The scene has changed. */
  find() {
    const { graph } = this;
    const own = this.all.get(graph.name) ?? new Map();
    const isPinned = (at) => own.has(this.nameOf(graph.scene.items[at]));
    this.shown = new Set(own.size === 0 ? [] : [...graph.scene.items.keys()].filter(isPinned));
  }
}
