// Makes a sample in Python, which uses only the standard library.

import { authorizationOf, type SampleContent, type SampleRequest } from './sample-request.ts';

export function pythonSample(request: SampleRequest): string {
  const { method, url, headers, uniqueHeader, body, credentials, response } = request;
  const authorization = authorizationOf(request);
  const fields = [
    ...(authorization === undefined ? [] : [`        "Authorization": ${text(authorization)},`]),
    ...(credentials === 'basic'
      ? ['        "Authorization": "Basic " + base64.b64encode(b"USER:PASSWORD").decode(),']
      : []),
    ...headers.map(([name, value]) => `        ${text(name)}: ${text(value)},`),
    ...(uniqueHeader === undefined ? [] : [`        ${text(uniqueHeader)}: str(uuid.uuid4()),`]),
    ...(body?.kind === 'multipart' ? ['        "Content-Type": "multipart/form-data; boundary=" + boundary,'] : []),
  ];
  const members = [
    `    ${text(url)},`,
    ...(method === 'GET' ? [] : [`    method=${text(method)},`]),
    ...(fields.length === 0 ? [] : ['    headers={', ...fields, '    },']),
    ...(body === undefined ? [] : [`    data=${expressionOf(body).replaceAll('\n', '\n    ')},`]),
  ];
  return `${importsOf(request)}
${linesBefore(body)}request = urllib.request.Request(
${members.join('\n')}
)
try:
    with urllib.request.urlopen(request) as response:
${response === 'lines' ? PRINT_LINES : '        print(response.status, response.read().decode())'}
except urllib.error.HTTPError as error:
    print(error.code, error.read().decode())`;
}

const PRINT_LINES = `        print(response.status, flush=True)
        for line in response:
            print(line.decode(), end="", flush=True)`;

function importsOf({ body, credentials, uniqueHeader }: SampleRequest): string {
  const names = [
    ...(credentials === 'basic' ? ['base64'] : []),
    ...(body?.kind === 'json' ? ['json'] : []),
    'urllib.error',
    ...(body?.kind === 'form' ? ['urllib.parse'] : []),
    'urllib.request',
    ...(uniqueHeader === undefined ? [] : ['uuid']),
  ];
  return `${names.map((name) => `import ${name}`).join('\n')}\n`;
}

function linesBefore(body: SampleContent | undefined): string {
  if (body?.kind !== 'multipart') return '';
  const parts = body.fields.map(([name, value, kind]) => {
    const isFile = kind === 'file';
    const head = `--{boundary}\\r\\nContent-Disposition: form-data; name="${name.replace(/["'{}\\]/g, '')}"${isFile ? '; filename="file"' : ''}`;
    const content = isFile ? 'open("path/to/file", "rb").read()' : `${text(value)}.encode()`;
    return `f'${head}\\r\\n\\r\\n'.encode() + ${content} + b"\\r\\n"`;
  });
  const end = 'f"--{boundary}--\\r\\n".encode()';
  return `boundary = "boundary-of-this-form"\nform = (\n    ${[...parts, end].join('\n    + ')}\n)\n`;
}

function expressionOf(body: SampleContent): string {
  if (body.kind === 'json') return `json.dumps(${literal(body.value, '')}).encode()`;
  if (body.kind === 'text') return `${text(body.text)}.encode()`;
  if (body.kind === 'multipart') return 'form';
  if (body.kind === 'file') return 'open("path/to/file", "rb").read()';
  return `urllib.parse.urlencode(${literal(Object.fromEntries(body.fields), '')}).encode()`;
}

/** Returns a JSON value as a literal of Python. */
function literal(value: unknown, indent: string): string {
  const deeper = `${indent}    `;
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return text(value);
  const entries = Array.isArray(value)
    ? value.map((item) => literal(item, deeper))
    : Object.entries(value).map(([name, member]) => `${text(name)}: ${literal(member, deeper)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  if (entries.length === 0) return `${open}${close}`;
  return `${open}\n${entries.map((entry) => `${deeper}${entry},\n`).join('')}${indent}${close}`;
}

/**
 * Returns a text literal. Escapes of JSON mean the same in Python, except for characters beyond the basic plane, which are not escaped
 * here.
 */
function text(value: unknown): string {
  return JSON.stringify(value);
}
