// A contract as clients see it: `contract/merged/` makes it from all contracts with operations in it, `portal/` documents it. Also its
// publications, as `contract/` records them.

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
  /** Returns the document as JSON. Works in slices, so that a large document does not block requests. */
  json(): Promise<Buffer>;
}

interface PublishedTag {
  readonly name: string;
  /** Markdown. */
  readonly description: string;
  /** The name of its group in `x-tagGroups`; undefined if it is in none. */
  readonly group: string | undefined;
}

/** A request that a service sends to its clients. */
export interface PublishedWebhook {
  readonly name: string;
  /** The path item; references in it belong to `root`. */
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
  /** A caller has to meet one of these; empty: public. */
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
  /** How many operations the contract has since then. */
  readonly operations: number;
  /** What it means for clients, in words of the author. */
  readonly note?: string;
  /** None: the first publication. */
  readonly changes: readonly PublishedChange[];
}

/** The same change of several operations is told once. */
export interface PublishedChange {
  /** The rule of the comparison, such as `operation-added`. */
  readonly rule: string;
  readonly level: 'breaking' | 'additive';
  /** The place in an operation, and the change. */
  readonly text: string;
  /** Why a break was accepted, as the configuration said when it was published. */
  readonly reason?: string;
  /** The operations with this change; `at`: method and path. */
  readonly operations: readonly { readonly id: string; readonly at: string }[];
}
