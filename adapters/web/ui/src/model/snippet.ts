/** The part of a message that a search found, with what was looked for marked. The server only says which messages. Pure. */
import { clipped, firstText, visibleLine } from "./text";
import type { Block } from "./types";

export interface Piece {
  readonly text: string;
  readonly marked: boolean;
}

/** Words that a search leaves out, as the server does. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  ("a about above after again against all am an and any are as at be because been before being below between both but by can did do does doing don down during " +
    "each few for from further had has have having he her here hers herself him himself his how i if in into is it its itself just me more most my myself no nor " +
    "not now of off on once only or other our ours ourselves out over own s same she should so some such t than that the their theirs them themselves then there " +
    "these they this those through to too under until up very was we were what when where which while who whom why will with you your yours yourself yourselves").split(" "),
);

const WORD = /[\p{Alphabetic}\p{N}]+/gu;
/** Endings that one form of an English word has and another has not. */
const ENDING = /(?:ments?|ations?|ings?|edly|ed|es|ers?|ly|s)$/;
/** How what is before an ending may be spelled in another form: city and cities, plan and planned. */
const SEAM = /[eiy]$|(\p{L})(?=\1$)/u;
/** So much of a word has to stay without its ending. */
const ROOT = 3;

const folded = (text: string): string => text.normalize("NFC").toLowerCase().normalize("NFC");
const root = (word: string): string => {
  const shorter = (text: string, cut: RegExp) => {
    const short = text.replace(cut, "");
    return short.length < ROOT ? text : short;
  };
  return shorter(shorter(word, ENDING), SEAM);
};

/** The roots of the words that a query wants; what it keeps out is not looked for. */
const wanted = (query: string): ReadonlySet<string> => {
  const terms = folded(query).match(/-?"[^"]*"?|[^\s"]+/gu) ?? [];
  const words = terms.filter((term) => !term.startsWith("-")).flatMap((term) => term.match(WORD) ?? []);
  return new Set(words.filter((word) => !STOP_WORDS.has(word)).map(root));
};

interface Hit {
  readonly from: number;
  readonly to: number;
  readonly root: string;
}

const hitsIn = (text: string, roots: ReadonlySet<string>): readonly Hit[] =>
  [...text.matchAll(WORD)].flatMap((match) => {
    const at = root(folded(match[0]));
    return roots.has(at) ? [{ from: match.index, to: match.index + match[0].length, root: at }] : [];
  });

/** What a search looks into: texts, questions, and what a person wrote in answer to them. */
const searched = (block: Block): readonly string[] => {
  switch (block.kind) {
    case "text":
      return [block.text];
    case "ask":
      return block.ask.questions.map((question) => question.question);
    case "answer":
      return block.ask.questions.flatMap((question) => [question.question, question.customText]);
    case "unknown":
      return [];
  }
};

/** At most about `limit` characters of the text that holds most of the words, from shortly before the first of them. */
export const snippet = (blocks: readonly Block[], query: string, limit: number): readonly Piece[] => {
  const roots = wanted(query);
  const found = blocks
    .flatMap(searched)
    .map((whole) => {
      const text = visibleLine(whole.normalize("NFC"));
      const hits = hitsIn(text, roots);
      return { text, hits, count: new Set(hits.map((hit) => hit.root)).size };
    })
    .reduce<{ readonly text: string; readonly hits: readonly Hit[]; readonly count: number } | undefined>((best, each) => (each.count > (best?.count ?? 0) ? each : best), undefined);
  const first = found?.hits[0];
  if (!found || !first) return [{ text: clipped(firstText(blocks), limit), marked: false }];
  return cut(found.text, found.hits, startBefore(found.text, first.from, limit), limit);
};

/** Where to begin, at a word, so that some of what is before the first hit is seen. */
const startBefore = (text: string, hit: number, limit: number): number => {
  if (text.length <= limit || hit < limit / 3) return 0;
  const near = hit - Math.floor(limit / 4);
  const space = text.indexOf(" ", near);
  return space < 0 || space >= hit ? hit : space + 1;
};

const cut = (text: string, hits: readonly Hit[], start: number, limit: number): readonly Piece[] => {
  const pieces: Piece[] = [];
  const add = (piece: string, marked: boolean) => {
    if (piece !== "") pieces.push({ text: piece, marked });
  };
  const stop = start + limit;
  let at = start;
  add(start > 0 ? "…" : "", false);
  for (const hit of hits) {
    if (hit.from < at || hit.to > stop) continue;
    add(text.slice(at, hit.from), false);
    add(text.slice(hit.from, hit.to), true);
    at = hit.to;
  }
  const rest = text.slice(at);
  const room = Math.max(0, stop - at);
  add(rest.length <= room ? rest : `${whole(rest, room)}…`, false);
  return pieces;
};

/** Never half of a character of two units. */
const whole = (text: string, units: number): string => text.slice(0, units).replace(/[\uD800-\uDBFF]$/, "");
