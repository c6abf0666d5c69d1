/** A formatted text, as the page shows it. Every string in it is plain text. */

export type Inline =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "code"; readonly text: string }
  | { readonly kind: "strong" | "em" | "del"; readonly children: readonly Inline[] }
  /** `href` is the address as written; whether it may be followed is for whoever shows it. */
  | { readonly kind: "link"; readonly href: string; readonly label: string }
  | { readonly kind: "image"; readonly alt: string }
  | { readonly kind: "break" };

export interface Item {
  /** Undefined if the item is no task. */
  readonly done: boolean | undefined;
  readonly blocks: readonly Block[];
}

export type Align = "left" | "center" | "right" | undefined;

export type Block =
  | { readonly kind: "paragraph"; readonly children: readonly Inline[] }
  | { readonly kind: "heading"; readonly level: number; readonly children: readonly Inline[] }
  | { readonly kind: "code"; readonly language: string; readonly text: string }
  | { readonly kind: "quote"; readonly blocks: readonly Block[] }
  | { readonly kind: "list"; readonly start: number | undefined; readonly items: readonly Item[] }
  | { readonly kind: "table"; readonly align: readonly Align[]; readonly header: readonly (readonly Inline[])[]; readonly rows: readonly (readonly (readonly Inline[])[])[] }
  | { readonly kind: "rule" }
  /** Text that is shown as it was written, with a notice. */
  | { readonly kind: "plain"; readonly text: string };

/** Makes a tree of a text. */
export type Parse = (text: string) => readonly Block[];
