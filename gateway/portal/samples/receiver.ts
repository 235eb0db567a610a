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

const STORE = 'Store it, then answer. Do slow work afterwards.';

export function receiverSamples(received: Received): readonly ReceiverSample[] {
  const { method } = received;
  const status = received.answers.find((answer) => /^2\d\d$/.test(answer.status))?.status ?? '204';
  const signed = received.headers.find(({ name }) => /^[\w-]*signature[\w-]*$/i.test(name))?.name;
  const check = signed && `Check that ${signed} fits the body.`;
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
import { text } from 'node:stream/consumers';

createServer(async (request, response) => {
  if (request.method !== '${method}')
    return response.writeHead(405).end();
  try {
    const body = await text(request);${check ? `\n    // ${check}` : ''}
    const payload = JSON.parse(body);
    // ${STORE}
    console.log(payload);
    response.writeHead(${status}).end();
  } catch {
    response.writeHead(400).end();
  }
}).listen(3000);`;

const python = (method: string, status: string, check: string | undefined) => `import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Receiver(BaseHTTPRequestHandler):
    def do_${method}(self):
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length)${check ? `\n        # ${check}` : ''}
        try:
            payload = json.loads(body)
        except ValueError:
            return self.send_error(400)
        # ${STORE}
        print(payload)
        self.send_response(${status})
        self.end_headers()


ThreadingHTTPServer(("", 3000), Receiver).serve_forever()`;
