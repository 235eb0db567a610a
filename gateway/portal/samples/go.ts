// Makes a sample in Go, which is a whole program that uses only the standard library. `rand.Text` needs Go 1.24.

import { authorizationOf, type SampleContent, type SampleRequest } from './sample-request.ts';

export function goSample(request: SampleRequest): string {
  const { method, url, headers, uniqueHeader, body, credentials, response } = request;
  const authorization = authorizationOf(request);
  const lines = [
    ...bodyLines(body),
    `request, err := http.NewRequest(${text(method)}, ${text(url)}, ${body === undefined ? 'nil' : 'body'})`,
    'if err != nil {',
    '\tpanic(err)',
    '}',
    ...(authorization === undefined ? [] : [`request.Header.Set("Authorization", ${text(authorization)})`]),
    ...(credentials === 'basic' ? ['request.SetBasicAuth("USER", "PASSWORD")'] : []),
    ...headers.map(([name, value]) => `request.Header.Set(${text(name)}, ${text(value)})`),
    ...(uniqueHeader === undefined ? [] : [`request.Header.Set(${text(uniqueHeader)}, rand.Text())`]),
    ...(body?.kind === 'multipart' ? ['request.Header.Set("Content-Type", form.FormDataContentType())'] : []),
    'response, err := http.DefaultClient.Do(request)',
    'if err != nil {',
    '\tpanic(err)',
    '}',
    'defer response.Body.Close()',
    ...(response === 'lines' ? PRINT_LINES : PRINT_WHOLE),
  ];
  return `package main

import (
${importsOf(request)
  .map((name) => `\t"${name}"`)
  .join('\n')}
)

func main() {
${lines.map((line) => `\t${line}`).join('\n')}
}`;
}

const PRINT_WHOLE = [
  'content, err := io.ReadAll(response.Body)',
  'fmt.Println(response.StatusCode, string(content), err)',
];

const PRINT_LINES = [
  'fmt.Println(response.StatusCode)',
  'lines := bufio.NewScanner(response.Body)',
  'for lines.Scan() {',
  '\tfmt.Println(lines.Text())',
  '}',
  'fmt.Println("ended", lines.Err())',
];

function importsOf({ body, uniqueHeader, response }: SampleRequest): string[] {
  const names = ['fmt', response === 'lines' ? 'bufio' : 'io', 'net/http'];
  if (uniqueHeader !== undefined) names.push('crypto/rand');
  if (body?.kind === 'json' || body?.kind === 'text') names.push('strings');
  if (body?.kind === 'form') names.push('net/url', 'strings');
  if (body?.kind === 'file') names.push('os');
  if (body?.kind === 'multipart') names.push('bytes', 'mime/multipart');
  if (body?.kind === 'multipart' && body.fields.some(([, , kind]) => kind === 'file')) names.push('io', 'os');
  return [...new Set(names)].sort();
}

function bodyLines(body: SampleContent | undefined): string[] {
  if (body === undefined) return [];
  const failing = ['if err != nil {', '\tpanic(err)', '}'];
  if (body.kind === 'json') return [`body := strings.NewReader(${raw(JSON.stringify(body.value, null, 2))})`];
  if (body.kind === 'text') return [`body := strings.NewReader(${raw(body.text)})`];
  if (body.kind === 'file') return ['body, err := os.Open("path/to/file")', ...failing];
  if (body.kind === 'form') {
    const fields = body.fields.map(([name, value]) => `fields.Set(${text(name)}, ${text(value)})`);
    return ['fields := url.Values{}', ...fields, 'body := strings.NewReader(fields.Encode())'];
  }
  const fields = body.fields.flatMap(([name, value, kind]) =>
    kind === 'file' ? fileLines(name) : [`form.WriteField(${text(name)}, ${text(value)})`],
  );
  return ['body := &bytes.Buffer{}', 'form := multipart.NewWriter(body)', ...fields, 'form.Close()'];
}

/** Returns the lines for a file, in a block, so that a second file has its own variables. */
function fileLines(name: string): string[] {
  const failing = ['if err != nil {', '\tpanic(err)', '}'];
  const lines = [
    ...['file, err := os.Open("path/to/file")', ...failing],
    ...[`part, err := form.CreateFormFile(${text(name)}, "file")`, ...failing],
    ...['io.Copy(part, file)', 'file.Close()'],
  ];
  return ['{', ...lines.map((line) => `\t${line}`), '}'];
}

/** Returns a raw string, which keeps line breaks. It cannot contain a backquote or a carriage return. */
function raw(value: string): string {
  return /[`\r]/.test(value) ? text(value) : `\`${value}\``;
}

function text(value: string): string {
  return JSON.stringify(value);
}
