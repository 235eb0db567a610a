// `gateway keys import`: adds the organizations and keys of an export that the store does not have, while the store is in use.

import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { Command } from 'commander';
import type { ImportCounts, KeyStore } from '../../auth/store/key-store.ts';
import type { Awaitable } from '../../shared/awaitable.ts';
import type { CommandContext } from '../context.ts';
import { printJson, printLine } from '../print.ts';
import { createProgress } from '../progress.ts';
import { amountOf } from './export-form.ts';
import { type Batch, readExport } from './import-read.ts';

interface Source {
  /** The name of the source, for messages. */
  readonly name: string;
  /** False for standard input and pipes, which can be read only once, so they are not checked beforehand. */
  readonly readableTwice: boolean;
  open(): { readonly text: Readable; fraction?(): number };
}

/** The numbers of records that were read, and of records that were new. */
interface Tally {
  readonly read: ImportCounts;
  readonly added: ImportCounts;
}

export function addImport(keys: Command, context: CommandContext): void {
  keys
    .command('import')
    .description('add the organizations and keys of an export; existing ones are not changed')
    .argument('<file>', 'file that keys export has written; - for standard input')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  gateway keys import keys.jsonl')
    .action(async (file: string, { json }: { readonly json?: true }) => {
      const source = await sourceOf(context, file);
      const { store } = await context.keyStore('begin');
      const tally = await importFrom(context, store, source);
      if (json) printJson(context, toJson(tally));
      else printLine(context, toText(tally));
    });
}

async function sourceOf(context: CommandContext, file: string): Promise<Source> {
  if (file === '-') return { name: 'standard input', readableTwice: false, open: () => ({ text: context.input() }) };
  const about = await stat(file).catch(({ code }) =>
    context.fail(`The file ${file} cannot be read (${code}). Name a file that "gateway keys export" has written.`),
  );
  if (about.isDirectory()) context.fail(`${file} is a directory.`);
  return {
    name: file,
    readableTwice: about.isFile(),
    open() {
      const text = createReadStream(file);
      return about.isFile() ? { text, fraction: () => text.bytesRead / about.size } : { text };
    },
  };
}

/** Checks the whole file before writing. */
async function importFrom(context: CommandContext, store: KeyStore, source: Source): Promise<Tally> {
  if (source.readableTwice) {
    await readThrough(context, store, source, 'checking', () => ({ organizations: 0, keys: 0 }));
  } else {
    context.complain(`Importing from ${source.name} as it is read: what comes before a mistake is imported.\n`);
  }
  const names = { tiers: new Set<string>(), scopes: new Set<string>() };
  const tally = await readThrough(context, store, source, 'importing', ({ organizations, keys }) => {
    for (const { tier } of organizations) names.tiers.add(tier);
    for (const { scopes } of keys) for (const scope of scopes) names.scopes.add(scope);
    return store.import(organizations, keys, context.actor);
  });
  const missing = await store.mend();
  if (missing !== undefined) {
    context.complain(`warning: the key store lacks records that this export does not have (${missing}).\n`);
  }
  const { config, contracts } = await context.configuration();
  warnOfUnknown(context, 'tier', names.tiers, Object.keys(config.limits.tiers));
  warnOfUnknown(context, 'scope', names.scopes, ['*', ...contracts.scopes]);
  return tally;
}

/**
 * Warns of unknown scopes and tiers. These are not errors, because the configuration may follow. Until then they grant nothing, or the
 * least.
 */
function warnOfUnknown(
  context: CommandContext,
  kind: string,
  found: ReadonlySet<string>,
  known: Iterable<string>,
): void {
  const names = new Set(known);
  const unknown = [...found].filter((name) => !names.has(name)).sort();
  if (unknown.length > 0) context.complain(`warning: the configuration has no ${kind} ${unknown.join(', ')}.\n`);
}

async function readThrough(
  context: CommandContext,
  { pepperFingerprint }: KeyStore,
  source: Source,
  doing: string,
  take: (batch: Batch) => Awaitable<ImportCounts>,
): Promise<Tally> {
  let tally: Tally = { read: { organizations: 0, keys: 0 }, added: { organizations: 0, keys: 0 } };
  const progress = createProgress(context, doing);
  const { text, fraction } = source.open();
  function wrong(line: number, reason: string): never {
    context.fail(`${source.name}, line ${line}: ${reason} ${remainsOf(tally)}`);
  }
  try {
    for await (const batch of readExport(text.setEncoding('utf8'), { pepperFingerprint, wrong })) {
      const added = await storeRecords(context, tally, () => take(batch));
      const read = { organizations: batch.organizations.length, keys: batch.keys.length };
      tally = { read: sum(tally.read, read), added: sum(tally.added, added) };
      progress.at(tally.read.organizations + tally.read.keys, fraction?.());
    }
    return tally;
  } finally {
    progress.clear();
  }
}

async function storeRecords(
  context: CommandContext,
  tally: Tally,
  take: () => Awaitable<ImportCounts>,
): Promise<ImportCounts> {
  try {
    return await take();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    context.fail(`The store rejected the import: ${reason} ${remainsOf(tally)}`);
  }
}

/** Names the part of a failed import that was stored. */
function remainsOf({ added }: Tally): string {
  if (added.organizations + added.keys === 0) return 'Nothing was imported.';
  return `Before that, ${amountOf(added)} were imported; importing again adds the rest.`;
}

function sum(one: ImportCounts, other: ImportCounts): ImportCounts {
  return { organizations: one.organizations + other.organizations, keys: one.keys + other.keys };
}

function toText({ read, added }: Tally): string {
  const there = `${read.organizations - added.organizations} and ${read.keys - added.keys}`;
  return `Imported ${amountOf(added)}; ${there} were there already and stay as they are.`;
}

function toJson({ read, added }: Tally) {
  return {
    organizations: { new: added.organizations, already_there: read.organizations - added.organizations },
    keys: { new: added.keys, already_there: read.keys - added.keys },
  };
}
