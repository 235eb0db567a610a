// The type of an operation that agents may call as a tool. contract/tools/ makes it from the contract, and mcp/ shows and calls it.

type JsonRecord = Readonly<Record<string, unknown>>;

interface ToolViolation {
  readonly in: string;
  readonly param: string;
  readonly pointer?: string;
  readonly code: string;
  readonly message: string;
}

/** The arguments of one call. */
export interface ArgumentValues {
  /** Parsed; every name is an own member. */
  readonly values: JsonRecord;
  /** Returns the JSON text of an argument in the client's own spelling, because a body is sent on unchanged. */
  textOf(name: string): string;
}

/** The request that a call becomes. */
export interface ToolRequest {
  readonly method: string;
  /** The path and query. If there are violations, a path that fits no other operation. */
  readonly target: string;
  /** Lower-case names and their values. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer | undefined;
  /** The key of the client for this call, in any form. */
  readonly idempotencyKey: string | undefined;
  readonly violations: readonly ToolViolation[];
}

export interface ToolSchemas {
  readonly input: JsonRecord;
  /** The schema of the answers; undefined unless each answer has a schema. */
  readonly output: JsonRecord | undefined;
  /** Rules of the contract that the schemas cannot express. */
  readonly losses: readonly string[];
}

export interface ToolSource {
  /** Why the operation cannot be a tool; undefined if it can. */
  readonly obstacle: string | undefined;
  /** The title of the contract; undefined if it has none. */
  readonly title: string | undefined;
  readonly description: string | undefined;
  readonly tags: readonly string[];
  /** The member `x-gateway-tool` of the operation. */
  readonly says: { readonly name?: string; readonly description?: string; readonly hidden?: boolean };
  /** The names of the arguments that request fewer records and the next records. */
  readonly paging: { readonly limit: string | undefined; readonly cursor: string | undefined };
  /** Makes the schemas at each call, because they are large. */
  schemas(): ToolSchemas;
  write(given: ArgumentValues): ToolRequest;
}
