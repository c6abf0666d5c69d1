/** The page's session over plain HTTP: the token is in a cookie that no script can read. */
import { Failure } from "../model/client";
import type { FailureKind, PageSession } from "../model/client";
import { wireText } from "../strings/wire";
import { PAGE_HEADER } from "./header";

const kindOf = (status: number): FailureKind => {
  if (status === 400 || status === 413) return "invalid";
  if (status === 401) return "signed_out";
  if (status === 403) return "not_allowed";
  return status === 429 || status === 503 ? "unavailable" : "internal";
};

const isRefusal = (body: unknown): body is { readonly error: string } =>
  typeof body === "object" && body !== null && "error" in body && typeof body.error === "string" && body.error !== "";

/** The server's own words; a proxy in between answers in its own way. */
const refusal = async (response: Response): Promise<Failure> => {
  let body: unknown;
  try {
    body = await response.json();
  } catch {
    body = undefined;
  }
  return new Failure(kindOf(response.status), isRefusal(body) ? body.error : wireText.sessionRefused(response.status));
};

export interface SessionOptions {
  readonly baseUrl: string;
  readonly fetch?: typeof fetch;
}

export const createPageSession = (options: SessionOptions): PageSession => {
  const send = async (method: string, body: unknown, signal?: AbortSignal): Promise<Response> => {
    const headers: Record<string, string> = { [PAGE_HEADER]: "1" };
    if (body !== undefined) headers["content-type"] = "application/json";
    const call = options.fetch ?? globalThis.fetch;
    try {
      return await call(`${options.baseUrl}/session`, {
        method, headers, credentials: "same-origin", cache: "no-store",
        ...(body === undefined ? {} : { body: JSON.stringify(body) }), ...(signal ? { signal } : {}),
      });
    } catch {
      if (signal?.aborted) throw new Failure("aborted", wireText.aborted);
      // A one-time secret may be spent by now; trying again says so.
      throw new Failure("unavailable", wireText.unreachable);
    }
  };
  const done = async (response: Response): Promise<void> => {
    if (!response.ok) throw await refusal(response);
  };
  return {
    signIn: async (by) => done(await send("POST", "secret" in by ? { sign_in: by.secret } : { token: by.token })),
    signOut: async () => done(await send("DELETE", undefined)),
    isOpen: async (signal) => {
      const response = await send("GET", undefined, signal);
      if (response.status === 401) return false;
      await done(response);
      return true;
    },
  };
};
