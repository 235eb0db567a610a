// Compares the served contracts with the published ones. A breaking change is a mistake unless an exception in upstreams.yaml accepts
// it, with a reason and an end date.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Mistake } from '../../config-errors.ts';
import { entryOfUpstream } from '../../shared/upstream-names.ts';
import { readSource, shownPath } from '../../shared/yaml-source.ts';
import { normalizeSchemas } from '../dialect.ts';
import { type ContractDocument, toDocument } from '../document.ts';
import { type ContractOperation, operationsOf } from '../operations.ts';
import { isObject, type JsonObject } from '../pointer.ts';
import { shapeOf } from '../routes.ts';
import { createYieldToLoop } from '../yield-to-loop.ts';
import { compareContracts } from './compare.ts';
import { describedAlone, describedOf } from './described.ts';
import type { DiffFinding } from './findings.ts';

/** One published document. */
export interface BaselineContract {
  /** `v1`, or the name of an upstream. */
  readonly name: string;
  readonly file: string;
  readonly document: ContractDocument;
  readonly operations: readonly ContractOperation[];
}

/** An accepted breaking change. */
export interface BreakingException {
  readonly operation: string;
  readonly rule: string;
  readonly until: string;
}

export interface BaselineComparison {
  readonly promised: readonly BaselineContract[];
  readonly served: readonly ContractOperation[];
  readonly exceptions: readonly BreakingException[];
  /** Exceptions whose `until` is before this day no longer apply. Undefined: all apply. */
  readonly today: string | undefined;
  /** Returns whether the operation is already answered with 410: it can no longer break. */
  hasEnded(operation: { readonly id: string; readonly version: string | undefined }): boolean;
}

/** Reads all published documents of a directory. `earlier` returns a document that was already read. Pushes mistakes. */
export function readBaseline(
  directory: string,
  earlier: (file: string) => BaselineContract | undefined,
  mistakes: Mistake[],
): BaselineContract[] {
  if (!existsSync(directory)) {
    const remedy = 'Run "gateway contract publish", which makes it, or take publishedContracts out of gateway.yaml.';
    mistakes.push({
      file: shownPath(directory),
      reason: 'the directory of published contracts does not exist.',
      remedy,
    });
    return [];
  }
  const files = readdirSync(directory).filter((file) => file.endsWith('.json'));
  return files.sort().flatMap((name) => {
    const file = join(directory, name);
    return earlier(file) ?? readPublished(file, mistakes) ?? [];
  });
}

/** The file was written by the gateway, so only its readability is checked. */
function readPublished(file: string, mistakes: Mistake[]): BaselineContract | undefined {
  const root = parsed(file, mistakes);
  if (root === undefined) return undefined;
  const document = toDocument(file, {
    root,
    files: [file],
    warnings: [],
    hasNames: normalizeSchemas(root),
    isSwagger: false,
    isBroken: false,
  });
  const says = { upstream: 'any', public: true };
  const operations = [...operationsOf(document, says, { upstreams: [], limits: undefined }, [])];
  return { name: basename(file, '.json'), file, document, operations };
}

function parsed(file: string, mistakes: Mistake[]): JsonObject | undefined {
  const remedy = 'Take it from version control again, or run "gateway contract publish".';
  try {
    const root: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (isObject(root) && isObject(root.paths)) return root;
    mistakes.push({ file: shownPath(file), line: 1, reason: 'this is not a published contract.', remedy });
  } catch {
    const own: Mistake[] = [];
    readSource(file, own);
    const { line } = own[0] ?? {};
    mistakes.push({ file: shownPath(file), line, reason: 'the published contract cannot be read.', remedy });
  }
  return undefined;
}

export interface BaselineResult {
  /** Exceptions that no change needs. */
  readonly unused: readonly BreakingException[];
  /** Names of documents that have never been published. */
  readonly unpublished: readonly string[];
}

/** Compares in slices. Pushes a mistake for each breaking change; its line is added by `locate` of the documents. */
export async function checkBaseline(comparison: BaselineComparison, mistakes: Mistake[]): Promise<BaselineResult> {
  const { promised, served, exceptions, today } = comparison;
  const groups = Map.groupBy(served, nameOf);
  const documents = new Map(served.map(({ document }) => [document.file, document]));
  const used = new Set<BreakingException>();
  const pause = createYieldToLoop();

  function objection(finding: DiffFinding, { document, operations }: BaselineContract): Mistake | undefined {
    const was = operations.find(({ operation }) => isAt(operation, finding))?.operation;
    const id = was?.id ?? finding.operationId;
    if (comparison.hasEnded({ id, version: was?.version })) return undefined;
    const exception = exceptions.find(
      (one) => one.rule === finding.rule && [id, finding.operationId].includes(one.operation),
    );
    if (exception !== undefined) used.add(exception);
    const hasEnded = exception !== undefined && today !== undefined && exception.until < today;
    if (exception !== undefined && !hasEnded) return undefined;
    const home = (finding.side === 'old' ? document : documents.get(finding.file)) ?? document;
    const over = hasEnded ? `, and the exception ended on ${exception.until}` : '';
    const reason = `${finding.operation} breaks what was published (${finding.rule})${over}: ${finding.reason}.`;
    return home.position().mistakeAt(finding.place, reason, remedyFor(id, finding.rule));
  }

  for (const promise of promised) {
    const before = promise.operations.map(describedAlone);
    const after = (groups.get(promise.name) ?? []).map(describedOf);
    for (const findings of compareContracts(before, after)) {
      for (const finding of findings) {
        const mistake = finding.level === 'breaking' ? objection(finding, promise) : undefined;
        if (mistake !== undefined) mistakes.push(mistake);
      }
      await pause();
    }
  }
  const names = new Set(promised.map(({ name }) => name));
  return {
    unused: exceptions.filter((exception) => !used.has(exception)),
    unpublished: [...groups.keys()].filter((name) => !names.has(name)).sort(),
  };
}

/** Operations are published by version, or by upstream if they have none. */
function nameOf({ operation }: ContractOperation): string {
  return operation.version ?? entryOfUpstream(operation.upstream);
}

function isAt(
  { method, path }: { readonly method: string; readonly path: string },
  { operation }: DiffFinding,
): boolean {
  return `${method} ${shapeOf(path)}` === shapeOf(operation);
}

function remedyFor(operation: string, rule: string): string {
  const exception = `{ operation: ${operation}, rule: ${rule}, until: <day>, reason: <why> }`;
  return `Put it back, make the change in another version, or add ${exception} under breaking in upstreams.yaml.`;
}
