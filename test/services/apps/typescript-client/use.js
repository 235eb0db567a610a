// What an integration does first, with the client that @hey-api/openapi-ts makes of /openapi/v1.json. Prints what it got as JSON.
// @ts-check

import { createCustomer, downloadFile, listCustomers, retrieveCustomer, updateJob, uploadFile } from './v1';
import { client } from './v1/client.gen';

client.setConfig({ baseUrl: process.env.API_URL, auth: () => process.env.API_KEY });

/** @param {string} name */
async function create(name) {
  const headers = { 'Idempotency-Key': `create-${name}` };
  const { data, error, response } = await createCustomer({ body: { name }, headers });
  if (data === undefined) throw new Error(error.error.message);
  return { id: data.id, isReplayed: response?.headers.get('Idempotent-Replayed') === 'true' };
}

async function main() {
  const created = [await create('Ada'), await create('Grace'), await create('Edsger'), await create('Ada')];

  const listed = [];
  /** @type {string | null} */
  let cursor = null;
  let pages = 0;
  do {
    /** @type {NonNullable<import('./v1').ListCustomersData['query']>} */
    const query = { limit: 2, ...(cursor !== null && { cursor }) };
    const page = await listCustomers({ query });
    if (page.data === undefined) throw new Error(page.error.error.message);
    listed.push(...page.data.data.map(({ name }) => name));
    cursor = page.data.cursor;
    pages += 1;
  } while (cursor !== null && pages < 10);

  const retrieved = await retrieveCustomer({ path: { customer_id: created[0]?.id ?? '' } });
  const missing = await retrieveCustomer({ path: { customer_id: 'cus_0000000000000000' } });
  const invalid = await listCustomers({ query: { limit: 1000 } });
  const status = await updateJob({ path: { job_id: 'job_0000000000000000' }, body: { status: 'dispatched' } });

  const body = new Blob(['bytes of a file']);
  const uploaded = await uploadFile({ path: { name: 'a.txt' }, body });
  const downloaded = await downloadFile({ path: { name: 'a.txt' }, parseAs: 'text' });

  console.log(
    JSON.stringify({
      created,
      pages,
      listed,
      retrieved: retrieved.data?.name,
      missing: missing.error?.error.code,
      invalid: invalid.error?.error.errors?.map(({ param, code }) => [param, code]),
      status: status.error?.error.code,
      uploaded: uploaded.data?.size,
      downloaded: downloaded.data,
    }),
  );
}

main();
