// The table of docs/explain.md, made from the fields of the log line.

import { LOG_FIELDS } from '../../gateway/observe/log-fields.ts';
import { table } from './table.ts';

/** One row per member of the line, in their order. */
export function fieldTable(): string {
  return table(
    ['Member', 'Type', 'Stage', 'Meaning'],
    Object.entries(LOG_FIELDS).map(([name, { type, stage, meaning }]) => [
      `\`${name}\``,
      type,
      stage === 'exchange' ? '' : `\`${stage}\``,
      meaning,
    ]),
  );
}
