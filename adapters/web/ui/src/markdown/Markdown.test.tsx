import { describe, expect, it, vi } from "vitest";
import { agent, person, system } from "../testing/builders";
import { settle } from "../testing/store";
import { show, stillStore } from "../testing/view";
import { Markdown } from "./Markdown";

const ann = person("ann", { displayName: "Ann\u202E A." });

async function shown(text: string): Promise<HTMLElement> {
  const still = stillStore({ accounts: [ann, agent("bot", ann.id), system()] });
  const { container } = show(still, () => <Markdown text={text} />);
  const found = container.querySelector<HTMLElement>(".markdown");
  if (!found) throw new Error("nothing shown");
  await parserLoaded();
  return found;
}

const parserLoaded = async () => {
  await vi.dynamicImportSettled();
  await settle();
};

describe("elements", () => {
  it("C36 plain text at first, with its lines, and formatted once the parser is here", async () => {
    // The page loads the parser once: here it has not yet.
    vi.resetModules();
    const [fresh, { Markdown }] = await Promise.all([import("../testing/view"), import("./Markdown")]);
    const { container, unmount } = fresh.show(fresh.stillStore(), () => <Markdown text={"**a**\nb"} />);
    expect(container.querySelector(".md-plain")?.textContent).toBe("**a**\nb");
    await parserLoaded();
    expect(container.querySelector(".md-plain")).toBeNull();
    expect(container.querySelector("strong")).toHaveTextContent("a");
    expect(container.querySelectorAll("br")).toHaveLength(1);
    unmount();
  });
  it("C36 no text becomes an element that acts", async () => {
    const corpus = [
      "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<svg/onload=alert(1)>", "<iframe src=javascript:alert(1)></iframe>", "<style>*{display:none}</style>", "<a href=javascript:alert(1)>x</a>",
      "[x](javascript:alert(1))", "[x](data:text/html,1)", "[x](//evil.example)", "![x](javascript:alert(1))", "![x](https://evil.example/p.png)", "<javascript:alert(1)>", "[x]: javascript:alert(1)\n\n[x]",
      "```html\n<script>alert(1)</script>\n```", "`<script>`", "|<script>|\n|-|\n|<img src=x onerror=alert(1)>|", "> <form action=//evil.example><input name=p></form>", "{{constructor.constructor('return 1')()}}",
      "[a](https://x.example \"onmouseover=alert(1)\")", "[x](jav&#x61;script:alert(1))", "<details open ontoggle=alert(1)>",
    ];
    for (const text of corpus) {
      const found = await shown(text);
      expect(found.querySelector("script, img, svg, iframe, style, form, input, button, details, object, embed, link, meta, base"), text).toBeNull();
      for (const element of found.querySelectorAll("*")) for (const { name } of element.attributes) expect(name, text).not.toMatch(/^on|^style$|^src/);
      for (const link of found.querySelectorAll("a")) expect(link.getAttribute("href"), text).toMatch(/^https:\/\/x\.example/);
    }
  });
  it("C36 a safe link opens elsewhere and tells nobody where from; an unsafe one is no link", async () => {
    const found = await shown("[safe](https://x.example/a) [not](javascript:alert(1))");
    const links = [...found.querySelectorAll("a")];
    expect(links.map((link) => [link.getAttribute("href"), link.target, link.rel, link.textContent])).toEqual([["https://x.example/a", "_blank", "noreferrer noopener", "safe"]]);
    expect(found.querySelector(".md-inert")).toHaveTextContent("not");
  });
  it("C37 mentions are known, unknown or reserved; also inside bold, not in code and not in labels", async () => {
    const found = await shown("@ann @bot @compass @nobody @everyone **@bot** `@ann` [@ann](https://x.example) me@ann");
    const chips = [...found.querySelectorAll(".mention")].map((chip) => [chip.textContent, chip.className.replace("mention", "").trim()]);
    expect(chips).toEqual([["@ann", "known"], ["@bot", "known"], ["@compass", "known"], ["@nobody", "unknown"], ["@everyone", "reserved"], ["@bot", "known"]]);
    expect(found.querySelector("strong .mention")).not.toBeNull();
    expect(found.querySelector(".mention")).toHaveAttribute("title", "Ann⟦U+202E⟧ A.");
  });
  it("P11 direction controls are shown in text, code, labels and alternative texts", async () => {
    const found = await shown("a\u202Eb `c\u202Ed` [e\u202Ef](https://x.example) ![g\u202Eh](i)\n\n```\nj\u202Ek\n```");
    expect(found.textContent).not.toContain("\u202E");
    expect(found.textContent.match(/⟦U\+202E⟧/g)).toHaveLength(5);
  });
  it("a block takes its direction from its own text: a browser counts no text of what has one of its own", async () => {
    const found = await shown("one\n\n- two\n  - three\n\n1. four\n\n> five\n>\n> - six\n\n|seven|\n|-|\n|eight|\n\n## nine\n\n- [ ] ten");
    const blocks = [...found.children];
    expect(blocks.map((each) => each.getAttribute("dir"))).toEqual(blocks.map(() => "auto"));
    expect(found.querySelector("[dir] [dir], [dir] bdi")).toBeNull();
  });
  it("code goes from left to right and turns nothing around it", async () => {
    const found = await shown("`a` b\n\n- c\n\n  ```\n  d\n  ```");
    expect([...found.querySelectorAll("code")].map((each) => each.closest("[dir]")?.getAttribute("dir"))).toEqual(["ltr", "ltr"]);
  });
  it("a heading of a message is none of the page's", async () => {
    const found = await shown("# Big");
    expect(found.querySelector("h1, h2, h3, h4, h5, h6, [role=heading]")).toBeNull();
    expect(found.querySelector(".md-heading-1")).toHaveTextContent("Big");
  });
  it("what is beyond the bounds is shown whole with a notice", async () => {
    const text = "> ".repeat(40) + "deep";
    const found = await shown(text);
    expect(found.querySelector(".md-notice")).not.toBeNull();
    expect(found.querySelector(".md-plain")?.textContent).toBe(text);
  });
});
