/** What a failed call says to a person. */
import { Failure } from "../model/client";
import { visible } from "../model/text";
import { failureWords } from "../strings";

/** What a form calls the fields that its call has on the wire. */
export type FieldNames = ReadonlyMap<string, string>;

/** The server begins with the field that it refuses, such as `member_handles[2]: `. */
const inWordsOf = (fields: FieldNames, words: string): string => {
  const [, field = "", reason = ""] = /^([a-z_]+)(?:\[\d+\])?: (.*)$/s.exec(words) ?? [];
  const name = fields.get(field);
  return name === undefined ? words : `${name}: ${reason}`;
};

/** The server's own words where there are some; they are foreign text and shown as such. */
export const failureText = (error: unknown, fields: FieldNames = new Map()): string => {
  if (!(error instanceof Failure)) return failureWords.internal;
  const words = error.message.trim();
  switch (error.kind) {
    case "unavailable":
    case "unknown":
    case "signed_out":
      return failureWords[error.kind];
    case "not_allowed":
    case "not_found":
    case "invalid":
    case "already":
    case "precondition":
    case "aborted":
    case "internal":
      return words === "" ? failureWords[error.kind] : visible(inWordsOf(fields, words));
  }
};

/** A refused sign-in: the server's words are written for people, whatever the kind. */
export const sessionFailure = (error: unknown): string => (error instanceof Failure && error.message.trim() !== "" ? visible(error.message.trim()) : failureText(error));
