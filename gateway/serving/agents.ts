// The endpoint for agents under one configuration. A message is admitted, throttled and authenticated once; a call of a tool becomes an
// exchange that passes every stage. Throws, besides the codes of these stages, method_not_allowed, origin_not_allowed,
// unsupported_media_type, not_acceptable, body_too_large.

import { randomUUID } from 'node:crypto';
import { createMayUse } from '../auth/authorize.ts';
import { GatewayError } from '../catalogue/errors.ts';
import type { Configuration } from '../configuration.ts';
import { readBody } from '../contract/body.ts';
import { parseJson } from '../contract/json.ts';
import type { Admitted, Arrived, Identified, Reservation } from '../exchange/exchange.ts';
import { AgentEndpoint, type EndpointAnswer, errorAnswer } from '../mcp/endpoint.ts';
import { challengeOf, protectedResource } from '../mcp/resource-metadata.ts';
import type { McpSettings } from '../mcp/settings.ts';
import { invalid, isWireError, PARSE_ERROR, readAgentMessage, type WireError } from '../mcp/wire.ts';
import type { Steps } from '../pipeline.ts';
import type { Deprecations } from '../versions/deprecation.ts';
import { createAgentAdmission } from './agent-admission.ts';
import { rightsOf } from './rights.ts';
import { createRunCall, type RunCallOptions } from './tool-calls.ts';
import { createToolbox, openedOperations } from './toolbox.ts';

interface AgentsOptions extends Pick<RunCallOptions, 'steps' | 'begin' | 'refuse'> {
  readonly deprecations: Deprecations;
  /** Whether the request is from a page that `cors` trusts. */
  trusts(arrived: Arrived): boolean;
  hold(reservation: Reservation, bytes: number): void;
  now(): number;
}

type Agents = Pick<Steps, 'isAgentsPath' | 'answerAgent'>;

const NO_AGENTS: Agents = {
  isAgentsPath: () => false,
  answerAgent: () => Promise.reject(new GatewayError('route_not_found')),
};

export function createAgentSteps(configuration: Configuration, options: AgentsOptions): Agents {
  const { gateway } = configuration.config;
  const { mcp } = gateway;
  if (mcp === undefined) return NO_AGENTS;
  const { steps } = options;
  const opened = openedOperations(configuration.contracts.operations, mcp).map(({ operation }) => operation);
  const scopes = [...new Set(opened.flatMap(({ security }) => security.flatMap((way) => way.scopes)))].sort();
  const title = mcp.title ?? gateway.portal.title ?? 'API';
  const resource = protectedResource({
    ...gateway,
    path: mcp.path,
    title,
    issuers: Object.values(gateway.issuers),
    scopes,
  });
  const challenge = resource && challengeOf(resource, scopes);
  const { checkOrigin, identify } = createAgentAdmission({
    path: mcp.path,
    publicUrl: gateway.publicUrl,
    challenge,
    authenticate: steps.authenticate,
    trusts: options.trusts,
    hasPublic: opened.some(({ security }) => security.length === 0),
    now: options.now,
  });
  const answerMessage = createAnswerMessage({
    endpoint: createEndpoint(configuration, mcp, title, options),
    read: createReadJson(gateway.limits, options.hold),
    runCall: createRunCall(configuration, {
      ...options,
      answerBytesMax: mcp.answerBytesMax,
      resource: resource?.parameter,
    }),
  });

  async function answerAgent(arrived: Arrived): Promise<void> {
    const { trail, request } = arrived;
    trail.stage = 'admit';
    const admitted = steps.admit(arrived);
    steps.shed(admitted);
    trail.stage = 'throttle';
    steps.throttle(admitted);
    trail.stage = 'match';
    if (resource !== undefined && isPath(request.url as string, resource.path)) {
      answerMetadata(admitted, resource.text);
      return;
    }
    checkOrigin(arrived);
    if (admitted.method !== 'POST') {
      answerOtherMethod(arrived);
      return;
    }
    const identified = await identify(admitted);
    trail.stage = 'validate';
    checkHeaders(identified);
    const answer = await answerMessage(identified);
    if (answer !== undefined) write(arrived, answer);
    else if (!arrived.response.destroyed) arrived.response.destroy();
  }

  return {
    isAgentsPath({ request }, sites) {
      const url = request.url as string;
      if (!sites.has('api')) return false;
      return isPath(url, mcp.path) || (resource !== undefined && isPath(url, resource.path));
    },
    answerAgent,
  };
}

function createEndpoint(
  configuration: Configuration,
  mcp: McpSettings,
  title: string,
  { deprecations }: AgentsOptions,
): AgentEndpoint {
  const toolbox = createToolbox(configuration, mcp, {
    mayUse: createMayUse(rightsOf(configuration)),
    isDeprecated: (operation) => deprecations.ofOperations.has(operation),
  });
  return new AgentEndpoint({
    ...mcp,
    ...toolbox,
    title,
    version: configuration.version.slice(0, VERSION_CHARACTERS),
  });
}

/** Answers a request for the metadata of the protected resource (RFC 9728). */
function answerMetadata(admitted: Admitted, text: string): void {
  if (admitted.method !== 'GET' && admitted.method !== 'HEAD') throw methodNotAllowed('GET, HEAD');
  write(admitted, { status: 200, text, headers: METADATA_HEADERS });
}

interface MessageParts {
  readonly endpoint: AgentEndpoint;
  readonly read: ReturnType<typeof createReadJson>;
  readonly runCall: ReturnType<typeof createRunCall>;
}

/** Returns the function that answers a message, which may call a tool. */
function createAnswerMessage({
  endpoint,
  read,
  runCall,
}: MessageParts): (identified: Identified) => Promise<EndpointAnswer | undefined> {
  return async function answerMessage(identified) {
    const { trail, headers, caller } = identified;
    const found = await read(identified);
    const message = 'code' in found ? found : readAgentMessage(found.body, headers);
    if (isWireError(message) || 'code' in found) {
      trail.note('mcp', 'invalid');
      return errorAnswer(message as WireError);
    }
    trail.note('mcp', METHODS.has(message.method) ? message.method : 'unknown');
    const answer = await endpoint.answer(message, {
      caller,
      text: found.text,
      session: headers.get('mcp-session-id'),
      call: (call) => runCall(identified, call),
    });
    if (message.method !== 'initialize' || answer?.status !== 200) return answer;
    // The gateway keeps no state for this id. A client sends it with each message, and `callKeyOf` distinguishes the calls of clients by
    // it.
    return { ...answer, headers: ['Mcp-Session-Id', randomUUID()] };
  };
}

/** The bounds by which a message may exceed the body of the operation that it calls. */
const ENVELOPE = { bytes: 16_384, depth: 8, members: 64 } as const;

/** Returns the function that reads the body of a message. */
function createReadJson(
  { bodyBytesMax, jsonDepthMax, jsonMembersMax }: Configuration['config']['gateway']['limits'],
  hold: AgentsOptions['hold'],
): (identified: Identified) => Promise<{ text: string; body: unknown } | WireError> {
  const limits = { jsonDepthMax: jsonDepthMax + ENVELOPE.depth, jsonMembersMax: jsonMembersMax + ENVELOPE.members };

  return async function read(identified) {
    const bytes = await readBody(identified, bodyBytesMax + ENVELOPE.bytes, hold);
    identified.trail.bytesIn = bytes.length;
    try {
      return { text: bytes.toString('utf8'), body: parseJson(bytes, limits).value };
    } catch (thrown) {
      if (!(thrown instanceof GatewayError)) throw thrown;
      const { code, entry } = thrown;
      if (code !== 'malformed_json') return invalid(null, entry.message);
      return { status: 400, id: null, code: PARSE_ERROR, message: entry.message };
    }
  };
}

function isPath(url: string, path: string): boolean {
  return url.startsWith(path) && (url.length === path.length || url[path.length] === '?');
}

const VERSION_CHARACTERS = 12;
/** The methods of the protocol that the log names. It names no other text that a client sends. */
const METHODS = new Set([
  'server/discover',
  'initialize',
  'notifications/initialized',
  'notifications/cancelled',
  'ping',
  'tools/list',
  'tools/call',
]);
const METADATA_HEADERS = ['Access-Control-Allow-Origin', '*'];

function methodNotAllowed(Allow: string): GatewayError {
  return new GatewayError('method_not_allowed', { headers: { Allow }, fields: { allowed_methods: Allow.split(', ') } });
}

/**
 * Answers OPTIONS, and refuses GET and DELETE with 405. Clients of earlier revisions of the protocol may try these methods, so the 405 is
 * not counted as a refusal.
 */
function answerOtherMethod(arrived: Arrived): void {
  const Allow = ['Allow', 'POST, OPTIONS'];
  if (arrived.request.method === 'OPTIONS') write(arrived, { status: 204, text: undefined, headers: Allow });
  else write(arrived, { ...errorAnswer({ ...invalid(null, 'Send messages by POST.'), status: 405 }), headers: Allow });
}

function checkHeaders({ headers }: Identified): void {
  const type = headers.get('content-type') ?? '';
  if (!/^application\/json\s*(?:;|$)/i.test(type))
    throw new GatewayError('unsupported_media_type', {
      fields: { accepted_media_types: ['application/json'] },
      hint: 'accepted',
    });
  const accept = headers.get('accept');
  if (accept !== undefined && !/application\/(?:json|\*)|\*\/\*/i.test(accept))
    throw new GatewayError('not_acceptable', { fields: { available_media_types: ['application/json'] } });
}

function write({ response, commonHeaders, trail }: Arrived, { status, text, headers = [] }: EndpointAnswer): void {
  if (response.destroyed) return;
  const body = Buffer.from(text ?? '');
  const type = text === undefined ? [] : ['Content-Type', 'application/json'];
  trail.status = status;
  trail.bytesOut = body.length;
  const length = status === 204 ? [] : ['Content-Length', String(body.length)];
  response.writeHead(status, [...commonHeaders, ...type, ...length, 'Cache-Control', 'no-store', ...headers]);
  response.end(body);
}
