// A gateway with an endpoint for agents, an upstream behind it, and messages of agents in both forms of the protocol.

import { randomUUID } from 'node:crypto';
import { ask, type Answer as HttpAnswer, requestOf } from './connection.ts';
import { type GatewayOptions, startGateway, type TestGateway } from './gateway.ts';
import { type Answer, type FakeUpstream, startUpstream } from './upstream.ts';

export const VERSION = '2026-07-28';
export const META = {
  'io.modelcontextprotocol/protocolVersion': VERSION,
  'io.modelcontextprotocol/clientCapabilities': {},
};

const text = { type: 'string' };
const json = (schema: object) => ({ description: 'done', content: { 'application/json': { schema } } });
const query = (name: string, schema: object, more: object = {}) => ({ name, in: 'query', schema, ...more });
const id = { name: 'id', in: 'path', required: true, schema: { type: 'string', maxLength: 64 } };
const record = { type: 'object', properties: { id: text, name: text } };
const page = {
  type: 'object',
  properties: { data: { type: 'array', items: record }, cursor: { type: ['string', 'null'] } },
};
const read = [{ apiKey: ['records:read'] }];
const write = [{ apiKey: ['records:write'] }];
const node = {
  type: 'object',
  properties: { name: text, children: { type: 'array', items: { $ref: '#/components/schemas/Node' } } },
};

/** One operation of each kind that matters to tools. */
export const agentsContract = {
  openapi: '3.1.0',
  info: { title: 'Records', version: '1' },
  servers: [{ url: '/' }],
  components: { securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } }, schemas: { Node: node } },
  paths: {
    '/v1/records': {
      get: {
        operationId: 'listRecords',
        summary: 'List records',
        tags: ['records'],
        security: read,
        parameters: [
          query('limit', { type: 'integer', minimum: 1, maximum: 100 }),
          query('cursor', text),
          query('state', { type: 'array', items: text }),
          query('sort', { type: 'array', items: text }, { explode: false }),
          query('filter', { type: 'object', additionalProperties: text }, { style: 'deepObject', explode: true }),
          { name: 'X-Trace-Label', in: 'header', schema: { type: 'string', maxLength: 40 } },
        ],
        responses: { 200: json(page) },
      },
      post: {
        operationId: 'createRecord',
        summary: 'Create a record',
        tags: ['records'],
        security: write,
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: {
                type: 'object',
                required: ['name'],
                additionalProperties: false,
                properties: {
                  name: { type: 'string', maxLength: 100 },
                  amount: { type: 'number' },
                  tree: { $ref: '#/components/schemas/Node' },
                },
              },
            },
          },
        },
        responses: { 201: json(record) },
      },
    },
    '/v1/records/search': {
      get: {
        operationId: 'searchRecords',
        security: read,
        'x-gateway-tool': { hidden: true },
        responses: { 200: json(page) },
      },
    },
    '/v1/records/{id}': {
      get: { operationId: 'getRecord', security: read, parameters: [id], responses: { 200: json(record) } },
      put: {
        operationId: 'replaceRecord',
        security: write,
        parameters: [id],
        requestBody: { required: true, content: { 'application/json': { schema: record } } },
        responses: { 200: json(record) },
      },
      delete: {
        operationId: 'deleteRecord',
        security: write,
        parameters: [id],
        responses: { 204: { description: 'gone' } },
      },
    },
    '/v1/forms': {
      post: {
        operationId: 'submitForm',
        security: write,
        requestBody: {
          required: true,
          content: {
            'application/x-www-form-urlencoded': {
              schema: { type: 'object', required: ['title'], properties: { title: text, count: { type: 'integer' } } },
            },
          },
        },
        responses: { 201: json(record) },
      },
    },
    '/v1/notes': {
      get: {
        operationId: 'readNotes',
        security: read,
        responses: { 200: { description: 'text', content: { 'text/plain': {} } } },
      },
    },
    '/v1/pictures': {
      get: {
        operationId: 'getPicture',
        security: read,
        responses: { 200: { description: 'a picture', content: { 'image/png': {}, 'application/json': {} } } },
      },
    },
    '/v1/dumps': {
      get: {
        operationId: 'downloadDump',
        security: read,
        responses: { 200: { description: 'bytes', content: { 'application/octet-stream': {} } } },
      },
    },
    '/v1/events': {
      get: {
        operationId: 'readEvents',
        security: read,
        responses: { 200: { description: 'events', content: { 'text/event-stream': {} } } },
      },
    },
    '/v1/secrets': {
      get: { operationId: 'readSecrets', security: [{ apiKey: ['secrets:read'] }], responses: { 200: json(record) } },
    },
  },
};

interface ToolAnswer {
  readonly status: number;
  readonly headers: HttpAnswer['headers'];
  /** The whole message. */
  readonly message: Json;
  readonly result: Json;
  readonly error: Json;
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of any shape.
type Json = any;

export interface Agent {
  /** Sends a message of 2026-07-28. */
  send(method: string, params?: object, options?: SendOptions): Promise<ToolAnswer>;
  call(name: string, given?: object, options?: SendOptions): Promise<ToolAnswer>;
}

export interface SendOptions {
  readonly id?: string | number;
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

/** Returns an agent. @param headers headers with the credential */
export function agentAt(port: number, headers: Readonly<Record<string, string | undefined>>, path = '/mcp'): Agent {
  async function send(method: string, params: object = {}, options: SendOptions = {}): Promise<ToolAnswer> {
    const message = { jsonrpc: '2.0', id: options.id ?? randomUUID(), method, params: { ...params, _meta: META } };
    const { name } = params as { name?: string };
    return post(
      port,
      JSON.stringify(message),
      {
        'MCP-Protocol-Version': VERSION,
        'Mcp-Method': method,
        'Mcp-Name': name !== undefined && /^[\x21-\x7e]+$/.test(name) ? name : undefined,
        ...headers,
        ...options.headers,
      },
      path,
    );
  }
  return { send, call: (name, given = {}, options = {}) => send('tools/call', { name, arguments: given }, options) };
}

/** Sends any bytes to the endpoint. */
export async function post(
  port: number,
  body: string,
  headers: Readonly<Record<string, string | undefined>>,
  path = '/mcp',
): Promise<ToolAnswer> {
  const all = { Host: 'localhost:8080', 'Content-Type': 'application/json', ...headers };
  const answer = await ask(port, requestOf(`POST ${path}`, all, body));
  const message = answer.body.length === 0 ? undefined : JSON.parse(answer.body.toString());
  return { status: answer.status, headers: answer.headers, message, result: message?.result, error: message?.error };
}

export interface AgentWorld {
  readonly gateway: TestGateway;
  readonly upstream: FakeUpstream;
  /** Replaces the answer of the upstream. */
  answers(answer: Answer): void;
  /** Returns an agent with a new key. */
  agent(
    scopes?: readonly string[],
    organization?: string,
  ): Promise<Agent & { readonly headers: Readonly<Record<string, string>> }>;
  close(): Promise<void>;
}

export const answerRecord: Answer = (_request, response) => {
  response.setHeader('content-type', 'application/json');
  response.end('{"id":"rec_1","name":"Ada"}');
};

/** Starts a gateway with tools. @param members members of gateway.yaml */
export async function startAgents(
  options: GatewayOptions = {},
  mcp: object = {},
  members: object = {},
): Promise<AgentWorld> {
  let answering: Answer = answerRecord;
  const upstream = await startUpstream((...given) => answering(...given));
  const gateway = await startGateway({
    contracts: { 'records.yaml': agentsContract },
    upstreams: { records: { contracts: ['records.yaml'], live: upstream.url, test: upstream.url } },
    ...options,
    gateway: { mcp: { entries: ['records'], ...mcp }, ...members, ...options.gateway },
  });
  return {
    gateway,
    upstream,
    answers(answer) {
      answering = answer;
    },
    async agent(scopes = ['*'], organization = `org_${randomUUID()}`) {
      const { authorization } = await gateway.authorize({ scopes, organization });
      const headers = { Authorization: authorization };
      return { ...agentAt(gateway.port, headers), headers };
    },
    async close() {
      await gateway.stop();
      await upstream.close();
    },
  };
}
