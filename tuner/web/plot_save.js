// plot_save.js - a plot as a file: what the screen shows as an SVG with nothing
// outside it, or that as a PNG.
import {SvgPen} from "./pen.js";
import {colours} from "./theme.js";

const HEAD = 30;  // pixels for the title
const SCALE = 2;  // pixels of a PNG for one on the screen
const KEPT = ["fill", "stroke", "stroke-width", "stroke-linejoin", "stroke-dasharray", "opacity", "font-size", "font-family",
  "font-weight", "text-anchor", "paint-order"];

// The style sheet does not come along: what it says is written down.
function copyLooks(from, to) {
  const style = getComputedStyle(from);
  if (from instanceof SVGGraphicsElement)
    for (const name of KEPT) to.setAttribute(name, style.getPropertyValue(name));
  [...from.children].forEach((child, i) => copyLooks(child, to.children[i]));
}

function copyLayer(card, name) {
  const layer = card.svg.select(`g.${name}`).node(), copy = layer.cloneNode(true);
  copyLooks(layer, copy);
  for (const ground of copy.querySelectorAll(".overlay, .slider")) ground.remove();
  return copy;
}

function compose(card) {
  const theme = colours(), {width, height} = card.size();
  const svg = d3.create("svg").attr("xmlns", "http://www.w3.org/2000/svg")
    .attr("width", width).attr("height", height + HEAD).attr("viewBox", `0 ${-HEAD} ${width} ${height + HEAD}`);
  svg.append("rect").attr("y", -HEAD).attr("width", width).attr("height", height + HEAD).attr("fill", theme.card);
  svg.append("text").attr("x", 8).attr("y", 20 - HEAD).attr("fill", theme.text)
    .attr("font-family", "sans-serif").attr("font-size", 15).attr("font-weight", 600)
    .text(`${card.store.status.name}: ${card.plot.title}`);
  const marks = svg.append("g").node();
  card.paintWith(new SvgPen(marks));
  const axes = copyLayer(card, "axes");
  if (card.plot.front) marks.after(axes);
  else marks.before(axes);
  svg.node().append(copyLayer(card, "brushes"));
  return {text: new XMLSerializer().serializeToString(svg.node()), width, height: height + HEAD};
}

async function rasterise({text, width, height}) {
  const picture = new Image();
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await picture.decode();
  const canvas = document.createElement("canvas");
  canvas.width = width * SCALE;
  canvas.height = height * SCALE;
  const context = canvas.getContext("2d");
  context.scale(SCALE, SCALE);
  context.drawImage(picture, 0, 0);
  return new Promise(resolve => canvas.toBlob(resolve, "image/png"));
}

function offer(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// kind: "SVG" or "PNG".
export async function save(card, kind) {
  const picture = compose(card);
  const blob = kind === "SVG" ? new Blob([picture.text], {type: "image/svg+xml"}) : await rasterise(picture);
  const study = card.store.status.name.replace(/[^A-Za-z0-9._-]+/g, "_");
  offer(blob, `${study}-${card.plot.name}.${kind.toLowerCase()}`);
}
