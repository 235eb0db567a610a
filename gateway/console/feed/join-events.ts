// Pure: joins the events of several instances into one list.

import { addedFigures, mostPauses } from '../../shared/contracts/cause.ts';
import { idOf } from '../causes/cause.ts';
import { effectText } from '../causes/effect.ts';
import { SAME_OUTAGE_MS } from '../events/outages.ts';
import type { GatewayEvent } from '../history/gateway-event.ts';

interface Told {
  /** The name of the instance. */
  readonly name: string;
  readonly events: readonly GatewayEvent[];
}

type Placed = GatewayEvent & { readonly instance: string };

/** A change of the configuration, or a release, reaches all instances within this time. */
const SAME_CHANGE_MS = 300_000;

/** Joins an event that several instances saw into one, whose `instance` names all of them. Returns the events, oldest first. */
export function joinEvents(told: readonly Told[]): Placed[] {
  const seen = told.flatMap(({ name, events }) => events.map((event) => ({ ...event, instance: name })));
  const all = [...seen.filter(({ kind }) => kind !== 'uncounted'), ...uncountedByAll(told)].sort((one, other) =>
    one.at.localeCompare(other.at),
  );
  const joined: Placed[] = [];
  /** The index of the latest one in the list, by kind and text. */
  const latest = new Map<string, number>();
  for (const event of all) {
    const key = `${event.kind} ${matterOf(event)}`;
    const index = latest.get(key);
    const known = index === undefined ? undefined : joined[index];
    if (index !== undefined && known !== undefined && isSame(known, event)) {
      joined[index] = {
        ...known,
        until: endOf(known, event),
        figures: addedFigures([known.figures, event.figures]),
        pauses: mostPauses([known.pauses, event.pauses]),
        instance: bothNames(known.instance, event.instance),
      };
      continue;
    }
    latest.set(key, joined.length);
    joined.push(event);
  }
  return joined;
}

/** Returns what instances call alike. The texts of one cause may differ, because each instance may see another error first. */
function matterOf({ about, fault = '', text }: GatewayEvent): string {
  return about === undefined ? text : `${idOf(about)} ${fault}`;
}

/** Returns the times in which no instance counted. While another instance counts, the charts show its requests. */
function uncountedByAll(told: readonly Told[]): Placed[] {
  const instance = told.map(({ name }) => name).join(', ');
  const [first = [], ...gaps] = told.map(({ events }) => events.filter(({ kind }) => kind === 'uncounted'));
  const common = gaps.reduce(
    (some, more) => some.flatMap((one) => more.flatMap((other) => overlapOf(one, other))),
    first,
  );
  return common.map((event) => ({ ...event, instance }));
}

function overlapOf(one: GatewayEvent, other: GatewayEvent): GatewayEvent[] {
  const [, at = ''] = [one.at, other.at].sort();
  const until = [one.until, other.until].sort()[0] ?? null;
  return until !== null && at < until ? [{ ...one, at, until }] : [];
}

const isLasting = ({ kind }: GatewayEvent) => kind === 'outage' || kind === 'warning';

/** An instance that starts or reloads twice has two of these events. */
const ONCE_AN_INSTANCE: readonly GatewayEvent['kind'][] = ['start', 'reload', 'refused'];

function isSame(known: Placed, event: Placed): boolean {
  if (isLasting(event)) return known.until === null || known.until >= event.at;
  const isNear = Date.parse(event.at) - Date.parse(known.at) <= SAME_CHANGE_MS;
  return isNear && ONCE_AN_INSTANCE.includes(event.kind) && !namesIn(known.instance).includes(event.instance);
}

const endOf = (known: Placed, event: Placed) =>
  isLasting(event) || event.kind === 'refused' ? laterOf(known.until, event.until) : known.until;

const namesIn = (instance: string) => instance.split(', ');

const laterOf = (one: string | null, other: string | null) =>
  one === null || other === null ? null : one > other ? one : other;

const bothNames = (one: string, other: string) => [...new Set([one, other].flatMap(namesIn))].join(', ');

/** A line that follows another one of the same cause within this time is a return. */
const RETURN_MS = 3_600_000;
/** The time within which an outage is listed in the same line doubles with each return, at most this many times. */
const DOUBLINGS_MAX = 5;

interface Line extends GatewayEvent {
  readonly instance?: string;
  readonly times: number;
}

/** An event of a list. Its text says how often it came, and how many requests suffered from it. */
export type ListedEvent = Pick<Line, 'kind' | 'at' | 'until' | 'text' | 'instance' | 'times' | 'subject'>;

/**
 * Returns the events for a list, oldest first. A cause that comes and goes, or that becomes a failure, is one line, which lasts from the
 * first to the last. After a time in which alerts with the default `recoverySeconds` report the end, another line begins.
 */
export function listedEvents(events: readonly (GatewayEvent & { readonly instance?: string })[]): ListedEvent[] {
  const lines: Line[] = [];
  const latest = new Map<string, { readonly index: number; readonly returns: number }>();
  for (const event of events) {
    const key = event.about === undefined ? `${event.kind} ${event.text} ${event.instance}` : matterOf(event);
    const { index, returns } = latest.get(key) ?? { index: lines.length, returns: -1 };
    const known = lines[index];
    if (known !== undefined && isRepeated(known, event, returns)) {
      lines[index] = continuedLine(known, event);
      continue;
    }
    const isReturn = known !== undefined && gapMs(known, event) < RETURN_MS;
    latest.set(key, { index: lines.length, returns: isReturn ? returns + 1 : 0 });
    lines.push({ ...event, times: timesOf(event) });
  }
  return lines.map((line) => {
    const { kind, at, until, instance, times, subject } = line;
    return {
      kind,
      at,
      until,
      times,
      text: line.text + sufferedText(line),
      ...(instance !== undefined && { instance }),
      ...(subject && { subject }),
    };
  });
}

function isRepeated(known: GatewayEvent, event: GatewayEvent, returns: number): boolean {
  if (!isLasting(event)) return false;
  // With another text it is the same outage only if it follows at once.
  const doublings = known.text === event.text ? Math.min(returns, DOUBLINGS_MAX) : 0;
  return gapMs(known, event) <= SAME_OUTAGE_MS * 2 ** doublings;
}

/** Returns the milliseconds between two events; 0 if the first one lasts. */
function gapMs({ until }: GatewayEvent, { at }: GatewayEvent): number {
  return Date.parse(at) - Date.parse(until ?? at);
}

function continuedLine(known: Line, event: GatewayEvent & { readonly instance?: string }): Line {
  const { kind, text } = known.kind === 'warning' ? event : known;
  const times = timesOf(event);
  const isDuring = known.until === null || event.at < known.until;
  const more = known.until === event.at ? times - 1 : times;
  return {
    ...known,
    ...{ kind, text },
    until: laterOf(known.until, event.until),
    figures: addedFigures([known.figures, event.figures]),
    // What is seen in two ways at the same time, such as a warning at another target, comes and goes together.
    times: isDuring ? Math.max(known.times, times) : known.times + more,
    ...(event.instance !== undefined && { instance: bothNames(known.instance ?? event.instance, event.instance) }),
  };
}

const timesOf = ({ pauses }: GatewayEvent) => 1 + (pauses?.times ?? 0);

function sufferedText({ figures, times }: Line): string {
  const texts = [times === 1 ? '' : `${times} times`, figures === undefined ? '' : effectText(figures)];
  const told = texts.filter((text) => text !== '');
  return told.length === 0 ? '' : ` (${told.join(', ')})`;
}
