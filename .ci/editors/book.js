// The required parts of mdBook's book.js, which Debian's package lacks: highlighting, the sidebar and the themes.
(() => {
  "use strict";
  const root = document.documentElement;
  for (const block of document.querySelectorAll("pre code")) {
    block.classList.add("hljs");
    if (window.hljs && [...block.classList].some((name) => hljs.getLanguage(name.replace(/^language-/, "")))) {
      hljs.highlightBlock(block);
    }
  }
  const styles = { "highlight-css": ["light", "rust"], "tomorrow-night-css": ["coal", "navy"], "ayu-highlight-css": ["ayu"] };
  const style = () => {
    for (const [id, names] of Object.entries(styles)) {
      const sheet = document.getElementById(id) ?? document.getElementById(`mdbook-${id}`);
      if (sheet) {
        sheet.disabled = !names.some((name) => root.classList.contains(name));
      }
    }
  };
  style();
  const sidebar = document.getElementById("sidebar-toggle-anchor");
  sidebar?.addEventListener("change", () => {
    root.classList.toggle("sidebar-visible", sidebar.checked);
    document.getElementById("sidebar")?.setAttribute("aria-hidden", String(!sidebar.checked));
  });
  const themes = document.getElementById("theme-list");
  document.getElementById("theme-toggle")?.addEventListener("click", () => {
    themes.style.display = themes.style.display === "block" ? "none" : "block";
  });
  themes?.addEventListener("click", ({ target }) => {
    const name = target.closest(".theme")?.id.replace(/^mdbook-theme-/, "");
    if (name) {
      root.classList.remove("light", "rust", "coal", "navy", "ayu");
      root.classList.add(name === "default_theme" ? "light" : name);
      style();
      localStorage.setItem("mdbook-theme", JSON.stringify(name));
      themes.style.display = "none";
    }
  });
})();
