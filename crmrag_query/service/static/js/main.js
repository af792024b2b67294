// Begins the page: the words, then the frame with the view that the address names.
import { html, render } from "../vendor/preact.js";
import { Frame } from "./frame.js";
import { loadLanguage } from "./i18n.js";
import { listen } from "./router.js";

await loadLanguage();
const app = document.getElementById("app");
app.replaceChildren();
render(html`<${Frame} />`, app);
listen();
