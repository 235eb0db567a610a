// Pure: the text about one stage, made from the log line. Each capability has the facts of its fields; the facts here are about all exchanges.

import { ALL_CAPABILITIES } from '../catalogue/capabilities.ts';
import type { Capability, Fact, FactRows, FactsOf, StageOutcome } from '../catalogue/capability.ts';
import type { GeneralFields } from '../catalogue/log-fields.ts';
import { type StageName, UNREHEARSED_STAGES } from '../stages.ts';
import type { LogLine, LogLineMember } from './log-line.ts';

/** A field without a fact does not compile. */
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

const capabilities = Object.values<Capability>(ALL_CAPABILITIES);
const tables: readonly FactRows[] = [...capabilities.map(({ facts = {} }) => facts), GENERAL_FACTS];

/** The facts in order, with their fields. Several capabilities may have one of the same field. */
export const FACTS = tables.flatMap((facts) => Object.entries(facts));

const withoutFacts: Readonly<Partial<Record<StageName, string>>> = Object.assign(
  {},
  ...capabilities.map((capability) => capability.withoutFacts),
);

/** Lines for people; empty if the line has nothing about the stage. */
export type StageText = (stage: StageName, line: LogLine, outcome: StageOutcome) => string[];

export function createStageText(facts: readonly (readonly [field: string, fact: Fact])[]): StageText {
  const tells = facts.flatMap(([name, fact]) => ('toldBy' in fact ? [] : [{ name: name as LogLineMember, fact }]));

  return function stageText(stage, line, outcome) {
    const unrehearsed = outcome === 'not tried' ? UNREHEARSED_STAGES[stage] : undefined;
    if (unrehearsed !== undefined) return [unrehearsed];
    const lines = tells.flatMap(({ name, fact }) =>
      line[name] === undefined ? [] : (fact[stage]?.(line[name], line, outcome) ?? []),
    );
    const alone = withoutFacts[stage];
    return lines.length === 0 && alone !== undefined ? [alone] : lines;
  };
}

/** Everything, for operators. */
export const stageText = createStageText(FACTS);
