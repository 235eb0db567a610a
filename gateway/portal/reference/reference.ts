// The types of the input for the reference: the served contracts, in the form in which the gateway passes them on.

import type { PublishedContract, PublishedOperation } from '../../shared/contracts/published-contract.ts';
import { isRecord } from '../../shared/is-record.ts';

export interface Reference extends PublishedContract {
  /** Whether the gateway itself answers all operations of the contract, which is then not the API that readers look for. */
  readonly isOfGateway: boolean;
  readonly operations: readonly ReferredOperation[];
}

export interface ReferredOperation extends PublishedOperation {
  /** Whether test keys reach separate data. */
  readonly hasTestMode: boolean;
  /** Whether test keys get examples of the contract instead. */
  readonly hasExamplesForTests: boolean;
}

export type DocumentObject = Record<string, unknown>;

/** The functions of `contract/` that the portal needs. */
export interface DocumentTools {
  /** Follows references of a document. Returns the last value of a circular or dangling reference. */
  resolve(root: DocumentObject, value: unknown): unknown;
  /** Returns values for a schema, the most suitable first; empty if no value was found. */
  samplesOf(root: DocumentObject, schema: unknown, of: 'request' | 'answer'): unknown[];
}

export function textAt(value: unknown, name: string): string {
  const found = isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return typeof found === 'string' ? found : '';
}

export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the own members of an object. */
export function membersOf(value: unknown): [string, unknown][] {
  return isRecord(value) ? Object.entries(value) : [];
}
