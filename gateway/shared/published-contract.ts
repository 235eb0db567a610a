// A contract as clients see it: `contract/merged/` makes it from all contracts with operations in it, `portal/` documents it.

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
