// `gateway audit`: lists recorded changes with author and time.

import type { Command } from 'commander';
import type { KeyStoreChange } from '../auth/store/key-store.ts';
import { joinChanges } from '../console/page/audit-events.js';
import { isoTime } from '../shared/text.ts';
import type { CommandContext } from './context.ts';
import { printJson, printTable, shortTime, timeOrNull } from './print.ts';
import { parseCount, parseMoment } from './read.ts';

const LIMIT_MAX = 100_000;

interface AuditFlags {
  readonly limit: string;
  readonly since?: string;
  readonly org?: string;
  readonly json?: true;
}

export function addAuditCommands(program: Command, context: CommandContext): void {
  program
    .command('audit')
    .description('show changes of organizations, keys and configuration, newest first')
    .option('--limit <count>', 'largest number of changes to show', '50')
    .option('--since <when>', 'only changes of the last 90s, 15m, 24h, 30d, or since an ISO time')
    .option('--org <organization>', 'only changes of one organization and its keys')
    .option('--json', 'print one JSON array')
    .addHelpText('after', '\nExample:\n  gateway audit --since 24h --org org_acme')
    .action(async ({ limit: limitText, since, org: organization, json }: AuditFlags) => {
      const limit = parseCount(limitText, LIMIT_MAX);
      if (limit === undefined) context.usage(`--limit "${limitText}" is not a number from 1 to ${LIMIT_MAX}.`);
      const sinceMs = since === undefined ? undefined : parseMoment(since, context.now(), -1);
      if (since !== undefined && sinceMs === undefined) {
        context.usage(`--since "${since}" is neither a duration such as 90s, 15m, 24h, 30d nor an ISO time.`);
      }
      const audit = await context.actions('audit');
      const changes = await audit.list({ organization, sinceMs, limit });
      if (json) return printJson(context, changes.map(jsonOf));
      // Each process of each instance writes an entry about a change of files.
      const joined = joinChanges(changes.map((change) => ({ ...change, at: isoTime(change.atMs) })));
      const rows = joined.map(({ atMs, by, kind, organization, key, details }) => {
        const more = Object.entries(details)
          .filter(([name]) => isShown(kind, name))
          .map(([name, value]) => `${name}=${textOf(value)}`);
        return [shortTime(atMs), by, kind, organization ?? '', key ?? '', more.join(' ')];
      });
      printTable(context, ['at', 'by', 'what', 'organization', 'key', 'details'], rows);
    });
}

/** Returns a detail as text. A list of texts, such as the changes of a reload, is printed without quotes. */
function textOf(value: unknown): string {
  const isTexts = Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string');
  return isTexts ? `[${value.join('; ')}]` : JSON.stringify(value);
}

/** Whether a line for people shows this detail. Most kinds of change are clear without `before` and `after`. */
function isShown(kind: string, name: string): boolean {
  return kind.endsWith('.changed') || (name !== 'before' && name !== 'after');
}

function jsonOf({ sequence, atMs, by, kind, organization, key, details }: KeyStoreChange) {
  return { sequence, at: timeOrNull(atMs), by, kind, organization: organization ?? null, key: key ?? null, details };
}
