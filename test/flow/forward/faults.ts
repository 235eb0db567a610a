// Everything that can go wrong between the gateway and an upstream, and what the client gets for it.

import type { Socket } from 'node:net';
import type { ErrorCode } from '../../../gateway/catalogue/errors.ts';
import { httpAnswer, type Script } from '../../support/scripted-upstream.ts';

export interface Fault {
  readonly name: string;
  /** Runs on each connection before anything is read. */
  readonly welcome?: (socket: Socket) => void;
  readonly script: Script;
  /** The client's answer when no attempt is left; `cut`: an answer that visibly has no end. */
  readonly answer: ErrorCode | 'cut' | 'success';
  /** The same where nothing has been sent when the body breaks: to HEAD, and while an answer is held to be kept. It is repeated then. */
  readonly answerIfHeld?: ErrorCode;
  /** Whether sending it once more is of use, where that is safe. */
  readonly repeated: boolean;
}

const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';
const page = (status: number) => `HTTP/1.1 ${status} No\r\nContent-Type: text/html\r\nContent-Length: 99\r\n\r\n`;
const says = (text: string): Script => {
  return (socket) => void socket.write(text);
};
const saysAndCloses = (text: string): Script => {
  return (socket) => void socket.end(text);
};
/** The head and the beginning of the body are on their way to the client before the rest breaks. */
const breaks = (beginning: string): Script => {
  return (socket) => {
    socket.write(beginning);
    setTimeout(() => socket.end(), 60);
  };
};
const never: Script = () => undefined;

export const faults: readonly Fault[] = [
  {
    name: 'resets the connection when it has read the request',
    script: (socket) => socket.resetAndDestroy(),
    answer: 'upstream_bad_response',
    repeated: true,
  },
  {
    name: 'closes the connection when it has read the request',
    script: (socket) => void socket.end(),
    answer: 'upstream_bad_response',
    repeated: true,
  },
  {
    name: 'closes after half a head',
    script: saysAndCloses('HTTP/1.1 200 OK\r\nContent-'),
    answer: 'upstream_bad_response',
    repeated: true,
  },
  {
    name: 'closes after the head',
    script: saysAndCloses(`${head}Content-Length: 9\r\n\r\n`),
    answer: 'upstream_bad_response',
    repeated: true,
  },
  {
    name: 'sends something that is not HTTP',
    script: saysAndCloses('this is not HTTP\r\n\r\n'),
    answer: 'upstream_bad_response',
    repeated: false,
  },
  {
    name: 'closes in the middle of a body with a length',
    script: breaks(`${head}Content-Length: 9\r\n\r\n{"a"`),
    answer: 'cut',
    repeated: false,
    answerIfHeld: 'upstream_bad_response',
  },
  {
    name: 'closes in the middle of a body in chunks',
    script: breaks(`${head}Transfer-Encoding: chunked\r\n\r\n4\r\n{"a"\r\n`),
    answer: 'cut',
    repeated: false,
    answerIfHeld: 'upstream_bad_response',
  },
  { name: 'answers 500', script: says(httpAnswer(500, '{}')), answer: 'upstream_error', repeated: false },
  {
    name: 'answers 500 and closes in the middle of its page',
    script: breaks(`${page(500)}<html`),
    answer: 'upstream_error',
    repeated: false,
  },
  {
    name: 'answers 503 and closes in the middle of its page',
    script: breaks(`${page(503)}<html`),
    answer: 'upstream_unavailable',
    repeated: true,
  },
  { name: 'answers 502', script: says(httpAnswer(502, '{}')), answer: 'upstream_bad_response', repeated: true },
  { name: 'answers 503', script: says(httpAnswer(503, '{}')), answer: 'upstream_unavailable', repeated: true },
  {
    name: 'answers 503 with a long Retry-After',
    script: says(httpAnswer(503, '{}', { 'Retry-After': '17' })),
    answer: 'upstream_unavailable',
    repeated: false,
  },
  { name: 'answers 504', script: says(httpAnswer(504, '{}')), answer: 'upstream_timeout', repeated: true },
  { name: 'answers 429', script: says(httpAnswer(429, '{}')), answer: 'upstream_overloaded', repeated: false },
  {
    name: 'sends a head that is too large',
    script: says(`${head}X-Long: ${'x'.repeat(40_000)}\r\n\r\n`),
    answer: 'upstream_bad_response',
    repeated: false,
  },
  {
    name: 'announces two lengths',
    script: says(`${head}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`),
    answer: 'upstream_bad_response',
    repeated: false,
  },
  {
    name: 'sends interim answers first',
    script: says(`HTTP/1.1 102 Wait\r\n\r\nHTTP/1.1 103 Hints\r\nLink: </a>\r\n\r\n${httpAnswer(200, '{}')}`),
    answer: 'success',
    repeated: false,
  },
  {
    name: 'sends interim answers without end',
    script: says(`${'HTTP/1.1 103 Hints\r\n\r\n'.repeat(2000)}${httpAnswer(200, '{}')}`),
    answer: 'upstream_bad_response',
    repeated: false,
  },
];

/** Until its time is over. */
export const hangs: readonly Fault[] = [
  { name: 'hangs before the head', script: never, answer: 'upstream_timeout', repeated: true },
  {
    name: 'hangs in the middle of the head',
    script: says('HTTP/1.1 200 OK\r\nContent-'),
    answer: 'upstream_timeout',
    repeated: true,
  },
  {
    name: 'hangs in the middle of the body',
    script: says(`${head}Content-Length: 9\r\n\r\n{"a"`),
    answer: 'cut',
    repeated: false,
    answerIfHeld: 'upstream_timeout',
  },
  {
    name: 'answers 500 and hangs in the middle of its page',
    script: says(`${page(500)}<html`),
    answer: 'upstream_error',
    repeated: false,
  },
];
