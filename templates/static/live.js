// Shows the attempts of apps to connect as they happen. Without this file the page is loaded again by hand, or by itself
// with "Watch".
(() => {
  "use strict";

  const list = document.querySelector("[data-live]");
  if (!list || !window.EventSource) return;
  const status = document.querySelector("[data-live-status]");
  const on = document.querySelector("[data-live-on]");
  const watch = document.querySelector("[data-live-watch]");
  const live = (yes) => {
    on.hidden = !yes;
    watch.hidden = yes;
  };

  const source = new EventSource(list.dataset.live);
  source.addEventListener("open", () => live(true));
  source.addEventListener("attempts", (event) => {
    // What somebody opened, closed or focused stays so.
    const opened = new Map();
    for (const d of list.querySelectorAll("details[data-attempt]")) opened.set(d.dataset.attempt, d.open);
    const focused = list.contains(document.activeElement) && document.activeElement.closest("details[data-attempt]");
    const next = document.createElement("template");
    next.innerHTML = event.data;
    for (const d of next.content.querySelectorAll("details[data-attempt]")) {
      if (opened.has(d.dataset.attempt)) d.open = opened.get(d.dataset.attempt);
    }
    list.replaceChildren(next.content);
    if (!focused) return;
    for (const d of list.querySelectorAll("details[data-attempt]")) {
      if (d.dataset.attempt === focused.dataset.attempt) d.querySelector("summary").focus();
    }
  });
  source.addEventListener("news", (event) => {
    status.textContent = event.data;
  });
  source.addEventListener("end", () => {
    source.close();
    live(false);
  });
  source.addEventListener("error", () => {
    if (source.readyState === EventSource.CLOSED) live(false);
  });
  window.addEventListener("pagehide", () => source.close());
})();
