// `gateway keys export`: writes all organizations and keys as lines of JSON, while the store is in use.

import type { Command } from 'commander';
import type { KeyStore } from '../../auth/store/key-store.ts';
import type { CommandContext } from '../context.ts';
import { counted, printJson, printLine } from '../print.ts';
import { createProgress } from '../progress.ts';
import { writeWhole } from './export-file.ts';
import type { Counts } from './export-form.ts';
import { exportPieces } from './export-pieces.ts';

interface ExportFlags {
  readonly file?: string;
  readonly json?: true;
}

export function addExport(keys: Command, context: CommandContext): void {
  keys
    .command('export')
    .description('write all organizations and keys, as digests: a backup, or a way into another store')
    .option('--file <path>', 'file to write; standard output if absent')
    .option('--json', 'with --file, print what was written as one JSON object')
    .addHelpText('after', '\nExample:\n  gateway keys export --file keys.jsonl')
    .action(async (flags: ExportFlags) => {
      const { store } = await context.keyStore();
      const counts = await exportTo(context, store, flags.file);
      if (flags.file !== undefined && flags.json) return printJson(context, { file: flags.file, ...counts });
      const text = `Exported ${counted(counts.organizations, 'organization')} and ${counted(counts.keys, 'key')}`;
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
    progress.done();
  }
  return counts;
}
