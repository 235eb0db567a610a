// Pure: joins the events of several instances into one list.

import type { EventFigures, GatewayEvent } from '../history/gateway-event.ts';

type Placed = GatewayEvent & { readonly instance: string };

/** A change of the configuration, or a release, reaches all instances within this time. */
const SAME_CHANGE_MS = 300_000;

/** Joins an event that several instances saw into one, whose `instance` names all of them. Returns the events, oldest first. */
export function joinEvents(
  told: readonly { readonly name: string; readonly events: readonly GatewayEvent[] }[],
): Placed[] {
  const all = told
    .flatMap(({ name, events }) => events.map((event) => ({ ...event, instance: name })))
    .sort((one, other) => one.at.localeCompare(other.at));
  const joined: Placed[] = [];
  /** The index of the latest one in the list, by kind and text. */
  const latest = new Map<string, number>();
  for (const event of all) {
    const key = `${event.kind} ${event.text}`;
    const index = latest.get(key);
    const known = index === undefined ? undefined : joined[index];
    if (index !== undefined && known !== undefined && isSame(known, event)) {
      joined[index] = {
        ...known,
        until: endOf(known, event),
        figures: addedFigures([known, event]),
        instance: both(known, event),
      };
      continue;
    }
    latest.set(key, joined.length);
    joined.push(event);
  }
  return joined;
}

const isLasting = ({ kind }: GatewayEvent) => kind === 'outage' || kind === 'warning';

/** An instance that starts or reloads twice has two events. */
function isSame(known: Placed, event: Placed): boolean {
  if (isLasting(event)) return known.until === null || known.until >= event.at;
  const isNear = Date.parse(event.at) - Date.parse(known.at) <= SAME_CHANGE_MS;
  return isNear && (event.kind === 'start' || event.kind === 'reload') && !namesIn(known).includes(event.instance);
}

const endOf = (known: Placed, event: Placed) => (isLasting(event) ? laterOf(known.until, event.until) : known.until);

const namesIn = ({ instance }: Placed) => instance.split(', ');

const laterOf = (one: string | null, other: string | null) =>
  one === null || other === null ? null : one > other ? one : other;

const both = (one: Placed, other: Placed) =>
  namesIn(one).includes(other.instance) ? one.instance : `${one.instance}, ${other.instance}`;

/** Adds the figures of events; undefined if none has figures. */
function addedFigures(events: readonly GatewayEvent[]): EventFigures | undefined {
  const all = events.flatMap(({ figures }) => (figures === undefined ? [] : [Object.entries(figures)]));
  if (all.length === 0) return undefined;
  const sums = new Map<string, number>();
  for (const [key, value] of all.flat()) sums.set(key, (sums.get(key) ?? 0) + value);
  return { requests: 0, ...Object.fromEntries(sums) };
}

/** An outage that comes again within this time is listed in the same line. */
const REPEATED_MS = 600_000;

/** An event of a list. Its text says how often it came, and how many requests suffered from it. */
export interface ListedEvent extends GatewayEvent {
  readonly instance?: string;
  readonly times: number;
}

/** Returns the events for a list, oldest first. Outages that come and go are one line, which lasts from the first to the last. */
export function listedEvents(events: readonly (GatewayEvent & { readonly instance?: string })[]): ListedEvent[] {
  const lines: ListedEvent[] = [];
  const latest = new Map<string, number>();
  for (const event of events) {
    const key = `${event.kind} ${event.text} ${event.instance}`;
    const index = latest.get(key) ?? lines.length;
    const known = lines[index];
    if (known !== undefined && isRepeated(known, event)) {
      lines[index] = {
        ...known,
        until: event.until,
        figures: addedFigures([known, event]),
        times: known.times + 1,
      };
      continue;
    }
    latest.set(key, lines.length);
    lines.push({ ...event, times: 1 });
  }
  return lines.map((line) => ({ ...line, text: line.text + sufferedText(line) }));
}

function isRepeated(known: GatewayEvent, event: GatewayEvent): boolean {
  return isLasting(event) && known.until !== null && Date.parse(event.at) - Date.parse(known.until) <= REPEATED_MS;
}

function sufferedText({ figures, times }: ListedEvent): string {
  const often = times === 1 ? [] : [`${times} times`];
  if (figures === undefined) return often.length === 0 ? '' : ` (${often})`;
  const { requests, failed, refused, server_errors: errors } = figures;
  const what =
    failed !== undefined
      ? `${failed} of ${requests} requests failed`
      : refused !== undefined
        ? `${refused} of ${requests} requests were refused`
        : `${errors} of ${requests} responses with 5xx`;
  return ` (${[...often, what].join(', ')})`;
}
