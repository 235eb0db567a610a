// Pure: the text for one stage of a decision record.

import type { StageOutcome } from '../capability.ts';
import { type StageName, UNTRIED_STAGES } from '../stages.ts';
import { FACTS } from './facts.ts';
import type { DecisionRecord, RecordName } from './record.ts';

const reasons: Readonly<Partial<Record<StageName, string>>> = UNTRIED_STAGES;

/** Of a stage that has nothing to tell. */
const withoutFacts: Readonly<Partial<Record<StageName, string>>> = { limit: 'nothing counts this request' };

const tells = FACTS.flatMap(([name, fact]) => (typeof fact === 'string' ? [] : [{ name: name as RecordName, fact }]));

/** Lines for people; empty if the record has nothing about the stage. */
export function stageText(stage: StageName, record: DecisionRecord, outcome: StageOutcome): string[] {
  const untried = record.rehearsed === true ? reasons[stage] : undefined;
  if (untried !== undefined) return [`not tried: ${untried}`];
  const lines = tells.flatMap(({ name, fact }) =>
    record[name] === undefined ? [] : (fact[stage]?.(record[name], record, outcome) ?? []),
  );
  const alone = withoutFacts[stage];
  return lines.length === 0 && alone !== undefined ? [alone] : lines;
}
