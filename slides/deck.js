// One slide at a time, as large as the window. Arrow keys turn pages, N shows the speaker's notes.
// Without this script, and on paper, the slides follow one another.
// With ?cut=50 behind its address, a deck has the slides of the short cut only.
if (new URLSearchParams(location.search).get("cut") === "50") {
  document.querySelectorAll(".slide.more").forEach((slide) => slide.remove());
  const left = [...document.querySelectorAll(".slide")];
  left.forEach((slide, i) => (slide.querySelector(".page").textContent = `${i + 1} / ${left.length}`));
}
const slides = [...document.querySelectorAll(".slide")];
const [WIDTH, HEIGHT] = [1280, 720];
let current = 0;

function show(index) {
  current = Math.min(Math.max(index, 0), slides.length - 1);
  slides.forEach((slide, i) => slide.classList.toggle("current", i === current));
  history.replaceState(null, "", `#slide-${current + 1}`);
}

function fit() {
  const scale = Math.min(innerWidth / WIDTH, innerHeight / HEIGHT);
  document.documentElement.style.setProperty("--scale", scale);
}

const STEPS = { ArrowRight: 1, ArrowDown: 1, PageDown: 1, " ": 1, ArrowLeft: -1, ArrowUp: -1, PageUp: -1 };
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key in STEPS) show(current + STEPS[event.key]);
  else if (event.key === "Home") show(0);
  else if (event.key === "End") show(slides.length - 1);
  else if (event.key.toLowerCase() === "n") document.body.classList.toggle("with-notes");
  else return;
  event.preventDefault();
});
addEventListener("resize", fit);
document.body.classList.add("deck");
fit();
show(Number(location.hash.slice("#slide-".length) || 1) - 1);
