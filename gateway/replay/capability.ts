// The capability `replay`: error codes, and what the log and `gateway explain` say about repeated writes.

import { type Capability, type FactsOf, rarelyNoted } from '../catalogue/capability.ts';
import { REPLAY_CODES } from './codes.ts';

const FIELDS = {
  replayed: {
    section: 'rare',
    stage: 'replay',
    type: '`true`',
    forClients: true,
    notes: { replayed: rarelyNoted<true>() },
    meaning: 'a repeated `Idempotency-Key` got the kept answer',
  },
  recorded: {
    section: 'rare',
    stage: 'replay',
    type: '`true`',
    forClients: true,
    notes: { recorded: rarelyNoted<true>() },
    meaning: 'a new `Idempotency-Key`, whose answer is kept',
  },
  outcome_unknown: {
    section: 'rare',
    stage: 'replay',
    type: '`true`',
    forClients: true,
    notes: { outcomeUnknown: rarelyNoted<true>() },
    meaning: 'the request with the new `Idempotency-Key` was sent, and its outcome is unknown: repetitions are refused',
  },
} as const;

const REFUSAL_REASONS: Readonly<Record<string, string>> = {
  idempotency_key_in_use: 'a request with this Idempotency-Key is still running',
  idempotency_key_reused: 'this Idempotency-Key belongs to another request',
  idempotency_result_not_retained: 'this Idempotency-Key was answered before, with more than is kept',
  idempotency_outcome_unknown:
    'a request with this Idempotency-Key was sent before, and it is not known whether it was executed, so it is not sent again',
};

const FACTS: FactsOf<typeof FIELDS, 'code'> = {
  replayed: { replay: () => 'this Idempotency-Key was answered before; that answer was repeated' },
  recorded: {
    replay: (_, { outcome_unknown: lost }) => (lost === true ? undefined : 'a new Idempotency-Key: the answer is kept'),
  },
  outcome_unknown: {
    replay: () => 'a new Idempotency-Key: it was sent and its outcome is unknown, so the key is refused from then on',
  },
  code: {
    replay: (code, { cause }, outcome) =>
      outcome !== 'refused'
        ? undefined
        : code === 'gateway_overloaded'
          ? storeText(cause)
          : REFUSAL_REASONS[String(code)],
  },
};

/** Says why the idempotency store was of no use. The cause of a request that waited in vain is `no answer within … ms`. */
function storeText(cause: unknown): string {
  return typeof cause === 'string'
    ? `the idempotency store cannot be used (${cause})`
    : 'the idempotency store cannot be used';
}

export const REPLAY = { codes: REPLAY_CODES, fields: FIELDS, facts: FACTS } as const satisfies Capability;
