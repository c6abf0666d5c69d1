// Runs before anything is painted, so that a dark page does not flash white, and does not say at once that it has not loaded.
// The page itself takes over later.
(() => {
  let theme = null;
  try {
    theme = localStorage.getItem("compass.theme");
  } catch {
    // Storage is denied: the system's scheme it is.
  }
  const dark = theme === "dark" || (theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  const root = document.documentElement;
  root.dataset.theme = dark ? "dark" : "light";

  root.dataset.starting = "";
  const late = () => delete root.dataset.starting;
  // Also a script that came and does not run here. A style sheet alone keeps nothing from starting.
  addEventListener("error", ({ target }) => target instanceof HTMLLinkElement || late(), true);
  setTimeout(late, 15_000);
  // The link alone would lose the secret that stands behind the # of a sign-in link.
  addEventListener("click", (event) => {
    if (!(event.target instanceof Element) || !event.target.closest("#late a")) return;
    event.preventDefault();
    location.reload();
  });
})();
