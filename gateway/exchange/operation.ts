// The type of an operation: one method and path of a contract, with everything that was resolved when the configuration was loaded.

import type { Scheme } from './caller.ts';

/** One alternative of the security of an operation. A caller has to meet all its requirements. */
export interface SecurityAlternative {
  readonly scheme: Scheme;
  readonly scopes: readonly string[];
}

/** What happens to an answer that violates the contract: the log reports it, the client gets a refusal instead, or it is not checked. */
export type Reaction = 'report' | 'refuse' | 'off';

/** One method and path of a contract, resolved once per configuration and frozen. */
export interface Operation {
  /** The operationId in the contract; the `qualifiedId` if the entry has `operationNames: qualified`. Unique over all contracts. */
  readonly id: string;
  /** `entry.operationId` */
  readonly qualifiedId: string;
  readonly method: string;
  /** The path template, such as `/v1/jobs/{job_id}`. It is a metric label, so it is never filled in. */
  readonly path: string;
  /** First path segment if it is a version (`v1`). */
  readonly version: string | undefined;
  /** The name of the path parameter that accepts slashes; undefined if none does. */
  readonly restOfPath: string | undefined;
  /**
   * The style of each path parameter whose text has separators, by the name of the parameter. Such parameters are lists and objects, and
   * all parameters of style label or matrix.
   */
  readonly pathStyles: ReadonlyMap<string, string>;
  readonly upstream: string;
  /** The entry of upstreams.yaml that lists the contract. */
  readonly entry: string;
  /** Replaces the timeoutMs of the upstream. */
  readonly timeoutMs: number | undefined;
  /** Clients put this prefix before the paths of the document. */
  readonly publicPrefix: string;
  /** The gateway puts this prefix before the paths when it sends a request. */
  readonly upstreamPrefix: string;
  /** The contract file, as messages name it. */
  readonly contract: string;
  /** The alternatives of which a caller has to meet one; empty for a public operation. */
  readonly security: readonly SecurityAlternative[];
  /**
   * Whether a success shows that the upstream accepts the gateway's credential. It is false for an operation that succeeds with any
   * credential: the health check of the upstream, and an operation that the document declares public.
   */
  readonly provesCredential: boolean;
  /** Units one request spends of every limit. */
  readonly cost: number;
  /** Name of a limit in limits.yaml that applies beside the limits of the tier. */
  readonly extraLimit: string | undefined;
  /** Whether the operation takes an Idempotency-Key; `off` for methods that need none. */
  readonly idempotency: 'optional' | 'required' | 'off';
  /**
   * Members of an answer that are sent only once, such as the secret of a new key, with the values that replace them in the stored answer;
   * undefined if there are none.
   */
  readonly once: Readonly<Record<string, unknown>> | undefined;
  readonly body: 'buffer' | 'stream';
  /** Whether query parameters that the contract does not declare are refused, passed on or dropped. */
  readonly undeclaredQuery: 'refuse' | 'pass' | 'drop';
  /** Whether every successful answer is a stream. */
  readonly streams: boolean;
  /** Whether the request may be upgraded to a WebSocket. */
  readonly webSocket: boolean;
  readonly answerCheck: Reaction;
  /** The reaction to an answer of a media type that the contract does not declare. */
  readonly undeclaredMediaTypes: Reaction;
  /** Whether clients may ask for parts of an answer. */
  readonly ranges: boolean;
  /** Whether the upstream gets the caller's token. API keys, user names and passwords are never forwarded. */
  readonly forwardsToken: boolean;
  /** Lower-case names of additional headers that are forwarded to the upstream: declared parameters, and headers that the entry names. */
  readonly requestHeaders: readonly string[];
  /** Lower-case names of additional headers that are forwarded to the client: declared headers, and headers that the entry names. */
  readonly responseHeaders: ReadonlySet<string>;
  /** Fields among `location`, `link` and `content-location` that may name other hosts. */
  readonly externalReferences: ReadonlySet<string>;
  /** The cookies that are forwarded to the upstream and back; undefined if neither the contract nor the entry names any. */
  readonly cookies: CookieRules | undefined;
}

/** The cookies of one operation. */
export interface CookieRules {
  /** Names that cross in both directions. */
  readonly names: ReadonlySet<string>;
  /** Names of declared cookie parameters that are not forwarded. */
  readonly withheld: readonly string[];
}
