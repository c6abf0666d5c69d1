// Runs before anything is painted, so that a dark page does not flash white. The page itself takes over later.
(() => {
  let theme = null;
  try {
    theme = localStorage.getItem("compass.theme");
  } catch {
    // Storage is denied: the system's scheme it is.
  }
  const dark = theme === "dark" || (theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();
