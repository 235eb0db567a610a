// The command `gateway init --from … --update`: fetches the document of a service again, shows what changes for clients, replaces the
// former document, and checks the configuration.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'yaml';
import { shownPath } from '../../shared/file-text.ts';
import { type Mistake, toSentence } from '../../shared/mistakes.ts';
import type { CommandContext } from '../context.ts';
import { callersText, recentCallers } from '../contract/callers.ts';
import { choicesText } from '../contract/decisions.ts';
import { differencesOf } from '../contract/diff.ts';
import { countText, printJson, printLine } from '../print.ts';
import { type FetchedDocument, fetchDocument } from './fetch-document.ts';
import { keptMembers, memberText, withMembers } from './kept-members.ts';
import { nameOf } from './propose-entry.ts';
import { type AddServiceFlags, contextOf, type Directories, refuseFiles, servedBy } from './propose-service.ts';
import { runCheck } from './run-also.ts';

interface UpdateFlags extends Partial<Pick<AddServiceFlags, 'from' | 'name'>> {
  readonly force?: true | undefined;
  readonly dryRun?: true | undefined;
  readonly json?: true | undefined;
}

/** Updates a document. Writes changes that break clients only with `--force`. */
export async function updateService(
  context: CommandContext,
  directories: Directories,
  { from, name: named, force, dryRun, json }: UpdateFlags,
): Promise<void> {
  const { config, contracts } = directories;
  const fetched = await fetchDocument(from ?? (await addressOf(context, join(config, 'upstreams.yaml'), named))).catch(
    (error: Error) => context.fail(error.message),
  );
  await refuseFiles(context, fetched);
  const { name, file, decidesSecurity } = await contractOf(
    context,
    join(config, 'upstreams.yaml'),
    named ?? nameOf(fetched),
  );
  const path = join(contracts, file);
  const before = await readFile(path, 'utf8').catch(({ code }) =>
    context.fail(`${shownPath(path)} cannot be read (${code}).`),
  );
  const members = keptMembers(meaningOf(before), fetched.root);
  const document = { ...fetched, text: withMembers(fetched.text, members) };
  const kept = members.map(memberText);
  const isSame = isDeepStrictEqual(meaningOf(before), members.length === 0 ? fetched.root : meaningOf(document.text));
  if (isSame) return tell(context, { name, path, isSame, kept, changes: [], written: false, mistakes: [] }, json);
  const findings = await comparison(context, path, document);
  // If the entry has `security`, changes of credentials in the document have no effect.
  const inForce = decidesSecurity ? findings.filter(({ rule }) => !rule.startsWith('security-')) : findings;
  const breaking = inForce.filter(({ level }) => level === 'breaking').length;
  const callers = breaking === 0 ? undefined : await callersBefore(context, directories);
  const changes = inForce.map(({ level, rule, operation, operationId, reason }) => {
    // With `operationNames: qualified`, ids begin with the name of the entry.
    const ids = [operationId, `${name}.${operationId}`];
    const called = level === 'breaking' ? callersText(callers, ids) : undefined;
    return { level, rule, operation, reason, ...(called === undefined ? {} : { called }) };
  });
  const isWritten = dryRun !== true && (breaking === 0 || force === true);
  if (isWritten)
    await writeFile(path, document.text).catch(({ code }) =>
      context.fail(`${shownPath(path)} cannot be written (${code}).`),
    );
  const { mistakes } = isWritten ? await servedBy(context, directories) : { mistakes: [] };
  tell(context, { name, path, isSame: false, kept, changes, written: isWritten, mistakes }, json);
  if (!isWritten && breaking > 0) {
    const how = dryRun ? '' : ' Use --force to write it nevertheless.';
    context.fail(`${countText(breaking, 'breaking change')}: nothing was written.${how}`);
  }
  if (!isWritten) return;
  const decisions = mistakes.flatMap((mistake) => mistake.decisions ?? []);
  if (json) {
    if (mistakes.length > 0) context.fail();
  } else if (decisions.length > 0) {
    for (const mistake of mistakes) if (mistake.decisions === undefined) context.complain(`${toSentence(mistake)}\n`);
    context.fail(brokenText(decisions, context.now()));
  } else if (!(await runCheck(context, directories)))
    context.fail('The document is written, but check refuses it. Correct the mistakes above.');
}

async function callersBefore(context: CommandContext, directories: Directories) {
  const around = contextOf(context, directories);
  try {
    return await recentCallers(around);
  } finally {
    await around.close();
  }
}

/** Returns the last message, which lists the choices once, for all changes that were printed before. */
function brokenText(decisions: Parameters<typeof choicesText>[0], nowMs: number): string {
  const breaks = countText(decisions.length, 'change');
  const they = decisions.length === 1 ? 'breaks' : 'break';
  return `The document is written, but ${breaks} ${they} what was published: check refuses it, and a running gateway keeps the one before. ${choicesText(decisions, nowMs)}`;
}

/** Parses a document, so that two texts can be compared without their layout. Returns undefined if it has mistakes. */
function meaningOf(text: string): unknown {
  try {
    return text.trimStart().startsWith('{') ? JSON.parse(text) : parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the contract of the entry. The extension of its file says whether the document is JSON or YAML. */
async function contractOf(
  context: CommandContext,
  path: string,
  name: string | undefined,
): Promise<{ readonly name: string; readonly file: string; readonly decidesSecurity: boolean }> {
  if (name === undefined) return context.usage('The title of the document gives no name. Name the entry with --name.');
  const text = await readFile(path, 'utf8').catch(({ code }) =>
    context.fail(`${shownPath(path)} cannot be read (${code}).`),
  );
  const entry = entriesIn(text)[name];
  if (entry === undefined)
    return context.fail(
      `${shownPath(path)} has no entry "${name}" to update. Name it with --name, or leave out --update.`,
    );
  const { contracts, security = {}, public: isPublic } = entry;
  const [file, ...others] = Array.isArray(contracts) ? contracts.map(String) : [];
  if (file === undefined || others.length > 0 || file.includes('*'))
    return context.fail(`The entry "${name}" has more than one contract. Replace the file yourself.`);
  const decidesSecurity = isPublic === true || ['apiKey', 'read', 'write'].some((key) => Object.hasOwn(security, key));
  return { name, file, decidesSecurity };
}

/** Returns the address of the service of an entry, which publishes its document at one of the usual paths. */
async function addressOf(context: CommandContext, path: string, name: string | undefined): Promise<string> {
  if (name === undefined) return context.usage('--update needs --from, or the name of an entry with --name.');
  const text = await readFile(path, 'utf8').catch(({ code }) =>
    context.fail(`${shownPath(path)} cannot be read (${code}).`),
  );
  const [address] = [entriesIn(text)[name]?.live].flat();
  if (typeof address === 'string' && /^https?:\/\//.test(address)) return address;
  return context.usage(`${shownPath(path)} has no address for "${name}". Give the URL of its document with --from.`);
}

interface WrittenEntry {
  readonly live?: unknown;
  readonly contracts?: unknown;
  readonly security?: object;
  readonly public?: unknown;
}

function entriesIn(text: string): Readonly<Record<string, WrittenEntry>> {
  return (meaningOf(text) as { upstreams?: Readonly<Record<string, WrittenEntry>> } | undefined)?.upstreams ?? {};
}

/**
 * Compares the fetched document, in a temporary directory, with the current contract, because its mistakes must be known before it is
 * written.
 */
async function comparison(context: CommandContext, path: string, { text, extension }: FetchedDocument) {
  const directory = await mkdtemp(join(tmpdir(), 'gateway-update-'));
  const fresh = join(directory, `${basename(path).replace(/\.[^.]*$/, '')}.${extension}`);
  try {
    await writeFile(fresh, text);
    return await differencesOf(context, path, fresh);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

interface Update {
  readonly name: string;
  readonly path: string;
  readonly isSame: boolean;
  /** Members of the operator that were carried over. */
  readonly kept: readonly string[];
  readonly changes: readonly {
    readonly level: string;
    readonly operation: string;
    readonly reason: string;
    /** A sentence about the organizations that have called the operation lately. */
    readonly called?: string;
  }[];
  readonly written: boolean;
  /** Mistakes of the configuration with the new document. */
  readonly mistakes: readonly Mistake[];
}

type Change = Update['changes'][number];

/** Lists the changes of each operation below its name and its callers, breaking changes first. */
function changeLines(changes: readonly Change[]): string[] {
  const isBreaking = ({ level }: Change) => level === 'breaking';
  const ordered = [...changes.filter(isBreaking), ...changes.filter((change) => !isBreaking(change))];
  return [...Map.groupBy(ordered, ({ operation }) => operation)].flatMap(([operation, own]) => {
    const called = own[0]?.called;
    return [
      called === undefined ? operation : `${operation} (${called})`,
      ...own.map(({ level, reason }) => `  ${level}: ${reason}.`),
    ];
  });
}

function tell(
  context: CommandContext,
  { name, path, isSame, kept, changes, written, mistakes }: Update,
  json: true | undefined,
): void {
  if (json) {
    printJson(context, { name, file: path, written, kept, changes, mistakes });
    return;
  }
  for (const line of changeLines(changes)) printLine(context, line);
  if (written && kept.length > 0) printLine(context, `kept ${kept.join(', ')}`);
  const shown = shownPath(path);
  if (written) printLine(context, `wrote ${shown}${changes.length === 0 ? ': only descriptions have changed' : ''}`);
  else if (isSame) printLine(context, `${shown} is as the service publishes it.`);
  else if (changes.length === 0) printLine(context, `${shown}: only descriptions would change.`);
}
