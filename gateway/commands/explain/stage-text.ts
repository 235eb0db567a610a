// Pure: the text for one stage of a decision record.

import { STATELESS_STAGES, type StageName } from '../../exchange.ts';
import { FACTS, type StageOutcome } from './facts.ts';
import type { DecisionRecord, RecordName } from './record.ts';

/** Stages that a simulation runs. The others need a running gateway. */
const simulated: ReadonlySet<StageName> = new Set([...STATELESS_STAGES, 'authenticate', 'limit', 'forward']);

const whyNotTried: Readonly<Partial<Record<StageName, string>>> = {
  throttle: 'only a running gateway knows which addresses are blocked',
  replay: 'looking up an Idempotency-Key reserves it',
};

/** Of a stage that has nothing to tell. */
const withoutFacts: Readonly<Partial<Record<StageName, string>>> = { limit: 'nothing counts this request' };

type AnyTell = (
  value: unknown,
  record: DecisionRecord,
  outcome: StageOutcome,
) => string | undefined | readonly string[];

const tells = Object.entries(FACTS).flatMap(([name, fact]) =>
  typeof fact === 'string' ? [] : [{ name: name as RecordName, fact: fact as Partial<Record<StageName, AnyTell>> }],
);

/** Lines for people; empty if the record has nothing about the stage. */
export function stageText(stage: StageName, record: DecisionRecord, outcome: StageOutcome): string[] {
  if (record.rehearsed === true && !simulated.has(stage))
    return [`not tried: ${whyNotTried[stage] ?? 'only a running gateway can'}`];
  const lines = tells.flatMap(({ name, fact }) =>
    record[name] === undefined ? [] : (fact[stage]?.(record[name], record, outcome) ?? []),
  );
  const alone = withoutFacts[stage];
  return lines.length === 0 && alone !== undefined ? [alone] : lines;
}
