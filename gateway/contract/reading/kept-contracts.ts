// Keeps results of a start for the next start, beside the compiled code that Node keeps. A contract that was read once is not linted,
// compiled or compared with the published contracts again. A kept contract is found by the text of its file and by the code that read it.
// The files that it refers to must be unchanged as well.

import { createHash } from 'node:crypto';
import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { getCompileCacheDir } from 'node:module';
import { dirname, extname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { textOf } from '../../shared/file-text.ts';
import { hasEscapedNames } from '../json.ts';
import type { JsonObject } from '../pointer.ts';
import type { ContractContent } from './contract-content.ts';

/** `compiles`: all schemas of requests compile. `values-fit`: all defaults and examples fit their schemas. */
type ContractFact = 'compiles' | 'values-fit';

/** An operation that is compared. A kept comparison is found by all of its other members, too, which must be JSON. */
interface ComparedOperation {
  readonly root: JsonObject;
  readonly located: { readonly pointer: string };
  readonly parameters: readonly { readonly pointer: string }[];
}

interface KeptComparison {
  /** Whether a former comparison found no breaking change. */
  readonly breaksNothing: boolean;
  /** Keeps that this comparison found no breaking change. */
  keep(): void;
}

/** A file, relative to the directory of the contract, and the digest of its text. */
type Part = readonly [file: string, digest: string];

interface Content extends Pick<ContractContent, 'hasNames' | 'isSwagger' | 'foreign'> {
  readonly root: JsonObject;
  readonly parts: readonly Part[];
}

type Entry = Content | 'part';

/**
 * The files that keep facts about a contract begin with this path. Their content names the sources of the contract besides its own text.
 */
interface Mark {
  readonly place: string;
  readonly content: string;
}

/** The marks of contracts that this process has found or kept. */
const marks = new WeakMap<JsonObject, Mark>();

/** The maximum number of kept files. A contract has two files, so most of the files belong to earlier versions of contracts. */
const FILES_MAX = 1000;

/** Opens the directory in which Node keeps compiled code. Returns undefined if Node keeps none. */
export function openKeptContracts(): KeptContracts | undefined {
  const beside = getCompileCacheDir();
  return beside === undefined ? undefined : new KeptContracts(join(beside, 'contracts'));
}

export class KeptContracts {
  readonly #directory: string;

  /** @param directory the directory, which is created on demand; if it is not writable, nothing is kept */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Returns the kept content of a file with this text. */
  find(file: string, text: string): ContractContent | 'part' | undefined {
    const place = this.#placeOf(file, text);
    const entry = readEntry(place);
    if (entry === undefined || entry === 'part') return entry;
    if (!entry.parts.every((part) => isUnchanged(dirname(file), part))) return undefined;
    const { root, hasNames, isSwagger, foreign, parts } = entry;
    const files = [file, ...parts.map(([part]) => resolve(dirname(file), part))];
    remember(root, place, parts);
    return { root, files, foreign, warnings: [], hasNames, isSwagger, isBroken: false };
  }

  /**
   * Keeps a content that was read without mistakes, or the fact that the file is only a part of other documents. Has no effect if the
   * content has warnings, or if JSON cannot represent it.
   */
  keep(file: string, text: string, content: ContractContent | 'part'): void {
    try {
      const entry = content === 'part' ? content : toEntry(file, text, content);
      if (entry === undefined) return;
      mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
      dropOldest(this.#directory);
      const place = this.#placeOf(file, text);
      writeWhole(place, JSON.stringify(entry));
      if (entry !== 'part') remember(entry.root, place, entry.parts);
    } catch {
      // The next start reads the contract again.
    }
  }

  /** Whether a fact about a contract that was found or kept here has been kept before. */
  isKnown(fact: ContractFact, root: JsonObject): boolean {
    const mark = marks.get(root);
    return mark !== undefined && textOf(`${mark.place}.${fact}`) === mark.content;
  }

  /** Keeps a fact about such a contract. */
  keepFact(fact: ContractFact, root: JsonObject): void {
    const mark = marks.get(root);
    try {
      if (mark !== undefined) writeWhole(`${mark.place}.${fact}`, mark.content);
    } catch {
      // The next start or check finds the fact again.
    }
  }

  /**
   * Finds the kept comparison of a published contract with these operations; undefined if one of their contracts was neither found nor kept
   * here.
   *
   * @param published the text of the published contract
   */
  comparison(published: string, served: readonly ComparedOperation[]): KeptComparison | undefined {
    const roots = [...new Set(served.map(({ root }) => root))];
    const contracts = roots.map((root) => marks.get(root));
    if (contracts.includes(undefined)) return undefined;
    // The values are left out, because the contracts and these pointers determine them.
    const operations = served.map(({ root, located, parameters, ...rest }) => [
      roots.indexOf(root),
      located.pointer,
      parameters.map(({ pointer }) => pointer),
      rest,
    ]);
    const compared = JSON.stringify([digestOfCode(), published, contracts, operations]);
    const place = join(this.#directory, `${digestOf(compared)}.breaks-nothing`);
    return {
      breaksNothing: existsSync(place),
      keep() {
        try {
          writeWhole(place, '');
        } catch {
          // The next start compares them again.
        }
      },
    };
  }

  #placeOf(file: string, text: string): string {
    return join(this.#directory, `${digestOf(`${digestOfCode()} ${extname(file)} ${text}`)}.json`);
  }
}

function remember(root: JsonObject, place: string, parts: readonly Part[]): void {
  marks.set(root, { place, content: JSON.stringify(parts) });
}

/** Writes a file in one step, because another process may read it at the same time. */
function writeWhole(place: string, text: string): void {
  writeFileSync(`${place}.${process.pid}`, text, { mode: 0o600 });
  renameSync(`${place}.${process.pid}`, place);
}

function readEntry(place: string): Entry | undefined {
  try {
    return JSON.parse(readFileSync(place, 'utf8')) as Entry;
  } catch {
    return undefined;
  }
}

function isUnchanged(directory: string, [file, digest]: Part): boolean {
  const text = textOf(resolve(directory, file));
  return typeof text === 'string' && digestOf(text) === digest;
}

/** Returns undefined if reading the entry would not give the same content. */
function toEntry(file: string, text: string, content: ContractContent): Content | undefined {
  if (content.warnings.length > 0 || content.isBroken) return undefined;
  // The file was written between the read of its text and the parse, so the content may be of another text.
  if (textOf(file) !== text) return undefined;
  const others = content.files.filter((other) => other !== file);
  if (others.some(isJustWritten)) return undefined;
  const texts = others.map((other) => textOf(other));
  if (!texts.every((other) => typeof other === 'string')) return undefined;
  const parts = others.map((other, index): Part => [relative(dirname(file), other), digestOf(texts[index] ?? '')]);
  const { root, hasNames, isSwagger, foreign } = content;
  if (valuesIn(root) > text.length + texts.join('').length) return undefined;
  const entry: Content = { root, hasNames, isSwagger, foreign, parts };
  const json = JSON.stringify(entry);
  // JSON.parse can misread escaped names (shared/json-tree.ts).
  if (hasEscapedNames(json)) return undefined;
  return isDeepStrictEqual((JSON.parse(json) as Content).root, root) ? entry : undefined;
}

/**
 * Returns the number of values in a tree. A shared value is counted as often as it occurs, because aliases of YAML can make a tree that is
 * exponentially larger than its text.
 */
function valuesIn(value: unknown, known = new Map<object, number>()): number {
  if (typeof value !== 'object' || value === null) return 1;
  const before = known.get(value);
  if (before !== undefined) return before;
  const count = Object.values(value).reduce((sum: number, item: unknown) => sum + valuesIn(item, known), 1);
  known.set(value, count);
  return count;
}

/** Whether the file was written so recently that a later write may have the same time. */
function isJustWritten(file: string): boolean {
  return Date.now() - statSync(file).mtimeMs < 2000;
}

function dropOldest(directory: string): void {
  const entries = readdirSync(directory).map((name) => join(directory, name));
  if (entries.length < FILES_MAX) return;
  const ages = entries.map((place) => [statSync(place).mtimeMs, place] as const).sort(([a], [b]) => a - b);
  for (const [, place] of ages.slice(0, FILES_MAX / 2)) rmSync(place, { force: true });
}

let codeDigest: string | undefined;

/** Returns the digest of the code that reads contracts. It is computed once. package.json pins the version of each library. */
function digestOfCode(): string {
  codeDigest ??= readCodeDigest();
  return codeDigest;
}

function readCodeDigest(): string {
  const gateway = fileURLToPath(new URL('../..', import.meta.url));
  const own = globSync(['contract/**/*.ts', 'shared/*.ts'], { cwd: gateway }).sort();
  const files = ['../package.json', ...own].map((file) => readFileSync(join(gateway, file), 'utf8'));
  return digestOf(JSON.stringify([process.version, files]));
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
