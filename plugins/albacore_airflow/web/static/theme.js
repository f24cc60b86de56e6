// Light or dark, before the first paint: as Airflow's UI around the frame shows itself, else as the system does.
(() => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const around = () => {
    try {
      return window.parent === window ? null : window.parent.document.documentElement;
    } catch {
      return null; // a frame of another origin: its theme is not ours to know
    }
  };
  const wanted = () => {
    const outer = around();
    if (outer?.classList.contains("dark")) return "dark";
    if (outer?.classList.contains("light")) return "light";
    return dark.matches ? "dark" : "light";
  };
  const show = () => {
    const theme = wanted();
    if (document.documentElement.dataset.theme === theme) return;
    document.documentElement.dataset.theme = theme;
    document.dispatchEvent(new Event("theme"));
  };
  show();
  dark.addEventListener("change", show);
  const outer = around();
  if (outer) new MutationObserver(show).observe(outer, { attributes: true, attributeFilter: ["class"] });
})();
