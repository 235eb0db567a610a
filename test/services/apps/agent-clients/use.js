// What each client does: lists tools, pages through customers, creates a job twice with one key, and is refused by scope and validation.

import { randomUUID } from 'node:crypto';

export async function use(full, reader) {
  const { tools } = await full.client.listTools();
  const { tools: own } = await reader.client.listTools();
  const customers = [];
  let cursor;
  let pages = 0;
  do {
    const page = await full.call('listCustomers', { limit: 2, ...(cursor === undefined ? {} : { cursor }) });
    customers.push(...page.structuredContent.data.map(({ name }) => name));
    cursor = page.structuredContent.cursor ?? undefined;
    pages += 1;
  } while (cursor !== undefined);
  const customer = await full.call('createCustomer', { body: { name: 'Ada' } });
  const job = {
    idempotency_key: randomUUID(),
    body: {
      customer_id: customer.structuredContent.id,
      service_type: 'repair',
      scheduled_at: '2030-01-01T09:00:00Z',
    },
  };
  const [first, second] = [await full.call('createJob', job), await full.call('createJob', job)];
  const scope = await reader.call('createJob', job);
  const invalid = await full.call('listCustomers', { limit: 500 });
  const limited = [];
  for (let round = 0; round < 60 && limited.length === 0; round += 1) {
    const answer = await reader.call('listCustomers', { limit: 1 });
    if (answer.isError) limited.push(answer.structuredContent.error.code);
  }
  return {
    tools: tools.map(({ name }) => name),
    own: own.map(({ name }) => name),
    customers: customers.length,
    pages,
    jobs: new Set([first, second].map(({ structuredContent }) => structuredContent.id)).size,
    scope: scope.structuredContent.error.code,
    invalid: invalid.structuredContent.error.code,
    limited,
  };
}
