// In the manner of Jira's description: OpenAPI 3.0.1, several parameters in one segment, objects that are open to anything, schemas that
// refer to each other in circles.

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const json = (schema: object, example?: string) => ({
  content: { 'application/json': { schema, ...(example === undefined ? {} : { example }) } },
});
const path = (name: string, schema: object = { type: 'string' }) => ({
  name,
  in: 'path',
  description: `The <em>${name}</em>.`,
  required: true,
  schema,
});
const query = (name: string, schema: object, rest: object = {}) => ({ name, in: 'query', schema, ...rest });
const security = [{ basicAuth: [] }, { OAuth2: ['read:tracker-work'] }, {}];
const marks = {
  'x-tracker-connect-scope': 'READ',
  'x-experimental': true,
  'x-tracker-oauth2-scopes': [{ state: 'Beta' }],
};

export const trackerDocument = {
  openapi: '3.0.1',
  info: { title: 'Tracker', version: '1001.0.0-SNAPSHOT', termsOfService: 'http://tracker.example/terms/' },
  externalDocs: { description: 'More.', url: 'http://tracker.example' },
  servers: [{ url: 'https://your-domain.tracker.example' }],
  'x-tracker-narrative': { documents: [{ anchor: 'about', title: 'About', body: '## About' }] },
  tags: [{ name: 'Issues', description: 'Issues.' }],
  paths: {
    '/rest/api/3/issue': {
      post: {
        tags: ['Issues'],
        operationId: 'createIssue',
        security,
        ...marks,
        parameters: [query('updateHistory', { type: 'boolean', default: false })],
        requestBody: { required: true, ...json(ref('IssueUpdateDetails'), '{"fields":{"summary":"$ref: nothing"}}') },
        responses: { 201: { description: 'Created', ...json(ref('Issue'), '{"id":"10000"}') } },
      },
    },
    '/rest/api/3/issue/{issueIdOrKey}': {
      get: {
        operationId: 'getIssue',
        security,
        parameters: [
          path('issueIdOrKey'),
          query('fields', { type: 'array', items: { type: 'string', default: '*all' } }),
          query('properties', { type: 'array', maxItems: 2, items: { type: 'string' } }, { explode: false }),
        ],
        responses: { 200: { description: 'OK', ...json(ref('Issue')) }, 404: { description: 'None.' } },
      },
    },
    '/rest/api/3/issue/{issueIdOrKey}/properties/{propertyKey}': {
      put: {
        operationId: 'setIssueProperty',
        security,
        parameters: [path('issueIdOrKey'), path('propertyKey', { type: 'string', maxLength: 255 })],
        requestBody: { required: true, ...json({}) },
        responses: { 200: { description: 'OK', ...json({}) } },
      },
    },
    '/rest/api/3/issue/{issueIdOrKey}/attachments': {
      post: {
        operationId: 'addAttachment',
        security,
        parameters: [
          path('issueIdOrKey'),
          { name: 'X-Tracker-Token', in: 'header', required: true, schema: { type: 'string', enum: ['no-check'] } },
        ],
        requestBody: {
          required: true,
          content: {
            'multipart/form-data': { schema: { type: 'array', items: { $ref: '#/components/schemas/File' } } },
          },
        },
        responses: { 200: { description: 'OK', ...json({ type: 'array', items: { type: 'object' } }) } },
      },
    },
    '/rest/api/3/project/{key}-{number}/compare/{base}...{head}': {
      get: {
        operationId: 'compare',
        security,
        parameters: [
          path('key', { type: 'string', pattern: '^(?!ADMIN)[A-Z][A-Z0-9]+$' }),
          path('number', { type: 'integer', format: 'int64' }),
          path('base'),
          path('head'),
        ],
        responses: { 200: { description: 'OK', ...json({ type: 'object', additionalProperties: true }) } },
      },
    },
    '/rest/api/3/avatar/{id}.{kind}': {
      get: {
        operationId: 'avatar',
        security,
        parameters: [path('id', { type: 'integer' }), path('kind', { type: 'string', enum: ['png', 'svg'] })],
        responses: { 200: { description: 'OK', content: { 'image/*': {}, 'application/json': {} } } },
      },
    },
    '/rest/api/3/workflow/rule': {
      post: {
        operationId: 'addRule',
        security,
        requestBody: { required: true, ...json(ref('Condition')) },
        responses: { 204: { description: 'Done' } },
      },
    },
    '/rest/api/3/expression/eval': {
      post: {
        operationId: 'evaluate',
        security,
        requestBody: { required: true, ...json(ref('Evaluation')) },
        responses: { 200: { description: 'OK', ...json({}) } },
      },
    },
  },
  components: {
    securitySchemes: {
      basicAuth: { type: 'http', scheme: 'basic' },
      OAuth2: {
        type: 'oauth2',
        flows: {
          authorizationCode: {
            authorizationUrl: 'https://auth.tracker.example/authorize',
            tokenUrl: 'https://auth.tracker.example/token',
            scopes: { 'read:tracker-work': 'Read.' },
          },
        },
      },
    },
    schemas: {
      File: { type: 'object', properties: { name: { type: 'string' }, inputStream: { type: 'object' } } },
      Issue: {
        type: 'object',
        properties: {
          id: { type: 'string', readOnly: true },
          fields: { type: 'object', additionalProperties: {}, readOnly: true },
          parent: ref('Issue'),
          names: { type: 'object', additionalProperties: { type: 'string', readOnly: true }, readOnly: true },
        },
        additionalProperties: false,
        xml: { name: 'issueBean' },
      },
      IssueUpdateDetails: {
        type: 'object',
        required: ['fields'],
        properties: {
          fields: {
            type: 'object',
            required: ['summary'],
            properties: { summary: { type: 'string', maxLength: 255 } },
            additionalProperties: {},
          },
          update: { type: 'object', additionalProperties: { type: 'array', items: ref('FieldUpdateOperation') } },
          transition: { allOf: [ref('Transition')], nullable: true, writeOnly: true },
          historyMetadata: { $ref: '#/components/schemas/Transition', description: 'Beside a reference.' },
        },
        additionalProperties: true,
      },
      FieldUpdateOperation: {
        type: 'object',
        properties: { add: { example: 'triaged' }, set: {}, copy: {} },
        additionalProperties: false,
        minProperties: 1,
      },
      Transition: {
        type: 'object',
        properties: { id: { type: 'string' }, issues: { type: 'array', items: ref('Issue') }, to: ref('Transition') },
        additionalProperties: true,
      },
      Condition: {
        type: 'object',
        oneOf: [ref('CompoundCondition'), ref('SimpleCondition')],
        required: ['nodeType'],
        properties: { nodeType: { type: 'string' } },
        discriminator: {
          propertyName: 'nodeType',
          mapping: {
            compound: '#/components/schemas/CompoundCondition',
            simple: '#/components/schemas/SimpleCondition',
          },
        },
      },
      CompoundCondition: {
        type: 'object',
        required: ['conditions', 'operator', 'nodeType'],
        properties: {
          nodeType: { type: 'string' },
          operator: { type: 'string', enum: ['AND', 'OR'] },
          conditions: { type: 'array', items: ref('Condition') },
        },
      },
      SimpleCondition: {
        type: 'object',
        required: ['type', 'nodeType'],
        properties: {
          nodeType: { type: 'string' },
          type: { type: 'string' },
          configuration: { type: 'object', additionalProperties: {} },
        },
      },
      Evaluation: {
        type: 'object',
        required: ['expression'],
        properties: {
          expression: { type: 'string' },
          context: {
            allOf: [
              { type: 'object', properties: { issue: { $ref: '#/components/schemas/Issue' } } },
              { type: 'object', additionalProperties: ref('Evaluation') },
            ],
          },
          timeout: { type: 'number', format: 'double', minimum: 0, exclusiveMinimum: true },
        },
        additionalProperties: false,
      },
    },
  },
};
