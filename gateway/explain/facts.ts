// What each field of a decision record tells about the stages, in the order in which it is told. Each capability has the facts of its own
// fields; those here are about every exchange.

import { ALL_CAPABILITIES } from '../capabilities.ts';
import type { Capability, FactRows, FactsOf } from '../capability.ts';
import type { GeneralFields } from '../log-fields.ts';

/** A field without a fact does not compile. */
const GENERAL_FACTS: FactsOf<GeneralFields, 'rehearsed'> = {
  request_id: 'head',
  time: 'head',
  msg: 'nowhere',
  level: 'nowhere',
  method: 'verdict',
  stage: 'verdict',
  status: 'verdict',
  code: 'verdict',
  duration_ms: 'verdict',
  rehearsed: 'verdict',
  stages_ms: 'durations',
  worker: { admit: (worker) => `worker ${worker}` },
  trace_id: { forward: (trace) => `trace ${trace}` },
};

const tables: readonly FactRows[] = [
  ...Object.values<Capability>(ALL_CAPABILITIES).map(({ facts = {} }) => facts),
  GENERAL_FACTS,
];

/** The facts in order, with their fields. Several capabilities may have one of the same field. */
export const FACTS = tables.flatMap((facts) => Object.entries(facts));
