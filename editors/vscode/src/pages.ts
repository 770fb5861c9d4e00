// The pages of shapes and results: the playground on the site has the same.

/** A page; its styles and scripts are files in `media`. */
export interface Page {
  readonly title: string;
  readonly styles: readonly string[];
  /** In this order: each uses those before it. */
  readonly scripts: readonly string[];
  readonly body: string;
}

export const SHAPES: Page = {
  title: "Shapes",
  styles: ["table.css", "shapes.css"],
  scripts: ["amounts.js", "table.js", "picture.js", "kinds.js", "details.js", "shapes.js"],
  body: `  <header>
    <select id="function" aria-label="Function"></select>
    <input id="search" type="search" placeholder="Search (/)" aria-label="Search">
    <span id="matches" role="status"></span>
    <span id="tabs" role="tablist">
      <button id="show-table" role="tab" aria-selected="true">Table</button>
      <button id="show-graph" role="tab" aria-selected="false">Graph</button>
      <button id="show-memory" role="tab" aria-selected="false">Memory</button>
      <button id="show-sums" role="tab" aria-selected="false">Sums</button>
    </span>
    <label>Cost <select id="cost"></select></label>
  </header>
  <p id="total" role="status"></p>
  <main id="table"><div id="scroll"></div></main>
  <main id="graph" hidden>
    <div id="tools" role="toolbar" aria-label="Graph">
      <button id="fit" title="All of the graph (F)">Fit</button>
      <button id="reset" title="As it opens: at the cursor, to be read (0)">Reset</button>
      <button id="selection" title="Zoom to the selected call and those beside it (S)">Selection</button>
      <button id="pin" title="Keeps the selected box marked, and a group open (P)">Pin</button>
      <label>Colour <select id="colour"></select></label>
      <span class="gap"></span>
      <select id="extent" aria-label="What is saved">
        <option value="whole">Whole</option>
        <option value="visible">Visible</option>
      </select>
      <button id="svg" title="Save the graph as SVG">SVG</button>
      <button id="png" title="Save the graph as PNG">PNG</button>
    </div>
    <div id="legend" aria-label="Colours"></div>
    <div id="stage">
      <div id="picture">
        <ul id="reader" class="reader" role="tree" aria-label="Calls and groups of the graph"></ul>
        <canvas id="canvas" tabindex="0" role="application" aria-label="Dataflow graph: arrows go along it, Space opens a group, Backspace closes it, F fits, S zooms to the selection, P pins, Enter goes to the line"></canvas>
        <canvas id="minimap" aria-hidden="true" hidden></canvas>
        <div id="tip" class="tip" hidden></div>
      </div>
      <aside id="details" aria-label="Selected call" hidden></aside>
    </div>
  </main>
  <main id="memory" hidden>
    <div id="timeline">
      <ul id="at-peak" class="reader" aria-label="Results that are live at the peak"></ul>
      <canvas id="memory-canvas" tabindex="0" role="application" aria-label="Memory over time: left and right go along the evaluation, P goes to the peak, plus and minus zoom, F fits, Enter goes to the line"></canvas>
      <div id="memory-tip" class="tip" hidden></div>
    </div>
    <div id="live" aria-label="Live at the peak"></div>
  </main>
  <main id="sums" hidden></main>`,
};

export const RESULTS: Page = {
  title: "Relay Results",
  styles: ["results.css"],
  scripts: ["elements.js", "results.js"],
  body: `  <main id="result" aria-live="polite"></main>`,
};
