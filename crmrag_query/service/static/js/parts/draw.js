// What the drawings share: their size, moving and zooming, the full screen, and labels that leave room for each other.
import { html, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../../vendor/preact.js";
import { select, zoom, zoomIdentity } from "../../vendor/geo.js";
import { t } from "../i18n.js";

const STEP = 60; // pixels that an arrow key moves
const ZOOM = 1.6; // times that a button or key zooms
const PAUSE = 250; // milliseconds of a movement that a button starts
const HINT = 1800; // milliseconds for which a hint stays

/** True where the person asks for little movement. */
export const still = () => window.matchMedia("(prefers-reduced-motion: reduce)").matches;

/** What a click on an entity's link does where the page around it opens entities itself; nothing else for undefined. */
export const opener = (onEntity, iri) => onEntity && ((event) => {
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  onEntity(iri, event);
});

/** Width and height of an element's content in pixels, 0 until it is laid out. */
export function useSize(box) {
  const [size, setSize] = useState({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const take = () => {
      const { clientWidth: width, clientHeight: height } = box.current;
      setSize((old) => (old.width === width && old.height === height ? old : { width, height }));
    };
    take();
    const watcher = new ResizeObserver(take);
    watcher.observe(box.current);
    return () => watcher.disconnect();
  }, []);
  return size;
}

/** Whether an element fills the screen: {on, can, toggle}. */
export function useFullScreen(box) {
  const [on, setOn] = useState(false);
  useEffect(() => {
    const change = () => setOn(document.fullscreenElement === box.current);
    document.addEventListener("fullscreenchange", change);
    return () => document.removeEventListener("fullscreenchange", change);
  }, []);
  const toggle = () => (on ? document.exitFullscreen() : box.current.requestFullscreen()).catch(() => {});
  return { on, can: Boolean(document.fullscreenEnabled), toggle };
}

/**
 * Moving and zooming of a drawing: {view: {k, x, y, moving}, hint, by(factor), pan(x, y), to(view), onKeyDown}.
 * The wheel zooms with Ctrl or ⌘ and one finger scrolls the page, unless the drawing fills the screen (`free`).
 * frame: ref of the svg; extent: least and greatest k; whole(): the view of everything.
 */
export function usePanZoom(frame, { extent, whole, free = false }) {
  const [view, setView] = useState({ k: 1, x: 0, y: 0, moving: false });
  const [hint, setHint] = useState(false);
  const zoomer = useMemo(() => zoom(), []);
  const freely = useRef(free);
  freely.current = free;
  useEffect(() => {
    const target = select(frame.current);
    zoomer.filter((event) => wanted(event, freely.current)).wheelDelta(wheelDelta);
    zoomer.on("start zoom end", ({ type, transform: { k, x, y } }) => setView({ k, x, y, moving: type !== "end" }));
    target.call(zoomer).on("dblclick.zoom", null);
    let timer;
    const hinted = (event) => {
      if (event.ctrlKey || event.metaKey || freely.current) return;
      setHint(true);
      clearTimeout(timer);
      timer = setTimeout(() => setHint(false), HINT);
    };
    target.on("wheel.hint", hinted, { passive: true });
    return () => {
      clearTimeout(timer);
      target.on(".zoom", null).on(".hint", null);
    };
  }, []);
  useEffect(() => void zoomer.scaleExtent(extent), [extent[0], extent[1]]);

  const run = useCallback((change, ...values) => {
    const target = select(frame.current);
    (still() ? target : target.transition().duration(PAUSE)).call(change, ...values);
  }, []);
  const by = (factor) => run(zoomer.scaleBy, factor);
  const pan = (x, y) => run(zoomer.translateBy, x / view.k, y / view.k);
  const to = useCallback(({ k, x, y }, { at = "slowly" } = {}) => {
    const transform = zoomIdentity.translate(x, y).scale(k);
    if (at === "once") select(frame.current).call(zoomer.transform, transform);
    else run(zoomer.transform, transform);
  }, []);
  const onKeyDown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const moves = {
      ArrowLeft: () => pan(STEP, 0), ArrowRight: () => pan(-STEP, 0), ArrowUp: () => pan(0, STEP), ArrowDown: () => pan(0, -STEP),
      "+": () => by(ZOOM), "=": () => by(ZOOM), "-": () => by(1 / ZOOM), _: () => by(1 / ZOOM), 0: () => to(whole()),
    };
    if (!Object.hasOwn(moves, event.key)) return;
    event.preventDefault();
    moves[event.key]();
  };
  return { view, hint, by, pan, to, onKeyDown };
}

function wanted(event, free) {
  if (event.type === "wheel") return free || event.ctrlKey || event.metaKey;
  if (event.type.startsWith("touch")) return free || event.touches.length > 1;
  return event.button === 0 && !event.ctrlKey;
}

/** As d3-zoom's, but a wheel turned with Ctrl is no faster than one without; a pinch on a touchpad, which looks alike, is. */
function wheelDelta(event) {
  const unit = event.deltaMode === 1 ? 0.05 : event.deltaMode ? 1 : 0.002;
  return -event.deltaY * unit * (event.ctrlKey && Math.abs(event.deltaY) < 40 ? 8 : 1);
}

const SIGNS = {
  in: "M12 6v12M6 12h12",
  out: "M6 12h12",
  fit: "M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5M9 12a3 3 0 1 0 6 0 3 3 0 1 0-6 0",
  full: "M14 4h6v6M20 4l-7 7M10 20H4v-6M4 20l7-7",
  small: "M20 10h-6V4M14 10l6-6M4 14h6v6M10 14l-6 6",
};

/** A button of a drawing's tools. */
export function Tool({ sign, label, ...rest }) {
  return html`<button type="button" class="tool" aria-label=${label} title=${label} ...${rest}>
    <svg viewBox="0 0 24 24" aria-hidden="true" focusable="false"><path d=${SIGNS[sign]} /></svg></button>`;
}

/** The tools of a drawing that can be moved: zoom in and out, everything, full screen. */
export function Tools({ moves, whole, screen, label }) {
  return html`<div class="tools" role="group" aria-label=${label}>
    <${Tool} sign="in" label=${t("draw.in")} onClick=${() => moves.by(ZOOM)} />
    <${Tool} sign="out" label=${t("draw.out")} onClick=${() => moves.by(1 / ZOOM)} />
    <${Tool} sign="fit" label=${t("draw.fit")} onClick=${() => moves.to(whole())} />
    ${screen.can && html`<${Tool} sign=${screen.on ? "small" : "full"} label=${t(screen.on ? "draw.small" : "draw.full")} onClick=${screen.toggle} />`}
  </div>`;
}

/** How to zoom, told when a wheel turns that scrolls the page. */
export function Hint({ shown }) {
  const key = /Mac|iPhone|iPad/.test(navigator.platform ?? "") ? "⌘" : "Ctrl";
  return html`<p class="draw-hint" hidden=${!shown} aria-hidden="true">${t("draw.wheel", { key })}</p>`;
}

// Labels

const widths = new Map(); // of texts, by size and text
const MEASURED = 5000; // texts whose widths are kept
let brush;

/** Width of a text in pixels, in the font of the page at `size` pixels. */
export function textWidth(text, size) {
  const key = `${size} ${text}`;
  if (!widths.has(key)) {
    if (widths.size >= MEASURED) widths.clear();
    brush ??= document.createElement("canvas").getContext("2d");
    brush.font = `${size}px ${getComputedStyle(document.body).fontFamily}`;
    widths.set(key, brush.measureText(text).width);
  }
  return widths.get(key);
}

/** A label in at most `lines` lines of about `most` characters, cut with an ellipsis. */
export function folded(text, most = 24, lines = 2) {
  const folds = [""];
  for (const word of text.trim().split(/\s+/)) {
    const last = folds.at(-1);
    const joined = last ? `${last} ${word}` : word;
    if (!last || [...joined].length <= most) folds[folds.length - 1] = joined;
    else folds.push(word);
  }
  const kept = folds.slice(0, lines).map((line) => cut(line, most));
  if (folds.length > lines) kept[lines - 1] = cut(`${kept[lines - 1]}${kept[lines - 1].endsWith("…") ? "" : " …"}`, most);
  return kept;
}

function cut(text, most) {
  const letters = [...text];
  return letters.length <= most ? text : `${letters.slice(0, most - 1).join("").trimEnd()}…`;
}

const TOOLS = { width: 52, height: 160 }; // pixels of a drawing's corner that its tools cover

const meets = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

/**
 * Where labels go: {key: {x, y, anchor}} of those that have room, `y` the base of the first line.
 * marks: [{key, x, y, r, lines, sides}], the most important first, all of which keep their own room;
 * `sides`: where the label may stand, the best first; `always`: it is written even where it meets another or leaves the frame.
 */
export function placeLabels(marks, size, bounds) {
  const taken = marks.map(({ x, y, r }) => ({ left: x - r, right: x + r, top: y - r, bottom: y + r }));
  taken.push({ left: bounds.width - TOOLS.width, right: bounds.width, top: 0, bottom: TOOLS.height });
  const placed = {};
  for (const [at, mark] of marks.entries()) {
    const own = taken[at];
    if (!mark.lines || !inside(mark, bounds)) continue;
    const boxes = mark.sides.map((side) => boxOf(mark, side, size));
    const free = boxes.find(({ box }) => box.left > 1 && box.right < bounds.width - 1 && !taken.some((other) => other !== own && meets(box, other)));
    const chosen = free ?? (mark.always ? boxes[0] : null);
    if (!chosen) continue;
    taken.push(chosen.box);
    placed[mark.key] = chosen.label;
  }
  return placed;
}

const inside = ({ x, y }, { width, height }) => x > -20 && y > -20 && x < width + 20 && y < height + 20;

function boxOf({ x, y, r, lines }, side, size) {
  const width = Math.max(...lines.map((line) => textWidth(line, size))) + 4;
  const tall = lines.length * size * 1.2;
  const spots = {
    below: [x - width / 2, y + r + 3, "middle", x],
    above: [x - width / 2, y - r - 3 - tall, "middle", x],
    right: [x + r + 3, y - tall / 2, "start", x + r + 5],
    left: [x - r - 3 - width, y - tall / 2, "end", x - r - 5],
  };
  const [left, top, anchor, from] = spots[side];
  return {
    box: { left, top, right: left + width, bottom: top + tall },
    label: { x: from, y: top + size, anchor },
  };
}

/** Lines of text in an SVG, of whatever direction. */
export function SvgLabel({ lines, at, size, class: more = "" }) {
  return html`<text class=${`label ${more}`} x=${at.x} y=${at.y} text-anchor=${at.anchor} aria-hidden="true">
    ${lines.map((line, n) => html`<tspan key=${n} x=${at.x} dy=${n ? size * 1.2 : 0}>${line}</tspan>`)}</text>`;
}
