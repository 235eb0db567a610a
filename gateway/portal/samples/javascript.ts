// Makes a sample in JavaScript with `fetch`, which Node.js, Deno, Bun and browsers provide.

import { authorizationOf, type SampleContent, type SampleRequest } from './sample-request.ts';

export function javascriptSample(request: SampleRequest): string {
  const { method, url, headers, uniqueHeader, body, credentials, response } = request;
  const authorization = authorizationOf(request);
  const fields = [
    ...(authorization === undefined ? [] : [`    Authorization: ${text(authorization)},`]),
    ...(credentials === 'basic' ? ["    Authorization: 'Basic ' + btoa('USER:PASSWORD'),"] : []),
    ...headers.map(([name, value]) => `    ${/^[A-Za-z]+$/.test(name) ? name : text(name)}: ${text(value)},`),
    ...(uniqueHeader === undefined ? [] : [`    ${text(uniqueHeader)}: crypto.randomUUID(),`]),
  ];
  const members = [
    ...(method === 'GET' ? [] : [`  method: ${text(method)},`]),
    ...(fields.length === 0 ? [] : ['  headers: {', ...fields, '  },']),
    ...(body === undefined ? [] : [`  body: ${indent(expressionOf(body))},`]),
  ];
  const options = members.length === 0 ? '' : `, {\n${members.join('\n')}\n}`;
  return `${linesBefore(body)}const response = await fetch(${text(url)}${options});
${response === 'lines' ? PRINT_LINES : 'console.log(response.status, await response.text());'}`;
}

const PRINT_LINES = `console.log(response.status);
let rest = '';
for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
  const lines = (rest + text).split('\\n');
  rest = lines.pop();
  for (const line of lines) console.log(line);
}`;

function linesBefore(body: SampleContent | undefined): string {
  if (body?.kind === 'file') return "import { readFile } from 'node:fs/promises';\n\n";
  if (body?.kind !== 'multipart') return '';
  const hasFile = body.fields.some(([, , kind]) => kind === 'file');
  const parts = body.fields.map(([name, value, kind]) =>
    kind === 'file'
      ? `form.append(${text(name)}, await openAsBlob('path/to/file'), 'file');\n`
      : `form.append(${text(name)}, ${text(value)});\n`,
  );
  return `${hasFile ? "import { openAsBlob } from 'node:fs';\n\n" : ''}const form = new FormData();\n${parts.join('')}\n`;
}

function expressionOf(body: SampleContent): string {
  if (body.kind === 'json') return `JSON.stringify(${JSON.stringify(body.value, null, 2)})`;
  if (body.kind === 'text') return text(body.text);
  if (body.kind === 'multipart') return 'form';
  if (body.kind === 'file') return "await readFile('path/to/file')";
  return `new URLSearchParams(${JSON.stringify(Object.fromEntries(body.fields), null, 2)})`;
}

function indent(code: string): string {
  return code.replaceAll('\n', '\n  ');
}

/** Returns a literal with single quotes, as in the guides. */
function text(value: string): string {
  const json = JSON.stringify(value);
  return json.includes("'") || json.includes('\\') ? json : `'${json.slice(1, -1)}'`;
}
