export * from "preact";
export * from "preact/hooks";
import { h } from "preact";
import htm from "htm";
export const html = htm.bind(h);
