// `gateway assertion-keys …`: lists and rotates the keys that sign assertions for upstreams.

import { type Command, Option } from 'commander';
import { type AssertionKey, kidOf, rotateKeys, stateAt } from '../auth/assertions/assertion-keys.ts';
import { newAssertionKey, printAssertionKeys } from '../config/secrets/assertion-keys.ts';
import type { CommandContext } from './context.ts';
import { printJson, printLine, printTable, printText, shortTime, timeOrNull } from './print.ts';
import { parseDurationMs } from './read.ts';

/**
 * The least time before a new key signs. Running gateways read the key set every two seconds, and no key may sign before all of them
 * publish it.
 */
const LEAD_MIN_MS = 10_000;
/** The time for which upstreams may cache keys (see the answer of /.well-known/jwks.json), plus a margin. */
const LEAD_SAFE_MS = 360_000;
/**
 * The least time for which a replaced key stays published. It covers the lifetime of an assertion (one minute), and the differences between
 * clocks.
 */
const OVERLAP_MIN_MS = 120_000;

interface RotateFlags {
  readonly lead: string;
  readonly overlap: string;
  readonly print?: true;
  readonly json?: true;
}

interface Span {
  readonly leadMs: number;
  readonly overlapMs: number;
}

export function addAssertionKeysCommands(program: Command, context: CommandContext): void {
  const keys = program
    .command('assertion-keys')
    .description('list and rotate the keys that sign assertions about the caller for upstreams');
  addRotate(keys, context);
  addList(keys, context);
}

function addRotate(keys: Command, context: CommandContext): void {
  keys
    .command('rotate')
    .description('replace the signing key with a new one; running gateways load it within seconds')
    .option('--lead <duration>', 'how long the new key is published before it signs', '10m')
    .option('--overlap <duration>', 'how long the former key stays published after that', '1h')
    .option('--print', 'change nothing; print the new set, including private keys, for the secrets store')
    .addOption(new Option('--json', 'print one JSON object').conflicts('print'))
    .addHelpText('after', '\nExample:\n  gateway assertion-keys rotate')
    .action(async (flags: RotateFlags) => {
      const span = {
        leadMs: requireDuration(context, 'lead', flags.lead, LEAD_MIN_MS),
        overlapMs: requireDuration(context, 'overlap', flags.overlap, OVERLAP_MIN_MS),
      };
      if (span.leadMs < LEAD_SAFE_MS) {
        context.complain(
          'warning: an upstream that caches keys may refuse the new one for a while; a lead of 6m is safe.\n',
        );
      }
      if (flags.print) await printRotated(context, span);
      else await rotate(context, span, flags.json === true);
    });
}

function requireDuration(context: CommandContext, flag: string, text: string, minMs: number): number {
  const durationMs = parseDurationMs(text);
  if (durationMs !== undefined && durationMs >= minMs) return durationMs;
  context.usage(`--${flag} "${text}" is not a duration of ${minMs / 1000}s or more, such as 10m or 1h.`);
}

/** Ends the command if there are no keys, because a function that reads the keys would create them. */
function requireKeys(context: CommandContext): void {
  if (context.secrets().findValue('assertion_keys') === undefined) context.requireData();
}

async function printRotated(context: CommandContext, span: Span): Promise<void> {
  requireKeys(context);
  const present = await context.secrets().assertionKeys();
  printLine(context, printAssertionKeys(rotateKeys(present, newAssertionKey(), { ...span, nowMs: context.now() })));
}

/** Opens the key store first, because the keys are not rotated without an audit log entry. */
async function rotate(context: CommandContext, span: Span, asJson: boolean): Promise<void> {
  const successor = newAssertionKey();
  const { store } = await context.keyStore();
  const changed = await context
    .secrets()
    .changeAssertionKeys((present) => rotateKeys(present, successor, { ...span, nowMs: context.now() }));
  const keys = await Promise.all(changed.map((key) => toRow(changed, key, context.now())));
  await store.audit.append('configuration.changed', context.actor, { assertion_keys: 'rotated', keys });
  const added = keys.at(-1);
  if (asJson) {
    printJson(context, { added: added?.kid, keys });
    return;
  }
  printKeys(context, keys);
  printText(context, `\n${added?.kid} is published from now on and signs from ${added?.from?.replace('.000Z', 'Z')}.`);
}

function addList(keys: Command, context: CommandContext): void {
  keys
    .command('list')
    .description('list the keys: the signing key, the next one, and former keys that are still published')
    .option('--json', 'print one JSON array')
    .addHelpText('after', '\nExample:\n  gateway assertion-keys list')
    .action(async ({ json }: { readonly json?: true }) => {
      requireKeys(context);
      const present = await context.secrets().assertionKeys();
      const rows = await Promise.all(present.map((key) => toRow(present, key, context.now())));
      if (json) printJson(context, rows);
      else printKeys(context, rows);
    });
}

type Row = Awaited<ReturnType<typeof toRow>>;

/** Returns a key for the list, without its private half. */
async function toRow(keys: readonly AssertionKey[], key: AssertionKey, nowMs: number) {
  const atMs = (seconds: number | undefined) => (seconds === undefined ? undefined : seconds * 1000);
  return {
    kid: await kidOf(key),
    state: stateAt(keys, key, nowMs),
    from: timeOrNull(atMs(key.signs_from)),
    until: timeOrNull(atMs(key.published_until)),
  };
}

function printKeys(context: CommandContext, rows: readonly Row[]): void {
  const shownTime = (time: string | null) => (time === null ? '' : shortTime(Date.parse(time)));
  printTable(
    context,
    ['kid', 'state', 'signs from', 'published until'],
    rows.map(({ kid, state, from, until }) => [kid, state, shownTime(from), shownTime(until)]),
  );
}
