// Counts the requests of an outage or a warning: how many there were, and how many of them failed or were refused.

import { figuresOf } from '../history/figures.ts';
import type { History } from '../history/history.ts';
import type { FiguresOf } from './outages.ts';

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

  return function eventFigures(subject, fromMs, untilMs) {
    const of = subject && namesOf(subject.kind, subject.name);
    const counts = history.countsBetween(fromMs, untilMs, of);
    const { requests, failed, refused, server_errors } = figuresOf(bounds, counts);
    const suffered = of === undefined ? { server_errors } : of.kind === 'organizations' ? { refused } : { failed };
    return Object.values(suffered).some((number) => number > 0) ? { requests, ...suffered } : undefined;
  };
}
