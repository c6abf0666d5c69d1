/** Whether, and with what, a person may write. */
import { byteText, encodedSize, LIMITS } from "../model/limits";
import { mayPost } from "../model/select";
import type { Channel, NewBlock } from "../model/types";
import type { State } from "../store/contract";
import { composerText, fieldText } from "../strings";
import { nulProblem } from "./field";

/** Why the person cannot write in the channel, or undefined. */
export function postingRefused(state: State, channel: Channel): string | undefined {
  switch (mayPost(state, channel)) {
    case "yes":
      return undefined;
    case "not_member":
      return composerText.notMember;
    case "owner_only":
      return channel.ownerId === undefined ? composerText.noOwner : composerText.ownerOnly;
  }
}

/** The blocks of a plain message; nothing for a blank text. */
export function textBlocks(text: string): readonly NewBlock[] {
  const trimmed = text.trim();
  return trimmed === "" ? [] : [{ kind: "text", text: trimmed }];
}

/** Why blocks cannot be sent as one message, or undefined. */
export function blocksProblem(blocks: readonly NewBlock[]): string | undefined {
  const size = encodedSize(blocks);
  if (size > LIMITS.messageBytes) return fieldText.tooLong(composerText.theMessage, byteText(LIMITS.messageBytes), byteText(size));
  return blocks.flatMap((block) => (block.kind === "text" ? (nulProblem(composerText.theMessage, block.text) ?? []) : []))[0];
}
