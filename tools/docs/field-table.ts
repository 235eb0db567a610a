// The table of docs/explain.md, made from the fields of the log line.

import type { LogField } from '../../gateway/catalogue/capability.ts';
import { LOG_FIELDS } from '../../gateway/catalogue/log-fields.ts';
import { table } from './table.ts';

/** One row per member of the line. */
export function fieldTable(): string {
  return table(
    ['Member', 'Type', 'Stage', 'Meaning'],
    Object.entries<LogField>(LOG_FIELDS).map(([name, { type, stage, meaning }]) => [
      `\`${name}\``,
      type,
      stage === 'exchange' ? '' : `\`${stage}\``,
      meaning,
    ]),
  );
}
