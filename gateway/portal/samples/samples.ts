// The languages of samples, in the order of their tabs.

import { curlSample } from './curl.ts';
import { goSample } from './go.ts';
import { javascriptSample } from './javascript.ts';
import { pythonSample } from './python.ts';
import type { SampleRequest } from './sample-request.ts';
import { curlMessages, goMessages, javascriptMessages, pythonMessages } from './web-socket.ts';

interface SampleLanguage {
  readonly id: string;
  readonly label: string;
  /** The name of the language in Markdown, and for the marking of its words. */
  readonly code: string;
  write(request: SampleRequest): string;
}

type Write = SampleLanguage['write'];

const writes =
  (write: Write, messages: Write): Write =>
  (request) =>
    request.response === 'messages' ? messages(request) : write(request);

export const LANGUAGES: readonly SampleLanguage[] = [
  { id: 'curl', label: 'curl', code: 'sh', write: writes(curlSample, curlMessages) },
  { id: 'javascript', label: 'JavaScript', code: 'js', write: writes(javascriptSample, javascriptMessages) },
  { id: 'python', label: 'Python', code: 'python', write: writes(pythonSample, pythonMessages) },
  { id: 'go', label: 'Go', code: 'go', write: writes(goSample, goMessages) },
];
