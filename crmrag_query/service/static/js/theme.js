// Runs before the first paint, so that a chosen theme does not flash; `theme` in store.js changes it.
try {
  const chosen = localStorage.getItem("crmrag.theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
  // Storage may be forbidden: the system's theme is used.
}
