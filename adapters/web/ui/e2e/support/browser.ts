/** A browser, and people in it: each has cookies and storage of their own. */
import { type Browser, type BrowserContext, type BrowserContextOptions, type Page, type Request, chromium } from "playwright-core";
import { overlay } from "./overlay";
import type { Server } from "./server";

declare global {
  /** Put into every page by `Tab`. */
  var reportViolation: ((text: string) => void) | undefined;
}

export async function launch(): Promise<Browser> {
  const program = process.env["COMPASS_CHROMIUM"] ?? "/usr/bin/chromium";
  return chromium.launch({
    executablePath: program,
    // Nothing outside this machine is asked for, and nothing needs a sandbox of its own.
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
}

/** What went wrong in a page. */
export interface Trouble {
  /** Violations of the security policy, as the page itself saw them. */
  readonly violations: string[];
  /** Exceptions nobody caught. */
  readonly errors: string[];
  /** Requests that left the server. */
  readonly foreign: string[];
}

/** The trouble of a page in which nothing went wrong. */
export const NONE: Trouble = { violations: [], errors: [], foreign: [] };

/** One person's browser tab. */
export class Tab {
  readonly trouble: Trouble = { violations: [], errors: [], foreign: [] };
  /** What the page asked for so far. */
  readonly requests: Request[] = [];

  private constructor(
    readonly context: BrowserContext,
    readonly page: Page,
    private readonly origin: string,
  ) {}

  static async open(browser: Browser, server: Server, options: BrowserContextOptions = {}): Promise<Tab> {
    const context = await browser.newContext({ baseURL: server.url, viewport: { width: 1280, height: 800 }, ...options });
    context.setDefaultTimeout(15_000);
    await overlay(context, options.baseURL ?? server.url);
    const page = await context.newPage();
    const tab = new Tab(context, page, options.baseURL ?? server.url);
    await tab.listen();
    return tab;
  }

  /** Another tab of the same person. */
  async another(): Promise<Tab> {
    const tab = new Tab(this.context, await this.context.newPage(), this.origin);
    await tab.listen();
    return tab;
  }

  /** How often the page has called this method of the server. */
  called(method: string): number {
    return this.requests.filter((request) => request.url().endsWith(`/${method}`)).length;
  }

  /** Trades a one-time secret for the session's cookie, without the page. */
  async signIn(secret: string): Promise<void> {
    const reply = await this.context.request.post("/session", {
      headers: { "x-compass-page": "1", origin: this.origin },
      data: { sign_in: secret },
    });
    if (reply.status() !== 204) throw new Error(`sign-in was refused: ${reply.status().toString()} ${await reply.text()}`);
  }

  /** What the page's alerts say. */
  async alerts(): Promise<string> {
    return (await this.page.getByRole("alert").allTextContents()).join(" ").trim();
  }

  /** What a person would see now, for the log of a test that failed. */
  async seen(): Promise<string> {
    const text = await this.page.locator("body").innerText({ timeout: 1_000 }).catch(String);
    return `${this.page.url()}\n${text}`;
  }

  async close(): Promise<void> {
    // A request that a test holds or changes may still be under way.
    if (!this.page.isClosed()) await this.page.unrouteAll({ behavior: "ignoreErrors" });
    await this.context.close();
  }

  private async listen(): Promise<void> {
    const { page, trouble } = this;
    page.on("pageerror", (error) => trouble.errors.push(error.message));
    page.on("request", (request) => {
      this.requests.push(request);
      const { origin, protocol } = new URL(request.url());
      if (protocol.startsWith("http") && origin !== this.origin) trouble.foreign.push(request.url());
    });
    await page.exposeFunction("reportViolation", (text: string) => {
      trouble.violations.push(text);
    });
    await page.addInitScript(() => {
      document.addEventListener("securitypolicyviolation", (event) => {
        globalThis.reportViolation?.(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
      });
    });
  }
}
