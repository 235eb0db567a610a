// Reads the contracts named on the command line, by files, directories, globs, or the address of a published document.

import { existsSync, globSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { publicationsFile } from '../../contract/diff/publications.ts';
import { type ContractOperation, operationsOf } from '../../contract/operations/operations.ts';
import { type ContractDocument, createDirectReader, toDocument } from '../../contract/reading/document.ts';
import { isWithin } from '../../contract/reading/files.ts';
import { boundedBody } from '../../shared/http/bounded-fetch.ts';
import type { Mistake } from '../../shared/mistakes.ts';
import type { CommandContext } from '../context.ts';

const TIMEOUT_MS = 10_000;
const BYTES_MAX = 64 * 1024 * 1024;

/** Thrown for a source that contains no contract, or cannot be fetched. The message is for operators. */
export class UnreadableSource extends Error {}

export interface ReadContracts {
  readonly documents: readonly ContractDocument[];
  readonly operations: readonly ContractOperation[];
  /** Returns the name of a document below the source; empty if the source is one document. */
  nameOf(document: ContractDocument): string;
}

/** Reads all contracts of a source. Pushes mistakes; throws UnreadableSource. */
export async function readContracts(
  source: string,
  context: Pick<CommandContext, 'settings'>,
  mistakes: Mistake[],
): Promise<ReadContracts> {
  if (/^https?:\/\//.test(source)) return readAddress(source, mistakes);
  const documents: ContractDocument[] = [];
  for (const file of filesOf(source)) {
    const content = await createDirectReader(directoryOf(file, context, source)).readContract(file, mistakes);
    if (content !== undefined) documents.push(toDocument(file, content));
  }
  const base = baseOf(source);
  return { documents, operations: documents.flatMap(operationsIn), nameOf: ({ file }) => relative(base, file) };
}

/**
 * Returns the contract files of a path or glob, sorted. The published contracts below a directory are left out, because they are not
 * served. Throws UnreadableSource.
 */
export function filesOf(source: string): string[] {
  const isDirectory = statSync(source, { throwIfNoEntry: false })?.isDirectory() === true;
  const isFile = statSync(source, { throwIfNoEntry: false })?.isFile() === true;
  const isPromise = (file: string) =>
    isDirectory && resolve(dirname(file)) !== resolve(source) && existsSync(publicationsFile(dirname(file)));
  const files = isFile
    ? [source]
    : globSync(isDirectory ? join(source, '**') : source)
        .filter((file) => isContract(file) && !isPromise(file))
        .sort();
  if (files.length === 0) throw new UnreadableSource(`There is no contract at ${source}.`);
  return files;
}

/** Returns the common beginning of the paths of a source: the file, the directory, or the part of a glob before its first pattern. */
function baseOf(source: string): string {
  if (existsSync(source)) return source;
  const [, base = '.'] = /^([^*?[\]{}()!]*)\//.exec(source) ?? [];
  return base;
}

/**
 * Returns the directory that references of a file must not leave. This is the contracts directory, if the file is in it, otherwise the
 * directory on the command line, or the directory of the file.
 */
export function directoryOf(file: string, { settings }: Pick<CommandContext, 'settings'>, source = file): string {
  const { contractsDirectory } = settings();
  if (isWithin(contractsDirectory, resolve(file))) return contractsDirectory;
  return resolve(statSync(source, { throwIfNoEntry: false })?.isDirectory() ? source : dirname(file));
}

function isContract(file: string): boolean {
  return /\.(ya?ml|json)$/.test(file) && statSync(file).isFile();
}

/** Returns the operations. Does not check their upstream, access and limits, which do not matter here. */
function operationsIn(document: ContractDocument): ContractOperation[] {
  return [...operationsOf(document, { upstream: 'any', public: true }, { upstreams: [], limits: undefined }, [])];
}

async function readAddress(address: string, mistakes: Mistake[]): Promise<ReadContracts> {
  const text = await fetchText(address);
  const directory = mkdtempSync(join(tmpdir(), 'contract-'));
  try {
    const file = join(directory, /^\s*\{/.test(text) ? 'fetched.json' : 'fetched.yaml');
    writeFileSync(file, text);
    const own: Mistake[] = [];
    // The directory contains only this document, which therefore cannot refer to other files.
    const content = await createDirectReader(directory).readContract(file, own);
    mistakes.push(...own.map((mistake) => ({ ...mistake, file: address })));
    if (content === undefined) return { documents: [], operations: [], nameOf: () => '' };
    // The address replaces the temporary file, so line numbers are left out.
    const document = { ...toDocument(file, content), file: address };
    return { documents: [document], operations: operationsIn(document), nameOf: () => '' };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function fetchText(address: string): Promise<string> {
  try {
    const response = await fetch(address, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: 'error' });
    if (!response.ok) throw new Error(`it was answered with status ${response.status}`);
    const bytes = await boundedBody(response, BYTES_MAX);
    if (bytes === undefined) throw new Error(`it is longer than ${BYTES_MAX} bytes`);
    return bytes.toString('utf8');
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    throw new UnreadableSource(`${address} cannot be fetched: ${cause instanceof Error ? cause.message : cause}.`);
  }
}
