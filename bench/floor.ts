// The floor: the least a proxy on this Node can do. Bare node:http in front, undici's dispatch behind, nothing in between.

import { createServer, type ServerResponse } from 'node:http';
import { type Dispatcher, Pool } from 'undici';

const [port, upstream] = process.argv.slice(2);
// The gateway's settings, so that the difference is the gateway's own work.
const pool = new Pool(upstream as string, { connections: 16, headersTimeout: 0, bodyTimeout: 0 });

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const body = request.method === 'GET' ? null : request;
  pool.dispatch(
    {
      method: request.method as Dispatcher.HttpMethod,
      path: request.url as string,
      headers: sentOn(request.headers),
      body,
    },
    relay(response),
  );
});
server.listen(Number(port), '127.0.0.1');

function sentOn(headers: NodeJS.Dict<string | string[]>): Record<string, string> {
  const { accept = '*/*', 'content-type': type, 'content-length': length } = headers as NodeJS.Dict<string>;
  return { accept, ...(type ? { 'content-type': type } : {}), ...(length ? { 'content-length': length } : {}) };
}

function relay(response: ServerResponse): Dispatcher.DispatchHandler {
  return {
    onRequestStart() {},
    onResponseStart(_controller, status, headers) {
      const { 'content-type': type = '', 'content-length': length = '' } = headers as NodeJS.Dict<string>;
      response.writeHead(status, ['content-type', type, 'content-length', length]);
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
