// A contract of a service that does not exist yet, and a gateway that answers from it.

import { ask, requestOf } from '../../support/connection.ts';
import { type GatewayOptions, startGateway } from '../../support/gateway.ts';

const order = {
  type: 'object',
  additionalProperties: false,
  required: ['id', 'total', 'state'],
  properties: {
    id: { type: 'string', pattern: '^ord_[0-9a-z]{8}$', readOnly: true },
    total: { type: 'integer', minimum: 1 },
    state: { enum: ['open', 'paid'] },
    secret: { type: 'string', writeOnly: true },
    placed_at: { type: 'string', format: 'date-time' },
  },
};
const json = (rest: object) => ({ 'application/json': rest });
const failure = (code: string, status: number) => ({
  value: { error: { type: 'invalid_request_error', code, message: `It is ${code}.`, status } },
});
const problems = {
  description: 'refused',
  content: json({
    schema: { type: 'object', required: ['error'] },
    examples: { order_gone: failure('order_gone', 410), order_missing: failure('order_missing', 404) },
  }),
};
const orderSchema = { $ref: '#/components/schemas/Order' };
const ofOne = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };
const responses = (success: object) => ({ ...success, '4XX': problems });

export function plannedContract(paths: object = {}): Record<string, object> {
  return {
    openapi: '3.1.1' as never,
    info: { title: 'Orders', version: '1' },
    security: [{ apiKey: ['orders:read'] }] as object,
    components: { securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } }, schemas: { Order: order } },
    paths: {
      '/v1/orders': {
        get: {
          operationId: 'listOrders',
          responses: responses({
            200: {
              description: 'orders',
              content: json({
                schema: {
                  type: 'object',
                  required: ['data'],
                  properties: { data: { type: 'array', items: orderSchema } },
                },
                examples: {
                  several: { value: { data: [{ id: 'ord_00000001', total: 5, state: 'open' }] } },
                  empty: { value: { data: [] } },
                },
              }),
            },
          }),
        },
        post: {
          operationId: 'placeOrder',
          requestBody: { required: true, content: json({ schema: orderSchema }) },
          responses: responses({
            201: {
              description: 'placed',
              headers: {
                Location: { required: true, schema: { type: 'string' } },
                ETag: { schema: { type: 'string' } },
                'X-Place': { required: true, schema: { type: 'string', pattern: '^[A-Z]{2}$' } },
              },
              content: json({ schema: orderSchema }),
            },
          }),
        },
      },
      '/v1/orders/{id}': {
        parameters: [
          {
            ...ofOne,
            examples: { 404: { value: 'ord_missing' }, order_gone: { value: 'ord_gone' }, paid: { value: 'ord_1' } },
          },
        ],
        get: {
          operationId: 'getOrder',
          responses: responses({ 200: { description: 'order', content: json({ schema: orderSchema }) } }),
        },
        delete: { operationId: 'deleteOrder', responses: responses({ 204: { description: 'gone' } }) },
      },
      ...paths,
    },
  };
}

interface PlannedOptions extends GatewayOptions {
  readonly paths?: object;
  /** Members of the entry in upstreams.yaml. */
  readonly entry?: object;
}

export async function startPlanned({ paths, entry, ...options }: PlannedOptions = {}) {
  const gateway = await startGateway({
    contracts: { 'orders.yaml': plannedContract(paths) },
    upstreams: { orders: { contracts: ['orders.yaml'], live: 'examples:', ...entry } },
    ...options,
  });
  const { authorization } = await gateway.authorize();
  return {
    gateway,
    authorization,
    /** One request on a connection of its own. */
    call: (line: string, headers: Record<string, string> = {}, body?: string) =>
      ask(gateway.port, requestOf(line, { Authorization: authorization, ...headers }, body)),
  };
}
