// The lines of upstreams.yaml that accept changes that break clients, ready to paste.

import { REASON_TO_WRITE } from '../../config/upstreams/upstreams-file.ts';

interface Decision {
  readonly operation: string;
  readonly rule: string;
}

/** Days until the proposed end of a decision. Its author may change the day. */
const DECISION_DAYS = 90;
const DAY_MS = 86_400_000;

/** The list `breaking`, to stand beside `upstreams`. */
export function decisionLines(decisions: readonly Decision[], nowMs: number): string {
  const until = new Date(nowMs + DECISION_DAYS * DAY_MS).toISOString().slice(0, 10);
  const lines = decisions.map(
    ({ operation, rule }) =>
      `  - { operation: ${inYaml(operation)}, rule: ${rule}, until: ${until}, reason: "${REASON_TO_WRITE}" }\n`,
  );
  return `breaking:\n${lines.join('')}`;
}

function inYaml(text: string): string {
  return /^[\w.-]+$/.test(text) ? text : JSON.stringify(text);
}
