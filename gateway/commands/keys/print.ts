// Prints keys as a table.

import { keyState } from '../../auth/key-json.ts';
import type { StoredKey } from '../../auth/store/stored-key.ts';
import type { CommandContext } from '../context.ts';
import { printTable, printText, shortTime } from '../print.ts';

/** Prints a row for each key. To save width, the column of successors is printed only if a key has a successor. */
export function printKeys(context: CommandContext, records: readonly StoredKey[]): void {
  const heads = ['id', 'organization', 'mode', 'key', 'name', 'scopes', 'addresses', 'state', 'expires', 'last used'];
  const successors = records.some(({ replacedBy }) => replacedBy !== undefined);
  const rows = records.map((record) => [
    record.id,
    record.organization,
    record.mode,
    `${record.prefix}…${record.lastFour}`,
    record.name,
    record.scopes.join(','),
    record.allowedCidrs.join(','),
    keyState(record, context.now()),
    shortTime(record.expiresAtMs),
    shortTime(record.lastUsedAtMs),
    ...(successors ? [record.replacedBy ?? ''] : []),
  ]);
  printTable(context, successors ? [...heads, 'replaced by'] : heads, rows);
}

/** Prints a new key. It is never shown again. */
export function printNewKey(context: CommandContext, key: string): void {
  printText(context, `${key}\n\nThis is the only time the key is shown: keep it where you keep secrets.\n`);
}
