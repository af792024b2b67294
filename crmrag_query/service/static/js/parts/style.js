// Style sheets of parts that not every view shows: fetched with the part, once.
const sheets = new Map();

/** Resolves when the sheet applies; also where it cannot be had, as the page is readable without. */
export function style(name) {
  if (!sheets.has(name)) sheets.set(name, load(new URL(`../../style/${name}.css`, import.meta.url).href));
  return sheets.get(name);
}

function load(address) {
  if (document.querySelector(`link[rel="stylesheet"][href$="${new URL(address).pathname}"]`)) return Promise.resolve();
  return new Promise((done) => {
    const link = document.createElement("link");
    Object.assign(link, { rel: "stylesheet", href: address, onload: done, onerror: done });
    document.head.append(link);
  });
}
