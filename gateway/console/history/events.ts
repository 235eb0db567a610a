// Makes the markers on charts, for starts, reloads, restarts of workers, and outages and warnings with their start and end. Markers are
// derived from successive states of the gateway, and bounded in number.

import type { Cause } from '../../shared/contracts/cause.ts';
import type { StatusForCauses } from '../causes/cause.ts';

export interface GatewayEvent {
  readonly kind: 'start' | 'reload' | 'refused' | 'restart' | 'outage' | 'warning' | 'uncounted';
  /** ISO 8601, UTC. */
  readonly at: string;
  /** The end of an outage or of a time without counts; null if it lasts. Equal to `at` for all other markers. */
  readonly until: string | null;
  readonly text: string;
  /** The subject of an outage; undefined if it is the gateway. */
  readonly subject?: PageReference | undefined;
}

/** A page of the console, such as `operations` or `upstreams`, and a name. */
interface PageReference {
  readonly kind: string;
  readonly name: string;
}

/** A cause with the moment of its begin. */
export type LastingCause = Cause & { readonly since: string };

interface Events {
  /** Notes a state. A cause without `since` gets the time at which it was first seen. */
  observe(status: StatusForCauses | null, causes: readonly Cause[]): void;
  /** Returns the causes of the last state. */
  causes(): readonly LastingCause[];
  /** Returns the events, oldest first. */
  list(): readonly GatewayEvent[];
}

const KEPT_MAX = 200;
/**
 * An outage that returns within this time is the same outage. The time is a little longer than the minute during which its errors may be
 * shown as errors of another cause.
 */
const SAME_OUTAGE_MS = 90_000;
/** The largest number of changes of one reload that a marker names. */
const CHANGES_NAMED_MAX = 2;

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/**
 * @param now epoch milliseconds that never decrease
 * @param earlier the events of the previous process
 * @param uncountedSinceMs when the previous process stopped counting; undefined if nothing was missed between the two
 * @param aliveAtMs when the process before was last known to run, if it has died; absent if it ended in order
 */
export function createEvents(
  now: () => number,
  earlier: readonly GatewayEvent[] = [],
  uncountedSinceMs?: number,
  aliveAtMs?: number,
): Events {
  const timeNow = () => new Date(now()).toISOString();
  // The outages of the previous process end here. An outage that still lasts begins again when it is seen.
  const endOfCounts = uncountedSinceMs === undefined ? timeNow() : new Date(uncountedSinceMs).toISOString();
  const events: Mutable<GatewayEvent>[] = earlier.map((event) => ({ ...event, until: event.until ?? endOfCounts }));
  const lasting = new Map<
    string,
    { readonly cause: LastingCause; readonly event: Mutable<GatewayEvent> | undefined }
  >();
  /** The outages that have ended lately, by the id of their cause. */
  const ended = new Map<string, Mutable<GatewayEvent>>();
  let before: StatusForCauses | null = null;

  function add(kind: GatewayEvent['kind'], at: string, text: string, until: string | null = at): Mutable<GatewayEvent> {
    const event = { kind, at, until, text };
    events.push(event);
    if (events.length > KEPT_MAX) events.shift();
    return event;
  }

  /** Begins an outage or a warning, or continues one that has ended lately. */
  function addLasting(kind: 'outage' | 'warning', cause: Cause, since: string): Mutable<GatewayEvent> {
    const event = ended.get(`${kind} ${cause.id}`) ?? add(kind, since, cause.title ?? cause.cause, null);
    const subject = subjectOf(cause);
    if (subject !== undefined) event.subject = subject;
    event.until = null;
    return event;
  }

  function end(event: Mutable<GatewayEvent>, id: string): void {
    event.until = timeNow();
    ended.set(`${event.kind} ${id}`, event);
  }

  function noteReloads({ configuration: next = {} }: StatusForCauses): void {
    const { configuration: last = {} } = before ?? {};
    if (before === null) return;
    if (next.loaded_at !== undefined && next.loaded_at !== last.loaded_at)
      add('reload', next.loaded_at, reloadText(next));
    const failure = next.last_failure;
    if (failure && failure.at !== last.last_failure?.at)
      add(
        'refused',
        failure.at,
        `A changed configuration ${failure.needs_restart ? 'waits for a restart' : 'was refused'}: ${failure.mistakes[0] ?? ''}`,
      );
  }

  function noteWorkers({ workers = [] }: StatusForCauses): void {
    if (before === null) return;
    const restartsOf = (status: StatusForCauses) =>
      new Map((status.workers ?? []).map(({ worker, restarts = 0 }) => [worker, restarts]));
    const last = restartsOf(before);
    for (const { worker, restarts = 0 } of workers) {
      if (restarts > (last.get(worker) ?? restarts))
        add('restart', timeNow(), `Worker ${worker} died and was replaced.`);
    }
  }

  function noteCauses(causes: readonly Cause[]): void {
    const present = new Set(causes.map(({ id }) => id));
    for (const [id, { event }] of lasting) {
      if (present.has(id)) continue;
      lasting.delete(id);
      if (event) end(event, id);
    }
    for (const [id, { until }] of ended) if (now() - Date.parse(until ?? '') >= SAME_OUTAGE_MS) ended.delete(id);
    for (const cause of causes) {
      const known = lasting.get(cause.id);
      const since = known?.cause.since ?? cause.since ?? timeNow();
      const kind = markOf(cause);
      const isSame = known?.event !== undefined && known.event.kind === kind;
      // The outage ends when its cause is recovering, and a warning when it becomes an outage.
      if (known?.event && !isSame) end(known.event, cause.id);
      const began = known?.event === undefined ? since : timeNow();
      const event = isSame ? known.event : kind && addLasting(kind, cause, began);
      // A cause that returns soon keeps the start of its outage.
      lasting.set(cause.id, {
        cause: { ...cause, since: event !== undefined && event.at < since ? event.at : since },
        event,
      });
    }
  }

  if (uncountedSinceMs !== undefined)
    add('uncounted', new Date(uncountedSinceMs).toISOString(), 'Not counted: the gateway was not running.', timeNow());
  if (aliveAtMs === undefined) add('start', timeNow(), 'The gateway started.');
  else {
    const last = new Date(aliveAtMs).toISOString();
    const died = `The process before died without a shutdown, at ${last} or within a minute after it`;
    add('restart', timeNow(), `The gateway started again. ${died}: it was killed, or crashed.`);
  }
  return {
    observe(status, causes) {
      if (status !== null) {
        noteReloads(status);
        noteWorkers(status);
        before = status;
      }
      noteCauses(causes);
    },
    causes: () => [...lasting.values()].map(({ cause }) => cause).sort((one, other) => rank(one) - rank(other)),
    list: () => [...events].sort((one, other) => one.at.localeCompare(other.at)),
  };
}

/** Returns a text that names the changed settings, because the last change is the first suspect in an incident. */
function reloadText({ version = '', changes = [] }: NonNullable<StatusForCauses['configuration']>): string {
  const more = changes.length > CHANGES_NAMED_MAX ? `, and ${changes.length - CHANGES_NAMED_MAX} more` : '';
  const what = changes.slice(0, CHANGES_NAMED_MAX).join(', ');
  return `The configuration ${version} was loaded${what === '' ? '' : `: ${what}${more}`}.`;
}

/**
 * Returns how charts mark a lasting cause. Certificates, files and the lifecycle are not marked, because they change no traffic, and
 * neither are organizations near a limit, of which there are many.
 */
function markOf({ id, kind, hasRecovered }: Cause): 'outage' | 'warning' | undefined {
  if (hasRecovered || /^(certificate|configuration|lifecycle|tier|near|more) ?/.test(id)) return undefined;
  return kind === 'bad' ? 'outage' : 'warning';
}

function rank({ kind }: Cause): number {
  return kind === 'bad' ? 0 : 1;
}

/** Returns the subject of a cause, from the address of its details. */
function subjectOf({ details = '' }: Cause): PageReference | undefined {
  const [, kind = '', name] = /^#\/(operations|upstreams|organizations)\/(.+)$/.exec(details) ?? [];
  return name === undefined ? undefined : { kind, name: decodeURIComponent(name) };
}

/**
 * Returns the events for the view of an operation, upstream or organization: the events of the gateway and of this subject. An operation
 * also has the events of its upstream, and an upstream has the events of its operations.
 */
export function eventsAbout(
  events: readonly GatewayEvent[],
  about: PageReference | undefined,
  upstreamOf: (operation: string) => string | undefined,
): readonly GatewayEvent[] {
  if (about === undefined) return events;
  const upstreamIn = ({ kind, name }: PageReference) =>
    kind === 'upstreams' ? name : kind === 'operations' ? upstreamOf(name) : undefined;
  return events.filter(({ subject }) => {
    if (subject === undefined) return true;
    if (subject.kind === about.kind) return subject.name === about.name;
    const upstream = upstreamIn(about);
    return upstream !== undefined && upstream === upstreamIn(subject);
  });
}
