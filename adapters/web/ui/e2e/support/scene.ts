/** What most tests begin with: a server, a browser, an administrator, and an agent of theirs. */
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { topicPath } from "../../src/router/paths";
import { type Agent, Person } from "./api";
import { AskOnPage } from "./ask";
import { Tab, launch } from "./browser";
import { shownMessage } from "./composer";
import { Server } from "./server";

/** Where the agent asks. */
const TOPIC = "Decisions";

interface Made {
  readonly server: Server;
  readonly browser: Browser;
  readonly admin: Person;
  readonly agent: Agent;
}

export class Scene {
  readonly #tabs: Tab[] = [];

  #made: Made | undefined;

  private constructor() {}

  /** One for all tests of a file, there from the first of them on. Each ends with its browsers closed and nothing wrong in them. */
  static ofFile(): Scene {
    const scene = new Scene();
    beforeAll(() => scene.make());
    afterEach(async ({ task }) => {
      if (task.result?.state === "fail") await scene.show();
      expect(await scene.closeTabs()).toEqual([]);
    });
    afterAll(() => scene.stop());
    return scene;
  }

  static async start(): Promise<Scene> {
    const scene = new Scene();
    await scene.make();
    return scene;
  }

  private async make(): Promise<void> {
    const [server, browser] = await Promise.all([Server.start(), launch()]);
    const admin = await Person.signIn(server, await server.firstSecret());
    this.#made = { server, browser, admin, agent: await admin.addAgent("bot") };
  }

  private get made(): Made {
    if (!this.#made) throw new Error("the scene is made before the first test and not earlier");
    return this.#made;
  }

  get server(): Server {
    return this.made.server;
  }

  get browser(): Browser {
    return this.made.browser;
  }

  get admin(): Person {
    return this.made.admin;
  }

  get agent(): Agent {
    return this.made.agent;
  }

  /** A browser of its own, signed in as this person; the administrator unless told otherwise. */
  async tab(person: Person = this.admin, options: BrowserContextOptions = {}): Promise<Tab> {
    const tab = await this.guest(options);
    await tab.signIn(await this.admin.secretFor(person.accountId));
    return tab;
  }

  /** A browser in which nobody is signed in. */
  async guest(options: BrowserContextOptions = {}): Promise<Tab> {
    const tab = await Tab.open(this.browser, this.server, options);
    this.#tabs.push(tab);
    return tab;
  }

  /** One question with these options; everyone in the channel may answer it. */
  async ask(question: string, options: readonly string[] = ["Yes", "No"], channelId?: string) {
    return this.agent.ask(TOPIC, [{ id: "q", question, options }], channelId);
  }

  /** A browser at the topic of a new ask; that of the administrator and of the agent's own channel unless told otherwise. */
  async atAsk(question: string, { channelId = this.agent.homeChannelId, person = this.admin } = {}) {
    const tab = await this.tab(person);
    const { message, askId } = await this.ask(question, undefined, channelId);
    await tab.page.goto(topicPath(channelId, message.topicId));
    return { tab, page: tab.page, message, askId, ask: new AskOnPage(tab.page, askId) };
  }

  /** Posts a message into the topic of the asks and waits until the page shows it: whatever the page was told or did before is over by then. */
  async shows(page: Page, text: string, channelId?: string): Promise<void> {
    await this.agent.post(TOPIC, text, channelId);
    await shownMessage(page, text).waitFor({ state: "attached" });
  }

  /** Puts what the browsers show into the log. */
  async show(): Promise<void> {
    for (const tab of this.#tabs) console.log(`--- a browser shows ---\n${await tab.seen()}\n---`);
  }

  /** Closes the browsers; says what went wrong in them. */
  async closeTabs(): Promise<string[]> {
    const trouble = this.#tabs.flatMap(({ trouble: { violations, errors, foreign } }) => [...violations, ...errors, ...foreign]);
    await Promise.all(this.#tabs.splice(0).map((tab) => tab.close()));
    return trouble;
  }

  async stop(): Promise<void> {
    await this.#made?.browser.close();
    await this.#made?.server.stop();
  }
}
