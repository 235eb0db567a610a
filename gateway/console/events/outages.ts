// Follows the causes of successive states: since when each lasts, and from when to when charts mark it as an outage or a warning.

import { addedFigures, type Cause } from '../../shared/contracts/cause.ts';
import { isoTime } from '../../shared/text.ts';
import type { About, FoundCause } from '../causes/cause.ts';
import type { EventFigures, GatewayEvent } from '../history/gateway-event.ts';
import { codesNamedBy, shownSubjectOf } from './shown-events.ts';

/** A cause with the time at which it started. */
export type Lasting<Of extends Cause> = Of & { readonly since: string };

/** The mark of a cause: an event that changes until it ends. */
export type Mark = { -readonly [Key in keyof GatewayEvent]: GatewayEvent[Key] };

type MarkKind = 'outage' | 'warning';

/** The list of marks. */
interface Marks {
  /** Adds a mark that lasts. */
  add(kind: MarkKind, at: string, text: string): Mark;
  drop(mark: Mark): void;
  /** Returns the latest mark of a cause, also of the process before. */
  latest(id: string): Mark | undefined;
}

/** Returns the figures of an event between two times. */
export type FiguresOf = (
  event: Pick<GatewayEvent, 'subject' | 'about' | 'operations'>,
  fromMs: number,
  untilMs: number,
) => EventFigures | undefined;

/** Returns when requests suffered from a cause lately; undefined if the counts do not say this. */
export type SufferedTime = (
  about: About,
  nowMs: number,
) => { readonly fromMs: number; readonly untilMs: number } | undefined;

/**
 * An outage of the same fault that returns within this time is the same outage. After it, alerts with the default `recoverySeconds` report
 * the end of the outage, so that a later one is another.
 */
export const SAME_OUTAGE_MS = 30_000;

/** Certificates, files and the lifecycle change no traffic, and many organizations are near a limit. */
const UNMARKED: readonly About['topic'][] = ['certificate', 'configuration', 'lifecycle', 'tier', 'near', 'more'];

interface LastingOutage {
  readonly cause: Lasting<FoundCause>;
  readonly mark: Mark | undefined;
  /** The fault of the cause; that of the failure before while the cause recovers. */
  readonly fault: string | undefined;
  /** The mark that has ended, while the cause recovers. */
  readonly ended: Mark | undefined;
  /** The figures of the marks before, which ended when the warning became an outage. */
  readonly before: EventFigures | undefined;
}

export class Outages {
  readonly #now: () => number;
  readonly #figuresOf: FiguresOf;
  readonly #marks: Marks;
  #observedMs = 0;
  readonly #lasting = new Map<string, LastingOutage>();
  /** The marks that have ended lately, by their kind, and the id and the fault of their cause. */
  readonly #ended = new Map<string, { readonly mark: Mark; readonly endedMs: number }>();
  /** The causes that were found until lately, by their id. */
  readonly #over = new Map<
    string,
    { readonly lasting: LastingOutage; readonly endedMs: number; readonly until: string }
  >();
  /** The latest figures of each event. */
  readonly #counted = new WeakMap<object, { readonly untilMs: number; readonly figures: EventFigures | undefined }>();
  readonly #sufferedTime: SufferedTime;

  /** @param now epoch milliseconds that never decrease */
  constructor(now: () => number, figuresOf: FiguresOf, sufferedTime: SufferedTime, marks: Marks) {
    this.#now = now;
    this.#figuresOf = figuresOf;
    this.#sufferedTime = sufferedTime;
    this.#marks = marks;
  }

  /** Notes a state. A cause without `since` gets the time at which it was first seen. */
  observe(causes: readonly FoundCause[]): void {
    // A mark that follows another one begins when that one ends, and not a millisecond later.
    this.#observedMs = this.#now();
    const present = new Set(causes.map(({ id }) => id));
    for (const [id, lasting] of this.#lasting) {
      if (present.has(id)) continue;
      this.#lasting.delete(id);
      // The failing requests of a service are found before the service itself. Both are one outage.
      const { mark } = lasting;
      if (mark !== undefined && causes.some((cause) => isPartOf(lasting.cause, cause))) this.#marks.drop(mark);
      else this.#end(lasting, this.#lastSuffered(lasting.cause));
      // A limit that was nearly used has refused nothing: there is no end to tell.
      if (!lasting.cause.hasRecovered && lasting.cause.extent?.of !== 'nearly used')
        this.#over.set(id, { lasting, endedMs: this.#observedMs, until: mark?.until ?? this.#time() });
    }
    for (const recent of [this.#ended, this.#over])
      for (const [key, { endedMs }] of recent) if (this.#now() - endedMs > SAME_OUTAGE_MS) recent.delete(key);
    for (const cause of causes) {
      this.#over.delete(cause.id);
      this.#note(cause);
    }
  }

  /** Returns the causes of the last state, failures first, and those that are over since lately, with their end and their figures. */
  causes(): readonly Lasting<FoundCause>[] {
    const over = [...this.#over.values()].map(({ lasting, until: endedAt }) => ({
      ...this.#withFigures(lasting),
      ...({ endedAt, kind: 'warn', hasRecovered: true, isOver: true } as const),
    }));
    return [...[...this.#lasting.values()].map((lasting) => this.#withFigures(lasting)), ...over].sort(
      (one, other) => rank(one) - rank(other),
    );
  }

  /** Returns when a request suffered last from the cause of an event; undefined if that is not known. */
  lastOf({ about }: Pick<GatewayEvent, 'about'>): string | undefined {
    const suffered = about && this.#sufferedTime(about, this.#now());
    return suffered && isoTime(suffered.untilMs);
  }

  /** Counts the requests of an event until it ended, or until a request suffered last. Later requests do not belong to it. */
  figuresOf(event: GatewayEvent): EventFigures | undefined {
    const { at, until } = event;
    if (until !== null) return event.figures;
    return this.#count(event, Date.parse(at), Date.parse(this.lastOf(event) ?? isoTime(this.#now())));
  }

  #count(event: GatewayEvent, fromMs: number, untilMs: number): EventFigures | undefined {
    const known = this.#counted.get(event);
    // Soon after a time, the counts until then are exact. Later, they include other requests of the same slot.
    if (known?.untilMs === untilMs) return known.figures;
    const figures = this.#figuresOf(event, fromMs, untilMs);
    this.#counted.set(event, { untilMs, figures });
    return figures;
  }

  #withFigures({ cause, mark, ended, before }: LastingOutage): Lasting<FoundCause> {
    const of = mark ?? ended;
    if (of === undefined) return cause;
    const suffered = addedFigures([before, this.figuresOf(of)]);
    const { until, pauses, text: title } = of;
    const endedAt = until ?? undefined;
    const lastAt = endedAt ?? this.lastOf(of);
    return { ...cause, title, suffered, lastAt, ...(pauses && { pauses }), ...(endedAt && { endedAt }) };
  }

  #note(cause: FoundCause): void {
    const { id } = cause;
    const known = this.#lasting.get(id);
    const kind = markOf(cause);
    const fault = cause.hasRecovered ? known?.fault : cause.fault;
    const isOther = known !== undefined && known.fault !== fault;
    const isSame = known?.mark !== undefined && known.mark.kind === kind && !isOther;
    // The outage ends when its cause is recovering or has another fault, and a warning when it becomes an outage.
    const end = () => (cause.hasRecovered ? (cause.endedAt ?? this.#lastSuffered(cause)) : this.#time());
    if (known && !isSame) this.#end(known, end());
    const earlier = kind && !isSame ? this.#ended.get(keyOf(kind, id, fault))?.mark : undefined;
    const hasReturned = known?.cause.hasRecovered === true && !cause.hasRecovered && earlier === undefined;
    // The service may have failed with the fault before since the time that the cause of another fault names.
    const former = known === undefined && cause.hasRecovered ? this.#marks.latest(id) : undefined;
    const own = (isOther ? undefined : (cause.since ?? former?.at ?? this.#firstSuffered(cause))) ?? this.#time();
    const since = known === undefined || isOther || hasReturned ? own : known.cause.since;
    const began = known?.mark === undefined || isOther ? since : this.#time();
    if (earlier !== undefined) pause(earlier, own);
    const mark = isSame ? known.mark : kind && this.#begin(earlier ?? this.#newMark(kind, cause, began), cause);
    if (mark !== undefined) noteMatter(mark, cause);
    // A cause that returns soon keeps the start of its outage.
    const first = mark !== undefined && mark.at < since ? mark.at : since;
    const isAnotherMark = known?.mark !== undefined && !isOther && earlier === undefined;
    const before = isSame
      ? known.before
      : isAnotherMark
        ? addedFigures([known.before, known.mark?.figures])
        : undefined;
    const ended = cause.hasRecovered ? (known?.mark ?? known?.ended ?? former) : undefined;
    const runbook = (cause.hasRecovered && known?.cause.runbook) || cause.runbook;
    this.#lasting.set(id, { cause: { ...cause, runbook, since: first }, mark, ended, fault, before });
  }

  #newMark(kind: MarkKind, cause: FoundCause, since: string): Mark {
    return this.#marks.add(kind, since, cause.title ?? cause.cause);
  }

  /** Begins an outage or a warning, or continues one that has ended lately. */
  #begin(mark: Mark, { about, fault }: FoundCause): Mark {
    const subject = shownSubjectOf(about);
    if (subject !== undefined) mark.subject = subject;
    mark.about = about;
    if (fault !== undefined) mark.fault = fault;
    mark.until = null;
    return mark;
  }

  #end({ mark, cause: { id }, fault }: LastingOutage, until: string): void {
    if (mark === undefined) return;
    mark.until = until > mark.at ? until : this.#time();
    mark.figures = this.#count(mark, Date.parse(mark.at), Date.parse(mark.until));
    this.#ended.set(keyOf(mark.kind, id, fault), { mark, endedMs: this.#observedMs });
  }

  #firstSuffered({ about }: FoundCause): string | undefined {
    const suffered = this.#sufferedTime(about, this.#observedMs);
    return suffered && isoTime(suffered.fromMs);
  }

  #lastSuffered({ about }: FoundCause): string {
    return isoTime(this.#sufferedTime(about, this.#observedMs)?.untilMs ?? this.#observedMs);
  }

  #time(): string {
    return isoTime(this.#observedMs);
  }
}

/** Whether a cause that is no longer found was about the operations of an upstream that has failed since. */
function isPartOf({ about }: FoundCause, { about: { topic, name }, kind, symptoms = [] }: FoundCause): boolean {
  if (topic !== 'upstream' || kind !== 'bad') return false;
  if (about.topic === 'operations of' || about.topic === 'slow operations of') return about.name === name;
  return (about.topic === 'operation' || about.topic === 'slow') && symptoms.some((one) => one.name === about.name);
}

/** Notes the time without the cause in a mark that has ended and continues. */
function pause(mark: Mark, until: string): void {
  const { times, ms } = mark.pauses ?? { times: 0, ms: 0 };
  const pausedMs = Math.max(0, Date.parse(until) - Date.parse(mark.until ?? until));
  mark.pauses = { times: times + 1, ms: ms + pausedMs };
}

/** An outage may get other codes, organizations and operations while it lasts. */
function noteMatter(mark: Mark, cause: FoundCause): void {
  const { organizations, operations } = cause;
  for (const [key, names = []] of Object.entries({ codes: codesNamedBy(cause), organizations, operations })) {
    const { [key as 'codes']: known = [] } = mark;
    const all = new Set([...known, ...names]);
    if (all.size > known.length) mark[key as 'codes'] = [...all];
  }
}

function keyOf(kind: string, id: string, fault = ''): string {
  return `${kind} ${id} ${fault}`;
}

/** Returns how charts mark a cause; undefined if they do not. */
function markOf({ about, kind, hasRecovered }: FoundCause): MarkKind | undefined {
  if (hasRecovered || UNMARKED.includes(about.topic)) return undefined;
  return kind === 'bad' ? 'outage' : 'warning';
}

function rank({ kind }: FoundCause): number {
  return kind === 'bad' ? 0 : 1;
}
