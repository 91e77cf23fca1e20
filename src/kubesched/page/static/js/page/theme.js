// Dark and light: as the system says, unless the switch says otherwise.

const system = window.matchMedia("(prefers-color-scheme: dark)");

export function theme() {
  return document.documentElement.dataset.theme;
}

/** Set the theme now and whenever the system or the switch changes it. */
export function followTheme(button, changed) {
  const set = () => {
    const chosen = localStorage.getItem("theme");
    const now = chosen || (system.matches ? "dark" : "light");
    document.documentElement.dataset.theme = now;
    button.textContent = now === "dark" ? "Light" : "Dark";
    button.setAttribute("aria-label", `Change to ${now === "dark" ? "light" : "dark"} colours`);
    changed();
  };
  button.addEventListener("click", () => {
    localStorage.setItem("theme", theme() === "dark" ? "light" : "dark");
    set();
  });
  system.addEventListener("change", set);
  set();
}
