// In the manner of Stripe's description: OpenAPI 3.0 with form bodies, even for GET, and nested names in the query.

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const form = (properties: object, encoding: object = {}) => ({
  content: {
    'application/x-www-form-urlencoded': {
      encoding,
      schema: { additionalProperties: false, properties, type: 'object' },
    },
  },
  required: false,
});
const answers = (schema: object, type = 'application/json') => ({
  '200': { content: { [type]: { schema } }, description: 'Successful response.' },
  default: { content: { 'application/json': { schema: ref('error') } }, description: 'Error response.' },
});
const expand = {
  description: 'Specifies which fields in the response should be expanded.',
  explode: true,
  in: 'query',
  name: 'expand',
  required: false,
  schema: { items: { maxLength: 5000, type: 'string' }, type: 'array' },
  style: 'deepObject',
};
const id = (name: string) => ({
  in: 'path',
  name,
  required: true,
  schema: { maxLength: 20, type: 'string' },
  style: 'simple',
});

export const paymentsDocument = {
  openapi: '3.0.0',
  info: { title: 'Payments', version: '2024-04-10', 'x-payments-spec-filename': 'spec3', contact: { name: 'Us' } },
  servers: [{ url: 'https://api.payments.example/' }],
  security: [{ basicAuth: [] }, { bearerAuth: [] }],
  paths: {
    '/v1/charges': {
      get: {
        operationId: 'GetCharges',
        parameters: [
          {
            explode: true,
            in: 'query',
            name: 'created',
            required: false,
            schema: {
              anyOf: [
                {
                  properties: { gt: { type: 'integer' }, gte: { type: 'integer' }, lt: { type: 'integer' } },
                  title: 'range_query_specs',
                  type: 'object',
                },
                { type: 'integer' },
              ],
            },
            style: 'deepObject',
          },
          { in: 'query', name: 'limit', required: false, schema: { type: 'integer', maximum: 100 }, style: 'form' },
          expand,
        ],
        requestBody: form({}),
        responses: answers({
          properties: { data: { items: ref('charge'), type: 'array' }, has_more: { type: 'boolean' } },
          required: ['data', 'has_more'],
          type: 'object',
          'x-expandableFields': ['data'],
        }),
      },
      post: {
        operationId: 'PostCharges',
        requestBody: form(
          {
            amount: { type: 'integer' },
            currency: { type: 'string', format: 'currency' },
            metadata: {
              anyOf: [
                { additionalProperties: { type: 'string' }, type: 'object' },
                { enum: [''], type: 'string' },
              ],
            },
          },
          { metadata: { explode: true, style: 'deepObject' } },
        ),
        responses: answers(ref('charge')),
      },
    },
    '/v1/charges/{charge}': {
      get: {
        operationId: 'GetChargesCharge',
        parameters: [id('charge'), expand],
        requestBody: form({}),
        responses: answers(ref('charge')),
      },
    },
    '/v1/charges/{charge}/refunds/{refund}': {
      delete: {
        operationId: 'DeleteChargesChargeRefundsRefund',
        parameters: [id('charge'), id('refund')],
        requestBody: form({ reason: { type: 'string' } }),
        responses: answers({ anyOf: [ref('charge'), ref('error')], 'x-resourceId': 'deleted_refund' }),
      },
    },
    '/v1/files': {
      servers: [{ url: 'https://files.payments.example/' }],
      post: {
        operationId: 'PostFiles',
        requestBody: {
          content: {
            'multipart/form-data': {
              encoding: {},
              schema: {
                properties: { file: { type: 'string', format: 'binary' }, purpose: { enum: ['logo'], type: 'string' } },
                required: ['file', 'purpose'],
                type: 'object',
              },
            },
          },
          required: true,
        },
        responses: answers(ref('charge')),
      },
    },
    '/v1/quotes/{quote}/pdf': {
      get: {
        operationId: 'GetQuotesQuotePdf',
        parameters: [id('quote')],
        responses: answers({ format: 'binary', type: 'string' }, 'application/pdf'),
      },
    },
  },
  components: {
    securitySchemes: {
      basicAuth: { type: 'http', scheme: 'basic', description: 'The key is the user name.' },
      bearerAuth: { type: 'http', scheme: 'bearer', bearerFormat: 'auth-scheme' },
    },
    schemas: {
      charge: {
        properties: {
          id: { maxLength: 5000, type: 'string' },
          customer: {
            anyOf: [{ maxLength: 5000, type: 'string' }, ref('customer')],
            nullable: true,
            'x-expansionResources': { oneOf: [ref('customer')] },
          },
          object: { enum: ['charge'], type: 'string' },
        },
        required: ['id', 'object'],
        type: 'object',
        'x-resourceId': 'charge',
      },
      customer: {
        properties: { default_charge: { anyOf: [{ type: 'string' }, ref('charge')], nullable: true } },
        type: 'object',
      },
      error: {
        properties: { error: { type: 'object', properties: { message: { type: 'string', nullable: true } } } },
        required: ['error'],
        type: 'object',
      },
    },
  },
};
