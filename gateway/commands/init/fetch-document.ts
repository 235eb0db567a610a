// Fetches the OpenAPI document of a service from a file, from a URL, or from the paths at which frameworks publish it.

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { boundedBody } from '../../shared/http/bounded-fetch.ts';
import { toSentence } from '../../shared/mistakes.ts';
import { shortTextOf, withoutCredentials } from '../../shared/text.ts';
import { syntaxMistakes } from '../../shared/yaml-source.ts';
import { absenceAt } from '../upstreams/absence.ts';
import { embeddedIn, linksIn } from './document-in-page.ts';

/** An OpenAPI document, as the service publishes it. */
export interface FetchedDocument {
  /** The text. JSON on a single line is broken into lines. */
  readonly text: string;
  /** The file name extension for the text. */
  readonly extension: 'json' | 'yaml';
  readonly root: Readonly<Record<string, unknown>>;
  /** The URL of the document; undefined for a file. */
  readonly url: URL | undefined;
}

const TIMEOUT_MS = 10_000;
/** Matches the address of a service without a scheme, such as `localhost:8000`. */
const ADDRESS = /^(localhost|[a-z0-9.-]+:\d+)(\/|$)/i;
const BYTES_MAX = 64 * 1024 * 1024;
/** The length of the first line of an answer, and the number of other answers, that a message shows. */
const LINE_MAX = 60;
const CAME_SHOWN_MAX = 2;

/** The usual paths of the documents of FastAPI and LoopBack, Spring, ASP.NET, Fastify, NestJS, Django, swaggo, and others. */
const DOCUMENT_PATHS = [
  ...['/openapi.json', '/v3/api-docs', '/swagger/v1/swagger.json', '/documentation/json', '/api-json', '/docs-json'],
  ...['/api/schema/', '/schema/', '/openapi.yaml', '/swagger.json', '/swagger/doc.json'],
  ...['/api/openapi.json', '/api-docs', '/docs', '/api/docs', '/swagger'],
];

/** A page may load a script that names a configuration, which names the document. */
const LINKS_DEEP = 3;

/**
 * Reads the document from a file or an http(s) URL. If there is no document at the URL, it is treated as the address of a service, or of a
 * page of it, and the usual paths below it and below its origin are tried. Throws an Error for operators.
 *
 * @param written a file, a URL, or an address without a scheme, such as localhost:8000
 */
export async function fetchDocument(written: string): Promise<FetchedDocument> {
  const from = ADDRESS.test(written) && !existsSync(written) ? `http://${written}` : written;
  if (!/^https?:\/\//i.test(from)) return parseDocument(await readText(from), from, undefined);
  const given = URL.parse(from);
  if (given === null) throw new Error(`${withoutCredentials(from)} is not a URL.`);
  if (given.username !== '' || given.password !== '')
    throw new Error(
      `${withoutCredentials(from)} contains credentials. Download the document with them, and give its file.`,
    );
  const first = await fetchText(given);
  const seen = new Set<string>();
  if (first.text !== undefined) {
    const document = await documentIn(first.text, first.url ?? given, seen);
    if (document !== undefined) return document;
    // A document with a mistake is what was meant, so no other place is tried.
    if (isMeantAsDocument(first.text)) parseDocument(first.text, from, given);
  } else {
    const absence = await absenceAt(from);
    if (absence !== undefined)
      throw new Error(`${absence[0]?.toUpperCase()}${absence.slice(1)}. Start the service first.`);
  }
  const below = given.pathname.replace(/\/$/, '');
  const bases = below === '' ? [''] : [below, ''];
  const came = new Map<string, string>();
  let meant: (() => void) | undefined;
  for (const path of bases.flatMap((base) => DOCUMENT_PATHS.map((place) => base + place))) {
    const url = new URL(path, given);
    if (seen.has(url.href)) continue;
    const got = await fetchText(url);
    seen.add(url.href);
    const document = got.text === undefined ? undefined : await documentIn(got.text, got.url ?? url, seen);
    if (document !== undefined) return document;
    if (isMeantAsDocument(got.text ?? '')) meant ??= () => parseDocument(got.text as string, url.href, url);
    if (got.status !== 404 && got.came !== first.came && !came.has(got.came)) came.set(got.came, path);
  }
  // The mistake of a document counts only if no other place has a document.
  meant?.();
  const others = [...came].slice(0, CAME_SHOWN_MAX).map(([what, path]) => ` ${path} gives ${what}.`);
  const where = below === '' ? 'below it' : `below it and below ${given.origin}`;
  throw new Error(
    `${from} has no OpenAPI document (${first.came}), and the usual paths ${where} have none: ${DOCUMENT_PATHS.join(', ')}.${others.join('')} Give the URL of the document.`,
  );
}

/** Returns the document at a URL, or the one to which a page there leads. @param seen the URLs that need no second request */
async function documentAt(url: URL, seen: Set<string>, depth = 0): Promise<FetchedDocument | undefined> {
  if (seen.has(url.href)) return undefined;
  seen.add(url.href);
  const { text, url: at = url } = await fetchText(url);
  return text === undefined ? undefined : documentIn(text, at, seen, depth);
}

async function documentIn(text: string, url: URL, seen: Set<string>, depth = 0): Promise<FetchedDocument | undefined> {
  const document = tryParse(text, url) ?? tryParse(embeddedIn(text) ?? '', url);
  if (document !== undefined || depth === LINKS_DEEP) return document;
  for (const link of linksIn(text, url)) {
    const found = await documentAt(link, seen, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new Error(`${path} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
}

interface Fetched {
  /** The body of a good answer. */
  readonly text?: string;
  /** The URL of the text, which is another one after a redirect. */
  readonly url?: URL;
  readonly status?: number;
  /** What has come, for messages: status, media type and first line, or why there is no answer. */
  readonly came: string;
}

async function fetchText(url: URL): Promise<Fetched> {
  try {
    const headers = { accept: 'application/json, application/yaml;q=0.9, */*;q=0.5' };
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
    const { ok, status } = response;
    const bytes = await boundedBody(response, BYTES_MAX);
    if (bytes === undefined) return { status, came: `more than ${BYTES_MAX} bytes` };
    const text = bytes.toString('utf8');
    const line = text.trim().split('\n')[0] ?? '';
    const began = line === '' ? 'without content' : JSON.stringify(shortTextOf(line, LINE_MAX));
    const came = `status ${status}, ${response.headers.get('content-type') ?? 'no media type'}, ${began}`;
    return { status, came, ...(ok && { text, url: new URL(response.url) }) };
  } catch (error) {
    const { cause, name } = error as Error & { cause?: NodeJS.ErrnoException };
    return { came: cause?.code ?? (name === 'TimeoutError' ? `no answer in ${TIMEOUT_MS / 1000} seconds` : name) };
  }
}

/** Whether a text has the member that begins an OpenAPI document. A page may contain one in a script. */
function isMeantAsDocument(text: string): boolean {
  return !text.trimStart().startsWith('<') && /^[\s{]*["']?(openapi|swagger)["']?\s*:/m.test(text);
}

function tryParse(text: string, url: URL): FetchedDocument | undefined {
  try {
    return parseDocument(text, url.href, url);
  } catch {
    return undefined;
  }
}

function parseDocument(text: string, name: string, url: URL | undefined): FetchedDocument {
  const isJson = text.trimStart().startsWith('{');
  let root: unknown;
  try {
    root = isJson ? JSON.parse(text) : parse(text);
  } catch (error) {
    const mistakes = isMeantAsDocument(text) ? syntaxMistakes(text, name) : [];
    if (mistakes.length > 0) throw new Error(mistakes.map(toSentence).join('\n'));
    throw new Error(`${name} is neither JSON nor YAML: ${(error as Error).message.split('\n')[0]}`);
  }
  const version = typeof root === 'object' && root !== null ? Object.keys(root) : [];
  if (!version.includes('openapi') && !version.includes('swagger'))
    throw new Error(`${name} is not an OpenAPI document: it has neither "openapi" nor "swagger".`);
  const shown = isJson ? laidOutJson(text) : text;
  return { text: shown, extension: isJson ? 'json' : 'yaml', root: root as FetchedDocument['root'], url };
}

const TOKENS = /"(?:[^"\\]|\\.)*"|[[\]{}:,]|[^\s[\]{}:,"]+/g;

/**
 * Breaks JSON on a single line into lines, because otherwise every mistake in it would be on line 1. Returns other JSON unchanged. Each
 * value keeps its text, because `JSON.stringify` would round long numbers.
 */
export function laidOutJson(text: string): string {
  if (text.trim().includes('\n')) return text;
  const tokens = text.match(TOKENS) ?? [];
  const written: string[] = [];
  let indent = '\n';
  tokens.forEach((token, index) => {
    const isEmpty = '[{'.includes(tokens[index - 1] ?? ' ');
    if (token === '}' || token === ']') {
      indent = indent.slice(0, -2);
      written.push(isEmpty ? token : indent + token);
    } else if (token === ',') written.push(token + indent);
    else if (token === ':') written.push(': ');
    else {
      written.push(isEmpty ? indent + token : token);
      if (token === '{' || token === '[') indent += '  ';
    }
  });
  return `${written.join('')}\n`;
}
