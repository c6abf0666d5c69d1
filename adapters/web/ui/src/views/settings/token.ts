/** What a token of the list is and what it is called. The server says neither; how long it works tells. Pure. */
import { dayAndClockTime } from "../../components/clock";
import type { TokenInfo } from "../../model/types";
import { settingsText } from "../../strings";

export type TokenKind = "program" | "session" | "link";

/** Links work for a week to the very ms, sessions for another time, what programs use until it is revoked. */
export const LINK_MS = 7 * 24 * 60 * 60 * 1000;
/** Ids begin with the time, so that those of one day look alike; their ends do not. */
const SHOWN_OF_ID = 8;

export const tokenKind = ({ createdAt, expiresAt }: TokenInfo): TokenKind =>
  expiresAt === undefined ? "program" : expiresAt - createdAt === LINK_MS ? "link" : "session";

export const tokenMark = ({ id }: TokenInfo): string => (id.length <= SHOWN_OF_ID ? id : `…${id.slice(-SHOWN_OF_ID)}`);

/** In the middle of a sentence. */
export const tokenName = (token: TokenInfo): string => settingsText.tokenNamed(settingsText.tokenKinds[tokenKind(token)], tokenMark(token), dayAndClockTime(token.createdAt));

export const newestFirst = (tokens: readonly TokenInfo[]): readonly TokenInfo[] => [...tokens].sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1));
