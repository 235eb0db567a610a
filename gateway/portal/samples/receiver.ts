// Pure: programs that receive the request of a webhook with a JSON payload, with nothing but the standard library of their language.

interface Received {
  /** In upper case. */
  readonly method: string;
  readonly headers: readonly { readonly name: string }[];
  readonly answers: readonly { readonly status: string }[];
}

interface ReceiverSample {
  readonly id: string;
  readonly label: string;
  /** The name of the language in Markdown, and for the marking of its words. */
  readonly code: string;
  readonly text: string;
}

const STORE = 'Store it. Do slow work after the answer.';

export function receiverSamples(received: Received): readonly ReceiverSample[] {
  const { method } = received;
  const status = received.answers.find((answer) => /^2\d\d$/.test(answer.status))?.status ?? '204';
  const signed = received.headers.find(({ name }) => /^[\w-]*signature[\w-]*$/i.test(name))?.name;
  const check = signed && `Before you trust the payload, check its ${signed}.`;
  return [
    { id: 'javascript', label: 'JavaScript', code: 'js', text: javascript(method, status, check) },
    { id: 'python', label: 'Python', code: 'python', text: python(method, status, check) },
  ];
}

const javascript = (
  method: string,
  status: string,
  check: string | undefined,
) => `import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';

createServer(async (request, response) => {
  if (request.method !== '${method}') return response.writeHead(405).end();
  try {
    const payload = await json(request);${check ? `\n    // ${check}` : ''}
    console.log(payload); // ${STORE}
    response.writeHead(${status}).end();
  } catch {
    response.writeHead(400).end();
  }
}).listen(3000);`;

const python = (method: string, status: string, check: string | undefined) => `import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Receiver(BaseHTTPRequestHandler):
    def do_${method}(self):
        try:
            payload = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        except ValueError:
            return self.send_error(400)${check ? `\n        # ${check}` : ''}
        print(payload)  # ${STORE}
        self.send_response(${status})
        self.end_headers()


ThreadingHTTPServer(("", 3000), Receiver).serve_forever()`;
