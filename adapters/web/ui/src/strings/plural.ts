/** Words that depend on how many things there are. */
const english = new Intl.PluralRules("en");
const digits = new Intl.NumberFormat("en");

/** Returns the count and the word in its form, such as "1 message" or "1,200 messages". */
export function counted(count: number, one: string, other: string): string {
  return `${digits.format(count)} ${english.select(count) === "one" ? one : other}`;
}

const and = new Intl.ListFormat("en-GB");

/** Returns the things as one text, such as "a, b and c". */
export const listed = (things: readonly string[]): string => and.format(things);
