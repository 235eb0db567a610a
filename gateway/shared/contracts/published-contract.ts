// The types of a contract in the form for clients, and of its publications. `contract/merged/` merges the contracts of all entries into it,
// `contract/` records its publications, and `portal/` documents it.

type JsonObject = Record<string, unknown>;

export interface PublishedContract {
  /** `v1`, or the name of an upstream. */
  readonly name: string;
  readonly title: string;
  /** Markdown. */
  readonly description: string;
  /** The base URL of its paths. */
  readonly server: string;
  readonly tags: readonly PublishedTag[];
  readonly operations: readonly PublishedOperation[];
  readonly webhooks: readonly PublishedWebhook[];
  /** Returns the document as JSON. Works in slices, because a large document would block requests. */
  json(): Promise<Buffer>;
}

interface PublishedTag {
  readonly name: string;
  /** Markdown. */
  readonly description: string;
  /** The name of the tag's group in `x-tagGroups`; undefined if the tag has no group. */
  readonly group: string | undefined;
}

/** A request that a service sends to its clients. */
export interface PublishedWebhook {
  readonly name: string;
  /** The path item. References in it belong to `root`. */
  readonly item: JsonObject;
  readonly root: JsonObject;
}

export interface PublishedOperation {
  /** Unique among all contracts. */
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly upstream: string;
  readonly summary: string;
  /** Markdown. */
  readonly description: string;
  readonly tags: readonly string[];
  readonly isDeprecated: boolean;
  /** The alternatives, one of which a caller has to meet; empty for a public operation. */
  readonly security: readonly { readonly scheme: string; readonly scopes: readonly string[] }[];
  readonly idempotency: 'optional' | 'required' | 'off';
  readonly webSocket: boolean;
  /** The operation as its contract declares it; references in it belong to `root`. */
  readonly declared: JsonObject;
  readonly root: JsonObject;
  /** The parameters of the path and of the operation, references followed. */
  readonly parameters: readonly JsonObject[];
  /** The contract's own file and the files that it refers to. */
  readonly files: readonly string[];
}

export interface Publication {
  /** `2026-11-26`, in UTC. */
  readonly day: string;
  /** `v1`, or the name of an upstream. */
  readonly contract: string;
  /** The number of operations after this publication. */
  readonly operations: number;
  /** The author's note for clients. */
  readonly note?: string;
  /** The changes; empty for the first publication. */
  readonly changes: readonly PublishedChange[];
}

/** A change. The same change of several operations is one entry. */
export interface PublishedChange {
  /** The rule of the comparison, such as `operation-added`. */
  readonly rule: string;
  readonly level: 'breaking' | 'additive';
  /** The place in an operation, and the change. */
  readonly text: string;
  /** Why a break was accepted, as the configuration said when it was published. */
  readonly reason?: string;
  /** The operations with this change. `at` is the method and path. */
  readonly operations: readonly { readonly id: string; readonly at: string }[];
}
