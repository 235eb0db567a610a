// A document as Django REST framework and NestJS make it: OpenAPI 3.0, references that may be null, a licence by its name alone.

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const orNull = (name: string, also: object = {}) => ({ ...also, nullable: true, allOf: [ref(name)] });
const json = (schema: object) => ({ 'application/json': { schema } });
const id = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };

export const nullableDocument = {
  openapi: '3.0.3',
  info: { title: 'Pets', version: '1', license: { name: 'Apache 2.0' } },
  servers: [{ url: '/' }],
  paths: {
    '/pets/{id}': {
      get: {
        operationId: 'getPet',
        tags: ['pets'],
        parameters: [id, { name: 'kind', in: 'query', schema: orNull('Kind') }],
        responses: { '200': { description: 'Done.', content: json(orNull('Pet')) } },
      },
      put: {
        operationId: 'putPet',
        tags: ['pets'],
        parameters: [id],
        requestBody: { content: json(orNull('Pet')) },
        responses: { '200': { description: 'Done.', content: json({ type: 'array', items: orNull('Pet') }) } },
      },
    },
  },
  components: {
    schemas: {
      Pet: {
        type: 'object',
        required: ['owner', 'kind'],
        properties: {
          owner: orNull('Owner'),
          keeper: orNull('Owner', { readOnly: true, title: 'Keeper', description: 'While the owner is away.' }),
          mother: orNull('Pet'),
          kind: { nullable: true, oneOf: [ref('Kind'), ref('Blank'), ref('Null')] },
          size: orNull('Kind', { default: null }),
          homes: { type: 'object', additionalProperties: orNull('Owner') },
          friends: { type: 'array', nullable: true, items: orNull('Pet') },
          typed: orNull('Owner', { type: 'object' }),
          home: ref('Home'),
        },
      },
      Owner: { type: 'object', properties: { name: { type: 'string', nullable: true } } },
      Home: { type: 'object', nullable: true, properties: { street: { type: 'string' } } },
      Kind: { type: 'string', enum: ['cat', 'dog'] },
      Blank: { enum: [''] },
      Null: { enum: [null] },
    },
  },
};
