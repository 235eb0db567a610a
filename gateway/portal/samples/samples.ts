// The languages of samples, in the order of their tabs.

import { curlSample } from './curl.ts';
import { goSample } from './go.ts';
import { javascriptSample } from './javascript.ts';
import { pythonSample } from './python.ts';
import type { SampleRequest } from './sample-request.ts';

interface SampleLanguage {
  readonly id: string;
  readonly label: string;
  /** The name of the language in Markdown, and for the marking of its words. */
  readonly code: string;
  write(request: SampleRequest): string;
}

export const LANGUAGES: readonly SampleLanguage[] = [
  { id: 'curl', label: 'curl', code: 'sh', write: curlSample },
  { id: 'javascript', label: 'JavaScript', code: 'js', write: javascriptSample },
  { id: 'python', label: 'Python', code: 'python', write: pythonSample },
  { id: 'go', label: 'Go', code: 'go', write: goSample },
];
