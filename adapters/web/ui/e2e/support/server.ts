/** A real server: its program, on SQLite in a directory of its own, on a free port. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

const run = promisify(execFile);

function program(): string {
  const path = process.env["COMPASS_BIN"];
  if (path === undefined || path === "") {
    throw new Error("COMPASS_BIN has to name the compass program; `cargo xtask page` does so");
  }
  return path;
}

/** Gone when it returns. */
async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}

export class Server {
  #child: ChildProcess | undefined;
  readonly #attached: ChildProcess[] = [];
  #listen = "127.0.0.1:0";
  #log = "";

  private constructor(private readonly home: string) {}

  static async start(): Promise<Server> {
    const server = new Server(await mkdtemp(join(tmpdir(), "page-")));
    await server.serve();
    return server;
  }

  get url(): string {
    return `http://${this.#listen}`;
  }

  /** What the server has written to its error output. */
  get log(): string {
    return this.#log;
  }

  /** The process's id. */
  get pid(): number {
    const pid = this.#child?.pid;
    if (pid === undefined) throw new Error("the server does not run");
    return pid;
  }

  /** Starts it where it was before, or on a free port. */
  async serve(): Promise<void> {
    const child = spawn(
      program(),
      ["serve", "--until-input-closes", "--listen", this.#listen, "--data-dir", join(this.home, "data")],
      { env: this.environment(), stdio: ["pipe", "pipe", "pipe"] },
    );
    this.#child = child;
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#log += text;
    });
    const lines = createInterface({ input: child.stdout });
    const ended = once(child, "exit").then(() => Promise.reject(new Error(`the server ended: ${this.#log}`)));
    const listening = (async () => {
      for await (const line of lines) {
        const address = /http:\/\/([^\s/]+)/.exec(line)?.[1];
        if (address !== undefined) return address;
      }
      throw new Error(`the server said nothing of its address: ${this.#log}`);
    })();
    this.#listen = await Promise.race([listening, ended]);
    // It goes on writing; an unread pipe would stop it.
    child.stdout.resume();
    ended.catch(() => undefined);
  }

  /** Kills it at once, as a crash does; it is gone when this returns. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child !== undefined) await killed(child);
  }

  /** Ends it and what is attached to it, and removes its directory. */
  async stop(): Promise<void> {
    await Promise.all([this.kill(), ...this.#attached.splice(0).map(killed)]);
    await rm(this.home, { recursive: true, force: true });
  }

  /** The secret that signs the first person in. */
  async firstSecret(): Promise<string> {
    const text = await readFile(join(this.home, "data", "sign-in"), "utf8");
    const [secret] = text.split("\n");
    if (secret === undefined || secret === "") throw new Error("the first sign-in is empty");
    return secret.trim();
  }

  /** Runs a command of the program as whoever the token belongs to; gives what it printed. */
  async cli(arguments_: readonly string[], token?: string): Promise<string> {
    const env = { ...this.environment(), ...(token === undefined ? {} : { COMPASS_TOKEN: token }) };
    const { stdout } = await run(program(), [...arguments_], { env });
    return stdout;
  }

  /** Attaches a program as the agent that the token belongs to; it stays so until the server is stopped. */
  async attach(token: string): Promise<void> {
    const env = { ...this.environment(), COMPASS_TOKEN: token };
    const child = spawn(program(), ["agent", "attach"], { env, stdio: ["pipe", "pipe", "pipe"] });
    this.#attached.push(child);
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
    const ended = once(child, "exit").then(() => Promise.reject(new Error(`the attached program ended: ${said}`)));
    const lines = createInterface({ input: child.stdout });
    await Promise.race([once(lines, "line"), ended]);
    child.stdout.resume();
    ended.catch(() => undefined);
  }

  private environment(): NodeJS.ProcessEnv {
    return { HOME: this.home, PATH: process.env["PATH"], TMPDIR: process.env["TMPDIR"], COMPASS_URL: this.url };
  }
}
