// Counts the requests of an outage or a warning: how many there were, and how many of them failed, were refused or were slow.

import type { StageName } from '../../stages.ts';
import { type About, SLOW_TOPICS } from '../causes/cause.ts';
import { answersIn, demandIn, figuresOf, quantileMs } from '../history/figures.ts';
import type { EventFigures, ShownSubject } from '../history/gateway-event.ts';
import type { History } from '../history/history.ts';
import { countsBefore, countsThrough } from '../history/present-counts.ts';
import type { FiguresOf } from './outages.ts';

/** The stages whose refusals belong to a cause that makes the gateway refuse callers before it knows their organizations. */
const REFUSING: Partial<Record<About['topic'], readonly StageName[]>> = {
  'keys lost': ['throttle', 'authenticate'],
  'unknown callers': ['admit', 'throttle', 'match', 'authenticate'],
};
/** The causes in the gateway itself because of which it answers with 5xx. */
const FAILING: readonly About['topic'][] = ['redis', 'stores', 'store writes', 'silent', 'loop', 'shedding', 'errors'];
/** The part of the requests of a slow operation that the cause is about. */
export const SLOW_PART = 0.9;

/** Returns the operations of an upstream. */
export type OperationsOf = (upstream: string) => readonly string[];

/** @param operationsOf returns the operations of an upstream, whose failures include requests that the upstream never got */
export function createEventFigures(bounds: readonly number[], history: History, operationsOf: OperationsOf): FiguresOf {
  /** What was counted before each event began, in the slot in which it began. Later, the slots are too coarse to tell. */
  const before = { requests: new WeakMap<object, number[]>(), refusals: new WeakMap<object, number[]>() };

  return function eventFigures(event, fromMs, untilMs) {
    const { subject, about, operations } = event;
    const countsSince = (what: keyof typeof before, counted: Parameters<typeof countsBefore>[2]) => {
      // An event that gets more operations has another list of them.
      const key = operations ?? event;
      const earlier = before[what].get(key) ?? countsBefore(history, fromMs, counted);
      before[what].set(key, earlier);
      const counts = countsThrough(history, fromMs, untilMs, counted);
      return counts.map((number, index) => Math.max(0, number - (earlier[index] ?? 0)));
    };
    const of = subject && countedNamesOf(subject, operationsOf, operations);
    const counts = countsSince('requests', of ?? 'all');
    const counted = figuresOf(bounds, counts);
    const { requests, failed, refused, server_errors } = counted;
    const stages = about && REFUSING[about.topic];
    if (stages !== undefined)
      return sufferedOf({ requests, refused: countsSince('refusals', { refusedBy: stages })[0] ?? 0 });
    if (about !== undefined && SLOW_TOPICS.includes(about.topic))
      return sufferedOf({ requests: requests - refused, p90_ms: quantileMs(bounds, counts, SLOW_PART) ?? 0 });
    if (about?.topic === 'contract') return sufferedOf(answersIn(counted));
    if (of?.kind === 'organizations') return sufferedOf({ requests, refused });
    if (of === undefined)
      return about === undefined || FAILING.includes(about.topic) ? sufferedOf({ requests, server_errors }) : undefined;
    // That no request fails is worth knowing, because the other targets of an upstream get the requests.
    if (requests === 0) return undefined;
    return { requests: demandIn(counted), failed, ...(server_errors > failed && { unserved: server_errors - failed }) };
  };
}

/** @param operations those of the upstream that are counted; undefined for all */
export function countedNamesOf(
  { kind, name }: ShownSubject,
  operationsOf: OperationsOf,
  operations?: readonly string[],
) {
  if (kind === 'organizations') return { kind, names: [name] } as const;
  const names = kind === 'upstreams' ? (operations ?? operationsOf(name)) : [name];
  return { kind: 'operations', names } as const;
}

/** Returns the figures; undefined if no request suffered. */
function sufferedOf({ requests, ...suffered }: EventFigures): EventFigures | undefined {
  return Object.values(suffered).some((number) => number > 0) ? { requests, ...suffered } : undefined;
}
