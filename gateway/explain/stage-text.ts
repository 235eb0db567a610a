// Writes the text about one stage from the log line. Each capability contains the facts about its fields. The facts here are about fields
// of all exchanges. Pure.

import { ALL_CAPABILITIES } from '../catalogue/capabilities.ts';
import type { Capability, Fact, FactRows, FactsOf, StageOutcome } from '../catalogue/capability.ts';
import type { GeneralFields } from '../catalogue/log-fields.ts';
import { type StageName, UNREHEARSED_STAGES } from '../stages.ts';
import type { LogLine, LogLineMember } from './log-line.ts';

/** The type demands an entry for each field. */
const GENERAL_FACTS: FactsOf<GeneralFields, 'rehearsed'> = {
  request_id: { toldBy: 'head' },
  time: { toldBy: 'head' },
  msg: { toldBy: 'nowhere' },
  level: { toldBy: 'nowhere' },
  method: { toldBy: 'verdict' },
  stage: { toldBy: 'verdict' },
  status: { toldBy: 'verdict' },
  code: { toldBy: 'verdict' },
  duration_ms: { toldBy: 'verdict' },
  rehearsed: { toldBy: 'verdict' },
  stages_ms: { toldBy: 'durations' },
  worker: { admit: (worker) => `worker ${worker}` },
  trace_id: { forward: (trace) => `trace ${trace}` },
};

const CAPABILITIES = Object.values<Capability>(ALL_CAPABILITIES);
const FACT_TABLES: readonly FactRows[] = [...CAPABILITIES.map(({ facts = {} }) => facts), GENERAL_FACTS];

/** All facts, in order, with their fields. Several capabilities may have a fact about the same field. */
export const FACTS = FACT_TABLES.flatMap((facts) => Object.entries(facts));

const STAGES_WITHOUT_FACTS: Readonly<Partial<Record<StageName, string>>> = Object.assign(
  {},
  ...CAPABILITIES.map((capability) => capability.withoutFacts),
);

/** Returns sentences about a stage; empty if the line contains no fact about it. */
export type StageText = (stage: StageName, line: LogLine, outcome: StageOutcome) => string[];

export function createStageText(facts: readonly (readonly [field: string, fact: Fact])[]): StageText {
  const tells = facts.flatMap(([name, fact]) => ('toldBy' in fact ? [] : [{ name: name as LogLineMember, fact }]));

  return function stageText(stage, line, outcome) {
    const unrehearsed = outcome === 'not tried' ? UNREHEARSED_STAGES[stage] : undefined;
    if (unrehearsed !== undefined) return [unrehearsed];
    const lines = tells.flatMap(({ name, fact }) =>
      line[name] === undefined ? [] : (fact[stage]?.(line[name], line, outcome) ?? []),
    );
    const alone = STAGES_WITHOUT_FACTS[stage];
    return lines.length === 0 && alone !== undefined ? [alone] : lines;
  };
}

/** The text for operators, with all facts. */
export const stageText = createStageText(FACTS);
