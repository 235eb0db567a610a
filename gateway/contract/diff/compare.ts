// Pairs published operations with the operations to be served, and reports the changes of each pair, including its security.

import { isRecord } from '../../shared/is-record.ts';
import { shapeOf } from '../operations/routes.ts';
import { compareAnswers, compareBody } from './content.ts';
import { type Alternative, type Described, type OperationPair, titleOf } from './described.ts';
import { below, type DiffFinding, type DiffPlace, type Level, type ReportFinding } from './findings.ts';
import { compareParameters } from './parameters.ts';
import { type Comparer, createComparer } from './schema.ts';
import { compareWebhook } from './webhooks.ts';

/**
 * Yields findings operation by operation, in small pieces, so that the caller can let the event loop run in between. Operations are paired
 * by method and path; parameter names and files do not matter.
 */
export function* compareContracts(old: readonly Described[], fresh: readonly Described[]): Generator<DiffFinding[]> {
  const before = new Map(old.map((operation) => [pairingKeyOf(operation), operation]));
  const after = new Map(fresh.map((operation) => [pairingKeyOf(operation), operation]));
  const comparerOf = createComparers();
  for (const [key, o] of before) {
    const n = after.get(key);
    const findings: DiffFinding[] = [];
    if (n === undefined) {
      const kind = kindOf(o);
      findings.push(finding(o, 'old', `${kind}-removed`, 'breaking', `the ${kind} was removed`));
    } else {
      const comparer = comparerOf(o, n);
      compareOperations(o, n, comparer, findings);
      for (const _ of comparer.work()) yield [];
    }
    yield findings;
  }
  for (const [key, n] of after) {
    if (!before.has(key)) yield [finding(n, 'new', `${kindOf(n)}-added`, 'additive', `the ${kindOf(n)} is new`)];
  }
}

function kindOf({ isWebhook }: Described): 'operation' | 'webhook' {
  return isWebhook ? 'webhook' : 'operation';
}

/** Returns the key by which operations are paired: the method, and the path without the names of parameters, or the name of a webhook. */
export function pairingKeyOf({ method, path, isWebhook }: Described): string {
  return isWebhook ? `webhook ${method} ${path}` : `${method} ${shapeOf(path)}`;
}

/** Returns one comparer for each pair of documents, so that schemas that operations share are compared once. */
function createComparers() {
  const known = new Map<object, Map<object, Comparer>>();
  return function comparerOf({ root: old }: Described, { root: fresh }: Described): Comparer {
    const ofOld = known.get(old) ?? new Map<object, Comparer>();
    known.set(old, ofOld);
    const comparer = ofOld.get(fresh) ?? createComparer(old, fresh);
    ofOld.set(fresh, comparer);
    return comparer;
  };
}

function finding(
  operation: Described,
  side: 'old' | 'new',
  rule: string,
  level: Level,
  what: string,
  at: DiffPlace = { place: operation.place, use: operation.place, where: '' },
): DiffFinding {
  const { id, file } = operation;
  const { place, use, where } = at;
  const reason = where === '' ? what : `${where}: ${what}`;
  return { rule, level, operation: titleOf(operation), operationId: id, side, file, place, use, what, reason };
}

function compareOperations(old: Described, fresh: Described, comparer: Comparer, findings: DiffFinding[]): void {
  const tell: ReportFinding = (rule, level, at, what) => findings.push(finding(fresh, 'new', rule, level, what, at));
  const at = { place: fresh.place, use: fresh.place, where: '' };
  const pair = { old, new: fresh, comparer, tell, at };
  if (fresh.isWebhook) {
    compareWebhook(pair);
    return;
  }
  // An id with a space is not an operationId. It consists of method and path, and replaces a missing operationId.
  if (old.id !== fresh.id && !old.id.includes(' '))
    tell('operation-id-changed', 'additive', at, `the operationId goes from ${old.id} to ${fresh.id}`);
  if (!old.deprecated && fresh.deprecated)
    tell('operation-deprecated', 'additive', at, 'the operation is deprecated now');
  compareSecurity(pair);
  compareParameters(pair);
  compareBody(pair);
  compareAnswers(pair);
}

/** Compares security. A credential that was accepted must stay accepted. */
function compareSecurity({ old, new: fresh, tell, at }: OperationPair): void {
  const own = below(at, ['security']);
  const isOwn = !isRecord(fresh.located.value) || 'security' in fresh.located.value || !('security' in fresh.root);
  const place = isOwn ? own : { ...own, place: ['security'] };
  if (fresh.security.length === 0) {
    if (old.security.length > 0) tell('security-removed', 'additive', place, 'credentials are no longer required');
    return;
  }
  if (old.security.length === 0) {
    tell('security-added', 'breaking', place, `credentials are required now (${textOf(fresh.security)})`);
    return;
  }
  for (const alternative of old.security) {
    if (fresh.security.some((other) => isLetInBy(alternative, other))) continue;
    const near = fresh.security.find((other) => isLetInBy(withoutScopes(alternative), withoutScopes(other)));
    if (near === undefined) {
      tell('security-alternative-removed', 'breaking', place, `${textOf([alternative])} is no longer accepted`);
      continue;
    }
    const scopes = scopesOf(near).filter((scope) => !scopesOf(alternative).includes(scope));
    tell('security-scope-added', 'breaking', place, `the scope ${scopes.join(' and ')} is required now`);
  }
  for (const alternative of fresh.security) {
    if (old.security.some((other) => isLetInBy(alternative, other))) continue;
    tell('security-loosened', 'additive', place, `${textOf([alternative])} is accepted now`);
  }
}

/** Returns whether a credential that satisfies `one` also satisfies `other`. */
function isLetInBy(one: Alternative, other: Alternative): boolean {
  return other.every(({ scheme, scopes }) => {
    const held = one.find((requirement) => requirement.scheme === scheme);
    return held !== undefined && scopes.every((scope) => held.scopes.includes(scope));
  });
}

function withoutScopes(alternative: Alternative): Alternative {
  return alternative.map(({ scheme }) => ({ scheme, scopes: [] }));
}

function scopesOf(alternative: Alternative): string[] {
  return alternative.flatMap(({ scopes }) => scopes);
}

function textOf(alternatives: readonly Alternative[]): string {
  const one = (alternative: Alternative) =>
    alternative.map(({ scheme, scopes }) => [scheme, ...scopes].join(' ')).join(' and ');
  return alternatives.map(one).join(' or ');
}
