// The endpoint for agents, which answers the messages of one caller. It keeps no state between messages. Each call of a tool is a separate
// exchange.

import { createHash } from 'node:crypto';
import type { Caller } from '../exchange/caller.ts';
import type { ArgumentValues } from '../shared/contracts/tool-source.ts';
import { isRecord } from '../shared/is-record.ts';
import { memberTextAt } from './json-text.ts';
import type { ToolList } from './lists.ts';
import { SEARCH_TOOLS } from './names.ts';
import type { ToolResult } from './result.ts';
import { isSearchTool, searchTools } from './search.ts';
import { definitionText, type Tool } from './tool.ts';
import {
  type AgentMessage,
  errorText,
  INITIALIZED_VERSIONS,
  type MessageId,
  resultText,
  SERVER_INFO_KEY,
  STATELESS_VERSIONS,
  unknownMethod,
  type WireError,
  wrongParams,
} from './wire.ts';

/** An answer in HTTP. */
export interface EndpointAnswer {
  readonly status: number;
  /** The body; undefined if there is none. */
  readonly text: string | undefined;
  /** Flat names and values. */
  readonly headers?: readonly string[];
}

/** One call of a tool. */
export interface ToolCall {
  readonly tool: Tool;
  readonly given: ArgumentValues;
  /** The Idempotency-Key of the call, if the operation takes one; undefined if a retry cannot be told from a new call. */
  readonly callKey: string | undefined;
}

/** A message with its session and caller. */
interface ReceivedMessage {
  readonly caller: Caller;
  /** The body as it came. */
  readonly text: string;
  /** The session that the client names, if it does. */
  readonly session: string | undefined;
  /** Runs a call as an exchange. Resolves with undefined if the client has left. */
  call(call: ToolCall): Promise<ToolResult | WireRefusal | undefined>;
}

interface EndpointOptions {
  readonly title: string;
  readonly version: string;
  readonly instructions?: string | undefined;
  readonly listTtlSeconds: number;
  /** Finds a tool by its name, among all tools. */
  toolOf(name: string): Promise<Tool | undefined>;
  listOf(caller: Caller): Promise<ToolList>;
}

/** A refusal of a call that clients must see in HTTP, so that they get another token and retry the call. */
export interface WireRefusal {
  readonly status: number;
  readonly headers: readonly string[];
  readonly error: unknown;
}

const PAGE = /^page:(\d{1,6})$/;
/** An id of this length or more is not a counter, so it identifies one call for certain. */
const UNIQUE_ID_MIN = 16;
const SESSION = /^[\x21-\x7e]{16,128}$/;
const REFUSED = -32_000;

type Results = Readonly<Record<string, unknown>>;

export class AgentEndpoint {
  readonly #options: EndpointOptions;
  readonly #serverInfo: { readonly name: string; readonly version: string };
  /** The members that `initialize` and `server/discover` share. */
  readonly #common: Results;
  /** How long, and for whom, clients may cache a list. */
  readonly #cached: Results;

  constructor(options: EndpointOptions) {
    const { title, version, instructions, listTtlSeconds } = options;
    this.#options = options;
    this.#serverInfo = { name: title, version };
    this.#common = { capabilities: { tools: {} }, ...(instructions && { instructions }) };
    this.#cached = { ttlMs: listTtlSeconds * 1000, cacheScope: 'private' };
  }

  async answer(message: AgentMessage, received: ReceivedMessage): Promise<EndpointAnswer | undefined> {
    const { id, method, isStateless } = message;
    if (id === undefined) return { status: 202, text: undefined };
    if (method === 'tools/list') return this.#list(message, received);
    if (method === 'tools/call') return this.#callTool(message, received);
    if (method === 'server/discover' && isStateless)
      return this.#resultOf(message, { supportedVersions: STATELESS_VERSIONS, ...this.#common }, this.#cached);
    if (method === 'ping' && !isStateless) return this.#resultOf(message, {});
    if (method === 'initialize' && !isStateless)
      return this.#resultOf(message, {
        protocolVersion: versionFor(message),
        ...this.#common,
        serverInfo: this.#serverInfo,
      });
    return errorAnswer(unknownMethod(message));
  }

  async #list(message: AgentMessage, { caller }: ReceivedMessage): Promise<EndpointAnswer> {
    const { cursor } = message.params;
    const page = cursor === undefined ? 0 : Number(typeof cursor === 'string' ? PAGE.exec(cursor)?.[1] : Number.NaN);
    const { pages } = await this.#options.listOf(caller);
    const text = pages[page];
    if (text === undefined) return errorAnswer(wrongParams(message, 'The cursor is not one of this list.'));
    return this.#listAnswer(message, text, page + 1 < pages.length ? `page:${page + 1}` : undefined);
  }

  /** Returns the answer with a list of tools. The definitions are JSON texts already. */
  #listAnswer({ id, isStateless }: AgentMessage, page: string, nextCursor: string | undefined): EndpointAnswer {
    const further = nextCursor === undefined ? {} : { nextCursor };
    const rest = isStateless
      ? { resultType: 'complete', ...further, ...this.#cached, _meta: { [SERVER_INFO_KEY]: this.#serverInfo } }
      : further;
    const members = JSON.stringify(rest).slice(1);
    const text = `{"tools":[${page}]${members === '}' ? '' : ','}${members}`;
    return { status: 200, text: resultText(id as MessageId, text) };
  }

  async #callTool(message: AgentMessage, received: ReceivedMessage): Promise<EndpointAnswer | undefined> {
    const { name, arguments: given = {} } = message.params;
    if (typeof name !== 'string') return errorAnswer(wrongParams(message, 'The name of the tool must be a text.'));
    if (!isRecord(given)) return errorAnswer(wrongParams(message, 'The arguments must be an object.'));
    const list = await this.#options.listOf(received.caller);
    if (!list.isSearched || !isSearchTool(name)) return this.#callOperation(message, received, name, given, ['params']);
    if (name === SEARCH_TOOLS[0]) return this.#toolAnswer(message, searchTools(list.tools, given));
    if (typeof given.name !== 'string') return this.#toolAnswer(message, 'name must be the name of an operation.');
    if (name === SEARCH_TOOLS[1]) return this.#toolAnswer(message, describe(list, given.name));
    const { arguments: inner = {} } = given;
    if (!isRecord(inner)) return this.#toolAnswer(message, 'arguments must be an object.');
    return this.#callOperation(message, received, given.name, inner, ['params', 'arguments']);
  }

  async #callOperation(
    message: AgentMessage,
    received: ReceivedMessage,
    name: string,
    values: Readonly<Record<string, unknown>>,
    within: readonly string[],
  ): Promise<EndpointAnswer | undefined> {
    const tool = await this.#options.toolOf(name);
    if (tool === undefined) return errorAnswer(wrongParams(message, 'There is no tool of this name.'));
    const given = {
      values,
      textOf: (one: string) => memberTextAt(received.text, [...within, 'arguments', one]) ?? 'null',
    };
    const result = await received.call({ tool, given, callKey: callKeyOf(message, received) });
    if (result === undefined) return undefined;
    if ('content' in result) return this.#resultOf(message, { ...result });
    const { status, headers, error } = result;
    const wire = { status, id: message.id as MessageId, code: REFUSED, message: 'The call was refused.', data: error };
    return { ...errorAnswer(wire), headers };
  }

  /** Returns the answer of a tool of the gateway itself. @param answer the result, or a sentence about a mistake in the arguments */
  #toolAnswer(message: AgentMessage, answer: object | string): EndpointAnswer {
    if (typeof answer === 'string')
      return this.#resultOf(message, { content: [{ type: 'text', text: answer }], isError: true });
    const content = [{ type: 'text', text: JSON.stringify(answer) }];
    return this.#resultOf(message, { content, structuredContent: answer });
  }

  /** Returns a result with the members that the protocol revision demands. */
  #resultOf({ id, isStateless }: AgentMessage, result: Results, caching: Results = {}): EndpointAnswer {
    const { _meta, ...members } = result;
    const meta = { ...(_meta as object), [SERVER_INFO_KEY]: this.#serverInfo };
    const all = isStateless ? { resultType: 'complete', ...members, ...caching, _meta: meta } : result;
    return { status: 200, text: resultText(id as MessageId, JSON.stringify(all)) };
  }
}

export function errorAnswer(error: WireError): EndpointAnswer {
  return { status: error.status, text: errorText(error) };
}

/** Returns the revision that the client asks for, if it is known. Otherwise returns the newest revision that has `initialize`. */
function versionFor({ params }: AgentMessage): string {
  return INITIALIZED_VERSIONS.find((one) => one === params.protocolVersion) ?? INITIALIZED_VERSIONS[0];
}

function describe({ tools }: ToolList, name: string): object | string {
  const tool = tools.find((one) => one.name === name);
  return tool === undefined
    ? `There is no operation "${name.slice(0, 64)}".`
    : (JSON.parse(definitionText(tool)) as object);
}

/**
 * Returns a key that is equal for retries of a call, and different for other calls. The key of a short id includes the session, because
 * clients that number their messages use the same id for the first call of each session (decision 53).
 */
function callKeyOf({ id, params }: AgentMessage, { session }: ReceivedMessage): string | undefined {
  const isUnique = typeof id === 'string' && id.length >= UNIQUE_ID_MIN;
  const scope = session !== undefined && SESSION.test(session) ? session : isUnique ? '' : undefined;
  if (scope === undefined) return undefined;
  return createHash('sha256')
    .update(JSON.stringify([scope, id, params.name]))
    .digest('base64url');
}
