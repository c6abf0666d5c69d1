/** Leaves out of the build what turns messages into JSON: the wire's library brings it along, and the page speaks binary only. */
import type { Plugin } from "vite";

/** The modules that are left out, with what they export. */
const JSON_MODULES: ReadonlyMap<string, readonly string[]> = new Map([
  ["from-json", ["fromJsonString", "mergeFromJsonString", "fromJson", "mergeFromJson", "enumFromJson", "isEnumJson"]],
  ["to-json", ["toJson", "toJsonString", "enumToJson"]],
]);

/** The name of the module that a file is, if it is one of those. */
const jsonModule = (id: string): string | undefined => /@bufbuild\/protobuf\/dist\/esm\/((?:from|to)-json)\.js$/.exec(id)?.[1];

/** What stands in such a module's place: whoever calls it is told why it is not there. */
const standIn = (names: readonly string[]): string =>
  [`const gone = () => { throw new Error("this page speaks binary only"); };`, `export { ${names.map((name) => `gone as ${name}`).join(", ")} };`].join("\n");

export function binaryOnly(): Plugin {
  const left = new Set<string>();
  return {
    name: "binary-only",
    apply: "build",
    load(id) {
      const name = jsonModule(id);
      if (name === undefined) return null;
      left.add(name);
      return { code: standIn(JSON_MODULES.get(name) ?? []), moduleSideEffects: false };
    },
    // A library that has moved them would bring them back unseen.
    buildEnd(error) {
      const missing = [...JSON_MODULES.keys()].filter((name) => !left.has(name));
      if (error === undefined && missing.length > 0) this.error(`found no module ${missing.join(", ")} to leave out`);
    },
  };
}
