// Pure: the markers of several instances in one list, in which an outage that several of them saw is told once.

import type { GatewayEvent } from './events.ts';

type Placed = GatewayEvent & { readonly instance: string };

/** The oldest first. `instance` names all that saw it. */
export function joinEvents(
  told: readonly { readonly name: string; readonly events: readonly GatewayEvent[] }[],
): Placed[] {
  const all = told
    .flatMap(({ name, events }) => events.map((event) => ({ ...event, instance: name })))
    .sort((one, other) => one.at.localeCompare(other.at));
  const joined: Placed[] = [];
  /** By text: the place of its latest outage in the list. */
  const outages = new Map<string, number>();
  for (const event of all) {
    const place = outages.get(event.text);
    const known = place === undefined ? undefined : joined[place];
    if (event.kind === 'outage' && place !== undefined && known !== undefined && reaches(known, event.at)) {
      joined[place] = { ...known, until: laterOf(known.until, event.until), instance: both(known, event) };
      continue;
    }
    if (event.kind === 'outage') outages.set(event.text, joined.length);
    joined.push(event);
  }
  return joined;
}

const reaches = ({ until }: GatewayEvent, at: string) => until === null || until >= at;

const laterOf = (one: string | null, other: string | null) =>
  one === null || other === null ? null : one > other ? one : other;

const both = (one: Placed, other: Placed) =>
  one.instance.split(', ').includes(other.instance) ? one.instance : `${one.instance}, ${other.instance}`;
