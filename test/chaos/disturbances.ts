// The disturbances and their times: every failure has to have a reason among them.

export interface Disturbance {
  readonly name: string;
  /** Epoch milliseconds. */
  readonly beganAt: number;
  /** Infinity: not yet. */
  endedAt: number;
  /** Whether connections of clients may break because of it: their worker is gone, or the answer that had begun cannot be ended. */
  readonly breaksConnections: boolean;
  /** Whether open streams may end because of it. */
  readonly endsStreams: boolean;
  /** Whether keys may be unknown meanwhile. */
  readonly losesKeys: boolean;
  /** Whether nothing may fail because of it. */
  readonly explainsNothing?: boolean;
}

/** So long after its end something may still fail: an ejected target is tried, a request in progress comes to its deadline. */
const AFTER_MS = 6000;
/** A connection that broke may be noticed when the next request is sent on it. */
const NOTICED_MS = 1000;

export interface Span {
  readonly sentAt: number;
  readonly endedAt: number;
}

export interface Disturbances {
  begin(kind: Omit<Disturbance, 'beganAt' | 'endedAt'>): Disturbance;
  /** Whether something was broken at that time, or shortly before. */
  explainFailure(span: Span): boolean;
  explainBreak(span: Span): boolean;
  explainUnknownKey(span: Span): boolean;
  explainStreamEnd(at: number): boolean;
  all(): readonly Disturbance[];
}

export function createDisturbances(now: () => number): Disturbances {
  const all: Disturbance[] = [];
  const some = ({ sentAt, endedAt }: Span, afterMs: number, holds: (one: Disturbance) => boolean) =>
    all.some((one) => holds(one) && one.beganAt <= endedAt && one.endedAt + afterMs >= sentAt);
  return {
    begin(kind) {
      const disturbance = { ...kind, beganAt: now(), endedAt: Number.POSITIVE_INFINITY };
      all.push(disturbance);
      return disturbance;
    },
    explainFailure: (span) => some(span, AFTER_MS, ({ explainsNothing }) => !explainsNothing),
    explainBreak: (span) => some(span, NOTICED_MS, ({ breaksConnections }) => breaksConnections),
    explainUnknownKey: (span) => some(span, AFTER_MS, ({ losesKeys }) => losesKeys),
    explainStreamEnd: (at) => some({ sentAt: at, endedAt: at }, AFTER_MS, ({ endsStreams }) => endsStreams),
    all: () => all,
  };
}
