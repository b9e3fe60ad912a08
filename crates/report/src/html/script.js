"use strict";
const tip = document.createElement("div");
tip.className = "tip";
tip.hidden = true;
document.body.append(tip);

// Scrolling moves the page below a pointer that rests: nobody has pointed at what is there then.
let pointer = [];
const hasMoved = (event) => event.screenX !== pointer[0] || event.screenY !== pointer[1];
for (const name of ["pointermove", "pointerdown"]) {
  document.addEventListener(name, (event) => { pointer = [event.screenX, event.screenY]; }, true);
}

for (const timeline of document.querySelectorAll(".timeline")) {
  const tools = timeline.querySelector(".tools");
  const filters = timeline.querySelector(".filters");
  const scroll = timeline.querySelector(".scroll");
  const svg = scroll.querySelector("svg");
  const overview = timeline.querySelector(".overview");
  const detail = timeline.querySelector(".detail");
  const box = timeline.querySelector(".steps");
  const steps = [...timeline.querySelectorAll("g.step")];
  const rows = [...timeline.querySelectorAll("tr[data-step]")];
  const natural = Number(svg.getAttribute("width"));
  let width = natural;
  let current = -1;
  tools.hidden = false;
  filters.hidden = false;
  // The browser's own tooltip would appear late, and in addition.
  for (const title of svg.querySelectorAll("g.step title")) title.remove();

  // Only the distances grow: circles and numbers keep their size.
  const places = [...svg.querySelectorAll("circle, text, rect")].map((mark) => {
    const name = mark.tagName === "circle" ? "cx" : "x";
    return [mark, name, Number(mark.getAttribute(name)), Number(mark.getAttribute("width"))];
  });
  const lines = [...svg.querySelectorAll("path")].map((path) => [path, path.getAttribute("d").match(/[\d.]+/g).map(Number)]);
  const look = () => {
    if (!overview) return;
    const frame = overview.querySelector(".window");
    frame.setAttribute("x", (scroll.scrollLeft / width) * steps.length);
    frame.setAttribute("width", Math.min(scroll.clientWidth / width, 1) * steps.length);
  };
  const draw = (wanted) => {
    width = Math.min(Math.max(wanted, 120), natural * 8);
    const factor = width / natural;
    svg.setAttribute("width", width);
    svg.setAttribute("viewBox", `0 0 ${width} ${svg.getAttribute("height")}`);
    for (const line of svg.querySelectorAll(".lane")) line.setAttribute("x2", width);
    for (const [mark, name, at, wide] of places) {
      mark.setAttribute(name, at * factor);
      if (mark.classList.contains("held")) mark.setAttribute("width", wide * factor);
    }
    for (const [path, numbers] of lines) {
      const [x1, y1, middle, y, x2, y2] = numbers;
      const [a, b, c] = [x1 * factor, middle * factor, x2 * factor];
      path.setAttribute("d", numbers.length > 5 ? `M${a} ${y1} Q${b} ${y} ${c} ${y2}` : `M${a} ${y1} H${b} V${y} H${c}`);
    }
    look();
  };
  const zoom = (factor, at) => {
    const before = width;
    draw(width * factor);
    scroll.scrollLeft = (scroll.scrollLeft + at) * (width / before) - at;
  };
  const show = (number) => {
    for (const mark of [steps[current], rows[current]]) mark?.classList.remove("on");
    current = number;
    for (const mark of [steps[current], rows[current]]) mark?.classList.add("on");
    if (steps[current]) detail.textContent = steps[current].dataset.text;
  };
  const into = (outside, item, from, to) => {
    const [outer, inner] = [outside.getBoundingClientRect(), item.getBoundingClientRect()];
    if (inner[from] < outer[from] || inner[to] > outer[to]) item.scrollIntoView({ block: "nearest", inline: "center" });
  };
  const reveal = (number) => {
    show(number);
    into(scroll, steps[number], "left", "right");
    into(box, rows[number], "top", "bottom");
  };
  const isShown = (number) => !rows[number].hidden;
  // Returns the next step in a direction that satisfies a condition, or else the same one.
  const next = (by, holds) => {
    for (let at = current + by; at >= 0 && at < rows.length; at += by) if (isShown(at) && holds(at)) return at;
    return Math.max(current, 0);
  };

  for (const button of tools.querySelectorAll("button")) {
    button.addEventListener("click", () => {
      if (button.dataset.zoom === "fit") draw(scroll.clientWidth);
      else zoom(Number(button.dataset.zoom), scroll.clientWidth / 2);
    });
  }
  scroll.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    zoom(event.deltaY < 0 ? 1.25 : 0.8, event.clientX - scroll.getBoundingClientRect().left);
  }, { passive: false });
  scroll.addEventListener("scroll", look, { passive: true });
  const keys = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const thread = rows[current]?.dataset.thread;
    const any = () => true;
    const same = (at) => rows[at].dataset.thread === thread;
    const isPreempted = (at) => rows[at].classList.contains("preempted");
    const isCulprit = (at) => rows[at].classList.contains("culprit");
    const to = {
      ArrowRight: () => next(1, any), ArrowLeft: () => next(-1, any), ArrowDown: () => next(1, same), ArrowUp: () => next(-1, same),
      Home: () => { current = -1; return next(1, any); }, End: () => { current = rows.length; return next(-1, any); },
      p: () => next(1, isPreempted), P: () => next(-1, isPreempted), c: () => next(1, isCulprit), C: () => next(-1, isCulprit),
    }[event.key];
    if (event.key === "/") {
      filters.open = true;
      filters.querySelector("input").focus();
    } else if (to) reveal(to());
    else return;
    event.preventDefault();
  };
  scroll.addEventListener("keydown", keys);
  box.addEventListener("keydown", keys);
  steps.forEach((step, number) => {
    step.addEventListener("pointerenter", (event) => {
      if (!hasMoved(event)) return;
      show(number);
      tip.textContent = step.dataset.text;
      tip.hidden = event.pointerType === "touch";
      const [right, below] = [event.clientX + 14, event.clientY + 18];
      tip.style.left = `${Math.min(right, innerWidth - tip.offsetWidth - 8)}px`;
      tip.style.top = `${below + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - 12 : below}px`;
    });
    step.addEventListener("pointerleave", () => { tip.hidden = true; });
    step.addEventListener("click", () => { show(number); into(box, rows[number], "top", "bottom"); });
  });
  rows.forEach((row, number) => {
    row.addEventListener("pointerenter", (event) => { if (hasMoved(event)) show(number); });
    row.addEventListener("click", () => reveal(number));
  });
  // The steps that the cause names are links, which also work without the script.
  for (const link of timeline.closest("section").querySelectorAll(".cause a")) {
    const number = rows.findIndex((row) => row.id && `#${row.id}` === link.hash);
    if (number < 0) continue;
    link.addEventListener("click", () => setTimeout(() => reveal(number)));
    if (link.hash === location.hash) setTimeout(() => reveal(number));
  }
  overview?.addEventListener("pointerdown", (event) => {
    const frame = overview.getBoundingClientRect();
    const at = Math.floor(((event.clientX - frame.left) / frame.width) * steps.length);
    reveal(Math.min(Math.max(at, 0), steps.length - 1));
  });

  const [search, object, matches] = ["input[type=search]", "select", ".matches"].map((name) => filters.querySelector(name));
  const boxes = [...filters.querySelectorAll("input[type=checkbox]")];
  const filter = () => {
    const off = (name) => new Set(boxes.filter((one) => name in one.dataset && !one.checked).map((one) => one.dataset[name]));
    const [threads, classes, words] = [off("thread"), off("class"), search.value.trim().toLowerCase()];
    let count = 0;
    rows.forEach((row, number) => {
      const fits = !threads.has(row.dataset.thread) && !classes.has(row.dataset.class)
        && (!object.value || row.dataset.object === object.value)
        && (!words || steps[number].dataset.text.toLowerCase().includes(words));
      row.hidden = !fits;
      steps[number].classList.toggle("dim", !fits);
      count += fits;
    });
    const isFiltered = count < rows.length;
    for (const gap of box.querySelectorAll("tr.gap")) gap.hidden = isFiltered;
    matches.textContent = isFiltered ? `${count} of ${rows.length} steps` : "";
  };
  filters.addEventListener("input", filter);

  // Long interleavings end with what the finding is about.
  const last = [...timeline.querySelectorAll("tr.culprit")].pop();
  if (last && last.offsetTop + last.offsetHeight > box.clientHeight) box.scrollTop = last.offsetTop - box.clientHeight / 2;
  if (natural < scroll.clientWidth) draw(Math.min(scroll.clientWidth, natural * 2.5));
  else if (last) {
    const place = steps[Number(last.dataset.step) - 1].querySelector("circle");
    scroll.scrollLeft = Number(place.getAttribute("cx")) - scroll.clientWidth / 2;
  }
  look();
}

for (const command of document.querySelectorAll("pre.command")) {
  const text = command.textContent;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "copy";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "copied";
    } catch {
      getSelection().selectAllChildren(command);
      button.textContent = "selected";
    }
    setTimeout(() => { button.textContent = "copy"; }, 1500);
  });
  command.append(button);
}
