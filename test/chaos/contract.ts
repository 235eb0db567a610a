// The contracts of the entries, and the entries of their upstreams: one that honours keys, and one that executes every request that reaches
// it.

const json = (schema: object) => ({ 'application/json': { schema } });
const state = {
  type: 'object',
  required: ['id', 'ordinal', 'version', 'note', 'size'],
  properties: {
    id: { type: 'string' },
    ordinal: { type: 'integer' },
    version: { type: 'integer' },
    note: { type: 'string' },
    size: { type: 'integer' },
    filler: { type: 'string' },
  },
};
const write = {
  type: 'object',
  additionalProperties: false,
  required: ['write'],
  properties: { write: { type: 'string' }, size: { type: 'integer', minimum: 0, maximum: 100_000 } },
};
const page = { type: 'object', required: ['data'], properties: { data: { type: 'array', items: state } } };
const id = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };
const limit = { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 100 } };
const answered = (status: string, schema: object) => ({ [status]: { description: 'done', content: json(schema) } });
const reads = [{ apiKey: ['entries:read'] }];
const writes = [{ apiKey: ['entries:write'] }];
const requestBody = { required: true, content: json(write) };

const contractOf = (title: string, paths: object) => ({
  openapi: '3.1.1',
  info: { title, version: '1' },
  servers: [{ url: '/' }],
  components: { securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } } },
  paths,
});

export const entriesContract = contractOf('Entries', {
  '/v1/entries': {
    get: { operationId: 'listEntries', security: reads, parameters: [limit], responses: answered('200', page) },
    post: { operationId: 'createEntry', security: writes, requestBody, responses: answered('201', state) },
  },
  '/v1/entries/{id}': {
    get: { operationId: 'getEntry', security: reads, parameters: [id], responses: answered('200', state) },
    patch: {
      operationId: 'updateEntry',
      security: writes,
      parameters: [id],
      requestBody,
      responses: answered('200', state),
    },
  },
});

export const plainContract = contractOf('Plain entries', {
  '/v1/plain-entries': {
    post: {
      operationId: 'createPlainEntry',
      security: [{ apiKey: ['plain-entries:write'] }],
      requestBody,
      responses: answered('201', state),
    },
  },
});

/** Milliseconds for one exchange with the entries. */
export const TIMEOUT_MS = 4000;

/** Their entries in upstreams.yaml, at these addresses: a failing target is out for seconds, so that a short run sees it come back. */
export const entriesEntry = (live: readonly string[]) => ({
  contracts: ['entries.yaml'],
  live,
  timeoutMs: TIMEOUT_MS,
  connectTimeoutMs: 1000,
  firstByteTimeoutMs: 1500,
  idleTimeoutMs: 1500,
  honoursIdempotencyKey: true,
  ejection: { baseSeconds: 1, maxSeconds: 4, slowStartSeconds: 2 },
  breaker: { openSeconds: 2 },
  health: { path: '/healthz', intervalMs: 500, timeoutMs: 500, unhealthyAfter: 2 },
});

/** The same targets, which do not honour keys there. */
export const plainEntry = (live: readonly string[]) => ({
  ...entriesEntry(live),
  contracts: ['plain.yaml'],
  honoursIdempotencyKey: false,
});
