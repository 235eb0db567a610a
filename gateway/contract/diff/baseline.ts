// Compares the served contracts with the published contracts. A breaking change is a mistake unless an exception in upstreams.yaml accepts
// it, with a reason and an end date.

import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { entryOfUpstream } from '../../shared/contracts/upstreams.ts';
import { shownPath, textOf } from '../../shared/file-text.ts';
import type { Mistake } from '../../shared/mistakes.ts';
import { readSource } from '../../shared/yaml-source.ts';
import { type ContractOperation, operationsOf } from '../operations/operations.ts';
import { shapeOf } from '../operations/routes.ts';
import { isRecord, type JsonObject } from '../pointer.ts';
import { type ContractDocument, toDocument } from '../reading/document.ts';
import type { KeptContracts } from '../reading/kept-contracts.ts';
import { normalizeSchemas } from '../schemas/dialect.ts';
import { createYieldToLoop } from '../yield-to-loop.ts';
import { type Break, breakMistakes } from './breaks.ts';
import { compareContracts } from './compare.ts';
import { type Described, describedAll, describedServed } from './described.ts';
import type { DiffFinding } from './findings.ts';

/** One published document. */
export interface BaselineContract {
  /** `v1`, or the name of an upstream. */
  readonly name: string;
  readonly file: string;
  readonly text: string;
  /** Parses the text on first use. Pushes a mistake and returns undefined if the text is not a contract. */
  content(mistakes: Mistake[]): BaselineContent | undefined;
}

export interface BaselineContent {
  readonly document: ContractDocument;
  readonly operations: readonly ContractOperation[];
}

/** An accepted breaking change. */
export interface BreakingException {
  readonly operation: string;
  readonly rule: string;
  readonly until: string;
  readonly reason: string;
}

export interface BaselineComparison {
  readonly promised: readonly BaselineContract[];
  readonly served: readonly ContractOperation[];
  readonly exceptions: readonly BreakingException[];
  /** Whether gateway.yaml has `sessions`. */
  readonly hasSessions: boolean;
  /** Exceptions whose `until` is before this day no longer apply; undefined if all apply. */
  readonly today: string | undefined;
  /** Whether the operation is already answered with 410, so that it can no longer break. */
  hasEnded(operation: { readonly id: string; readonly version: string | undefined }): boolean;
  /** The results of earlier comparisons, which are used again for contracts that have not changed. */
  readonly kept: KeptContracts | undefined;
}

/** Reads all published documents of a directory. `earlier` returns a document that was already read. Pushes mistakes. */
export function readBaseline(
  directory: string,
  earlier: (file: string) => BaselineContract | undefined,
  mistakes: Mistake[],
): BaselineContract[] {
  const files = readdirSync(directory).filter((file) => file.endsWith('.json'));
  return files.sort().flatMap((name) => {
    const file = join(directory, name);
    return earlier(file) ?? readPublished(file, mistakes) ?? [];
  });
}

function readPublished(file: string, mistakes: Mistake[]): BaselineContract | undefined {
  const text = textOf(file);
  if (typeof text !== 'string') {
    mistakes.push(unreadable(file));
    return undefined;
  }
  let known: BaselineContent | undefined;
  return {
    name: basename(file, '.json'),
    file,
    text,
    content(found) {
      known ??= contentOfPublished(file, text, found);
      return known;
    },
  };
}

/** Reads a published contract. Only its syntax is checked, because the gateway has written the file. */
export function contentOfPublished(file: string, text: string, mistakes: Mistake[]): BaselineContent | undefined {
  const root = parseBaseline(file, text, mistakes);
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
  return { document, operations: [...operationsOf(document, says, { upstreams: [], limits: undefined }, [])] };
}

const RESTORE = 'Take it from version control again, or run "gateway contract publish".';

function parseBaseline(file: string, text: string, mistakes: Mistake[]): JsonObject | undefined {
  try {
    const root: unknown = JSON.parse(text);
    if (isRecord(root) && isRecord(root.paths)) return root;
    const reason = 'this is not a published contract.';
    mistakes.push({ file: shownPath(file), line: 1, reason, remedy: RESTORE });
  } catch {
    mistakes.push(unreadable(file));
  }
  return undefined;
}

function unreadable(file: string): Mistake {
  const own: Mistake[] = [];
  readSource(file, own);
  const { line } = own[0] ?? {};
  return { file: shownPath(file), line, reason: 'the published contract cannot be read.', remedy: RESTORE };
}

export interface BaselineResult {
  /** Exceptions that no change needs. */
  readonly unused: readonly BreakingException[];
  /** Names of documents that have never been published. */
  readonly unpublished: readonly string[];
}

/** The published contract of sessions, which the gateway brings. */
const SESSIONS = 'session';

/** Compares in slices. Pushes the mistakes of breaking changes, to which `locate` of the documents adds the lines. */
export async function checkBaseline(comparison: BaselineComparison, mistakes: Mistake[]): Promise<BaselineResult> {
  const { promised, served, exceptions, today, kept } = comparison;
  const groups = Map.groupBy(served, nameOf);
  const documents = new Map(served.map(({ document }) => [document.file, document]));
  const used = new Set<BreakingException>();
  const unaccepted: Break[] = [];
  const pause = createYieldToLoop();

  function objection(finding: DiffFinding, name: string, { document, operations }: BaselineContent): Break | undefined {
    const was = operations.find(({ operation }) => isAt(operation, finding))?.operation;
    const id = was?.id ?? finding.operationId;
    if (comparison.hasEnded({ id, version: was?.version ?? name })) return undefined;
    const exception = exceptions.find(
      (one) => one.rule === finding.rule && [id, finding.operationId].includes(one.operation),
    );
    if (exception !== undefined) used.add(exception);
    const hasEnded = exception !== undefined && today !== undefined && exception.until < today;
    if (exception !== undefined && !hasEnded) return undefined;
    const home = (finding.side === 'old' ? document : documents.get(finding.file)) ?? document;
    return { finding, document: home, operation: id, endedOn: hasEnded ? exception.until : undefined };
  }

  async function compare(
    name: string,
    content: BaselineContent,
    after: readonly Described[],
  ): Promise<{ breaks: boolean }> {
    let breaks = false;
    for (const findings of compareContracts(describedAll(content.operations), after)) {
      for (const finding of findings) {
        if (finding.level !== 'breaking') continue;
        breaks = true;
        const found = objection(finding, name, content);
        if (found !== undefined) unaccepted.push(found);
      }
      await pause();
    }
    return { breaks };
  }

  for (const promise of promised) {
    // If sessions are off, the operations of this contract are not served, which is not a breaking change.
    if (promise.name === SESSIONS && !comparison.hasSessions && !groups.has(SESSIONS)) continue;
    const after = describedServed(groups.get(promise.name) ?? []);
    const former = kept?.comparison(promise.text, after);
    if (former?.breaksNothing) continue;
    const content = promise.content(mistakes);
    if (content !== undefined && !(await compare(promise.name, content, after)).breaks) former?.keep();
  }
  mistakes.push(...breakMistakes(unaccepted));
  const names = new Set(promised.map(({ name }) => name));
  return {
    unused: exceptions.filter((exception) => !used.has(exception)),
    unpublished: [...groups.keys()].filter((name) => !names.has(name)).sort(),
  };
}

/** Returns the name of the published contract of an operation: its version, or its upstream if it has no version. */
function nameOf({ operation }: ContractOperation): string {
  return operation.version ?? entryOfUpstream(operation.upstream);
}

function isAt(
  { method, path }: { readonly method: string; readonly path: string },
  { operation }: DiffFinding,
): boolean {
  return `${method} ${shapeOf(path)}` === shapeOf(operation);
}
