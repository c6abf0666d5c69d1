// Runs before anything is painted: no dark page flashes white, and none says at once that it has not loaded.
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
  // Style sheets keep nothing from starting.
  addEventListener("error", ({ target }) => target instanceof HTMLLinkElement || late(), true);
  setTimeout(late, 15_000);
  // The link alone would lose the secret of a sign-in link.
  addEventListener("click", (event) => {
    if (!event.target.closest?.("#late a")) return;
    event.preventDefault();
    location.reload();
  });
})();
