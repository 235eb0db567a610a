// The form of an entry of the error catalogue, and the common members of the entries of one kind.

export type ErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'permission_error'
  | 'not_found_error'
  | 'conflict_error'
  | 'idempotency_error'
  | 'rate_limit_error'
  | 'api_error';

/** A property that some configurations lack, and that the code needs. */
export type CodeNeed =
  /** An operation that is not public. */
  | 'callers'
  /** Issuers of tokens. */
  | 'tokens'
  /** An operation that takes user name and password. */
  | 'basic'
  /** Browser sessions. */
  | 'sessions'
  /** The gateway's own contract. */
  | 'administration'
  /** An operation that test keys do not reach. */
  | 'live only'
  /** An operation that takes an Idempotency-Key. */
  | 'repeats'
  /** An operation that requires one. */
  | 'required repeats'
  /** Host names. */
  | 'hosts'
  /** Plain HTTP beside HTTPS. */
  | 'plain listener'
  /** Paths that begin with a version. */
  | 'versions'
  /** A version or an operation with an announced end. */
  | 'sunset'
  /** The endpoint for agents. */
  | 'agents';

export interface CatalogueEntry {
  readonly status: number;
  readonly type: ErrorType;
  /** The party that has to act. It decides the level of the log line, and whether there is an alert. */
  readonly blame: 'client' | 'upstream' | 'gateway';
  /** The message for developers. It may change at any time. */
  readonly message: string;
  /** Says when the gateway refuses with this code, in one line of Markdown. */
  readonly meaning: string;
  /** The remedy for the client. It is one line of Markdown, whose links begin with `/docs`. */
  readonly remedy: string;
  /**
   * Whether a retry of the identical request is safe and may succeed. `if_safe` means that this is so for idempotent methods and for writes
   * with an Idempotency-Key.
   */
  readonly retryable: boolean | 'if_safe';
  /** The WWW-Authenticate challenge (RFC 6750 section 3.1). It has no error code if no usable credential was presented. */
  readonly challenge?: 'bare' | 'invalid_token' | 'insufficient_scope';
  /** Seconds for Retry-After if the thrower gives none. */
  readonly retryAfterSeconds?: number;
  /** The part of the configuration without which this code cannot occur, and the documentation of the API leaves it out. */
  readonly needs?: CodeNeed;
  /** Whether the refusal closes the connection, because the rest of the request is not read. */
  readonly closes?: true;
  /** Other members of the error object, as the page of the code shows them. */
  readonly example?: Readonly<Record<string, unknown>>;
  /** Sentences that replace or complete the message. The code that throws selects one by its name. See `hintSentence`. */
  readonly hints?: Readonly<Record<string, string>>;
}

/**
 * Returns the sentence of a hint, with the members of the error object in the places of their names in braces; undefined if the row has no
 * such hint, or a member is missing.
 */
export function hintSentence(
  { hints }: CatalogueEntry,
  hint: string | undefined,
  fields: Readonly<Record<string, unknown>> = {},
): string | undefined {
  const sentence = hint === undefined ? undefined : hints?.[hint];
  const name = sentence && /\{(\w+)\}/.exec(sentence)?.[1];
  if (name === undefined) return sentence;
  return fields[name] === undefined
    ? undefined
    : sentence?.replace(`{${name}}`, () => [fields[name]].flat().join(', '));
}

type Kind = Pick<CatalogueEntry, 'type' | 'blame' | 'retryable'>;
export const INVALID_REQUEST = {
  type: 'invalid_request_error',
  blame: 'client',
  retryable: false,
} as const satisfies Kind;
export const UNAUTHENTICATED = {
  type: 'authentication_error',
  blame: 'client',
  retryable: false,
} as const satisfies Kind;
export const NOT_PERMITTED = { type: 'permission_error', blame: 'client', retryable: false } as const satisfies Kind;
export const NOT_FOUND = { type: 'not_found_error', blame: 'client', retryable: false } as const satisfies Kind;
export const CONFLICT = { type: 'conflict_error', blame: 'client', retryable: false } as const satisfies Kind;
export const MISUSED_KEY = { type: 'idempotency_error', blame: 'client', retryable: false } as const satisfies Kind;
export const RATE_LIMITED = { type: 'rate_limit_error', blame: 'client', retryable: true } as const satisfies Kind;
export const FAULT_OF_UPSTREAM = { type: 'api_error', blame: 'upstream', retryable: 'if_safe' } as const satisfies Kind;
export const FAULT_OF_GATEWAY = { type: 'api_error', blame: 'gateway', retryable: true } as const satisfies Kind;
