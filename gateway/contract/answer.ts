// Checks an upstream's answers against the contract: the media type always, the body if the operation requires it.

import type { Operation } from '../exchange.ts';
import { measure } from './json.ts';
import { declaredFor, essenceOf, isJson, mediaTypesOf } from './media-types.ts';
import type { ContractOperation } from './operations.ts';
import { member } from './pointer.ts';
import { responseFor, type Schemas } from './schemas.ts';
import { toBodyViolations } from './violations.ts';

export interface AnswerCheck {
  /**
   * Returns whether the contract allows this media type for this status. A status without declared content allows everything except
   * HTML.
   */
  acceptsMediaType(operation: Operation, status: number, contentType: string | undefined): boolean;
  /** Returns what to do with the body: `refuse` buffers it until it is checked, `report` checks a copy, `off` passes it on unchecked. */
  modeFor(operation: Operation, status: number, contentType?: string): 'refuse' | 'report' | 'off';
  /** Returns one sentence per violation. They name places, never values. */
  violations(operation: Operation, status: number, body: Buffer, contentType?: string): readonly string[];
}

/** Reports exist to notice drift, so one answer per operation and interval is checked instead of all of them. */
const REPORT_INTERVAL_MS = 1000;
const DEPTH_MAX = 200;

/** The contract of one operation's answers, and the time of its last report check. */
interface AnswerContract {
  readonly entry: ContractOperation;
  readonly mediaTypes: Map<number, readonly string[]>;
  lastReportMs: number;
}

export function createAnswerCheck(
  operations: readonly ContractOperation[],
  schemas: Schemas,
  now: () => number,
): AnswerCheck {
  const contracts = new Map<Operation, AnswerContract>(
    operations.map((entry) => [entry.operation, { entry, mediaTypes: new Map(), lastReportMs: -Infinity }]),
  );
  const contractOf = (operation: Operation) => contracts.get(operation) as AnswerContract;

  function acceptsMediaType(operation: Operation, status: number, contentType: string | undefined): boolean {
    const declared = declaredTypes(contractOf(operation), status);
    if (declared.length === 0) return essenceOf(contentType) !== 'text/html';
    return declaredFor(essenceOf(contentType), declared) !== undefined;
  }

  function modeFor(operation: Operation, status: number, contentType?: string): 'refuse' | 'report' | 'off' {
    const mode = operation.answerCheck;
    if (mode === 'off') return 'off';
    const contract = contractOf(operation);
    const types = contentType === undefined ? declaredTypes(contract, status) : [essenceOf(contentType)];
    if (!types.some(isJson)) return 'off';
    if (mode === 'refuse') return mode;
    const at = now();
    if (at - contract.lastReportMs < REPORT_INTERVAL_MS) return 'off';
    contract.lastReportMs = at;
    return mode;
  }

  function violations(operation: Operation, status: number, body: Buffer, contentType?: string): readonly string[] {
    const { entry } = contractOf(operation);
    const check = schemas.answer(entry, status, contentType === undefined ? undefined : essenceOf(contentType));
    if (!check) return [];
    let value: unknown;
    try {
      value = JSON.parse(body.toString('utf8'));
    } catch {
      return ['the body is not JSON'];
    }
    const { members, items, depth } = measure(value, DEPTH_MAX);
    if (depth > DEPTH_MAX) return ['the body is nested too deeply to be checked'];
    const errors = check(value, members + items);
    if (errors.length === 0) return [];
    return toBodyViolations(errors, entry.document.root).map(
      ({ pointer, code }) => `${pointer || 'the body'}: ${code}`,
    );
  }

  return { acceptsMediaType, modeFor, violations };
}

function declaredTypes({ entry, mediaTypes }: AnswerContract, status: number): readonly string[] {
  const known = mediaTypes.get(status);
  if (known) return known;
  const types = mediaTypesOf(member(entry.document.root, responseFor(entry, status), 'content').value);
  mediaTypes.set(status, types);
  return types;
}
