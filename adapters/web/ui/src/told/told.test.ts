import { describe, expect, it } from "vitest";
import type { State } from "../store/contract";
import { toldText } from "../strings";
import { agent, ask, asking, channel, message, person } from "../testing/builders";
import { stillStore } from "../testing/view";
import { faviconSvg } from "./favicon";
import { tell } from "./fresh";

const ann = person("ann");
const bot = agent("bot", ann.id);
const plan = channel("plan", [ann, bot]);
const base = stillStore({ accounts: [ann, bot], channels: [plan] }).store.state();
const state = (ids: readonly string[], ready = true): State => ({
  ...base, ready,
  openAsks: new Map(ids.map((id, index) => [id, { message: message(index + 1, [asking(ask(id))], { authorId: bot.id }), channelId: plan.id }])),
});
const fresh = (known: ReadonlySet<string> | undefined, of: State) => tell(known, of).fresh.map((each) => each.ask.id);

describe("news", () => {
  it("what was open in the first snapshot is none, what comes after is, once", () => {
    expect(fresh(undefined, state(["a"]))).toEqual([]);
    const { known } = tell(undefined, state(["a"]));
    expect(fresh(known, state(["a", "b"]))).toEqual(["b"]);
    const after = tell(known, state(["a", "b"])).known;
    expect(fresh(after, state(["a", "b"]))).toEqual([]);
  });
  it("a new snapshot brings old asks back without telling of them again", () => {
    const { known } = tell(undefined, state(["a"]));
    const reset = tell(known, state([], false));
    expect(reset.known).toBe(known);
    expect(fresh(reset.known, state(["a"]))).toEqual([]);
  });
  it("what went out of sight and comes back, as with a channel that is left and joined again, is no news", () => {
    const { known } = tell(undefined, state(["a"]));
    const away = tell(known, state(["b"]));
    expect(fresh(away.known, state(["a", "b"]))).toEqual([]);
  });
  it("nothing is known before the first snapshot", () => {
    expect(tell(undefined, state(["a"], false))).toEqual({ known: undefined, fresh: [] });
  });
});

describe("title and icon", () => {
  it("count what waits and what is unread, and say nothing of nothing", () => {
    expect(toldText.titleCounts(0, 0)).toBe("");
    expect(toldText.titleCounts(1, 0)).toBe("(1 ask) ");
    expect(toldText.titleCounts(2, 3)).toBe("(2 asks, 3 new) ");
    expect(toldText.titleCounts(0, 3)).toBe("(3 new) ");
  });
  it("the icon carries the number of asks, else a dot for what is unread, else nothing", () => {
    expect(faviconSvg(3, 9)).toContain(">3</text>");
    expect(faviconSvg(12, 0)).toContain(">9+</text>");
    expect(faviconSvg(0, 1)).not.toContain("<text");
    expect((faviconSvg(0, 1).match(/<circle/g) ?? []).length).toBe(2);
    expect((faviconSvg(0, 0).match(/<circle/g) ?? []).length).toBe(1);
  });
});
