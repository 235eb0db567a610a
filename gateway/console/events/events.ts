// Makes the markers on charts, for starts, reloads, restarts of workers, and outages and warnings with their start and end. Markers are
// derived from successive states of the gateway, and bounded in number.

import { isoTime } from '../../shared/text.ts';
import { type FoundCause, idOf, type StatusForCauses } from '../causes/cause.ts';
import type { GatewayEvent } from '../history/gateway-event.ts';
import { type FiguresOf, type Lasting, type Mark, Outages, type SufferedTime } from './outages.ts';
import { stateChanges } from './state-changes.ts';

const KEPT_MAX = 200;

/** The end of the previous process. All members are undefined if there was none. */
interface PreviousProcess {
  readonly events?: readonly GatewayEvent[] | undefined;
  /** When the process stopped counting; undefined if no request was missed since. */
  readonly uncountedSinceMs?: number | undefined;
  /** When the process was last known to run; undefined if it ended in order. */
  readonly aliveAtMs?: number | undefined;
}

export class Events {
  readonly #now: () => number;
  readonly #events: Mark[];
  readonly #outages: Outages;
  #before: StatusForCauses | null = null;

  /** @param now epoch milliseconds that never decrease */
  constructor(
    now: () => number,
    { events: earlier = [], uncountedSinceMs, aliveAtMs }: PreviousProcess = {},
    figuresOf: FiguresOf = () => undefined,
    sufferedTime: SufferedTime = () => undefined,
  ) {
    this.#now = now;
    const time = this.#time();
    // The outages of the previous process end here. An outage that still lasts starts again when it is seen.
    const endOfCounts = uncountedSinceMs === undefined ? time : isoTime(uncountedSinceMs);
    this.#events = earlier.map(({ lastAt, ...event }) => ({ ...event, until: event.until ?? lastAt ?? endOfCounts }));
    this.#outages = new Outages(now, figuresOf, sufferedTime, {
      add: (kind, at, text) => this.#add(kind, at, text, null),
      drop: (mark) => this.#drop(mark),
      latest: (id) => this.#events.findLast(({ about }) => about !== undefined && idOf(about) === id),
    });
    if (uncountedSinceMs !== undefined)
      this.#add('uncounted', endOfCounts, 'Not counted: the gateway was not running.', time);
    if (aliveAtMs === undefined) this.#add('start', time, 'The gateway started.');
    else {
      const last = isoTime(aliveAtMs);
      const died = `The process before died without a shutdown, at ${last} or within a minute after it`;
      this.#add('restart', time, `The gateway started again. ${died}: it was killed, or crashed.`);
    }
  }

  /** Notes a state. @param status null if it is unknown */
  observe(status: StatusForCauses | null, causes: readonly FoundCause[]): void {
    if (status !== null) {
      const changes = this.#before === null ? [] : stateChanges(this.#before, status, this.#time());
      if (this.#isOther(status.configuration?.last_failure)) this.#endRefusal();
      for (const { kind, at, text } of changes) this.#add(kind, at, text, kind === 'refused' ? null : at);
      // While no worker serves, the status has no version, and the next one is compared with the last known one.
      const { version = this.#before?.configuration?.version } = status.configuration ?? {};
      this.#before = {
        ...status,
        configuration: { ...status.configuration, ...(version !== undefined && { version }) },
      };
    }
    this.#outages.observe(causes);
  }

  /** See `Outages`. */
  causes(): readonly Lasting<FoundCause>[] {
    return this.#outages.causes();
  }

  /** Returns the events, oldest first. */
  list(): readonly GatewayEvent[] {
    const figured = this.#events.map((event) =>
      event.until === null && event.kind !== 'refused'
        ? { ...event, figures: this.#outages.figuresOf(event), lastAt: this.#outages.lastOf(event) }
        : event,
    );
    return figured.sort((one, other) => one.at.localeCompare(other.at));
  }

  #isOther(failure: { readonly at: string } | null | undefined): boolean {
    return failure?.at !== this.#before?.configuration?.last_failure?.at;
  }

  /** A refused configuration lasts until its files are right, or others are refused. */
  #endRefusal(): void {
    const lasting = this.#events.find(({ kind, until }) => kind === 'refused' && until === null);
    if (lasting !== undefined) lasting.until = this.#time();
  }

  #add(kind: GatewayEvent['kind'], at: string, text: string, until: string | null = at): Mark {
    const event = { kind, at, until, text };
    this.#events.push(event);
    if (this.#events.length > KEPT_MAX) this.#events.shift();
    return event;
  }

  #drop(mark: Mark): void {
    const index = this.#events.indexOf(mark);
    if (index >= 0) this.#events.splice(index, 1);
  }

  #time(): string {
    return isoTime(this.#now());
  }
}
