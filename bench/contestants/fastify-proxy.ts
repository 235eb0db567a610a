// Bare fastify with @fastify/http-proxy and nothing else, as it comes: connections to the upstream are kept, up to 128 of them.

import proxy from '@fastify/http-proxy';
import fastify from 'fastify';

const [port, upstream] = process.argv.slice(2);

const app = fastify({ keepAliveTimeout: 60_000 });
await app.register(proxy, { upstream: upstream as string });
await app.listen({ port: Number(port), host: '127.0.0.1' });
