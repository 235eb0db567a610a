// Answers JMAP requests (RFC 8620, section 3). A failed call is an error of its own, while a request that cannot be understood as a whole
// is a problem document.
import { limited, requestError } from './answers.ts';
import { type Arguments, type JmapMethod, MethodError } from './jmap-arguments.ts';
import { resolveReferences } from './jmap-references.ts';
import { CALLS_MAX, CAPABILITIES, SESSION_STATE } from './session.ts';

type Call = readonly [method: string, parameters: Arguments, id: string];

interface JmapRequest {
  readonly using: readonly string[];
  readonly methodCalls: readonly Call[];
  readonly createdIds?: Readonly<Record<string, string>>;
}

export interface JmapResponse {
  readonly methodResponses: readonly (readonly [method: string, answer: unknown, id: string])[];
  readonly sessionState: string;
  readonly createdIds?: Readonly<Record<string, string>>;
}

/** The account that sends the request. */
export interface JmapAccount {
  readonly accountId: string;
  readonly name: string;
}

/** @throws Refused 400 with a type of JMAP */
export type AnswerJmap = (text: string, account: JmapAccount) => Promise<JmapResponse>;

export function createAnswerJmap(methods: Readonly<Record<string, JmapMethod>>): AnswerJmap {
  async function answered(
    [name, parameters, id]: Call,
    before: Call[],
    context: Parameters<JmapMethod>[1],
  ): Promise<Call> {
    const method = Object.hasOwn(methods, name) ? methods[name] : undefined;
    if (!method) return ['error', { type: 'unknownMethod' }, id];
    const earlier = before.map(([by, answer, of]) => ({ method: by, answer, id: of }));
    const given = resolveReferences(parameters, earlier);
    if (!given) return ['error', { type: 'invalidResultReference' }, id];
    const { accountId = context.accountId } = given;
    if (name !== 'Core/echo' && accountId !== context.accountId) return ['error', { type: 'accountNotFound' }, id];
    try {
      return [name, await method(given, context), id];
    } catch (error) {
      if (!(error instanceof MethodError)) throw error;
      return ['error', { type: error.type }, id];
    }
  }

  return async function answerJmap(text, account) {
    const { using, methodCalls, createdIds } = readRequest(text);
    const stranger = using.find((capability) => !CAPABILITIES.includes(capability));
    if (stranger !== undefined)
      throw requestError('unknownCapability', `${stranger} is not a capability of this server.`);
    if (methodCalls.length > CALLS_MAX) throw limited('maxCallsInRequest');
    const context = { ...account, createdIds: new Map(Object.entries(createdIds ?? {})) };
    const methodResponses: Call[] = [];
    for (const call of methodCalls) methodResponses.push(await answered(call, methodResponses, context));
    const created = createdIds && { createdIds: Object.fromEntries(context.createdIds) };
    return { methodResponses, ...created, sessionState: SESSION_STATE };
  };
}

function readRequest(text: string): JmapRequest {
  const value = parse(text);
  if (!isRequest(value)) throw requestError('notRequest', 'The text is no JMAP request.');
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw requestError('notJSON', 'The text is no JSON.');
  }
}

function isRequest(value: unknown): value is JmapRequest {
  const { using, methodCalls, createdIds } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return (
    Array.isArray(using) &&
    using.every((capability) => typeof capability === 'string') &&
    Array.isArray(methodCalls) &&
    methodCalls.every(isCall) &&
    (createdIds === undefined || createdIds === null || typeof createdIds === 'object')
  );
}

function isCall(value: unknown): value is Call {
  if (!Array.isArray(value) || value.length !== 3) return false;
  const [method, parameters, id]: readonly unknown[] = value;
  return typeof method === 'string' && typeof parameters === 'object' && parameters !== null && typeof id === 'string';
}
