// Reads contract files: parses, lints against the OpenAPI specification, resolves references between files. Takes long enough that a
// gateway that serves does it in a thread of its own (reader.ts).

import {
  BaseResolver,
  bundle,
  type Config,
  createConfig,
  type Document,
  isAbsoluteUrl,
  lintDocument,
  ResolveError,
  type Source,
} from '@redocly/openapi-core';
import type { Mistake } from '../config-errors.ts';
import { positionsIn, shownPath, textOf } from '../source.ts';
import { normalizeSchemas } from './dialect.ts';
import { parseUnescaped } from './json.ts';
import { isAnnotation, toMistakes, unfitFor, unreadable } from './lint-mistakes.ts';
import { createPositions, type Locate, type Positions } from './positions.ts';
import { ownRules } from './rules.ts';

export type JsonObject = Record<string, unknown>;

/** What a contract file holds: references between files are resolved; those inside it are kept, so that schemas may be circular. */
export interface ContractContent {
  readonly root: JsonObject;
  /** The files it was read from: its own, and those it refers to. */
  readonly files: readonly string[];
  /** What the gateway checks less exactly than it says, or refuses though it does not say so. */
  readonly warnings: readonly Mistake[];
  /** Whether some schema can be referred to by a name instead of its place. */
  readonly hasNames: boolean;
}

/** One OpenAPI document, its schemas in plain JSON Schema 2020-12. */
export interface ContractDocument extends ContractContent {
  /** As messages name it. */
  readonly file: string;
  /** Names mistakes at places of the file. */
  position(): Positions;
}

/** Reads contracts, in this thread or in another. */
export interface ContractReader {
  /** `undefined` after a mistake, and for a file without paths, which is there to be referred to. */
  readContract(file: string, mistakes: Mistake[]): Promise<ContractContent | undefined>;
  readonly locate: Locate;
}

// Redocly is used for what it knows best, whether a document is OpenAPI 3.0, 3.1 or 3.2 at all. Matters of style are not ours to refuse.
const rules = {
  struct: 'error',
  'no-unresolved-refs': 'error',
  'path-parameters-defined': 'error',
  'path-not-include-query': 'error',
  'gateway/extensions-have-a-meaning': 'error',
  'gateway/patterns-can-run': 'error',
  'gateway/media-types-fit-headers': 'error',
  'gateway/header-names-fit-headers': 'error',
  'gateway/patterns-are-exact': 'warn',
  'gateway/formats-are-exact': 'warn',
} as const;

/** What stands for bytes that are no UTF-8, once they have been read as such. */
const REPLACEMENT = '\uFFFD';

/** What is on this machine is all there is: a boot that asks other hosts depends on them, and asks what a contract tells it to. */
class LocalResolver extends BaseResolver {
  override async loadExternalRef(reference: string) {
    if (isAbsoluteUrl(reference)) throw new ResolveError(new Error('other hosts are not asked'));
    const source = await super.loadExternalRef(reference);
    const unread = source.body.includes(REPLACEMENT) ? textOf(reference) : '';
    if (typeof unread !== 'string') throw new ResolveError(new Error(`${shownPath(reference)}: ${unread.reason}`));
    return source;
  }

  /** JSON is YAML, but is read six times as fast as such. */
  override parseDocument(source: Source, isRoot?: boolean): Document {
    const parsed = source.absoluteRef.endsWith('.json') ? parseUnescaped(source.body) : undefined;
    return parsed === undefined ? super.parseDocument(source, isRoot) : { source, parsed };
  }
}

/** Reads in this thread. */
export async function createDirectReader(): Promise<ContractReader> {
  const config = await createConfig({ rules, plugins: [ownRules] } as Parameters<typeof createConfig>[0]);

  async function readContract(file: string, mistakes: Mistake[]): Promise<ContractContent | undefined> {
    const text = textOf(file);
    if (typeof text !== 'string') {
      mistakes.push({ file: shownPath(file), ...text });
      return undefined;
    }
    const before = mistakes.length;
    const read = await parse(file, config, mistakes);
    if (!read || mistakes.length > before || !('paths' in read.root)) return undefined;
    return { ...read, hasNames: normalizeSchemas(read.root) };
  }

  return { readContract, locate: async (file, spots) => positionsIn(file, spots) };
}

export function toDocument(file: string, content: ContractContent): ContractDocument {
  const positions = createPositions(file);
  return { file: shownPath(file), ...content, position: () => positions };
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
    const warnings = toMistakes(
      problems.filter(({ severity }) => severity === 'warn'),
      file,
    );
    const root = document.parsed as JsonObject;
    if (!refersElsewhere(document.source) && resolver.getFiles().size === 1) return { root, files: [file], warnings };
    const bundled = await bundle({ doc: document, config, externalRefResolver: resolver });
    const files = [...new Set([file, ...bundled.fileDependencies])];
    return { root: bundled.bundle.parsed as JsonObject, files, warnings };
  } catch (error) {
    mistakes.push(unreadable(file, error));
    return undefined;
  }
}

/** Whether a file may refer to files by their names, its own included; only then there is something to be joined. */
function refersElsewhere({ body }: Source): boolean {
  return /\$ref["']?\s*:\s*["']?[^#"'\s]/.test(body);
}

/** No document of its own, but something that documents refer to. */
function isPart(root: unknown): boolean {
  return !('openapi' in (root as object));
}
