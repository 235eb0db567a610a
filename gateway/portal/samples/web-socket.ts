// Makes samples of operations that open a WebSocket. A sample prints messages until the connection is closed.

import { authorizationOf, type SampleRequest } from './sample-request.ts';

/** Returns the headers of the handshake. */
function headersOf(request: SampleRequest): (readonly [name: string, value: string])[] {
  const authorization = authorizationOf(request);
  return [...(authorization === undefined ? [] : [['Authorization', authorization] as const]), ...request.headers];
}

function addressOf({ url }: SampleRequest): string {
  return JSON.stringify(url.replace(/^http/, 'ws'));
}

export function curlMessages(request: SampleRequest): string {
  const headers = headersOf(request).map(([name, value]) => ` \\\n  -H ${JSON.stringify(`${name}: ${value}`)}`);
  return `# Needs curl 8.11 or newer
curl -N ${addressOf(request)}${headers.join('')}`;
}

export function javascriptMessages(request: SampleRequest): string {
  const headers = headersOf(request).map(([name, value]) => `    ${JSON.stringify(name)}: ${JSON.stringify(value)},\n`);
  return `// Node.js 22 or newer, or Bun: a browser cannot send the header
const socket = new WebSocket(${addressOf(request)}, {
  headers: {
${headers.join('')}  },
});
socket.addEventListener('open', () => console.log('connected'));
socket.addEventListener('message', ({ data }) => console.log(data));
socket.addEventListener('close', ({ code, reason }) => console.log('closed', code, reason));
socket.addEventListener('error', ({ message }) => console.error(message));`;
}

export function pythonMessages(request: SampleRequest): string {
  const headers = headersOf(request).map(
    ([name, value]) => `        ${JSON.stringify(name)}: ${JSON.stringify(value)},\n`,
  );
  return `# pip install websockets
from websockets.sync.client import connect

with connect(
    ${addressOf(request)},
    additional_headers={
${headers.join('')}    },
) as socket:
    print("connected", flush=True)
    for message in socket:
        print(message, flush=True)`;
}

export function goMessages(request: SampleRequest): string {
  const headers = headersOf(request).map(
    ([name, value]) => `\theaders.Set(${JSON.stringify(name)}, ${JSON.stringify(value)})\n`,
  );
  return `// go get github.com/coder/websocket
package main

import (
\t"context"
\t"fmt"
\t"net/http"

\t"github.com/coder/websocket"
)

func main() {
\tcontext := context.Background()
\theaders := http.Header{}
${headers.join('')}\tsocket, _, err := websocket.Dial(context, ${addressOf(request)}, &websocket.DialOptions{HTTPHeader: headers})
\tif err != nil {
\t\tpanic(err)
\t}
\tdefer socket.CloseNow()
\tfmt.Println("connected")
\tfor {
\t\t_, message, err := socket.Read(context)
\t\tif err != nil {
\t\t\tpanic(err)
\t\t}
\t\tfmt.Println(string(message))
\t}
}`;
}
