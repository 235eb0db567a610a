// Parses a contract file, lints it against the OpenAPI specification and resolves references between files. Loading the linter alone takes
// longer than the rest of a small start, so document.ts imports this file on demand.

import { bundle, type Config, createConfig, type Document, lintDocument, type Source } from '@redocly/openapi-core';
import { shownPath } from '../../shared/file-text.ts';
import { hasForeignSpace } from '../../shared/foreign-spaces.ts';
import type { Mistake } from '../../shared/mistakes.ts';
import { positionsIn, readSource } from '../../shared/yaml-source.ts';
import { withoutConsequences } from '../lint/lint-causes.ts';
import { toMistakes, unfitFor, unreadable } from '../lint/lint-mistakes.ts';
import { type Verdict, verdictOn } from '../lint/lint-verdict.ts';
import { misplacedSections } from '../lint/misplaced-sections.ts';
import { createPositions } from '../lint/positions.ts';
import { LINT_RULES, OWN_RULES } from '../lint/rules.ts';
import { isRecord, type JsonObject, objectAt } from '../pointer.ts';
import type { ContractContent } from './contract-content.ts';
import { createFileResolver, type FileResolver } from './file-resolver.ts';
import { resolveNames } from './schema-names.ts';
import { convertSwagger, isSwagger } from './swagger.ts';

/**
 * Resolves with undefined for a file that cannot be parsed, and for a part of another document. Pushes mistakes.
 *
 * @param within the directory that references to files may not leave
 */
export type ParseContract = (
  file: string,
  within: string,
  mistakes: Mistake[],
) => Promise<Omit<ContractContent, 'hasNames'> | undefined>;

/** Creates the parser, with the rules of the linter. */
export async function createContractParser(): Promise<ParseContract> {
  const config = await createConfig({ rules: LINT_RULES, plugins: [OWN_RULES] } as Parameters<typeof createConfig>[0]);
  return (file, within, mistakes) => parse(createFileResolver(file, within), config, mistakes);
}

/** Lints the original files, because positions must be right, and then resolves references between them. */
async function parse(
  resolver: FileResolver,
  config: Config,
  mistakes: Mistake[],
): Promise<Omit<ContractContent, 'hasNames'> | undefined> {
  const { file } = resolver;
  try {
    const document = await resolver.resolveDocument(null, file, true);
    if (document instanceof Error) throw document;
    quoteVersion(document.parsed);
    const unfit = unfitFor(document);
    if (unfit) mistakes.push({ file: shownPath(file), line: 1, ...unfit });
    const before = mistakes.length;
    if (hasForeignSpace(document.source.body)) readSource(file, mistakes);
    if (unfit || mistakes.length > before || isPart(document.parsed)) return undefined;
    mistakes.push(...misplacedSections(document.parsed as JsonObject, document.source));
    if (mistakes.length > before) return undefined;
    resolveNames(document.parsed as JsonObject, document.source.body);
    const problems = await lintDocument({ document, config, externalRefResolver: resolver });
    const causes = withoutConsequences(problems, document.parsed);
    const judged = Map.groupBy(causes, (problem): Verdict => verdictOn(problem, document));
    const errors = judged.get('mistake') ?? [];
    mistakes.push(...toMistakes(errors, file));
    const warnings = toMistakes(judged.get('warning') ?? [], file);
    const read = { ...(await joinFiles(document, config, resolver)), warnings, isBroken: errors.length > 0 };
    return isSwagger(read.root) ? await convertDocument(read) : { ...read, isSwagger: false };
  } catch (error) {
    mistakes.push(unreadable(file, error));
    return undefined;
  }
}

/** Converts the version to text, because YAML reads an unquoted 2.0 as a number. */
function quoteVersion(root: unknown): void {
  if (isRecord(root) && root.swagger === 2) root.swagger = '2.0';
}

/** Resolves references between files. */
async function joinFiles(
  document: Document,
  config: Config,
  resolver: FileResolver,
): Promise<Pick<ContractContent, 'root' | 'files' | 'foreign'>> {
  const file = document.source.absoluteRef;
  const root = document.parsed as JsonObject;
  if (!refersElsewhere(document.source) && resolver.getFiles().size === 1) return { root, files: [file] };
  const own = new Set(componentsOf(root));
  const bundled = await bundle({ doc: document, config, externalRefResolver: resolver });
  const joined = bundled.bundle.parsed as JsonObject;
  const files = [...new Set([file, ...bundled.fileDependencies])];
  // The linter has reported files that cannot be read.
  const contents = await Promise.all(files.map((one) => resolver.resolveDocument(file, one).catch(() => undefined)));
  const inFiles = contents.map((one) => new Set(one !== undefined && 'parsed' in one ? componentsOf(one.parsed) : []));
  const foreign = componentsOf(joined).filter((name) => !own.has(name));
  const indexes = foreign.map((name) => [name, inFiles.findIndex((names, index) => index > 0 && names.has(name))]);
  return { root: joined, files, foreign: Object.fromEntries(indexes) };
}

/** Returns the places of all components, such as `components/schemas/Job`. */
function componentsOf(root: unknown): string[] {
  const sections = Object.entries(objectAt(root, 'components'));
  return sections.flatMap(([section, named]) =>
    Object.keys(isRecord(named) ? named : {}).map((name) => `components/${section}/${name}`),
  );
}

/** Converts a Swagger 2.0 document. Resolves with undefined for a document that cannot be converted because of its mistakes. */
async function convertDocument(
  read: Omit<ContractContent, 'hasNames' | 'isSwagger'>,
): Promise<Omit<ContractContent, 'hasNames'> | undefined> {
  try {
    const { root, losses } = await convertSwagger(read.root);
    const positions = createPositions(() => read.files[0] as string);
    const lost = losses.map(({ path, reason, remedy }) => positions.mistakeAt(path, reason, remedy));
    await positions.locate(async (file, spots) => positionsIn(file, spots));
    return { ...read, root, warnings: [...read.warnings, ...lost], isSwagger: true };
  } catch (error) {
    if (read.isBroken) return undefined;
    throw error;
  }
}

/** Whether the text may contain a reference to a file, including its own file, so that references must be bundled. */
function refersElsewhere({ body }: Source): boolean {
  return /\$ref["']?\s*:\s*["']?[^#"'\s]/.test(body);
}

/** Returns whether the file is only a part that other documents refer to. */
function isPart(root: unknown): boolean {
  return !('openapi' in (root as object) || 'swagger' in (root as object));
}
