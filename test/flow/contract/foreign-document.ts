// A document as another company would publish it, without knowledge of this gateway.

const json = (schema: object) => ({ content: { 'application/json': { schema } } });
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const fine = { 200: { description: 'OK' } };

export const foreignDocument = {
  openapi: '3.0.3',
  info: { title: 'Ledger', version: '2024-10-01', license: { name: 'MIT' }, 'x-logo': { url: 'logo.png' } },
  servers: [{ url: 'https://{region}.ledger.example/api/v2', variables: { region: { default: 'eu' } } }],
  security: [{ AppKey: [], AppId: [] }, { OAuth: ['ledger.read'] }],
  tags: [{ name: 'Accounts' }],
  paths: {
    '/accounts': {
      get: {
        tags: ['Accounts'],
        parameters: [
          { $ref: '#/components/parameters/Fields' },
          {
            name: 'filter',
            in: 'query',
            style: 'deepObject',
            schema: { type: 'object', properties: { open: { type: 'boolean' } } },
          },
          { name: 'min', in: 'query', schema: { type: 'number', minimum: 0, exclusiveMinimum: true } },
        ],
        responses: { 200: { description: 'OK', ...json({ type: 'array', items: ref('Account') }) } },
      },
      post: {
        operationId: 'AddAccount',
        requestBody: { required: true, ...json(ref('Account')) },
        responses: { 201: { description: 'Created', ...json(ref('Account')) } },
      },
    },
    '/accounts/{id}.{format}': {
      parameters: [
        { name: 'id', in: 'path', required: true, schema: { type: 'integer' } },
        { name: 'format', in: 'path', required: true, schema: { type: 'string', enum: ['csv', 'pdf'] } },
      ],
      get: {
        operationId: 'Export Account',
        responses: { 200: { description: 'OK', content: { 'text/csv': {}, 'application/pdf': {} } } },
      },
    },
    '/diff/{base}...{head}': {
      get: {
        parameters: ['base', 'head'].map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
        responses: fine,
      },
    },
    '/documents': {
      post: {
        requestBody: {
          content: {
            'application/octet-stream': { schema: { type: 'string', format: 'binary' } },
            'image/*': {},
            'multipart/form-data': {
              schema: { type: 'object', properties: { file: { type: 'string', format: 'binary' } } },
            },
          },
        },
        responses: { 202: { description: 'Accepted' } },
      },
    },
    '/token': {
      post: {
        security: [],
        requestBody: {
          content: {
            'application/x-www-form-urlencoded': {
              schema: { type: 'object', required: ['grant'], properties: { grant: { type: 'string' } } },
            },
          },
        },
        responses: fine,
      },
    },
    '/ping': { get: { security: [{}], deprecated: true, responses: { default: { description: 'Whatever' } } } },
  },
  components: {
    securitySchemes: {
      AppKey: { type: 'apiKey', in: 'query', name: 'app_key' },
      AppId: { type: 'apiKey', in: 'header', name: 'X-App-Id' },
      OAuth: {
        type: 'oauth2',
        flows: { clientCredentials: { tokenUrl: 'https://ledger.example/token', scopes: { 'ledger.read': 'Read' } } },
      },
    },
    parameters: {
      Fields: {
        name: 'fields',
        in: 'query',
        style: 'pipeDelimited',
        explode: false,
        schema: { type: 'array', items: { type: 'string', enum: ['id', 'owner'] } },
      },
    },
    schemas: {
      Account: {
        type: 'object',
        required: ['id', 'owner', 'kind'],
        properties: {
          id: { type: 'integer', format: 'int64', readOnly: true },
          kind: { type: 'string', enum: ['asset', 'debt'] },
          owner: {
            oneOf: [ref('Person'), ref('Company')],
            discriminator: {
              propertyName: 'type',
              mapping: { person: '#/components/schemas/Person', company: 'Company' },
            },
          },
          parent: { nullable: true, allOf: [ref('Account')] },
          children: { type: 'array', items: ref('Account') },
          note: { type: 'string', nullable: true, maxLength: 5 },
        },
        example: { nullable: true },
      },
      Person: {
        type: 'object',
        required: ['type', 'surname'],
        properties: { type: { type: 'string' }, surname: { type: 'string' } },
      },
      Company: {
        type: 'object',
        required: ['type', 'vat'],
        properties: { type: { type: 'string' }, vat: { type: 'string', pattern: '^([A-Z]{2})?(\\d+-?)+$' } },
      },
    },
  },
};
