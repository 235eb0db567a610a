// `gateway keys export`: writes all organizations and keys as lines of JSON, while the store is in use.

import { randomBytes } from 'node:crypto';
import { lstat, open, rename, rm } from 'node:fs/promises';
import type { Command } from 'commander';
import type { KeyStore } from '../../auth/store/key-store.ts';
import type { StoredKey } from '../../auth/store/stored-key.ts';
import { visibleLines } from '../../shared/text.ts';
import type { CommandContext } from '../context.ts';
import { printJson, printLine } from '../print.ts';
import { createProgress } from '../progress.ts';
import { amountOf, type Counts, endLine, headerLine, keyLine, organizationLine } from './export-form.ts';

interface ExportFlags {
  readonly file?: string;
  readonly json?: true;
}

export function addExport(keys: Command, context: CommandContext): void {
  keys
    .command('export')
    .description('export all organizations and keys (as digests), for a backup or another store')
    .option('--file <path>', 'file to write; standard output if absent')
    .option('--json', 'with --file, print what was written as one JSON object')
    .addHelpText('after', '\nExample:\n  gateway keys export --file keys.jsonl')
    .action(async (flags: ExportFlags) => {
      const { store } = await context.keyStore();
      const counts = await exportTo(context, store, flags.file);
      if (flags.file !== undefined && flags.json) return printJson(context, { file: flags.file, ...counts });
      const text = `Exported ${amountOf(counts)}`;
      if (flags.file !== undefined) printLine(context, `${text} to ${flags.file}.`);
      else if (!flags.json) context.complain(`${text}.\n`);
    });
}

async function exportTo(context: CommandContext, store: KeyStore, file: string | undefined): Promise<Counts> {
  const progress = createProgress(context, 'exporting');
  let counts = { organizations: 0, keys: 0 };
  const pieces = exportPieces(store, context.now(), (written) => {
    counts = written;
    progress.at(written.organizations + written.keys);
  });
  try {
    if (file === undefined) for await (const piece of pieces) context.write(piece);
    else await writeWhole(file, pieces);
  } finally {
    progress.clear();
  }
  return counts;
}

/** Yields the text in pieces, and calls `onWritten` with the number of records so far. */
export async function* exportPieces(
  store: KeyStore,
  nowMs: number,
  onWritten: (counts: Counts) => void,
): AsyncGenerator<string> {
  // The set contains only ids, about a hundred bytes per organization.
  const organizations = new Set<string>();
  let keys = 0;
  yield headerLine(store.pepperFingerprint, nowMs);
  for await (const page of store.organizations.scan()) {
    for (const { id } of page) organizations.add(id);
    yield visibleLines(page.map(organizationLine).join(''));
    onWritten({ organizations: organizations.size, keys });
  }
  for await (const page of store.keys.scan()) {
    yield visibleLines((await latecomers(store, page, organizations)) + page.map(keyLine).join(''));
    keys += page.length;
    onWritten({ organizations: organizations.size, keys });
  }
  yield endLine({ organizations: organizations.size, keys });
}

/** Returns lines for the organizations of these keys that were created after the organizations had been read. */
async function latecomers(store: KeyStore, keys: readonly StoredKey[], written: Set<string>): Promise<string> {
  let lines = '';
  for (const { id, organization } of keys) {
    if (written.has(organization)) continue;
    const record = await store.organizations.get(organization);
    if (record === undefined) throw new Error(`The key ${id} has no organization: the store was emptied meanwhile.`);
    written.add(organization);
    lines += organizationLine(record);
  }
  return lines;
}

/**
 * Writes a file that only its owner can read, to a temporary name beside the file and renames it at the end. Rejects with an Error for
 * operators on failure, and leaves an existing file unchanged. Rejects anything but a plain file, because the rename would replace a
 * device, pipe or link instead of writing through it.
 */
async function writeWhole(path: string, pieces: AsyncIterable<string>): Promise<void> {
  await requirePlainFile(path);
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  const file = await orSay(path, open(draft, 'wx', 0o600));
  try {
    for await (const piece of pieces) await orSay(path, file.writeFile(piece));
    await orSay(path, file.sync());
    await orSay(path, rename(draft, path));
  } catch (cause) {
    await rm(draft, { force: true });
    throw cause;
  } finally {
    await file.close();
  }
}

async function requirePlainFile(path: string): Promise<void> {
  const existing = await lstat(path).catch(() => undefined);
  if (existing === undefined || existing.isFile()) return;
  throw new Error(`${path} is no plain file. Leave --file out and redirect the output to write into it.`);
}

async function orSay<T>(path: string, step: Promise<T>): Promise<T> {
  try {
    return await step;
  } catch (cause) {
    throw new Error(`The file ${path} cannot be written (${(cause as NodeJS.ErrnoException).code}).`, { cause });
  }
}
