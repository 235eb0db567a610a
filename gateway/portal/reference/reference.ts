// What the pages of the reference are made from: the served contracts, as the rest of the gateway hands them over.

/** One published contract. */
export interface Reference {
  readonly name: string;
  readonly title: string;
  /** Markdown. */
  readonly description: string;
  /** The base URL of its operations. */
  readonly server: string;
  readonly tags: readonly ReferenceTag[];
  readonly operations: readonly ReferredOperation[];
  readonly webhooks: readonly ReferredWebhook[];
}

/** A request that a service sends to its clients. */
export interface ReferredWebhook {
  readonly name: string;
  /** The path item; references in it belong to `root`. */
  readonly item: DocumentObject;
  readonly root: DocumentObject;
}

export interface ReferenceTag {
  readonly name: string;
  /** Markdown. */
  readonly description: string;
}

export type DocumentObject = Record<string, unknown>;

export interface ReferredOperation {
  /** Unique among all contracts. */
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  /** Markdown. */
  readonly description: string;
  readonly tags: readonly string[];
  readonly isDeprecated: boolean;
  /** A caller has to meet one of these; empty: public. */
  readonly security: readonly { readonly scheme: string; readonly scopes: readonly string[] }[];
  readonly idempotency: 'optional' | 'required' | 'off';
  readonly webSocket: boolean;
  /** Whether test keys reach data of their own. */
  readonly hasTestMode: boolean;
  /** The operation as its contract declares it. */
  readonly declared: DocumentObject;
  /** The document that references in `declared` belong to. */
  readonly root: DocumentObject;
  /** Of the path and the operation, references followed. */
  readonly parameters: readonly DocumentObject[];
  /** The files of its contract. */
  readonly files: readonly string[];
}

/** What the portal asks the contract's own code for. */
export interface DocumentTools {
  /** Follows references of a document; circular and dangling ones return the last value. */
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
