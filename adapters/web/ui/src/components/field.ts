/** Why a text cannot be sent, by the server's rules: with the field, the limit and what there is. Pure. */
import { byteText, codePoints } from "../model/limits";
import { byteLength } from "../model/text";
import { fieldText } from "../strings";

export const nulProblem = (field: string, text: string): string | undefined => {
  const at = text.indexOf("\0");
  return at < 0 ? undefined : fieldText.nul(field, codePoints(text.slice(0, at)) + 1);
};

export const bytesProblem = (field: string, text: string, most: number): string | undefined => {
  const actual = byteLength(text);
  return nulProblem(field, text) ?? (actual > most ? fieldText.tooLong(field, byteText(most), byteText(actual)) : undefined);
};

export const charactersProblem = (field: string, text: string, most: number): string | undefined => {
  const actual = codePoints(text);
  return nulProblem(field, text) ?? (actual > most ? fieldText.tooLong(field, fieldText.characters(most), String(actual)) : undefined);
};
