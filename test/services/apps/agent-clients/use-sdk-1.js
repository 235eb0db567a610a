// Uses the endpoint with the client of the earlier revisions: node use-sdk-1.js URL KEY READER_KEY

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { use } from './use.js';

const [url, key, readerKey] = process.argv.slice(2);

async function connect(token) {
  const client = new Client({ name: 'test', version: '1' });
  const requestInit = { headers: { Authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  return { client, call: (name, given) => client.callTool({ name, arguments: given }) };
}

console.log(JSON.stringify(await use(await connect(key), await connect(readerKey))));
process.exit(0);
