/** The one key listener: a focused group first, then commands of the zone the focus is in, then commands of the whole page. */
import { takesText } from "./roving";
import { chordOf, hasModifier, isMac } from "./chord";

/** How long the first key of two waits for the second, in ms. */
export const SEQUENCE_MS = 1_500;

export interface Command {
  readonly id: string;
  /** One chord, or two after each other: `g i`. */
  readonly keys: string;
  /** What it does, for the list of keys. Commands without one are not listed: those of one view stand there whatever is shown. */
  readonly label?: string;
  /** Only while the focus is in an element with this `data-zone`. */
  readonly zone?: string;
  /** Returns false to decline: the key goes on to the next command. */
  run(event: KeyboardEvent): boolean | undefined;
}

/** Keys of a group while the focus is inside. Returns true if the key was the group's. */
export type GroupKeys = (event: KeyboardEvent) => boolean;

export class Keys {
  private readonly commands = new Map<string, Command>();
  private readonly groups = new Map<Element, GroupKeys>();
  private first: { readonly chord: string; readonly at: number } | undefined;

  constructor(private readonly mac: boolean = isMac(navigator.platform)) {}

  /** Last one wins for an id, which keeps its place. Returns what takes it back, and only it. */
  register(command: Command): () => void {
    this.commands.set(command.id, command);
    return () => {
      if (this.commands.get(command.id) === command) this.commands.delete(command.id);
    };
  }

  group(element: Element, keys: GroupKeys): () => void {
    this.groups.set(element, keys);
    return () => {
      this.groups.delete(element);
    };
  }

  list(): readonly Command[] {
    return [...this.commands.values()];
  }

  /** Listens until the returned function is called. */
  install(target: EventTarget): () => void {
    const listen = (event: Event) => {
      if (event instanceof KeyboardEvent) this.press(event);
    };
    target.addEventListener("keydown", listen);
    return () => target.removeEventListener("keydown", listen);
  }

  /** Returns true if something took the key. */
  press(event: KeyboardEvent): boolean {
    if (event.defaultPrevented || event.isComposing) return false;
    // No bare key acts while somebody types.
    if (!hasModifier(event) && takesText(event.target)) return false;
    const taken = this.inGroup(event) || this.byCommand(event);
    if (taken) event.preventDefault();
    return taken;
  }

  private inGroup(event: KeyboardEvent): boolean {
    for (let at = event.target instanceof Element ? event.target : null; at; at = at.parentElement) if (this.groups.get(at)?.(event)) return true;
    return false;
  }

  private byCommand(event: KeyboardEvent): boolean {
    const chord = chordOf(event, this.mac);
    const first = this.first;
    this.first = undefined;
    if (first && event.timeStamp - first.at <= SEQUENCE_MS && this.run(`${first.chord} ${chord}`, event)) return true;
    if (this.run(chord, event)) return true;
    if (![...this.commands.values()].some((command) => command.keys.startsWith(`${chord} `))) return false;
    this.first = { chord, at: event.timeStamp };
    return true;
  }

  private run(keys: string, event: KeyboardEvent): boolean {
    const zones = zonesOf(event.target);
    const matching = [...this.commands.values()].filter((command) => command.keys === keys);
    const inZone = zones.flatMap((zone) => matching.filter((command) => command.zone === zone));
    const everywhere = matching.filter((command) => command.zone === undefined);
    return [...inZone, ...everywhere].some((command) => command.run(event) !== false);
  }
}

/** Zones around the target, the innermost first. */
const zonesOf = (target: EventTarget | null): readonly string[] => {
  const zones: string[] = [];
  for (let at = target instanceof Element ? target : null; at; at = at.parentElement) {
    const zone = at.getAttribute("data-zone");
    if (zone !== null) zones.push(zone);
  }
  return zones;
};

