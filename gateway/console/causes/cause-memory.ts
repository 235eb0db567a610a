// Remembers the causes of the last search, and the failures whose errors are still counted in the last minute.

import { MINUTE_SLOTS } from '../history/present-counts.ts';
import { RESOLUTIONS } from '../history/ranges.ts';
import { type About, type FoundCause, idOf } from './cause.ts';
import { isOfUnanswered } from './unanswered-causes.ts';

export interface CauseMemory {
  /** Whether the last search found the cause. */
  lasts(about: About): boolean;
  /** Whether the last search found the cause as a failure. */
  wasFailure(about: About): boolean;
  /** Whether the last search found the cause because requests waited for an answer. */
  wasSilent(about: About): boolean;
  /** Returns the failures of the gateway and of upstreams during the last minute, with the milliseconds since they were last seen. */
  culprits(nowMs: number): readonly { readonly about: About; readonly agoMs: number }[];
  note(causes: readonly FoundCause[], nowMs: number): void;
}

/** The counted minute, and one slot more, because a failure may last for up to a slot after it was last seen. */
const COUNTED_MS = (MINUTE_SLOTS + 1) * RESOLUTIONS[0].slotMs;

const CULPRITS: readonly About['topic'][] = ['redis', 'stores', 'keys lost', 'loop', 'shedding', 'upstream'];

/** Whether such a failure makes requests to operations fail, or makes the gateway refuse them. */
export function isCulprit({ topic }: About): boolean {
  return CULPRITS.includes(topic);
}

export function createCauseMemory(): CauseMemory {
  const seen = new Map<string, { readonly about: About; readonly atMs: number }>();
  let lasting: ReadonlyMap<string, FoundCause['kind']> = new Map();
  let silent: ReadonlySet<string> = new Set();
  return {
    lasts: (about) => lasting.has(idOf(about)),
    wasFailure: (about) => lasting.get(idOf(about)) === 'bad',
    wasSilent: (about) => silent.has(idOf(about)),
    culprits: (nowMs) =>
      [...seen.values()]
        .map(({ about, atMs }) => ({ about, agoMs: nowMs - atMs }))
        .filter(({ agoMs }) => agoMs < COUNTED_MS),
    note(causes, nowMs) {
      lasting = new Map(causes.map(({ id, kind }) => [id, kind]));
      silent = new Set(causes.filter(isOfUnanswered).map(({ id }) => id));
      for (const [id, { atMs }] of seen) if (nowMs - atMs >= COUNTED_MS) seen.delete(id);
      for (const cause of causes)
        if (cause.kind === 'bad' && isCulprit(cause.about) && !isOfUnanswered(cause))
          seen.set(cause.id, { about: cause.about, atMs: nowMs });
    },
  };
}
