// `gateway contract diff`: finds changes between two contracts that break clients.

import type { Command } from 'commander';
import { placeIn } from '../../contract/diff/breaks.ts';
import { describedAll } from '../../contract/diff/described.ts';
import type { DiffFinding, Level } from '../../contract/diff/findings.ts';
import type { Locate } from '../../contract/lint/positions.ts';
import type { ContractDocument } from '../../contract/reading/document.ts';
import { type Mistake, toSentence } from '../../shared/mistakes.ts';
import { positionsIn } from '../../shared/yaml-source.ts';
import type { CommandContext } from '../context.ts';
import { countText, printJson, printLine } from '../print.ts';
import { compareSources } from './pair.ts';
import { type ReadContracts, readContracts, UnreadableSource } from './read.ts';

export function addDiff(contract: Command, context: CommandContext): void {
  contract
    .command('diff')
    .description('list the changes of a contract for clients; breaking changes give exit code 1')
    .argument('[old]', 'file, directory, glob, or address of a published document; default: the published contracts')
    .argument('[new]', 'the new contracts, in the same form; default: the contracts of the configuration in use')
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      '\nExamples:\n  gateway contract diff\n  gateway contract diff https://api.example.com/openapi/v1.json openapi/v1\n  gateway contract diff old.yaml new.yaml --json',
    )
    .action(async (old: string | undefined, fresh: string | undefined, { json }: { json?: true }) => {
      if (old !== undefined && fresh !== undefined) return diff(context, old, fresh, json === true);
      if (old !== undefined) return context.usage('Name both sides, or none of them.');
      const { diffPublished } = await import('./diff-published.ts');
      return diffPublished(context, json === true);
    });
}

async function diff(context: CommandContext, old: string, fresh: string, asJson: boolean): Promise<void> {
  printDifferences(context, await differencesOf(context, old, fresh), asJson);
}

/** Compares the contracts of two places. Ends the command if one of them has mistakes. */
export async function differencesOf(context: CommandContext, old: string, fresh: string): Promise<LocatedFinding[]> {
  const mistakes: Mistake[] = [];
  const read = async (source: string) => {
    try {
      return await readContracts(source, context, mistakes);
    } catch (error) {
      if (error instanceof UnreadableSource) context.usage(error.message);
      throw error;
    }
  };
  const [before, after] = [await read(old), await read(fresh)];
  if (mistakes.length > 0) {
    for (const mistake of mistakes) context.complain(`${toSentence(mistake)}\n`);
    context.usage('Nothing was compared, since a contract has mistakes.');
  }
  const { findings, unclear } = compareSources(placeOperations(before), placeOperations(after));
  if (unclear.length > 0) context.usage(`${unclear.join('\n')}\nNothing was compared.`);
  const documents = { old: before.documents, new: after.documents };
  return locateFindings(findings, documents, async (file, spots) => positionsIn(file, spots));
}

function placeOperations({ operations, documents, nameOf }: ReadContracts) {
  const names = new Map(documents.map((document) => [document.root, nameOf(document)]));
  return describedAll(operations).map((described) => ({ described, name: names.get(described.root) ?? '' }));
}

function printDifferences(context: CommandContext, findings: readonly LocatedFinding[], asJson: boolean): void {
  const countOf = (level: Level) => findings.filter((finding) => finding.level === level).length;
  const [breaking, additive] = [countOf('breaking'), countOf('additive')];
  if (asJson) printJson(context, { breaking, additive, findings: findings.map(jsonOf) });
  else {
    for (const level of ['breaking', 'additive'] as const) {
      for (const finding of findings) if (finding.level === level) printLine(context, sentenceOf(finding));
    }
    const outcome = breaking > 0 ? 'Clients would break' : 'No client breaks';
    printLine(
      context,
      `${outcome}: ${countText(breaking, 'breaking change')}, ${countText(additive, 'additive change')}.`,
    );
  }
  if (breaking > 0) context.fail(`${countText(breaking, 'breaking change')}.`);
}

function sentenceOf({ file, line, column, level, rule, operation, reason }: LocatedFinding): string {
  const at = [file, line, column].filter((part) => part !== undefined).join(':');
  return `${at}: ${operation}: ${level}, ${rule}: ${reason}.`;
}

function jsonOf({ rule, level, operation, operationId, side, file, line, column, place, reason }: LocatedFinding) {
  const at = { document: side, file, line: line ?? null, column: column ?? null, place: place.join('.') };
  return { rule, level, operation, operation_id: operationId, ...at, reason };
}

interface LocatedFinding extends DiffFinding {
  readonly line: number | undefined;
  readonly column: number | undefined;
}

/** Adds file positions to findings. */
async function locateFindings(
  findings: readonly DiffFinding[],
  documents: { readonly old: readonly ContractDocument[]; readonly new: readonly ContractDocument[] },
  locate: Locate,
): Promise<LocatedFinding[]> {
  const byFile = {
    old: new Map(documents.old.map((document) => [document.file, document])),
    new: new Map(documents.new.map((document) => [document.file, document])),
  };
  const made = findings.map((finding): { finding: DiffFinding; mistake: Mistake | undefined } => {
    const document = byFile[finding.side].get(finding.file);
    // A document fetched from a URL has no local file.
    const isThere = document !== undefined && !/^https?:/.test(finding.file);
    return {
      finding,
      mistake: isThere ? document.position().mistakeAt(placeIn(document, finding), '', '') : undefined,
    };
  });
  for (const document of [...byFile.old.values(), ...byFile.new.values()]) await document.position().locate(locate);
  return made.map(({ finding, mistake: { file = finding.file, line, column } = {} as Partial<Mistake> }) => ({
    ...finding,
    file,
    line,
    column,
  }));
}
