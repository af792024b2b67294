// Where things of a map go: its projection, the view that shows them all, and which of them fall together. No drawing here.
import { geoGraticule, geoMercator, geoNaturalEarth1 } from "../../vendor/geo.js";

const REGION = 60; // degrees of longitude up to which a map is one of a region, true to its shapes
const POLAR = 70; // degrees of latitude beyond which such a map would be stretched too much
const LEAST = 5; // degrees that a map shows at least, so that an outline is to be seen
const MARGIN = 40; // pixels around what is shown
const NEAR = 26; // pixels within which marks fall together
const EARTH = 6371; // km

const finite = (value) => typeof value === "number" && Number.isFinite(value);

/** Sites of GeoJSON features with points, those of one point together: [{key, lon, lat, items: [properties]}], most items first. */
export function sitesOf(features) {
  const sites = new Map();
  for (const { geometry, properties } of features) {
    const [lon, lat] = geometry?.type === "Point" ? geometry.coordinates : [];
    if (!finite(lon) || !finite(lat) || Math.abs(lat) > 90 || Math.abs(lon) > 360) continue;
    const key = `${lon.toFixed(5)} ${lat.toFixed(5)}`;
    if (!sites.has(key)) sites.set(key, { key, lon, lat, items: [] });
    sites.get(key).items.push(properties);
  }
  return [...sites.values()].sort((a, b) => b.items.length - a.items.length || (a.key < b.key ? -1 : 1));
}

/** The meridian in the middle of the sites and the degrees between the outermost, whichever way around the earth is shorter. */
function middle(sites) {
  const lons = sites.map(({ lon }) => ((lon % 360) + 360) % 360).sort((a, b) => a - b);
  if (!lons.length) return { lon: 0, span: 360 };
  let [gap, after] = [lons[0] + 360 - lons.at(-1), lons[0]];
  for (let at = 1; at < lons.length; at += 1) {
    if (lons[at] - lons[at - 1] > gap) [gap, after] = [lons[at] - lons[at - 1], lons[at]];
  }
  return { lon: (((after + (360 - gap) / 2 + 180) % 360) + 360) % 360 - 180, span: 360 - gap };
}

/** The projection for sites, the whole earth as wide as the map; {projection, scale} with the scale of k = 1. */
export function projectionOf(sites, { width, height }) {
  const { lon, span } = middle(sites);
  const region = span <= REGION && sites.every(({ lat }) => Math.abs(lat) < POLAR);
  const projection = (region ? geoMercator() : geoNaturalEarth1()).rotate([span > 200 ? 0 : -lon, 0]);
  projection.fitWidth(width, { type: "Sphere" });
  const scale = projection.scale();
  projection.translate([width / 2, height / 2]);
  return { projection, scale, region };
}

/** A copy of the map's projection as a view {k, x, y} shows it, cut at `room` pixels beyond the frame. */
export function projectionAt({ projection, scale, region }, { k, x, y }, { width, height }, room = 0) {
  const seen = (region ? geoMercator() : geoNaturalEarth1()).rotate(projection.rotate());
  seen.scale(scale * k).translate([(width / 2) * k + x, (height / 2) * k + y]);
  return seen.clipExtent([[-room, -room], [width + room, height + room]]).precision(0.5);
}

/** The view that shows sites: all of them, or those given. */
export function viewOf(map, sites, { width, height }) {
  const points = sites.map(({ lon, lat }) => map.projection([lon, lat])).filter(Boolean);
  if (!points.length) return { k: 1, x: 0, y: 0 };
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const degree = width / 360;
  const wide = Math.max(right - left, LEAST * degree);
  const tall = Math.max(bottom - top, LEAST * degree * 0.6);
  const k = Math.max(1, Math.min((width - 2 * MARGIN) / wide, (height - 2 * MARGIN) / tall));
  return { k, x: width / 2 - (k * (left + right)) / 2, y: height / 2 - (k * (top + bottom)) / 2 };
}

/** Sites that fall together on the screen: [{key, x, y, sites, count}], at the site with most items; off the screen left out. */
export function clustersOf(sites, projection, { width, height }) {
  const cells = new Map();
  const clusters = [];
  for (const site of sites) {
    const [x, y] = projection([site.lon, site.lat]) ?? [NaN, NaN];
    if (!(x > -width && x < 2 * width && y > -height && y < 2 * height)) continue;
    const [column, row] = [Math.floor(x / NEAR), Math.floor(y / NEAR)];
    const near = [-1, 0, 1].flatMap((dx) => [-1, 0, 1].flatMap((dy) => cells.get(`${column + dx} ${row + dy}`) ?? []));
    const host = near.find((one) => Math.hypot(one.x - x, one.y - y) < NEAR);
    if (host) {
      host.sites.push(site);
      host.count += site.items.length;
    } else {
      const cluster = { key: site.key, x, y, sites: [site], count: site.items.length };
      clusters.push(cluster);
      const cell = `${column} ${row}`;
      cells.set(cell, [...(cells.get(cell) ?? []), cluster]);
    }
  }
  return apart(clusters);
}

/** Clusters none of whose marks covers much of another's: the smaller ones go into the larger. */
function apart(clusters) {
  const kept = [];
  for (const one of clusters.sort((a, b) => b.count - a.count)) {
    const host = kept.find((other) => Math.hypot(other.x - one.x, other.y - one.y) < radiusOf(other.count) + radiusOf(one.count) - 2);
    if (host) {
      host.sites.push(...one.sites);
      host.count += one.count;
    } else kept.push(one);
  }
  return kept;
}

/** Radius of a cluster's mark in pixels. */
export const radiusOf = (count) => (count === 1 ? 6 : Math.min(26, 9 + 2.6 * Math.log2(count)));

const GRIDS = [30, 20, 10, 5, 2, 1, 0.5, 0.2, 0.1];

/** A net of meridians and parallels that is neither dense nor empty where a view has so many pixels for a degree. */
export function netOf(pixels) {
  const step = GRIDS.find((one) => one * pixels < 160) ?? GRIDS.at(-1);
  return geoGraticule().step([step, step]).extentMajor([[0, 0], [0, 0]]).extentMinor([[-180, -85.1], [180, 85.1]])();
}

/** A bar of a round length for the middle of the map: {pixels, metres}. */
export function scaleBar(projection, { width, height }) {
  const [left, right] = [projection.invert([width / 2 - 50, height / 2]), projection.invert([width / 2 + 50, height / 2])];
  if (!left || !right) return null;
  const [turn, lat] = [(right[0] - left[0]) * (Math.PI / 180), left[1] * (Math.PI / 180)];
  const metres = (EARTH * 1000 * Math.abs(turn) * Math.cos(lat)) / 100; // of one pixel
  if (!(metres > 0) || metres * 100 > 2.5e6) return null;
  const longest = metres * 110;
  const power = 10 ** Math.floor(Math.log10(longest));
  const length = [5, 2, 1].map((one) => one * power).find((one) => one <= longest);
  return { pixels: length / metres, metres: length };
}
