/** A tiny JSX factory that renders straight to HTML text on the server. */

/** Markup that is already escaped. Everything else is escaped on output. */
export class SafeHtml {
  constructor(readonly html: string) {}

  toString(): string {
    return this.html;
  }
}

type Child = SafeHtml | string | number | boolean | null | undefined | Child[];
type Component<P> = (props: P & { children?: Child }) => SafeHtml;

declare global {
  namespace JSX {
    type Element = SafeHtml;
    interface ElementChildrenAttribute {
      children: unknown;
    }
    interface IntrinsicElements {
      [tag: string]: Record<string, Child>;
    }
  }
}

const VOID_TAGS = new Set(["br", "hr", "img", "input", "link", "meta"]);

export function h<P extends object>(tag: string | Component<P>, props: P | null, ...children: Child[]): SafeHtml {
  if (typeof tag === "function") return tag({ ...(props as P), children });
  const attributes = Object.entries(props ?? {}).map(([name, value]) => attribute(name, value));
  const open = `<${tag}${attributes.join("")}>`;
  return new SafeHtml(VOID_TAGS.has(tag) ? open : `${open}${renderChild(children)}</${tag}>`);
}

export function escape(text: string): string {
  return text
    .replace(/&/g, "&amp;")
    .replace(/</g, "&lt;")
    .replace(/>/g, "&gt;")
    .replace(/"/g, "&quot;")
    .replace(/'/g, "&#39;");
}

function attribute(name: string, value: unknown): string {
  if (value === null || value === undefined || value === false) return "";
  return value === true ? ` ${name}` : ` ${name}="${escape(String(value))}"`;
}

function renderChild(child: Child): string {
  if (Array.isArray(child)) return child.map(renderChild).join("");
  if (child === null || child === undefined || typeof child === "boolean") return "";
  return child instanceof SafeHtml ? child.html : escape(String(child));
}
