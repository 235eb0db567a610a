// `gateway routes`: lists the operations that are served.

import type { Command } from 'commander';
import { ANONYMOUS_TIER, extraOf } from '../limits/limit-rules.ts';
import type { LimitsFile } from '../limits/settings.ts';
import type { Operation } from '../operation.ts';
import type { CommandContext } from './context.ts';
import { printJson, printTable } from './print.ts';

export function addRoutesCommand(program: Command, context: CommandContext): void {
  program
    .command('routes')
    .description('list the operations that are served')
    .option('--json', 'print one JSON array')
    .action((options: { json?: boolean }) => routes(context, options.json === true));
}

async function routes(context: CommandContext, asJson: boolean): Promise<void> {
  const { config, contracts } = await context.configuration('check');
  const rows = contracts.operations.map(({ operation }) => toRow(operation, config.limits));
  if (asJson) printJson(context, rows);
  else {
    const heads = ['METHOD', 'PATH', 'OPERATION', 'SCOPES', 'LIMITS', 'UPSTREAM'];
    printTable(
      context,
      heads,
      rows.map((row) => [
        row.method,
        row.path,
        row.operation,
        row.scopes.join(' ') || (row.public ? 'public' : '-'),
        row.limits.join(' '),
        row.upstream,
      ]),
    );
  }
}

function toRow(operation: Operation, limits: LimitsFile) {
  const extra = extraOf(limits, operation);
  const isPublic = operation.security.length === 0;
  const main = isPublic ? ANONYMOUS_TIER : 'tier';
  const isLimited = !isPublic || limits.tiers[ANONYMOUS_TIER] !== undefined;
  return {
    method: operation.method,
    path: operation.path,
    operation: operation.id,
    scopes: [...new Set(operation.security.flatMap(({ scopes }) => scopes))],
    public: isPublic,
    limits: [...(isLimited ? [main] : []), ...(extra === undefined ? [] : [extra])],
    upstream: operation.upstream,
    contract: operation.contract,
  };
}
