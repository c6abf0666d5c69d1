/** Says to a person what became of something that was to be sent. */
import { Failure } from "../model/client";
import { visible } from "../model/text";
import { composerText } from "../strings";

/** The server may have taken what these failures are about. */
const UNCERTAIN: ReadonlySet<Failure["kind"]> = new Set<Failure["kind"]>(["unknown", "unavailable", "aborted"]);

/** An outcome that is not known is never told as a failure. */
export function sendingFailed(error: unknown): string {
  const reason = visible(error instanceof Error ? error.message : String(error));
  return error instanceof Failure && !UNCERTAIN.has(error.kind) ? composerText.failed(reason) : composerText.uncertain(reason);
}
