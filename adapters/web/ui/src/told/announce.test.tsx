import { describe, expect, it, vi } from "vitest";
import { agent, ask, asking, channel, message, person, topic } from "../testing/builders";
import { showPage } from "../testing/page";
import { FakeServer } from "../testing/server";
import * as sound from "./sound";

const ann = person("ann");
const ben = person("ben");
const bot = agent("bot", ann.id);
const plan = channel("plan", [ann, bot]);
const start = topic("start", plan.id);

describe("being told", () => {
  it("what was said of a new ask is replaced when it ends, and nothing is said of the end of others", async () => {
    const server = new FakeServer(ann).seed(ben, bot, plan, start);
    server.seedMessage(plan.id, message(1, [asking(ask("old"))], { topicId: start.id, authorId: bot.id }));
    const page = await showPage(server);
    const said = () => [...page.container.querySelectorAll("[data-said] p")].map((line) => line.textContent);
    const [first = "", second = ""] = ["One?", "Two?"].map((question) => server.ask(plan.id, { kind: "id", id: start.id }, question, bot.id));
    await page.later();
    expect(said()).toEqual(["New ask from bot in plan", "New ask from bot in plan"]);
    server.cancel(first);
    await page.later();
    expect(said()).toEqual(["New ask from bot in plan", "Withdrawn: ask from bot in plan"]);
    server.answer(second, [{ questionId: "q", chosen: [], customText: "yes" }], ben.id);
    await page.later();
    expect(said()).toEqual(["Withdrawn: ask from bot in plan", "Answered: ask from bot in plan"]);
    server.cancel("old");
    await page.later();
    expect(said()).toHaveLength(2);
  });
});

describe("a browser that offers notifications and cannot show one", () => {
  it("is told of once; the page goes on, and the sound is played", async () => {
    const played = vi.spyOn(sound, "beep").mockReturnValue(undefined);
    const refuse = () => {
      throw new TypeError("Illegal constructor");
    };
    vi.stubGlobal("Notification", Object.assign(refuse, { permission: "granted" }));
    vi.spyOn(document, "hasFocus").mockReturnValue(false);
    const server = new FakeServer(ann).seed(bot, plan, start);
    const page = await showPage(server);
    page.prefs.setNotify(true);
    page.prefs.setSound(true);
    await page.later();
    for (const question of ["One?", "Two?"]) {
      server.ask(plan.id, { kind: "id", id: start.id }, question, bot.id);
      await page.later();
    }
    expect(played).toHaveBeenCalledTimes(2);
    expect(page.container.querySelectorAll("[data-ask]")).toHaveLength(2);
    expect(page.container.querySelector(".banners")).toHaveTextContent(/This browser cannot show notifications/);
    expect(page.errors.filter(({ where }) => where === "desktop")).toHaveLength(1);
  });
});
