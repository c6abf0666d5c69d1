/** Picks the form of a word for a count. */
const english = new Intl.PluralRules("en");
const digits = new Intl.NumberFormat("en");

/** Returns the count and the word in its form, such as "1 message" or "1,200 messages". */
export function counted(count: number, one: string, other: string): string {
  return `${digits.format(count)} ${english.select(count) === "one" ? one : other}`;
}
