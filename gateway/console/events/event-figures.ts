// Counts the requests of an outage or a warning: how many there were, and how many of them failed, were refused or were slow.

import type { StageName } from '../../stages.ts';
import type { About } from '../causes/cause.ts';
import { brokenIn, figuresOf, quantileMs } from '../history/figures.ts';
import type { EventFigures } from '../history/gateway-event.ts';
import type { History } from '../history/history.ts';
import { countsBetween, refusalsBetween } from '../history/present-counts.ts';
import type { FiguresOf } from './outages.ts';

/** The stages whose refusals belong to a cause that makes the gateway refuse callers before it knows their organizations. */
const REFUSING: Partial<Record<About['topic'], readonly StageName[]>> = {
  'keys lost': ['throttle', 'authenticate'],
  'unknown callers': ['admit', 'throttle', 'match', 'authenticate'],
};
/** The causes of which no request has to fail. */
const SLOW: readonly About['topic'][] = ['slow', 'slow operations of'];
/** The causes in the gateway itself because of which it answers with 5xx. */
const FAILING: readonly About['topic'][] = ['redis', 'stores', 'store writes', 'silent', 'loop', 'shedding', 'errors'];
/** The part of the requests of a slow operation that the cause is about. */
const SLOW_PART = 0.9;

/** @param operationsOf returns the operations of an upstream, whose failures include requests that the upstream never got */
export function createEventFigures(
  bounds: readonly number[],
  history: History,
  operationsOf: (upstream: string) => readonly string[],
): FiguresOf {
  function namesOf(kind: string, name: string) {
    if (kind === 'organizations') return { kind, names: [name] } as const;
    return { kind: 'operations', names: kind === 'upstreams' ? operationsOf(name) : [name] } as const;
  }

  return function eventFigures({ subject, about }, fromMs, untilMs) {
    const of = subject && namesOf(subject.kind, subject.name);
    const counts = countsBetween(history, fromMs, untilMs, of);
    const { requests, failed, refused, server_errors } = figuresOf(bounds, counts);
    const stages = about && REFUSING[about.topic];
    if (stages !== undefined)
      return sufferedOf({ requests, refused: refusalsBetween(history, fromMs, untilMs, stages) });
    if (about !== undefined && SLOW.includes(about.topic))
      return sufferedOf({ requests, p90_ms: quantileMs(bounds, counts, SLOW_PART) ?? 0 });
    if (about?.topic === 'contract')
      return sufferedOf({ requests: requests - refused, broken: brokenIn(bounds, counts) });
    if (of?.kind === 'organizations') return sufferedOf({ requests, refused });
    if (of === undefined)
      return about === undefined || FAILING.includes(about.topic) ? sufferedOf({ requests, server_errors }) : undefined;
    // That no request fails is worth knowing, because the other targets of an upstream get the requests.
    if (requests === 0) return undefined;
    return { requests, failed, ...(server_errors > failed && { unserved: server_errors - failed }) };
  };
}

/** Returns the figures; undefined if no request suffered. */
function sufferedOf({ requests, ...suffered }: EventFigures): EventFigures | undefined {
  return Object.values(suffered).some((number) => number > 0) ? { requests, ...suffered } : undefined;
}
