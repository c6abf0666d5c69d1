/** What most tests begin with: a server, a browser, an administrator, and an agent of theirs. */
import type { Browser, BrowserContextOptions } from "playwright-core";
import { type Agent, Person } from "./api";
import { Tab, launch } from "./browser";
import { Server } from "./server";

export class Scene {
  readonly #tabs: Tab[] = [];

  private constructor(
    readonly server: Server,
    readonly browser: Browser,
    readonly admin: Person,
    readonly agent: Agent,
  ) {}

  static async start(): Promise<Scene> {
    const [server, browser] = await Promise.all([Server.start(), launch()]);
    const admin = await Person.signIn(server, await server.firstSecret());
    return new Scene(server, browser, admin, await admin.addAgent("bot"));
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

  /** One question with these options, which everyone who is named may answer. */
  async ask(question: string, options: readonly string[] = ["Yes", "No"], channelId?: string) {
    return this.agent.ask("Decisions", [{ id: "q", question, options }], channelId);
  }

  /** Closes the browsers; says what went wrong in them. */
  async closeTabs(): Promise<string[]> {
    const trouble = this.#tabs.flatMap(({ trouble: { violations, errors, foreign } }) => [...violations, ...errors, ...foreign]);
    await Promise.all(this.#tabs.splice(0).map((tab) => tab.close()));
    return trouble;
  }

  async stop(): Promise<void> {
    await this.browser.close();
    await this.server.stop();
  }
}
