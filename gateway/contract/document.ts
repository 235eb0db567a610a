// Reads contract files: parses, lints against the OpenAPI specification, resolves references between files. Takes long enough that a
// gateway that serves does it in a thread of its own (reader.ts).

import { existsSync } from 'node:fs';
import {
  BaseResolver,
  bundle,
  type Config,
  createConfig,
  type Document,
  getLineColLocation,
  isAbsoluteUrl,
  lintDocument,
  type NormalizedProblem,
  ResolveError,
} from '@redocly/openapi-core';
import { closest, type Mistake } from '../mistakes.ts';
import { readSource, type Source, shownPath } from '../source.ts';
import { normalizeSchemas } from './dialect.ts';
import { pathOf } from './pointer.ts';
import { remedyFor } from './remedies.ts';
import { ownRules } from './rules.ts';

export type JsonObject = Record<string, unknown>;

/** What a contract file holds: references between files are resolved; those inside it are kept, so that schemas may be circular. */
export interface ContractContent {
  readonly root: JsonObject;
  /** The files it was read from: its own, and those it refers to. */
  readonly files: readonly string[];
  /** Whether some schema can be referred to by a name instead of its place. */
  readonly hasNames: boolean;
}

/** One OpenAPI document, its schemas in plain JSON Schema 2020-12. */
export interface ContractDocument extends ContractContent {
  /** As messages name it. */
  readonly file: string;
  /** Positions in the file, parsed only when a mistake has to be named. */
  position(): Source;
}

// Redocly is used for what it knows best, whether a document is OpenAPI 3.0, 3.1 or 3.2 at all. Matters of style are not ours to refuse.
const rules = {
  struct: 'error',
  'no-unresolved-refs': 'error',
  'path-parameters-defined': 'error',
  'path-not-include-query': 'error',
  'gateway/extensions-have-a-meaning': 'error',
  'gateway/patterns-can-run': 'error',
} as const;

/** What is on this machine is all there is: a boot that asks other hosts depends on them, and asks what a contract tells it to. */
class LocalResolver extends BaseResolver {
  override async loadExternalRef(reference: string) {
    if (isAbsoluteUrl(reference)) throw new ResolveError(new Error('other hosts are not asked'));
    return super.loadExternalRef(reference);
  }
}

/** Reads one contract: `undefined` after a mistake, and for a file without paths, which is there to be referred to. */
export type ReadContract = (file: string, mistakes: Mistake[]) => Promise<ContractContent | undefined>;

export async function createReadContract(): Promise<ReadContract> {
  const config = await createConfig({ rules, plugins: [ownRules] } as Parameters<typeof createConfig>[0]);
  return async function readContract(file, mistakes) {
    if (!existsSync(file)) {
      const remedy = 'Create it, or correct the path that names it.';
      mistakes.push({ file: shownPath(file), reason: 'the file does not exist.', remedy });
      return undefined;
    }
    const before = mistakes.length;
    const read = await parse(file, config, mistakes);
    if (!read || mistakes.length > before || !('paths' in read.root)) return undefined;
    return { ...read, hasNames: normalizeSchemas(read.root) };
  };
}

export function toDocument(file: string, content: ContractContent): ContractDocument {
  let source: Source | undefined;
  return {
    file: shownPath(file),
    ...content,
    position() {
      source ??= readSource(file, []);
      return source;
    },
  };
}

/** Mistakes are found in the files as they are written, so before references between them are resolved. */
async function parse(
  file: string,
  config: Config,
  mistakes: Mistake[],
): Promise<Omit<ContractContent, 'hasNames'> | undefined> {
  const resolver = new LocalResolver(config.resolve);
  try {
    const document = await resolver.resolveDocument(null, file, true);
    if (document instanceof Error) throw document;
    const unfit = unfitFor(document);
    if (unfit) mistakes.push({ file: shownPath(file), line: 1, ...unfit });
    if (unfit || isPart(document.parsed)) return undefined;
    const problems = await lintDocument({ document, config, externalRefResolver: resolver });
    const errors = problems.filter((problem) => problem.severity === 'error' && !isAnnotation(problem, document));
    mistakes.push(...toMistakes(errors, file));
    if (errors.length > 0) return undefined;
    const bundled = await bundle({ doc: document, config, externalRefResolver: resolver });
    return { root: bundled.bundle.parsed as JsonObject, files: [...new Set([file, ...bundled.fileDependencies])] };
  } catch (error) {
    mistakes.push(unreadable(file, error));
    return undefined;
  }
}

/** What can be parsed and is still nothing to work with. */
function unfitFor({ parsed }: Document): Pick<Mistake, 'reason' | 'remedy'> | undefined {
  const begin = 'Begin it with "openapi: 3.1.1", info and paths.';
  if (typeof parsed !== 'object' || parsed === null) return { reason: 'the file holds no document.', remedy: begin };
  if ('swagger' in parsed)
    return { reason: 'this is a Swagger 2.0 document.', remedy: 'Convert it to OpenAPI 3.0 or 3.1.' };
  if (!('openapi' in parsed) && 'paths' in parsed)
    return { reason: 'the version of OpenAPI is missing.', remedy: 'Begin the file with "openapi: 3.1.1".' };
  return undefined;
}

/** No document of its own, but something that documents refer to. */
function isPart(root: unknown): boolean {
  return !('openapi' in (root as object));
}

/**
 * From 3.1 on schemas may hold keywords of anybody's. One that looks like a misspelt keyword stays a mistake: overlooking it would
 * let through what the contract means to refuse.
 */
function isAnnotation({ ruleId, message, location, suggest }: NormalizedProblem, { parsed }: Document): boolean {
  const keyword = /^Property `([^`]*)` is not expected here/.exec(message)?.[1];
  const pointer = location[0] && 'pointer' in location[0] ? location[0].pointer : undefined;
  if (ruleId !== 'struct' || keyword === undefined || !pointer || !/\/schemas?\//.test(pointer)) return false;
  const { openapi } = parsed as { openapi?: unknown };
  return !String(openapi).startsWith('3.0') && closest(keyword, suggest) === undefined;
}

/** One mistake per problem; that a file does not parse is told of the file, and not again of every reference into it. */
function toMistakes(problems: readonly NormalizedProblem[], file: string): Mistake[] {
  const unparsed = problems.filter(({ message }) => message.startsWith(UNPARSED));
  const causes = unparsed.map(({ message }) => message.slice(UNPARSED.length));
  return problems
    .filter((problem) => unparsed.includes(problem) || !causes.some((cause) => problem.message.endsWith(cause)))
    .map((problem) => {
      const { source } = problem.location[0] ?? {};
      return source && unparsed.includes(problem)
        ? unreadable(source.absoluteRef, new Error(problem.message))
        : toMistake(problem, shownPath(source?.absoluteRef ?? file));
    });
}

const UNPARSED = 'Failed to parse: ';

function toMistake(problem: NormalizedProblem, file: string): Mistake {
  const location = problem.location[0];
  const at = location ? getLineColLocation(location) : undefined;
  const pointer = location && 'pointer' in location ? location.pointer?.replace(/^#/, '') : undefined;
  const message = problem.message.replace(/\s+/g, ' ').replace(/\.$/, '');
  return {
    file,
    line: at?.start.line,
    column: at?.start.col,
    ...(pointer ? { place: pathOf(pointer).join('.') } : {}),
    reason: `${message.replace('ENOENT: no such file or directory', 'there is no file')}.`,
    remedy: remedyFor(problem),
  };
}

/** A file that does not even parse: Redocly throws, our own reader says where. */
function unreadable(file: string, error: unknown): Mistake {
  const own: Mistake[] = [];
  readSource(file, own);
  const [first] = own;
  if (first) return first;
  const reason = error instanceof Error ? error.message.split('\n')[0] : 'unknown error';
  return {
    file: shownPath(file),
    line: 1,
    reason: `this is not an OpenAPI document (${reason}).`,
    remedy: 'Begin it with "openapi: 3.1.1", info and paths.',
  };
}
