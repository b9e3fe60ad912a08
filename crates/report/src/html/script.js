"use strict";
for (const timeline of document.querySelectorAll(".timeline")) {
  const tools = timeline.querySelector(".tools");
  const scroll = timeline.querySelector(".scroll");
  const svg = timeline.querySelector("svg");
  const detail = timeline.querySelector(".detail");
  const steps = [...timeline.querySelectorAll("g.step")];
  const rows = [...timeline.querySelectorAll("tbody tr")];
  const natural = Number(svg.getAttribute("width"));
  let width = natural;
  let current = -1;
  tools.hidden = false;

  // Only the distances grow: circles and numbers keep their size.
  const places = [...svg.querySelectorAll("circle, text")].map((mark) => {
    const name = mark.tagName === "text" ? "x" : "cx";
    return [mark, name, Number(mark.getAttribute(name))];
  });
  const lines = [...svg.querySelectorAll("path")].map((path) => [path, path.getAttribute("d").match(/[\d.]+/g).map(Number)]);
  const draw = (wanted) => {
    width = Math.min(Math.max(wanted, 120), natural * 8);
    const factor = width / natural;
    svg.setAttribute("width", width);
    svg.setAttribute("viewBox", `0 0 ${width} ${svg.getAttribute("height")}`);
    for (const line of svg.querySelectorAll(".lane")) line.setAttribute("x2", width);
    for (const [mark, name, at] of places) mark.setAttribute(name, at * factor);
    for (const [path, [x1, y1, middle, y2, x2]] of lines) {
      path.setAttribute("d", `M${x1 * factor} ${y1} H${middle * factor} V${y2} H${x2 * factor}`);
    }
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
  const into = (box, item, from, to) => {
    const [outer, inner] = [box.getBoundingClientRect(), item.getBoundingClientRect()];
    if (inner[from] < outer[from] || inner[to] > outer[to]) item.scrollIntoView({ block: "nearest", inline: "center" });
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
  scroll.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    show(Math.min(Math.max(current + by, 0), steps.length - 1));
    into(scroll, steps[current], "left", "right");
    into(timeline.querySelector(".steps"), rows[current], "top", "bottom");
  });
  steps.forEach((step, number) => step.addEventListener("pointerenter", () => show(number)));
  steps.forEach((step, number) => step.addEventListener("click", () => {
    show(number);
    into(timeline.querySelector(".steps"), rows[number], "top", "bottom");
  }));
  rows.forEach((row, number) => row.addEventListener("pointerenter", () => show(number)));
  // Long interleavings end with what the finding is about.
  const box = timeline.querySelector(".steps");
  const last = [...timeline.querySelectorAll("tr.culprit")].pop();
  if (last && last.offsetTop + last.offsetHeight > box.clientHeight) box.scrollTop = last.offsetTop - box.clientHeight / 2;
  if (natural < scroll.clientWidth) draw(Math.min(scroll.clientWidth, natural * 2.5));
}
