/** A proxy before a server that can hold back what the server sends on one path. */
import { type IncomingMessage, type Server as HttpServer, type ServerResponse, createServer, request } from "node:http";
import { once } from "node:events";
import type { Server } from "./server";

export class HoldingProxy {
  readonly #http: HttpServer;
  #held: string | undefined;
  readonly #paused = new Set<IncomingMessage>();
  readonly #open = new Map<IncomingMessage, string>();

  private constructor(private readonly server: Server) {
    this.#http = createServer((incoming, outgoing) => this.forward(incoming, outgoing));
  }

  static async start(server: Server): Promise<HoldingProxy> {
    const proxy = new HoldingProxy(server);
    proxy.#http.listen(0, "127.0.0.1");
    await once(proxy.#http, "listening");
    return proxy;
  }

  get url(): string {
    const address = this.#http.address();
    if (address === null || typeof address === "string") throw new Error("the proxy does not listen");
    return `http://127.0.0.1:${address.port.toString()}`;
  }

  /** From now on nothing of replies to paths that end with `path` goes on, those that have begun included. */
  hold(path: string): void {
    this.#held = path;
    for (const [reply, of] of this.#open) {
      if (!of.endsWith(path)) continue;
      reply.pause();
      this.#paused.add(reply);
    }
  }

  release(): void {
    this.#held = undefined;
    for (const reply of this.#paused) reply.resume();
    this.#paused.clear();
  }

  async stop(): Promise<void> {
    this.#http.closeAllConnections();
    this.#http.close();
    await once(this.#http, "close");
  }

  private forward(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { hostname, port } = new URL(this.server.url);
    const path = incoming.url ?? "/";
    const upstream = request({ hostname, port, path, method: incoming.method, headers: incoming.headers });
    upstream.on("response", (reply) => {
      this.#open.set(reply, path);
      reply.on("close", () => this.#open.delete(reply));
      outgoing.writeHead(reply.statusCode ?? 502, reply.headers);
      outgoing.flushHeaders();
      reply.on("data", (chunk: Uint8Array) => outgoing.write(chunk));
      reply.on("end", () => outgoing.end());
      reply.on("error", () => outgoing.destroy());
      if (this.#held !== undefined && path.endsWith(this.#held)) {
        reply.pause();
        this.#paused.add(reply);
      }
    });
    upstream.on("error", () => outgoing.destroy());
    outgoing.on("close", () => upstream.destroy());
    incoming.pipe(upstream);
  }
}
