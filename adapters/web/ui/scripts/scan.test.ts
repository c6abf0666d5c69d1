// @vitest-environment node
import { fileURLToPath } from "node:url";
import type { InlineConfig, Plugin } from "vite";
import { beforeAll, describe, expect, it } from "vitest";
import { type Built, buildInMemory } from "./build.ts";
import { type BuiltFile, differences, findings, firstView } from "./scan.ts";
import { compressed, twinFindings } from "./twins.ts";

const source = fileURLToPath(new URL("..", import.meta.url));
const PLANTED = `${source}src/testing/planted.ts`;
const LATER = `${source}src/views/later.ts`;

/** Adds a line to the page's first module, and knows two modules that are nowhere else. */
function planting(line: string): Plugin {
  return {
    name: "planting",
    enforce: "pre",
    resolveId: (id) => ([PLANTED, LATER].includes(id) ? id : null),
    load: (id) => ([PLANTED, LATER].includes(id) ? `console.log("planted", ${JSON.stringify(id.length)});` : null),
    transform: (code, id) => (id.endsWith("/src/main.tsx") ? `${code}\n${line}` : null),
  };
}

const built = (line: string, build: NonNullable<InlineConfig["build"]> = {}): Promise<Built> =>
  buildInMemory({ root: source, plugins: [planting(line)], build });
const found = ({ files, chunks }: Built): string[] => findings(files, chunks, [source]);

function text(name: string, content: string): BuiltFile {
  return { name, bytes: new TextEncoder().encode(content) };
}

/** What is planted, a line for each, by what the scan calls it. */
const PLANTED_LINES = {
  "test code": `import ${JSON.stringify(PLANTED)};`,
  "a development address": 'console.log("http://localhost:7420/compass");',
  "a development client": 'import.meta.env.X = "/@vite/client";',
  "a source path": 'console.log("src/views/Inbox.tsx");',
  "a machine path": `console.log(${JSON.stringify(source)});`,
};

describe("what may not be in the built page", () => {
  it("is not in the page as it is", async () => {
    expect(found(await built(""))).toEqual([]);
  });

  describe("is found where it was planted", () => {
    let lines: readonly string[];
    beforeAll(async () => {
      lines = found(await built(Object.values(PLANTED_LINES).join("\n")));
    });
    it.each(Object.keys(PLANTED_LINES))("%s", (what) => {
      expect(lines.filter((one) => one.includes(` holds ${what}: `))).not.toEqual([]);
    });
  });

  it.each(["localhost", "127.0.0.1", "[::1]", "0.0.0.0"])("a development address is any of this machine: %s", (host) => {
    expect(findings([text("a.js", `fetch("http://${host}:9")`)], [], [])).toHaveLength(1);
  });

  it("is found in a library's development build", async () => {
    const lines = found(await buildInMemory({ root: source, resolve: { conditions: ["development", "browser"] } }));
    expect(lines.join()).toContain("a library's development build");
  });

  it.each([["a file beside", true], ["a part", "inline"]] as const)("is found in a source map as %s", async (_, sourcemap) => {
    expect(found(await built("", { sourcemap })).join()).toContain("source map");
  });

  it("is found in style sheets and the document as well", () => {
    const files = [text("index.html", '<script src="http://localhost:1/x.js">'), text("assets/a.css", "/*# sourceMappingURL=a.css.map */")];
    expect(findings(files, [], [])).toHaveLength(2);
  });
});

describe("the first view", () => {
  it("counts the page's start, which the first module asks for at once, and not what is loaded later", async () => {
    const { chunks } = await built(`import(${JSON.stringify(LATER)});`);
    const of = (end: string) => chunks.find(({ modules }) => modules.some((module) => module.endsWith(end)))?.name;
    expect([of("/src/main.tsx"), of("/src/start.ts"), of("/src/views/later.ts")]).not.toContain(undefined);
    expect(firstView(chunks)).toEqual(expect.arrayContaining([of("/src/main.tsx"), of("/src/start.ts")]));
    expect(firstView(chunks)).not.toContain(of("/src/views/later.ts"));
  });

  it("follows imports of imports, with their styles, round a ring, and not what is loaded later", () => {
    const chunk = { modules: [], styles: [], entry: false };
    const chunks = [
      { ...chunk, name: "entry.js", imports: ["a.js"], styles: ["entry.css"], entry: true },
      { ...chunk, name: "a.js", imports: ["b.js"] },
      { ...chunk, name: "start.js", imports: ["b.js"], styles: ["start.css"], entry: true },
      { ...chunk, name: "b.js", imports: ["a.js"], styles: ["b.css"] },
      { ...chunk, name: "lazy.js", imports: ["a.js"], styles: ["lazy.css"] },
    ];
    expect(firstView(chunks)).toEqual(["a.js", "b.css", "b.js", "entry.css", "entry.js", "start.css", "start.js"]);
  });
});

describe("twins", () => {
  const large = new TextEncoder().encode("const a = 1;\n".repeat(100));
  const twin = compressed(large);

  it("stand beside every file that is worth it and hold what it holds", () => {
    expect(twin.length).toBeLessThan(large.length);
    expect(twinFindings(new Map([["a.js", large], ["a.js.br", twin], ["small.js", large.slice(0, 10)], ["font.woff2", large]]))).toEqual([]);
  });

  it("are missed, and told from another file's", () => {
    expect(twinFindings(new Map([["a.js", large]]))).toEqual(["a.js has no twin"]);
    expect(twinFindings(new Map([["a.js", large], ["a.js.br", compressed(large.slice(1))]]))).toEqual(["a.js.br is not its file compressed"]);
    expect(twinFindings(new Map([["b.js.br", twin]]))).toEqual(["b.js.br is not its file compressed"]);
  });
});

describe("two builds", () => {
  it("differ by a byte, by a missing file and by an extra one", () => {
    const left = [text("same", "1"), text("byte", "12"), text("longer", "1"), text("shorter", "12"), text("left", "")];
    const right = [text("same", "1"), text("byte", "13"), text("longer", "12"), text("shorter", "1"), text("right", "")];
    expect(differences(left, right)).toEqual(["byte differs", "left is missing", "longer differs", "right is extra", "shorter differs"]);
  });
});
