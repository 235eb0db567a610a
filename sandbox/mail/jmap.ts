// Answers JMAP requests (RFC 8620, section 3). The one method is Core/echo; any other is an error of its own call,
// while a request that cannot be understood as a whole is a problem document.
import { limited, requestError } from './answers.ts';
import { CALLS_MAX, CORE, SESSION_STATE, WEB_SOCKET } from './session.ts';

type Call = readonly [method: string, parameters: unknown, id: string];

interface JmapRequest {
  readonly using: readonly string[];
  readonly methodCalls: readonly Call[];
}

export interface JmapResponse {
  readonly methodResponses: readonly Call[];
  readonly sessionState: string;
}

const KNOWN: readonly string[] = [CORE, WEB_SOCKET];

/** @throws Refused 400 with a type of JMAP */
export function answerJmap(text: string): JmapResponse {
  const { using, methodCalls } = readRequest(text);
  const stranger = using.find((capability) => !KNOWN.includes(capability));
  if (stranger !== undefined)
    throw requestError('unknownCapability', `${stranger} is not a capability of this server.`);
  if (methodCalls.length > CALLS_MAX) throw limited('maxCallsInRequest');
  return { methodResponses: methodCalls.map(answerCall), sessionState: SESSION_STATE };
}

function answerCall([method, parameters, id]: Call): Call {
  return method === 'Core/echo' ? [method, parameters, id] : ['error', { type: 'unknownMethod' }, id];
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
  const { using, methodCalls } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return (
    Array.isArray(using) &&
    using.every((capability) => typeof capability === 'string') &&
    Array.isArray(methodCalls) &&
    methodCalls.every(isCall)
  );
}

function isCall(value: unknown): value is Call {
  if (!Array.isArray(value) || value.length !== 3) return false;
  const [method, parameters, id]: readonly unknown[] = value;
  return typeof method === 'string' && typeof parameters === 'object' && parameters !== null && typeof id === 'string';
}
