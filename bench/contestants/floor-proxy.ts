// The floor: the least a proxy on this Node can do. Bare node:http in front, undici's dispatch behind; it forwards both ways without the
// hop-by-hop fields, and inspects nothing.

import { createServer, type ServerResponse } from 'node:http';
import { type Dispatcher, Pool } from 'undici';

const [port, upstream] = process.argv.slice(2);
// The gateway's settings, so that the difference is the gateway's own work.
const pool = new Pool(upstream as string, { connections: 16, headersTimeout: 0, bodyTimeout: 0 });
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'transfer-encoding', 'host', 'date']);

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const { method, url, rawHeaders } = request;
  const headers: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] as string).toLowerCase();
    if (!HOP_BY_HOP.has(name)) headers.push(name, rawHeaders[i + 1] as string);
  }
  const body = method === 'GET' ? null : request;
  pool.dispatch({ method: method as Dispatcher.HttpMethod, path: url as string, headers, body }, relayTo(response));
});
server.listen(Number(port), '127.0.0.1');

function relayTo(response: ServerResponse): Dispatcher.DispatchHandler {
  return {
    onRequestStart() {},
    onResponseStart(_controller, status, headers) {
      const sent: string[] = [];
      for (const name in headers) if (!HOP_BY_HOP.has(name)) sent.push(name, headers[name] as string);
      response.writeHead(status, sent);
    },
    onResponseData(_controller, chunk) {
      response.write(chunk);
    },
    onResponseEnd() {
      response.end();
    },
    onResponseError() {
      response.destroy();
    },
  };
}
