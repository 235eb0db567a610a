// The wire rules of the Model Context Protocol over HTTP: the revision of a message, the rules for its headers and its `_meta`, and the
// errors of JSON-RPC. Revision 2026-07-28 is stateless; earlier revisions begin with `initialize`. Pure.

import { isRecord } from '../shared/is-record.ts';

/** Revisions without `initialize`, which each request names in `_meta`. */
export const STATELESS_VERSIONS = ['2026-07-28'] as const;
/** Revisions that begin with `initialize`, the newest first. */
export const INITIALIZED_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26'] as const;

const META = 'io.modelcontextprotocol/';
const VERSION_KEY = `${META}protocolVersion`;
const CAPABILITIES_KEY = `${META}clientCapabilities`;
export const SERVER_INFO_KEY = `${META}serverInfo`;

export type MessageId = string | number;

/** A request or notification whose form is in order. */
export interface AgentMessage {
  /** The id of a request; undefined for a notification, and for a response, which the gateway never expects. */
  readonly id: MessageId | undefined;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly isStateless: boolean;
}

/** An error of the protocol, for the client's library. */
export interface WireError {
  readonly status: number;
  readonly id: MessageId | null;
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
const METHOD_NOT_FOUND = -32_601;
const INVALID_PARAMS = -32_602;
const REFUSED_VERSION = -32_000;
const HEADER_MISMATCH = -32_020;
const UNSUPPORTED_VERSION = -32_022;

const METHOD_MAX = 128;
const ID_MAX = 256;

type Headers = ReadonlyMap<string, string>;

export function isWireError(result: AgentMessage | WireError): result is WireError {
  return 'code' in result;
}

/** Reads one parsed body. */
export function readAgentMessage(body: unknown, headers: Headers): AgentMessage | WireError {
  if (Array.isArray(body)) return invalid(null, 'Batches are not possible. Send each message alone.');
  if (!isRecord(body)) return invalid(null, 'The body is not a message of JSON-RPC 2.0.');
  const { id, method, params = {} } = body;
  if (id !== undefined && !isId(id)) return invalid(null, 'The id must be a text or a whole number.');
  if (body.jsonrpc !== '2.0') return invalid(id ?? null, 'The body is not a message of JSON-RPC 2.0.');
  if (method === undefined && id !== undefined && ('result' in body || 'error' in body))
    return { id: undefined, method: '', params: {}, isStateless: false };
  if (typeof method !== 'string' || method.length > METHOD_MAX) return invalid(id ?? null, 'The method is missing.');
  if (!isRecord(params)) return invalid(id ?? null, 'The params must be an object.');
  const message = { id, method, params };
  const meta = isRecord(params._meta) ? params._meta : undefined;
  if (meta !== undefined && Object.hasOwn(meta, VERSION_KEY)) return statelessMessage(message, meta, headers);
  return initializedMessage(message, meta, headers);
}

type UncheckedMessage = Omit<AgentMessage, 'isStateless'>;

/**
 * Reads a message that names its revision in the body. The headers must name the same revision, because a proxy in front may read only the
 * headers.
 */
function statelessMessage(message: UncheckedMessage, meta: object, headers: Headers): AgentMessage | WireError {
  const { id = null, method, params } = message;
  const version = (meta as Record<string, unknown>)[VERSION_KEY];
  if (typeof version !== 'string') return envelopeError(id, VERSION_KEY, 'must be a text');
  const capabilities = (meta as Record<string, unknown>)[CAPABILITIES_KEY];
  if (!isRecord(capabilities))
    return envelopeError(id, CAPABILITIES_KEY, capabilities === undefined ? 'is missing' : 'must be an object');
  const named = headers.get('mcp-protocol-version');
  if (named !== undefined && named !== version) return mismatch(id, 'MCP-Protocol-Version', named, version);
  const asked = headers.get('mcp-method');
  if (asked !== undefined && asked !== method) return mismatch(id, 'Mcp-Method', asked, method);
  if (!STATELESS_VERSIONS.some((one) => one === version)) return unsupportedVersion(id, version);
  if (message.id === undefined) return { ...message, isStateless: true };
  if (named === undefined) return mismatch(id, 'MCP-Protocol-Version', undefined, version);
  if (asked === undefined) return mismatch(id, 'Mcp-Method', undefined, method);
  if (method === 'tools/call' && typeof params.name === 'string') {
    const tool = headers.get('mcp-name');
    if (tool === undefined || decodedName(tool) !== params.name) return mismatch(id, 'Mcp-Name', tool, params.name);
  }
  return { ...message, isStateless: true };
}

function initializedMessage(
  message: UncheckedMessage,
  meta: object | undefined,
  headers: Headers,
): AgentMessage | WireError {
  const { id = null, method } = message;
  const named = headers.get('mcp-protocol-version');
  const isModern = named !== undefined && !INITIALIZED_VERSIONS.some((one) => one === named);
  if (!isModern) return { ...message, isStateless: false };
  if (!STATELESS_VERSIONS.some((one) => one === named)) {
    if (/^20(?:24|25)-/.test(named)) return refusedVersion(id, named);
    return meta === undefined && message.id !== undefined ? missingEnvelope(id) : unsupportedVersion(id, named);
  }
  if (method === 'initialize') return mismatch(id, 'MCP-Protocol-Version', named, 'initialize, of a former revision');
  // Notifications need no envelope.
  if (message.id === undefined) return { ...message, isStateless: true };
  return missingEnvelope(id);
}

function missingEnvelope(id: MessageId | null): WireError {
  return envelopeError(id, VERSION_KEY, 'is missing');
}

function envelopeError(id: MessageId | null, key: string, problem: string): WireError {
  return { status: 400, id, code: INVALID_PARAMS, message: `params._meta["${key}"] ${problem}.`, data: { key } };
}

function mismatch(id: MessageId | null, header: string, found: string | undefined, body: string): WireError {
  const message =
    found === undefined ? `The header ${header} is missing.` : `The header ${header} and the body differ.`;
  return {
    status: 400,
    id,
    code: HEADER_MISMATCH,
    message,
    data: { mismatch: { header: found ?? '(missing)', body } },
  };
}

function unsupportedVersion(id: MessageId | null, requested: string): WireError {
  const data = { supported: [...STATELESS_VERSIONS], requested: requested.slice(0, 64) };
  return { status: 400, id, code: UNSUPPORTED_VERSION, message: 'This protocol version is not supported.', data };
}

/** Revisions before 2026-07-28 have no code for this error. */
function refusedVersion(id: MessageId | null, requested: string): WireError {
  const data = { supported: [...STATELESS_VERSIONS, ...INITIALIZED_VERSIONS], requested: requested.slice(0, 64) };
  return { status: 400, id, code: REFUSED_VERSION, message: 'This protocol version is not supported.', data };
}

export function invalid(id: MessageId | null, message: string): WireError {
  return { status: 400, id, code: INVALID_REQUEST, message };
}

/** Returns the error for an unknown method. Its status is 404 since revision 2026-07-28, and 200 before. */
export function unknownMethod({ id, isStateless }: AgentMessage): WireError {
  const message = 'This method does not exist here.';
  return { status: isStateless ? 404 : 200, id: id ?? null, code: METHOD_NOT_FOUND, message };
}

export function wrongParams({ id }: AgentMessage, message: string): WireError {
  return { status: 200, id: id ?? null, code: INVALID_PARAMS, message };
}

const ENCODED = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/;

/** Decodes a name in a header. It is in Base64 if it is not a valid field value. Returns undefined if the Base64 is not canonical. */
function decodedName(header: string): string | undefined {
  if (!header.startsWith('=?base64?') || !header.endsWith('?=')) return header;
  const text = ENCODED.exec(header)?.[1];
  if (text === undefined) return undefined;
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes.toString('utf8') : undefined;
}

function isId(id: unknown): id is MessageId {
  return (typeof id === 'string' && id.length <= ID_MAX) || Number.isSafeInteger(id);
}

/** Returns the body of an answer with a result. */
export function resultText(id: MessageId, result: string): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
}

/** Returns the body of an answer with an error. */
export function errorText({ id, code, message, data }: WireError): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, ...(data === undefined ? {} : { data }) } });
}
