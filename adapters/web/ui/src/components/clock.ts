/** Times as people read them, in the browser's own time zone. */

/** The furthest a `Date` can be from 1970, in ms. */
const LIMIT = 8.64e15;

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const day = new Intl.DateTimeFormat(undefined, { weekday: "long", year: "numeric", month: "long", day: "numeric" });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" });
const dayAndClock = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

/** A time on the wire may be any number; what no `Date` can hold becomes 1970. */
function date(at: number): Date {
  return new Date(Number.isFinite(at) && Math.abs(at) <= LIMIT ? at : 0);
}

export const clockTime = (at: number): string => clock.format(date(at));
export const dayName = (at: number): string => day.format(date(at));
export const fullTime = (at: number): string => full.format(date(at));
export const isoTime = (at: number): string => date(at).toISOString();
export const dayAndClockTime = (at: number): string => dayAndClock.format(date(at));
export const sameDay = (a: number, b: number): boolean => date(a).toDateString() === date(b).toDateString();
