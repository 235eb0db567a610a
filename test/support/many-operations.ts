// A contract with as many operations as a test wants, in groups of ten.

export function manyOperations(count: number): object {
  const schema = {
    type: 'object',
    required: ['id'],
    properties: {
      id: { type: 'string', description: 'Identifier.' },
      tags: { type: 'array', items: { type: 'string' } },
      owner: { $ref: '#/components/schemas/Owner' },
    },
  };
  const paths = Array.from({ length: count }, (_, index) => [
    `/resource${index}/{id}`,
    {
      get: {
        operationId: `operation${index}`,
        summary: `Read resource ${index}`,
        tags: [`group ${Math.floor(index / 10)}`],
        parameters: [
          { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
          { name: 'fields', in: 'query', schema: { type: 'array', items: { type: 'string' } } },
        ],
        responses: {
          '200': {
            description: 'Done.',
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Resource' } } },
          },
        },
      },
    },
  ]);
  const owner = {
    type: 'object',
    properties: { name: { type: 'string' }, resource: { $ref: '#/components/schemas/Resource' } },
  };
  return {
    openapi: '3.1.0',
    info: { title: 'Many', version: '1' },
    paths: Object.fromEntries(paths),
    components: { schemas: { Resource: schema, Owner: owner } },
  };
}
