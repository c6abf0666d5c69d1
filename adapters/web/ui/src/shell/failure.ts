/** What a failed call says to a person. */
import { Failure } from "../model/client";
import { visible } from "../model/text";
import { failureWords } from "../strings";

/** The server's own words where there are some; they are foreign text and shown as such. */
export const failureText = (error: unknown): string => {
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
      return words === "" ? failureWords[error.kind] : visible(words);
  }
};

/** A refused sign-in: the server's words are written for people, whatever the kind. */
export const sessionFailure = (error: unknown): string => (error instanceof Failure && error.message.trim() !== "" ? visible(error.message.trim()) : failureText(error));
