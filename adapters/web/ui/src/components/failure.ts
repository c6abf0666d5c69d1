/** Says to a person what became of something that was to be sent. */
import { isUncertain } from "../model/client";
import { errorText, visible } from "../model/text";
import { composerText } from "../strings";

/** An outcome that is not known is never told as a failure. */
export function sendingFailed(error: unknown): string {
  const reason = visible(errorText(error));
  return isUncertain(error) ? composerText.uncertain(reason) : composerText.failed(reason);
}
