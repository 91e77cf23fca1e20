// Dark and light: as the system says, unless the user chooses one of them.

const system = window.matchMedia("(prefers-color-scheme: dark)");
const CHOICES = ["dark", "light"];

export function theme() {
  return document.documentElement.dataset.theme;
}

/** Set the theme now and whenever the system or the select changes it. */
export function followTheme(select, changed) {
  const set = () => {
    const stored = localStorage.getItem("theme");
    const chosen = CHOICES.includes(stored) ? stored : "";
    select.value = chosen;
    document.documentElement.dataset.theme = chosen || (system.matches ? "dark" : "light");
    changed();
  };
  select.addEventListener("change", () => {
    if (select.value) localStorage.setItem("theme", select.value);
    else localStorage.removeItem("theme");
    set();
  });
  system.addEventListener("change", set);
  set();
}
