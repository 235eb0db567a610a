// Pure: joins the events of several instances into one list.

import type { GatewayEvent } from '../history/gateway-event.ts';

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
      joined[index] = { ...known, until: endOf(known, event), instance: both(known, event) };
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
