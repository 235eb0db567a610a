// Checks an upstream's answers against the contract. Status and media type are always checked, the body if the operation requires it.

import type { AnswerCheck, CheckedHead, ItemCheck, UndeclaredAnswer } from '../exchange/answer-check.ts';
import type { Operation, Reaction } from '../exchange/operation.ts';
import { hasLongNumbers, measure } from './json.ts';
import { declaredFor, essenceOf, isJson, mediaTypesOf } from './media-types.ts';
import type { ContractOperation } from './operations/operations.ts';
import { isRecord, type JsonObject, member, memberNames } from './pointer.ts';
import { uncheckableNumbers } from './scalars/number-literals.ts';
import { allowFor, createCheckScope, isTooComplex, withinScope } from './schemas/check-scope.ts';
import { responseFor, type SchemaCheck, type Schemas } from './schemas/schemas.ts';
import { isActiveType, undeclaredMediaType, undeclaredStatus } from './undeclared.ts';
import { toBodyViolations } from './violations/violations.ts';

/** Reports exist to notice drift, so one answer per operation and interval is checked instead of all of them. */
const REPORT_INTERVAL_MS = 1000;
const DEPTH_MAX = 200;
const PARTIAL_CONTENT = 206;
const NOT_MODIFIED = 304;

/** The contract of one operation's answers, and the time of its last report check. */
interface AnswerContract {
  readonly entry: ContractOperation;
  /** The declarations of the statuses that were answered. The key is negative for a status that does not follow from the request. */
  readonly statuses: Map<number, DeclaredStatus>;
  lastReportMs: number;
  /** The answers since then that were not checked, and those that the last report check stands for. */
  unchecked: number;
  standsFor: number;
}

interface DeclaredStatus {
  readonly isDeclared: boolean;
  readonly mediaTypes: readonly string[];
  /** The Content-Type of the latest answer. The next answer mostly has the same type. */
  latest: AnswerType | undefined;
}

/** The declaration of a Content-Type in the contract. */
interface AnswerType {
  readonly contentType: string | undefined;
  readonly fits: boolean;
  readonly isJson: boolean;
}

export function createAnswerCheck(
  operations: readonly ContractOperation[],
  schemas: Schemas,
  now: () => number,
): AnswerCheck {
  const contracts = new Map<Operation, AnswerContract>(
    operations.map((entry) => [
      entry.operation,
      { entry, statuses: new Map(), lastReportMs: -Infinity, unchecked: 0, standsFor: 1 },
    ]),
  );
  const contractOf = (operation: Operation) => contracts.get(operation) as AnswerContract;

  function reactionTo(
    operation: Operation,
    { status, hasBody, dropsBody }: CheckedHead,
    contentType?: string,
    isRequested = true,
  ): Reaction | UndeclaredAnswer {
    const contract = contractOf(operation);
    const declared = statusIn(contract, status, isRequested);
    if (!declared.isDeclared) return undeclaredStatus(contract.entry, status, contentType);
    const { fits, isJson } = typeIn(declared, contentType);
    if (hasBody && !fits) return undeclaredMediaType(contract.entry, status, contentType, declared.mediaTypes);
    if (dropsBody || !isJson) return 'off';
    const reaction = operation.answerCheck;
    if (reaction !== 'report') return reaction;
    // A part of a body cannot be checked.
    const isPart = status === PARTIAL_CONTENT && isRequested;
    return !isPart && isReportDue(contract, now()) ? 'report' : 'off';
  }

  function violations(operation: Operation, status: number, body: Buffer, contentType?: string): readonly string[] {
    const { entry } = contractOf(operation);
    const check = schemas.answer(entry, status, contentType);
    return check === undefined ? [] : violationsInText(check, body.toString('utf8'), entry.document.root, 'the body');
  }

  function itemCheck(operation: Operation, status: number, contentType?: string): ItemCheck | undefined {
    const { entry } = contractOf(operation);
    const check = schemas.item(entry, status, essenceOf(contentType));
    if (!check) return undefined;
    const { root } = entry.document;
    return (item) => {
      const found = violationsIn(check.item, item, root, 'an item');
      const data = isRecord(item) ? item.data : undefined;
      if (check.data === undefined || typeof data !== 'string') return found;
      return [...found, ...violationsInText(check.data, data, root, 'the data')];
    };
  }

  const standsFor = (operation: Operation) => contractOf(operation).standsFor;

  return { reactionTo, violations, standsFor, itemCheck };
}

/**
 * @param whole the name of the value in messages
 * @param text the value as JSON; without it, numbers are compared as doubles
 */
function violationsIn(check: SchemaCheck, value: unknown, root: JsonObject, whole: string, text = ''): string[] {
  const { members, items, depth } = measure(value, DEPTH_MAX);
  if (depth > DEPTH_MAX) return [`${whole} is nested too deeply to be checked`];
  try {
    return withinScope(createCheckScope(), () => {
      allowFor(0, text.length);
      if (hasLongNumbers(text)) uncheckableNumbers(text);
      const errors = check(value, members + items);
      if (errors.length === 0) return [];
      return toBodyViolations(errors, root).map(({ pointer, code }) => `${pointer || whole}: ${code}`);
    });
  } catch (error) {
    if (!isTooComplex(error)) throw error;
    return [`${whole} is not checked, because that takes too many steps`];
  }
}

function violationsInText(check: SchemaCheck, text: string, root: JsonObject, whole: string): string[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return [`${whole} is not JSON`];
  }
  return violationsIn(check, value, root, whole, text);
}

/** Decides whether an answer is checked for the report, and counts it. */
function isReportDue(contract: AnswerContract, nowMs: number): boolean {
  if (nowMs - contract.lastReportMs < REPORT_INTERVAL_MS) {
    contract.unchecked += 1;
    return false;
  }
  contract.lastReportMs = nowMs;
  contract.standsFor = contract.unchecked + 1;
  contract.unchecked = 0;
  return true;
}

function statusIn({ entry, statuses }: AnswerContract, status: number, isRequested: boolean): DeclaredStatus {
  const key = isRequested ? status : -status;
  const known = statuses.get(key);
  if (known) return known;
  const made = declaredStatus(entry, status, isRequested);
  statuses.set(key, made);
  return made;
}

function typeIn(declared: DeclaredStatus, contentType: string | undefined): AnswerType {
  const { latest, mediaTypes } = declared;
  if (latest !== undefined && latest.contentType === contentType) return latest;
  const essence = essenceOf(contentType);
  const fits = mediaTypes.length === 0 ? !isActiveType(essence) : declaredFor(contentType, mediaTypes) !== undefined;
  // Without Content-Type, an answer may be of any declared type.
  const made = { contentType, fits, isJson: contentType === undefined ? mediaTypes.some(isJson) : isJson(essence) };
  declared.latest = made;
  return made;
}

/**
 * Returns the declaration of a status. Contracts rarely declare 206 and 304, because these follow from the request (RFC 9110 sections 14,
 * 13).
 */
function declaredStatus(entry: ContractOperation, status: number, isRequested: boolean): DeclaredStatus {
  const { value } = responseFor(entry, status);
  const isPart = status === PARTIAL_CONTENT && isRequested;
  if (value === undefined && isPart) {
    const whole = declaredStatus(entry, 200, true);
    return { ...whole, mediaTypes: withParts(whole.mediaTypes), latest: undefined };
  }
  const declared = mediaTypesOf(member(entry.document.root, responseFor(entry, status), 'content').value);
  // Ranges of statuses and `default` do not mean answers that the request has to ask for.
  const isNamed = memberNames(member(entry.document.root, entry.located, 'responses')).includes(String(status));
  return {
    isDeclared: isRequested ? value !== undefined || status === NOT_MODIFIED : isNamed,
    mediaTypes: isPart ? withParts(declared) : declared,
    latest: undefined,
  };
}

/** Adds the media type of an answer with several ranges. */
function withParts(mediaTypes: readonly string[]): readonly string[] {
  return mediaTypes.length === 0 ? mediaTypes : [...mediaTypes, 'multipart/byteranges'];
}
