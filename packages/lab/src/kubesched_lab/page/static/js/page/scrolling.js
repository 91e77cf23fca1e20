// A row that scrolls sideways says so: its end fades as long as there is more of it.

export function hintsAtMore(row) {
  const look = () => {
    const left = row.scrollLeft > 2;
    const right = row.scrollLeft + row.clientWidth < row.scrollWidth - 2;
    row.dataset.more = [left && "left", right && "right"].filter(Boolean).join(" ");
  };
  row.addEventListener("scroll", look, { passive: true });
  new ResizeObserver(look).observe(row);
  new MutationObserver(look).observe(row, { childList: true, subtree: true });
}
