// Writes the choices after a change that breaks a published contract, with the lines for upstreams.yaml that accept the change.

import { REASON_TO_WRITE } from '../../config/upstreams/breaking.ts';
import { DAY_MS } from '../../shared/durations.ts';

interface Decision {
  readonly operation: string;
  readonly rule: string;
}

/** Days until the proposed end of a decision. Its author may change the day. */
const DECISION_DAYS = 90;

/** Lists the three choices. The last choice is to accept the changes. */
export function choicesText(decisions: readonly Decision[], nowMs: number): string {
  return `Choose one of three ways:
- Put back what breaks.
- Make the change in another version, below another path (docs/versions.md).
- If clients can live with it, add this to upstreams.yaml, beside "upstreams:", with your reasons:
${decisionLines(decisions, nowMs).trimEnd()}`;
}

/**
 * Returns the list `breaking`, which is a top-level member of upstreams.yaml. It has one line for each operation and rule, which accepts
 * all changes of the operation by this rule.
 */
function decisionLines(decisions: readonly Decision[], nowMs: number): string {
  const until = new Date(nowMs + DECISION_DAYS * DAY_MS).toISOString().slice(0, 10);
  const lines = decisions.map(
    ({ operation, rule }) =>
      `  - { operation: ${inYaml(operation)}, rule: ${rule}, until: ${until}, reason: "${REASON_TO_WRITE}" }\n`,
  );
  return `breaking:\n${[...new Set(lines)].join('')}`;
}

function inYaml(text: string): string {
  return /^[\w.-]+$/.test(text) ? text : JSON.stringify(text);
}
