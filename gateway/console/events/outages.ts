// Follows the causes of successive states: since when each lasts, and from when to when charts mark it as an outage or a warning.

import type { Cause } from '../../shared/contracts/cause.ts';
import { isoTime } from '../../shared/text.ts';
import type { About, FoundCause } from '../causes/cause.ts';
import type { GatewayEvent } from '../history/gateway-event.ts';
import { shownSubjectOf } from './shown-events.ts';

/** A cause with the time at which it started. */
export type Lasting<Of extends Cause> = Of & { readonly since: string };

/** The mark of a cause: an event that changes until it ends. */
export type Mark = { -readonly [Key in keyof GatewayEvent]: GatewayEvent[Key] };

type MarkKind = 'outage' | 'warning';

/**
 * An outage that returns within this time is the same outage. The time is a little longer than the minute during which its errors may be
 * shown as errors of another cause.
 */
const SAME_OUTAGE_MS = 90_000;

/** Certificates, files and the lifecycle change no traffic, and many organizations are near a limit. */
const UNMARKED: readonly About['topic'][] = ['certificate', 'configuration', 'lifecycle', 'tier', 'near', 'more'];

export class Outages {
  readonly #now: () => number;
  readonly #addMark: (kind: MarkKind, at: string, text: string) => Mark;
  readonly #lasting = new Map<string, { readonly cause: Lasting<FoundCause>; readonly mark: Mark | undefined }>();
  /** The marks that have ended lately, by their kind and the id of their cause. */
  readonly #ended = new Map<string, Mark>();

  /**
   * @param now epoch milliseconds that never decrease
   * @param addMark adds a mark that lasts
   */
  constructor(now: () => number, addMark: (kind: MarkKind, at: string, text: string) => Mark) {
    this.#now = now;
    this.#addMark = addMark;
  }

  /** Notes a state. A cause without `since` gets the time at which it was first seen. */
  observe(causes: readonly FoundCause[]): void {
    const present = new Set(causes.map(({ id }) => id));
    for (const [id, { mark }] of this.#lasting) {
      if (present.has(id)) continue;
      this.#lasting.delete(id);
      if (mark) this.#end(mark, id);
    }
    for (const [key, { until }] of this.#ended)
      if (this.#now() - Date.parse(until ?? '') >= SAME_OUTAGE_MS) this.#ended.delete(key);
    for (const cause of causes) this.#note(cause);
  }

  /** Returns the causes of the last state, failures first. */
  causes(): readonly Lasting<FoundCause>[] {
    return [...this.#lasting.values()].map(({ cause }) => cause).sort((one, other) => rank(one) - rank(other));
  }

  #note(cause: FoundCause): void {
    const { id } = cause;
    const known = this.#lasting.get(id);
    const since = known?.cause.since ?? cause.since ?? this.#time();
    const kind = markOf(cause);
    const isSame = known?.mark !== undefined && known.mark.kind === kind;
    // The outage ends when its cause is recovering, and a warning when it becomes an outage.
    if (known?.mark && !isSame) this.#end(known.mark, id);
    const began = known?.mark === undefined ? since : this.#time();
    const mark = isSame ? known.mark : kind && this.#begin(kind, cause, began);
    // A cause that returns soon keeps the start of its outage.
    const first = mark !== undefined && mark.at < since ? mark.at : since;
    this.#lasting.set(id, { cause: { ...cause, since: first }, mark });
  }

  /** Begins an outage or a warning, or continues one that has ended lately. */
  #begin(kind: MarkKind, cause: FoundCause, since: string): Mark {
    const mark = this.#ended.get(`${kind} ${cause.id}`) ?? this.#addMark(kind, since, cause.title ?? cause.cause);
    const subject = shownSubjectOf(cause.about);
    if (subject !== undefined) mark.subject = subject;
    mark.until = null;
    return mark;
  }

  #end(mark: Mark, id: string): void {
    mark.until = this.#time();
    this.#ended.set(`${mark.kind} ${id}`, mark);
  }

  #time(): string {
    return isoTime(this.#now());
  }
}

/** Returns how charts mark a cause; undefined if they do not. */
function markOf({ about, kind, hasRecovered }: FoundCause): MarkKind | undefined {
  if (hasRecovered || UNMARKED.includes(about.topic)) return undefined;
  return kind === 'bad' ? 'outage' : 'warning';
}

function rank({ kind }: FoundCause): number {
  return kind === 'bad' ? 0 : 1;
}
