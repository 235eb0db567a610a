// Keeps a start from loading undici. An import of node:http reads all of its members, and three of them, which the gateway does not use,
// load it: a thirtieth of the CPU of a start. Has to run before any module imports node:http.

const http = process.getBuiltinModule('node:http');
for (const name of ['WebSocket', 'CloseEvent', 'MessageEvent'])
  Object.defineProperty(http, name, { value: undefined, configurable: true, enumerable: true });
