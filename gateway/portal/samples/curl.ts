// A sample for curl.

import { authorizationOf, type SampleRequest } from './sample-request.ts';

export function curlSample(request: SampleRequest): string {
  const { method, url, headers, uniqueHeader, body, credentials, response } = request;
  const implied = body === undefined || body.kind === 'file' ? 'GET' : 'POST';
  // Without -N curl keeps lines until it has many.
  const program = response === 'lines' ? 'curl -N' : 'curl';
  const lines = [
    `${program} ${method === implied ? '' : method === 'HEAD' ? '--head ' : `-X ${method} `}${quote(url)}`,
  ];
  const authorization = authorizationOf(request);
  if (authorization !== undefined) lines.push(`-H "Authorization: ${authorization}"`);
  if (credentials === 'basic') lines.push("-u 'USER:PASSWORD'");
  for (const [name, value] of headers) lines.push(`-H ${quote(`${name}: ${value}`)}`);
  if (uniqueHeader !== undefined) lines.push(`-H "${uniqueHeader}: $(openssl rand -hex 16)"`);
  if (body?.kind === 'json') lines.push(`-d ${quote(JSON.stringify(body.value, null, 2))}`);
  if (body?.kind === 'text') lines.push(`--data-binary ${quote(body.text)}`);
  if (body?.kind === 'file') lines.push('-T path/to/file');
  if (body?.kind === 'form')
    for (const [name, value] of body.fields) lines.push(`--data-urlencode ${quote(`${name}=${value}`)}`);
  if (body?.kind === 'multipart')
    for (const [name, value, kind] of body.fields)
      lines.push(`-F ${quote(`${name}=${kind === 'file' ? '@path/to/file' : value}`)}`);
  return lines.join(' \\\n  ');
}

/** Quotes a text with double quotes if it contains no character that is special in them, otherwise with single quotes. */
function quote(text: string): string {
  return /["$`\\!\n]/.test(text) ? `'${text.replaceAll("'", "'\\''")}'` : `"${text}"`;
}
