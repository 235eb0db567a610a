// Keeps a start from loading undici. An import of node:http reads all of its members, and three of these members, which the gateway does
// not use, load undici. That would take a thirtieth of the CPU time of a start. This module has to run before any module imports node:http.

const http = process.getBuiltinModule('node:http');
for (const name of ['WebSocket', 'CloseEvent', 'MessageEvent'])
  Object.defineProperty(http, name, { value: undefined, configurable: true, enumerable: true });
