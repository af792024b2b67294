// Bundles each library that the page ships into one ES module, and gathers the licences.
// Run in this folder: npm ci && npm run build
import { build } from "esbuild";
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const target = path.join(here, "../../crmrag_query/service/static/vendor");

// Name of the bundle (entries/NAME.js) -> the packages whose licences go with it.
const BUNDLES = {
  preact: ["preact", "htm"],
  geo: [
    "d3-array", "d3-color", "d3-dispatch", "d3-drag", "d3-ease", "d3-force", "d3-geo", "d3-interpolate", "d3-quadtree",
    "d3-selection", "d3-timer", "d3-transition", "d3-zoom", "internmap", "topojson-client",
  ],
};

// Package -> the files of data copied from it. The outlines are Natural Earth's, in the public domain.
const DATA = { "world-atlas": ["land-110m.json", "land-50m.json"] };

async function licence(name) {
  const folder = path.join(here, "node_modules", name);
  const { version, license } = JSON.parse(await readFile(path.join(folder, "package.json"), "utf8"));
  for (const file of ["LICENSE", "LICENSE.md", "LICENSE.txt", "license", "LICENCE"]) {
    try {
      const text = await readFile(path.join(folder, file), "utf8");
      return `${name} ${version} (${license})\n\n${text.trim()}\n`;
    } catch (error) {
      if (error.code !== "ENOENT") throw error;
    }
  }
  throw new Error(`${name} has no licence file: find its licence before it is shipped`);
}

await mkdir(target, { recursive: true });
const licences = [];
for (const [name, packages] of Object.entries(BUNDLES)) {
  await build({
    entryPoints: [path.join(here, `entries/${name}.js`)],
    outfile: path.join(target, `${name}.js`),
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2021",
    legalComments: "none",
    banner: { js: `// ${packages.join(", ")}: made by tools/vendor, licences in LICENCES.txt` },
  });
  licences.push(...(await Promise.all(packages.map(licence))));
}
for (const [name, files] of Object.entries(DATA)) {
  await Promise.all(files.map((file) => copyFile(path.join(here, "node_modules", name, file), path.join(target, file))));
  licences.push(await licence(name));
}
await writeFile(path.join(target, "LICENCES.txt"), licences.join(`\n${"-".repeat(72)}\n\n`));
