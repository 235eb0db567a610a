// The types of the input for the reference: the served contracts, in the form in which the gateway passes them on.

import type { PublishedContract, PublishedOperation } from '../../shared/contracts/published-contract.ts';

export interface Reference extends PublishedContract {
  /** Whether the gateway itself answers all of it: it is beside the API that readers come for. */
  readonly isOfGateway: boolean;
  readonly operations: readonly ReferredOperation[];
}

export interface ReferredOperation extends PublishedOperation {
  /** Whether test keys reach data of their own. */
  readonly hasTestMode: boolean;
  /** Whether test keys get examples of the contract instead. */
  readonly hasExamplesForTests: boolean;
}

export type DocumentObject = Record<string, unknown>;

/** The functions of `contract/` that the portal needs. */
export interface DocumentTools {
  /** Follows references of a document. Returns the last value of a circular or dangling reference. */
  resolve(root: DocumentObject, value: unknown): unknown;
  /** Returns values for a schema, the most suitable first; none if none was found. */
  samplesOf(root: DocumentObject, schema: unknown, of: 'request' | 'answer'): unknown[];
}

export function isDocumentObject(value: unknown): value is DocumentObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function textAt(value: unknown, name: string): string {
  const found = isDocumentObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return typeof found === 'string' ? found : '';
}

export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the members of an object that are its own. */
export function membersOf(value: unknown): [string, unknown][] {
  return isDocumentObject(value) ? Object.entries(value) : [];
}
