// What a contract says of an operation that agents may call as a tool: contract/tools/ makes it, mcp/ shows and calls it.

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
  /** The JSON text of an argument as the client wrote it: a body is sent on as it came. */
  textOf(name: string): string;
}

/** The request that a call becomes. */
export interface ToolRequest {
  readonly method: string;
  /** Path and query. With violations, a path that leads nowhere else. */
  readonly target: string;
  /** Lower-case names and their values. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer | undefined;
  /** The key that the client gave for this call, in any form. */
  readonly idempotencyKey: string | undefined;
  readonly violations: readonly ToolViolation[];
}

export interface ToolSchemas {
  readonly input: JsonRecord;
  /** The schema of the answers; undefined unless each one has one. */
  readonly output: JsonRecord | undefined;
  /** What the schemas cannot say. */
  readonly losses: readonly string[];
}

export interface ToolSource {
  /** Why the operation cannot be a tool; undefined if it can. */
  readonly obstacle: string | undefined;
  /** Title of the contract; undefined if it has none. */
  readonly title: string | undefined;
  readonly description: string | undefined;
  readonly tags: readonly string[];
  /** What the contract says of the tool: `x-gateway-tool`. */
  readonly says: { readonly name?: string; readonly description?: string; readonly hidden?: boolean };
  /** Names of the arguments that ask for fewer records and for the next ones. */
  readonly paging: { readonly limit: string | undefined; readonly cursor: string | undefined };
  /** Makes the schemas anew: they are large. */
  schemas(): ToolSchemas;
  write(given: ArgumentValues): ToolRequest;
}
