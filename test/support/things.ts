// A small contract for tests of the way through the gateway: one operation of each kind, ready in milliseconds.

const json = (schema: object) => ({ 'application/json': { schema } });
const open = { type: 'object' };
const answered = (status: string, schema: object = open) => ({
  [status]: { description: 'done', content: json(schema) },
});

export const thing = {
  type: 'object',
  additionalProperties: false,
  required: ['name'],
  properties: {
    name: { type: 'string', maxLength: 2_000_000 },
    tags: { type: 'array', items: open },
    more: open,
    /** Its time grows with the text two thousand times as fast. */
    code: { type: 'string', pattern: '[a-z]{2000}!' },
  },
};

/** Returns an OpenAPI document. `paths` adds or replaces operations. */
export function thingsContract(paths: Record<string, object> = {}): object {
  return {
    openapi: '3.1.1',
    info: { title: 'Things', version: '1' },
    servers: [{ url: '/' }],
    components: { securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } } },
    paths: {
      '/v1/things': {
        get: {
          operationId: 'listThings',
          security: [{ apiKey: ['things:read'] }],
          parameters: [{ name: 'q', in: 'query', schema: { type: 'string' } }],
          responses: answered('200'),
        },
        post: {
          operationId: 'createThing',
          security: [{ apiKey: ['things:write'] }],
          requestBody: { required: true, content: json(thing) },
          responses: answered('201'),
        },
      },
      '/v1/things/{id}': {
        get: {
          operationId: 'getThing',
          security: [{ apiKey: ['things:read'] }],
          parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
          responses: answered('200'),
        },
        patch: {
          operationId: 'updateThing',
          security: [{ apiKey: ['things:write'] }],
          parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
          requestBody: { content: json(open) },
          responses: answered('200'),
        },
      },
      '/v1/orders': {
        post: {
          operationId: 'placeOrder',
          security: [{ apiKey: ['orders:write'] }],
          'x-gateway-idempotency': 'required',
          requestBody: { required: true, content: json(thing) },
          responses: answered('201'),
        },
      },
      '/v1/strict': {
        get: {
          operationId: 'getStrict',
          security: [{ apiKey: ['strict:read'] }],
          'x-gateway-response': 'refuse',
          responses: answered('200', { type: 'object', required: ['id'] }),
        },
      },
      '/v1/files': {
        post: {
          operationId: 'uploadFile',
          security: [{ apiKey: ['files:write'] }],
          'x-gateway-body': 'stream',
          requestBody: { required: true, content: { 'application/octet-stream': {}, 'multipart/form-data': {} } },
          responses: answered('201'),
        },
        get: {
          operationId: 'downloadFile',
          security: [{ apiKey: ['files:read'] }],
          responses: { 200: { description: 'bytes', content: { 'application/octet-stream': {} } } },
        },
      },
      ...paths,
    },
  };
}

/** Returns the options of `startGateway` for these things at one upstream. */
export function thingsAt(url: string | readonly string[], entry: object = {}, paths?: Record<string, object>) {
  return {
    contracts: { 'things.yaml': thingsContract(paths) },
    upstreams: { things: { contracts: ['things.yaml'], live: url, ...entry } },
  };
}
