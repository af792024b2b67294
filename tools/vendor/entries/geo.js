export { forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY } from "d3-force";
export { geoBounds, geoDistance, geoGraticule, geoMercator, geoNaturalEarth1, geoPath } from "d3-geo";
export { select } from "d3-selection";
export { zoom, zoomIdentity } from "d3-zoom";
export { feature } from "topojson-client";
