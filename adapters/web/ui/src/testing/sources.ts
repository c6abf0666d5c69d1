/** The page's own sources, for rules that hold for all of them. */
import ts from "typescript";

/** Every component's source, by its path from here. */
export const components = import.meta.glob<string>(["../**/*.tsx", "!../**/*.test.tsx", "!./**"], { query: "?raw", import: "default", eager: true });

/** Calls `see` with each node of a source, and with the file that it is in. */
export const walk = (source: string, see: (node: ts.Node, file: ts.SourceFile) => void): void => {
  const file = ts.createSourceFile("source.tsx", source, ts.ScriptTarget.ESNext, true, ts.ScriptKind.TSX);
  const visit = (node: ts.Node): void => {
    see(node, file);
    node.forEachChild(visit);
  };
  visit(file);
};
