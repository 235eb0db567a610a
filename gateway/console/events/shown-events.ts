// Pure: which markers on charts the view of an operation, upstream, organization or error code shows.

import { REFUSALS } from '../../catalogue/errors.ts';
import type { About, FoundCause } from '../causes/cause.ts';
import type { GatewayEvent, ShownSubject } from '../history/gateway-event.ts';

/** The pages about the subjects of causes. Other topics are about the gateway. */
const PAGES: Partial<Record<About['topic'], 'operations' | 'upstreams' | 'organizations'>> = {
  upstream: 'upstreams',
  'operations of': 'upstreams',
  'slow operations of': 'upstreams',
  operation: 'operations',
  contract: 'operations',
  slow: 'operations',
  organization: 'organizations',
  near: 'organizations',
};

/** Returns the subject of an outage; undefined if it is the gateway. */
export function shownSubjectOf({ topic, name }: About): ShownSubject | undefined {
  const kind = PAGES[topic];
  return kind === undefined || name === undefined ? undefined : { kind, name };
}

/** Returns the error codes that a cause names, by their statuses if it says only these. */
export function codesNamedBy({ cause, consequence }: Pick<FoundCause, 'cause' | 'consequence'>): string[] {
  const words = new Set(`${cause} ${consequence}`.split(/\W+/));
  const statuses: readonly string[] = /fail with ([\d, or]+)/.exec(consequence)?.[1]?.match(/\d+/g) ?? [];
  return Object.entries(REFUSALS).flatMap(([code, { status, blame }]) =>
    words.has(code) || (blame === 'upstream' && statuses.includes(String(status))) ? [code] : [],
  );
}

/**
 * Returns the events for the view of an operation, upstream or organization: the events of the gateway and of this subject. An operation
 * also has the events of its upstream, and an upstream has the events of its operations. An error code has the outages whose causes name
 * it, and an organization has those that hit it.
 */
export function eventsAbout(
  events: readonly GatewayEvent[],
  about: ShownSubject | undefined,
  upstreamOf: (operation: string) => string | undefined,
): readonly GatewayEvent[] {
  if (about === undefined) return events;
  const upstreamIn = ({ kind, name }: ShownSubject) =>
    kind === 'upstreams' ? name : kind === 'operations' ? upstreamOf(name) : undefined;
  return events.filter(({ subject, codes, operations, organizations }) => {
    if (about.kind === 'codes' && codes?.includes(about.name)) return true;
    if (about.kind === 'organizations' && organizations?.includes(about.name)) return true;
    if (subject === undefined) return true;
    if (subject.kind === about.kind) return subject.name === about.name;
    if (about.kind === 'operations' && operations?.includes(about.name) === false) return false;
    const upstream = upstreamIn(about);
    return upstream !== undefined && upstream === upstreamIn(subject);
  });
}
