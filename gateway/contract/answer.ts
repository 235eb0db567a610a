// Checks what an upstream answers against the contract: its media type always, its body as the operation asks.

import type { Operation } from '../exchange.ts';
import { matchesMediaType } from './body.ts';
import type { ContractOperation } from './operations.ts';
import { isObject } from './pointer.ts';
import { contentOf, responseFor, type Schemas } from './schemas.ts';
import { toViolations } from './violations.ts';

export interface AnswerCheck {
  /** Whether the contract lets this status be answered with this media type. A status without declared content admits anything. */
  acceptsMediaType(operation: Operation, status: number, contentType: string | undefined): boolean;
  /** What to do with the body of this answer: hold it back until it is checked, look at a copy, or let it pass. */
  modeFor(operation: Operation, status: number): 'refuse' | 'report' | 'off';
  /** One sentence per violation, places only, never values. */
  violations(operation: Operation, status: number, body: Buffer): readonly string[];
}

/** Reporting is there to notice drift, so it looks at one answer per operation and interval instead of paying for all of them. */
const REPORT_INTERVAL_MS = 1000;

export function createAnswerCheck(
  operations: readonly ContractOperation[],
  schemas: Schemas,
  now: () => number,
): AnswerCheck {
  const entries = new Map(operations.map((entry) => [entry.operation, entry]));
  const lastReport = new WeakMap<Operation, number>();
  const mediaTypes = new WeakMap<Operation, Map<number, readonly string[]>>();

  function mediaTypesOf(operation: Operation, status: number): readonly string[] {
    let byStatus = mediaTypes.get(operation);
    if (!byStatus) {
      byStatus = new Map();
      mediaTypes.set(operation, byStatus);
    }
    let types = byStatus.get(status);
    if (!types) {
      const entry = entries.get(operation) as ContractOperation;
      const content = contentOf(entry.document.root, responseFor(entry, status)).value;
      types = Object.keys(isObject(content) ? content : {}).map((type) =>
        (type.split(';')[0] as string).trim().toLowerCase(),
      );
      byStatus.set(status, types);
    }
    return types;
  }

  function acceptsMediaType(operation: Operation, status: number, contentType: string | undefined): boolean {
    const declared = mediaTypesOf(operation, status);
    if (declared.length === 0) return !contentType?.startsWith('text/html');
    const type = ((contentType ?? '').split(';')[0] as string).trim().toLowerCase();
    return declared.some((candidate) => matchesMediaType(candidate, type));
  }

  function modeFor(operation: Operation, status: number): 'refuse' | 'report' | 'off' {
    const mode = operation.answerCheck;
    if (mode === 'off' || !mediaTypesOf(operation, status).some((type) => /json/.test(type))) return 'off';
    if (mode === 'refuse') return mode;
    const at = now();
    if (at - (lastReport.get(operation) ?? -Infinity) < REPORT_INTERVAL_MS) return 'off';
    lastReport.set(operation, at);
    return mode;
  }

  function violations(operation: Operation, status: number, body: Buffer): readonly string[] {
    const check = schemas.answer(entries.get(operation) as ContractOperation, status);
    if (!check) return [];
    let value: unknown;
    try {
      value = JSON.parse(body.toString('utf8'));
    } catch {
      return ['the body is not JSON'];
    }
    if (check(value)) return [];
    const errors = (check.errors ?? []).map((error) => ({ ...error, instancePath: `/body${error.instancePath}` }));
    return toViolations(errors).map(({ pointer, code }) => `${pointer || 'the body'}: ${code}`);
  }

  return { acceptsMediaType, modeFor, violations };
}
