/**
 * How much formatting one text may ask for. The lexer's worst cases grow with the square of the length, and it calls
 * itself for every level of nesting, so what goes beyond these bounds is shown as it was written.
 */

/** Text outside of code blocks, in UTF-16 units. */
const PROSE_LENGTH = 64 * 1024;
const PROSE_LINES = 2000;
/** Fences and what is between them. */
const SEGMENTS = 500;
/** Quote and list marks at the start of one line. */
const MARKERS = 12;
/** Spaces before a list mark. */
const INDENT = 48;
/** Marks of emphasis, links and the like in one paragraph. */
const MARKS = 256;
/** Marks times length: what one paragraph may cost, and one text. */
const PARAGRAPH_COST = 1_000_000;
const TEXT_COST = 4_000_000;

export type Segment = { readonly kind: "prose"; readonly text: string } | { readonly kind: "fence"; readonly language: string; readonly text: string };

const OPENING = /^ {0,3}(?:(`{3,})([^`]*)|(~{3,})(.*))$/;

/** Cuts a text into fenced code and the rest. A fence that is not closed goes to the end. */
export function segments(text: string): readonly Segment[] {
  const found: Segment[] = [];
  let lines: string[] = [];
  let fence: { readonly closing: RegExp; readonly language: string } | undefined;
  const close = () => {
    const text = lines.join("\n");
    if (fence) found.push({ kind: "fence", language: fence.language, text });
    else if (text.trim() !== "") found.push({ kind: "prose", text });
    lines = [];
  };
  for (const line of text.replace(/\r\n?/g, "\n").split("\n")) {
    const opening = fence ? undefined : fenceOf(line);
    if (opening || fence?.closing.test(line)) {
      close();
      fence = opening;
    } else {
      lines.push(line);
    }
  }
  close();
  return found;
}

function fenceOf(line: string): { readonly closing: RegExp; readonly language: string } | undefined {
  const match = OPENING.exec(line);
  if (!match) return undefined;
  const mark = match[1] ?? match[3] ?? "";
  const language = (match[2] ?? match[4] ?? "").trim().split(/\s/, 1)[0] ?? "";
  return { closing: new RegExp(`^ {0,3}\\${mark.charAt(0)}{${mark.length},}[ \\t]*$`), language };
}

/** True if a text of these segments can be formatted in reasonable time. */
export function formattable(parts: readonly Segment[]): boolean {
  if (parts.length > SEGMENTS) return false;
  const prose = parts.filter((part) => part.kind === "prose").map((part) => part.text);
  const length = prose.reduce((sum, text) => sum + text.length, 0);
  if (length > PROSE_LENGTH) return false;
  const lines = prose.flatMap((text) => text.split("\n"));
  return lines.length <= PROSE_LINES && lines.every(isShallow);
}

function isShallow(line: string): boolean {
  const [marks = ""] = /^(?:[ \t]*(?:>|[-+*](?=[ \t]|$)|\d{1,9}[.)](?=[ \t]|$)))*/.exec(line) ?? [];
  const count = marks.match(/>|[-+*]|\d+[.)]/g)?.length ?? 0;
  const indent = /^[ \t]*/.exec(line)?.[0].length ?? 0;
  return count <= MARKERS && (count === 0 || indent <= INDENT);
}

/** What is left for the paragraphs of one text. */
export class Budget {
  #left = TEXT_COST;

  /** True if a paragraph may be searched for marks; takes its cost if so. */
  take(text: string): boolean {
    const marks = text.match(/[*_~[\]<`!@:\\]/g)?.length ?? 0;
    const cost = marks * text.length;
    if (marks > MARKS || cost > PARAGRAPH_COST || cost > this.#left) return false;
    this.#left -= cost;
    return true;
  }
}
